package authresilience

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/ssaplan/primitives/internal/answer"
)

// Kept is the result of a failed read after which the prior state is kept.
type Kept[T any] struct {
	Prior   T       // the prior state, as it was handed in
	Stale   Stale   // the mark to store with it
	Warning Warning // the warning for the user
}

// Degrade decides whether a failed read may keep the prior state. It may, and ok is true, if the [Class] of err is
// Degradable or is one that the options of read allow. In these cases the server refused the identity of the caller,
// wasn't asked or gave no answer, so nothing is known about the object. The result then holds the unchanged prior
// state, the mark that it is stale, and a warning. Otherwise the read has failed with err, and there is no result.
//
// Don't call Degrade for a write: a write with the same error has failed. If err shows that it comes from a write (by
// the denied verb or the HTTP method), ok is false.
func Degrade[T any](prior T, err error, read ReadAttempt) (kept Kept[T], ok bool) {
	class := Classify(err)
	if !read.keeps(class) || aboutWrite(err) {
		return Kept[T]{}, false
	}
	if read.Time.IsZero() {
		read.Time = time.Now()
	}
	var expired *ExpiredError
	if errors.As(err, &expired) {
		read.Credential = expired.Diagnosis
	}
	return Kept[T]{
		Prior:   prior,
		Stale:   Stale{class, read.Time.UTC().Round(0)}, // without the monotonic clock, which JSON would lose
		Warning: warningOf(class, err, read),
	}, true
}

// aboutWrite reports whether something in the tree of err shows that it comes from a write.
func aboutWrite(err error) bool {
	return answer.Walk(err, func(node error) bool {
		switch e := node.(type) {
		case *url.Error:
			switch strings.ToUpper(e.Op) {
			case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
				return true
			}
		case apierrors.APIStatus:
			refusal, decoded := forbiddenText(e.Status())
			d, ok := answer.ParseDenial(refusal)
			return decoded && (!ok || d.OfWrite()) // a refusal that is no denial can only be about a change
		}
		d, ok := denialOf(node)
		return ok && d.OfWrite()
	})
}
