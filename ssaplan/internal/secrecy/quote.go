package secrecy

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Received marks the error of a request as a [Reply], whose text may quote the answer. An API status isn't marked,
// since its type already shows that it quotes the answer. A status without a message gets one.
func Received(err error) error {
	var status apierrors.APIStatus
	if answer.IsNil(err) || errors.As(err, &status) {
		return answer.Worded(err)
	}
	return &Reply{err}
}

// Reply is an error whose text may be that of the server, or of a program in front of it.
type Reply struct{ Err error }

func (e *Reply) Error() string { return e.Err.Error() }

// Unwrap returns what the request failed with.
func (e *Reply) Unwrap() error { return e.Err }

// Quoting returns a [Quote]: an error with text of this library, followed by values from an answer.
func Quoting(own string, format string, args ...any) error {
	return &Quote{own, foreign.Textf(format, args...)}
}

// Quote is an error with text of this library (Own) that quotes values from an answer.
type Quote struct {
	Own  string
	said foreign.Text
}

func (e *Quote) Error() string { return e.Own + " (" + e.said.String() + ")" }
