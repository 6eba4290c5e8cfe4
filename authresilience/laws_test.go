package authresilience_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/authresilience/restconfig"
)

// wrappings are the ways in which an error may arrive.
var wrappings = map[string]func(error) error{
	"%w":           func(err error) error { return fmt.Errorf("reading v1/ConfigMap default/x: %w", err) },
	"%w, twice":    func(err error) error { return fmt.Errorf("a: %w", fmt.Errorf("b: %w", err)) },
	"%w and more":  func(err error) error { return fmt.Errorf("%w: %w", errors.New("refresh failed"), err) },
	"errors.Join":  func(err error) error { return errors.Join(err) },
	"aggregate":    func(err error) error { return utilerrors.NewAggregate([]error{err}) },
	"retry":        func(err error) error { return retried{err, errors.New("EOF")} },
	"redaction":    authresilience.Redact,
	"joined to it": func(err error) error { return errors.Join(err, fmt.Errorf("again: %w", err)) },
}

// TestClassOfAWrappedError: the class of a wrapped error is the class of the error.
func TestClassOfAWrappedError(t *testing.T) {
	for _, r := range allRows() {
		if r.err == nil || r.want == authresilience.ClassNone {
			continue // wrapping nothing makes an error of it
		}
		for how, wrap := range wrappings {
			assert.Equal(t, r.want, authresilience.Classify(wrap(r.err)), "%s, %s", r.why, how)
		}
		if r.want != authresilience.ClassUnknown {
			wrapped := &url.Error{Op: "Get", URL: "https://127.0.0.1/", Err: r.err}
			assert.Equal(t, r.want, authresilience.Classify(wrapped), "%s, url.Error", r.why)
		}
	}
}

// TestClassOfJoinedErrors: the order of joined errors doesn't matter, and the one that comes first in Classes decides.
// RESTMapper's and discovery's errors are left out, since they explain each other.
func TestClassOfJoinedErrors(t *testing.T) {
	rows := slices.Concat(identityRows[1:], admissionRows, requestRows, serverRows, transportRows, clientRows)
	rank := func(c authresilience.Class) int { return slices.Index(authresilience.Classes(), c) }
	for _, a := range rows {
		for _, b := range rows {
			want := a.want
			if rank(b.want) < rank(a.want) {
				want = b.want
			}
			assert.Equal(t, want, authresilience.Classify(errors.Join(a.err, b.err)), "%s, then %s", a.why, b.why)
		}
	}
}

// TestNothingIsGoneByDoubt: not found, alone, can make a caller forget an object. Joined to anything else that says
// something, it doesn't.
func TestNothingIsGoneByDoubt(t *testing.T) {
	for _, r := range allRows() {
		if r.want == authresilience.ClassNone || r.want == authresilience.ClassUnknown || r.want == authresilience.ClassNotFound {
			continue
		}
		got := authresilience.Classify(errors.Join(requestRows[0].err, r.err))
		assert.NotEqual(t, authresilience.ClassNotFound, got, r.why)
	}
}

func TestEveryClassIsDescribed(t *testing.T) {
	for _, class := range authresilience.Classes() {
		d := class.Describe()
		assert.Equal(t, class, d.Class)
		assert.NotEmpty(t, d.Meaning, class)
		assert.Equal(t, class != authresilience.ClassNone, d.Advice != "", class)
		for _, text := range []string{d.Meaning, d.Advice} {
			assert.NotRegexp(t, `\.$|^[A-Z]`, text, "sentences are put together: no capital, no full stop")
		}
	}
	assert.Equal(t, authresilience.ClassUnknown, authresilience.Class("").Describe().Class)
	assert.False(t, authresilience.Class("").Degradable())
	assert.False(t, authresilience.Class("authentication").Degradable(), "classes are case-sensitive")
}

// TestValidityMovesForward: with time, a credential goes from not yet valid through valid to expired, and never back.
func TestValidityMovesForward(t *testing.T) {
	order := []authresilience.Validity{authresilience.ValidityNotYet, authresilience.ValidityValid, authresilience.ValidityUnknown, authresilience.ValidityExpired}
	configs := map[string]authresilience.Credential{
		"JWT":         restconfig.Credential(tokenConfig(jwt(fmt.Sprintf(`{"nbf":%d,"exp":%d}`, now.Unix(), now.Add(time.Hour).Unix())))),
		"EKS":         restconfig.Credential(tokenConfig(eks(now))),
		"certificate": restconfig.Credential(certConfig(t, now, now.Add(time.Hour))),
	}
	for why, credential := range configs {
		last := 0
		for minute := -30; minute < 120; minute++ {
			at := now.Add(time.Duration(minute) * time.Minute)
			d := authresilience.Diagnose(credential, at)
			i := slices.Index(order, d.Findings[0].Validity)
			require.GreaterOrEqual(t, i, last, "%s at %s: %s", why, at, d)
			assert.Equal(t, order[i] == authresilience.ValidityExpired, d.Err() != nil)
			last = i
		}
		assert.Equal(t, len(order)-1, last, why)
	}
}

// TestStatusSurvivesJSON: an error that was saved and read again is of the same class; that is what explaining a saved
// status needs.
func TestStatusSurvivesJSON(t *testing.T) {
	for _, r := range allRows() {
		var status interface{ Status() metav1.Status }
		if !errors.As(r.err, &status) || r.err != status.(error) || r.want == authresilience.ClassNone {
			continue
		}
		data, err := json.Marshal(status.Status())
		require.NoError(t, err)
		var read metav1.Status
		require.NoError(t, json.Unmarshal(data, &read))
		assert.Equal(t, r.want, authresilience.Classify(statusError{read}), r.why)
	}
}

type statusError struct{ status metav1.Status }

func (e statusError) Status() metav1.Status { return e.status }
func (e statusError) Error() string         { return e.status.Message }
