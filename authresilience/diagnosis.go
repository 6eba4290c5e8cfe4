package authresilience

import (
	"strings"
	"time"
)

// Diagnosis is what is known at a time about the credentials of a client: whether they have expired, and until when
// they are valid. It holds no secret. The zero value says that nothing is known.
type Diagnosis struct {
	At time.Time
	// one for each credential that is sent; one for a certificate without a key; one for [NoCredential]
	Findings []Finding
	custom   bool
}

// Expired reports whether a request with these credentials can only fail, because all credentials that are sent have
// expired, and since when. It is false if that isn't certain: within [ClockSkew] of the end, for credentials without
// dates, and if the caller wraps the transport and may send others. A certificate without a key isn't sent and doesn't
// count.
func (d Diagnosis) Expired() (since time.Time, ok bool) {
	if d.custom {
		return time.Time{}, false
	}
	for _, f := range d.Findings {
		if f.unsent {
			continue
		}
		if f.Validity != ValidityExpired {
			return time.Time{}, false
		}
		if f.NotAfter.After(since) {
			since = f.NotAfter
		}
		ok = true
	}
	return since, ok
}

// Err returns an error if a request with these credentials can only fail, see [Diagnosis.Expired], and nil otherwise.
// Its class is Authentication. So a caller can skip a read that would only fail, and pass this error to [Degrade].
func (d Diagnosis) Err() error {
	if _, expired := d.Expired(); !expired {
		return nil
	}
	return &ExpiredError{Diagnosis: d}
}

// String returns the diagnosis as one sentence without a full stop: "the bearer token (…) expired 3 h ago
// (2026-08-01T09:00:00Z)".
func (d Diagnosis) String() string {
	if len(d.Findings) == 0 {
		return "nothing is known about the credentials"
	}
	texts := make([]string, len(d.Findings))
	for i, f := range d.Findings {
		texts[i] = f.text(d.At)
	}
	return strings.Join(texts, "; ")
}

// ExpiredError is the error of a request that was not sent because its credentials have expired.
type ExpiredError struct {
	Diagnosis Diagnosis
}

// Error returns one line: which credential expired, and when.
func (e *ExpiredError) Error() string {
	return "authresilience: request not sent: " + e.Diagnosis.String()
}
