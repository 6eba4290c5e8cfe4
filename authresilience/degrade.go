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

// ReadAttempt describes the read that failed.
type ReadAttempt struct {
	// Object names what was read, such as "apps/v1/Deployment default/web". The warning has it, with what can't be seen
	// escaped.
	Object string
	// Time is when the read failed. Default: now.
	Time time.Time
	// Credential is what is known about the credentials of the read, see [Diagnose]. Default: nothing.
	Credential Diagnosis
	// Remembered says that the way to the server was remembered from an earlier run, as that of a Terraform state is,
	// and not configured for this one. That the program which provides its credentials fails is survived, too: who
	// configured another one could never plan with it otherwise. Default: it is configured.
	Remembered bool
	// KeepUnreachable survives also that no server can be reached, or none that is trusted: a host that is gone, a
	// certificate that was renewed. A server that is down looks the same, so let the user say so. Default: that is an
	// error.
	KeepUnreachable bool
}

// keeps reports whether a read that failed like this may keep the prior state.
func (read ReadAttempt) keeps(class Class) bool {
	switch class {
	case ClassCredentialPlugin:
		return read.Remembered
	case ClassConnection, ClassTLS, ClassTimeout:
		return read.KeepUnreachable
	}
	return class.Degradable()
}

// Kept is what remains of a read that failed and was survived.
type Kept[T any] struct {
	Prior   T       // the prior state, as it was handed in
	Stale   Stale   // the mark to store with it
	Warning Warning // what to tell the user
}

// Degrade decides whether a failed read may keep the prior state. It may, and ok is true, if err is of a [Class] that
// is Degradable, or that read allows: the server refused the identity of the caller, or wasn't asked, and said nothing
// about the object. Then the result holds the prior state, untouched, the mark that it is stale, and a warning.
// Otherwise the read has failed with err and there is no result.
//
// Degrade is for reads. A write with the same error has failed, so don't ask. As far as err shows that it comes from a
// write (the denied verb, the HTTP method), Degrade refuses it.
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
