package authresilience_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
)

// FuzzClassifyStatus: whatever a server answers has one of the classes, wrapped or not, and no 404 that names no object
// is NotFound.
func FuzzClassifyStatus(f *testing.F) {
	for _, r := range allRows() {
		var status apierrors.APIStatus
		if errors.As(r.err, &status) && r.want != authresilience.ClassNone {
			s := status.Status()
			var kind, name, cause string
			if s.Details != nil {
				kind, name = s.Details.Kind, s.Details.Name
				if len(s.Details.Causes) > 0 {
					cause = string(s.Details.Causes[0].Type)
				}
			}
			f.Add(s.Code, string(s.Reason), s.Message, kind, name, cause)
		}
	}
	f.Fuzz(func(t *testing.T, code int32, reason, message, kind, name, cause string) {
		err := &apierrors.StatusError{ErrStatus: metav1.Status{
			Code: code, Reason: metav1.StatusReason(reason), Message: message,
			Details: &metav1.StatusDetails{Kind: kind, Name: name, Causes: []metav1.StatusCause{{Type: metav1.CauseType(cause), Message: message}}},
		}}
		class := checkClass(t, err)
		if name == "" && (class == authresilience.ClassNotFound || class == authresilience.ClassNamespaceNotFound) {
			t.Errorf("%s without a name: %q", class, message)
		}
	})
}

// FuzzClassifyText: no text of an error without a type makes an object disappear, or stops the program.
func FuzzClassifyText(f *testing.F) {
	for _, r := range allRows() {
		if r.err != nil && r.want != authresilience.ClassNone {
			f.Add(r.err.Error())
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		switch class := checkClass(t, errors.New(text)); class {
		case authresilience.ClassNotFound, authresilience.ClassNamespaceNotFound, authresilience.ClassTypeNotServed, authresilience.ClassAlreadyExists:
			t.Errorf("%s from the text %q", class, text)
		}
	})
}

// checkClass demands what holds for every error.
func checkClass(t *testing.T, err error) authresilience.Class {
	class := authresilience.Classify(err)
	if !slices.Contains(authresilience.Classes(), class) {
		t.Errorf("%q is no class", class)
	}
	if wrapped := authresilience.Classify(fmt.Errorf("reading: %w", err)); wrapped != class {
		t.Errorf("wrapped it is %s, else %s", wrapped, class)
	}
	if redacted := authresilience.Classify(authresilience.Redact(err)); redacted != class {
		t.Errorf("redacted it is %s, else %s", redacted, class)
	}
	if _, ok := authresilience.Degrade("prior", err, authresilience.ReadAttempt{Time: now}); ok && !class.Degradable() {
		t.Errorf("%s was survived", class)
	}
	return class
}

// FuzzDiagnoseToken: no token stops the program, is called malformed and expired at once, or is repeated in a text.
func FuzzDiagnoseToken(f *testing.F) {
	for _, token := range []string{
		opaqueToken, jwtUntil(now), jwt(`{}`), jwt(`{"exp":"x"}`), jwt(`{"aud":["a","b"]}`), eks(now), eksOf("x"), "Bearer " + opaqueToken,
		"eyJ.e30." + signature, "a.b.c", "\n", "....",
	} {
		f.Add(token)
	}
	f.Fuzz(func(t *testing.T, token string) {
		d := diagnose(&rest.Config{BearerToken: token})
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range append(strings.Split(token, "."), token) {
			if len(secret) > 20 && strings.Contains(d.String()+string(text), secret) && !claimed(token, secret) {
				t.Errorf("%s shows %q", d, secret)
			}
		}
		if err := d.Err(); err != nil && d.Findings[0].NotAfter.After(now) {
			t.Errorf("%v, at %s", err, now)
		}
	})
}

// claimed reports whether a part of a token occurs in the token more than once, for example in a claim. A diagnosis may
// show claims, so such a part is no secret.
func claimed(token, part string) bool {
	return strings.Count(token, part) > 1
}

// FuzzDiagnoseCertificate: no certificate stops the program.
func FuzzDiagnoseCertificate(f *testing.F) {
	cert, key, authority := certificate(f, now, now, now)
	for _, data := range [][]byte{cert, key, authority, append(cert, authority...), []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), nil} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := diagnose(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CertData: data, KeyData: []byte(signature)}})
		if strings.Contains(d.String(), signature) {
			t.Errorf("%s shows the key", d)
		}
	})
}

// FuzzStale: what can be read as a mark is written as the same mark.
func FuzzStale(f *testing.F) {
	f.Add([]byte(`null`))
	f.Add([]byte(`{"version":1,"reason":"Authentication","time":"2026-08-01T12:00:00Z"}`))
	f.Add([]byte(`{"version":1,"reason":"Authorization","time":"2026-08-01T12:00:00.5+02:00"}`))
	f.Add([]byte(`{"version":1,"reason":"Authentication","time":"0000-01-01T00:00:00+01:00"}`))
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var mark, again authresilience.Stale
		if json.Unmarshal(data, &mark) != nil {
			return
		}
		written, err := json.Marshal(mark)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written, &again); err != nil || again != mark {
			t.Errorf("%s became %s: %v", mark, again, err)
		}
	})
}
