// Package review answers: is this the plan that was reviewed, possibly in another process? It also says what a reviewer
// must see besides the values. It isn't for applying: the Planner of package ssaplan is.
//
//	reviewed, err := review.Fingerprint(plan) // the tool stores it
//	if err != nil {
//		log.Fatal(err)
//	}
//
// Later, in another process, plan again: it is the reviewed plan if it has the same fingerprint, and if [ClusterOf]
// returns the same cluster.
package review

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/stretch"
)

// Fingerprint returns a string of 50 characters for a plan. Two plans have the same fingerprint if and only if they do
// the same to the same object. It covers everything that [ssaplan.Planner.Apply] compares before it applies an outdated
// plan: the action, the request, the object, all values before and after, causes, owners, dropped and destroyed fields,
// and the replacement. Warnings, the times of other writers, the resourceVersion and the values of retained fields
// don't matter. All no-ops of an object have the same fingerprint.
//
// It is the same in every process and shows no value. If the plan has sensitive values, the digest is stretched (PBKDF2
// of 5,000 rounds of HMAC-SHA-256, salted with the object and its UID), which takes 1 to 2 ms. A reader who knows the
// rest of the plan can guess a sensitive value with this time for each attempt. So protect the fingerprint like a
// secret if such values are short.
func Fingerprint(plan *ssaplan.Plan) (string, error) {
	digest := sha256.New()
	if err := plan.WriteCompared(digest, true); err != nil {
		return "", fmt.Errorf("%s: fingerprint: %w", plan.Object, err)
	}
	sum := digest.Sum(nil)
	if plan.HasSensitive() {
		salt, err := json.Marshal([]any{plan.Object, uid(plan)})
		if err == nil {
			sum, err = stretch.Digest(string(sum), salt)
		}
		if err != nil {
			return "", fmt.Errorf("%s: fingerprint: %w", plan.Object, err)
		}
	}
	return "plan-1:" + base64.RawURLEncoding.EncodeToString(sum), nil
}

// Outline returns a string of 53 characters that compares less than [Fingerprint]. Use it if the string is public, or
// if a webhook sets another value at each write. Two plans have the same outline if and only if they do the same to the
// declared fields of the same object. For sensitive values, it covers only the paths, the causes and the owners. Side
// effects on other fields, generated values, ignored fields, the writes of other tools, and warnings don't matter.
func Outline(plan *ssaplan.Plan) (string, error) {
	digest, outlined := sha256.New(), *plan
	outlined.Explanation = outline(&plan.Explanation)
	if err := outlined.WriteCompared(digest, false); err != nil {
		return "", fmt.Errorf("%s: outline: %w", plan.Object, err)
	}
	return "outline-1:" + base64.RawURLEncoding.EncodeToString(digest.Sum(nil)), nil
}

// outline returns what is left of an explanation in its outline.
func outline(e *explain.Explanation) explain.Explanation {
	out := *e
	out.Before, out.After = e.Before.Redacted(), e.After.Redacted()
	out.Generated, out.Ignored, out.Writers, out.Warnings = nil, nil, nil, nil
	out.Changes = slices.DeleteFunc(slices.Clone(e.Changes), func(c explain.Change) bool {
		// the server may override what is declared
		return c.Cause == explain.CauseSideEffect && !e.After.Fields.Has(c.Path)
	})
	for i := range out.Changes {
		if c := &out.Changes[i]; c.Sensitive {
			c.Before, c.After = nil, nil
		}
	}
	out.Dropped = slices.Clone(e.Dropped)
	for i := range out.Dropped {
		if d := &out.Dropped[i]; d.Sensitive {
			d.Value = nil
		}
	}
	return out
}

// uid returns the UID of the object that is there, "" if there is none.
func uid(plan *ssaplan.Plan) string {
	if live := plan.Live(); live != nil {
		return string(live.GetUID())
	}
	return ""
}
