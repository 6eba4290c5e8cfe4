// Package review answers: is this the plan that somebody reviewed, possibly in another process? It also says what a
// reviewer must see beside the values. It isn't for applying: the Planner of package ssaplan is.
//
//	reviewed, err := review.Keep(plan, request.Manifest, false) // false: no manifests with secrets
//	if err != nil {
//		log.Fatal(err)
//	}
//	file, err := (&review.Saved{Reviewed: []review.Reviewed{reviewed}}).Encode()
//
// Later, in another process, plan again and compare: [Decode], then [Reviewed.Check].
package review

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// rounds is how often the fingerprint of a plan with sensitive values is made of itself, so that trying values takes
// time.
const rounds = 5000

// Fingerprint returns a text of 50 characters that another plan has, too, if and only if who has reviewed the one knows
// the other: it is for the same object and does the same. It stands for what [ssaplan.Planner.Apply] compares before it
// applies a plan that is outdated: the action, what is sent and how, which object it is, all values before and after,
// causes, owners, what is dropped or destroyed, and warnings. When others wrote doesn't matter, nor do the
// resourceVersion and what a dropped field keeps. An object has one fingerprint for all its no-ops.
//
// It is the same in every process, so that it can be compared as a text, and shows no value. With sensitive ones it is
// stretched (PBKDF2 of 5,000 rounds of HMAC-SHA-256, salted with the object and its UID), which takes some 2 ms, and as
// long for each guess of who knows all the rest of the plan: where such values are short, guard it as a secret.
func Fingerprint(plan *ssaplan.Plan) (string, error) {
	digest := sha256.New()
	if err := write(digest, plan); err != nil {
		return "", fmt.Errorf("%s: fingerprint: %w", plan.Object, err)
	}
	sum := digest.Sum(nil)
	if isSensitive(plan) {
		salt, err := json.Marshal([]any{plan.Object, uid(plan)})
		if err == nil {
			sum, err = pbkdf2.Key(sha256.New, string(sum), salt, rounds, sha256.Size)
		}
		if err != nil {
			return "", fmt.Errorf("%s: fingerprint: %w", plan.Object, err)
		}
	}
	return "plan-1:" + base64.RawURLEncoding.EncodeToString(sum), nil
}

// Outline returns a text of 53 characters, as [Fingerprint] does, for hosts that keep it where everybody sees it, or
// that can't do without a webhook which sets something else each time. Another plan has it, too, if and only if it does
// the same to the declared fields of the same object, as far as that can be shown: of sensitive values it stands for
// the places, the causes and the owners. Side effects, what the server makes up, what is left to others, what other
// tools wrote, and warnings don't matter.
func Outline(plan *ssaplan.Plan) (string, error) {
	digest, outlined := sha256.New(), outline(&plan.Explanation)
	if err := writeParts(digest, plan, "", &outlined); err != nil {
		return "", fmt.Errorf("%s: outline: %w", plan.Object, err)
	}
	return "outline-1:" + base64.RawURLEncoding.EncodeToString(digest.Sum(nil)), nil
}

// outline returns what is left of an explanation in its outline.
func outline(e *explain.Explanation) explain.Explanation {
	out := *e
	out.Before, out.After = e.Before.Redacted(), e.After.Redacted()
	out.Generated, out.Ignored, out.Writers, out.Warnings = nil, nil, nil, nil
	out.Changes = slices.DeleteFunc(slices.Clone(e.Changes), func(c explain.Change) bool { return c.Cause == explain.CauseSideEffect })
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

func write(to io.Writer, plan *ssaplan.Plan) error {
	return writeParts(to, plan, string(plan.Patch().Body), &plan.Explanation)
}

// writeParts writes the parts of a plan, with this of what is sent and explained.
func writeParts(to io.Writer, plan *ssaplan.Plan, body string, explained *explain.Explanation) error {
	encoder := json.NewEncoder(to)
	if err := encoder.Encode([]any{plan.Object, plan.Subresource, plan.Action}); err != nil {
		return err
	}
	if plan.Action == ssaplan.ActionNoOp {
		return nil // whatever is there stays, and nothing is sent
	}
	live := plan.Live()
	rest := []any{uid(plan), live != nil && live.GetDeletionTimestamp() != nil, body, plan.Patch().Options, plan.Conflicts, plan.Adjustments}
	if r := plan.Replacement; r != nil {
		rest = append(rest, r.Old, r.UID, r.Fields, r.Hazards, r.Propagation)
	}
	if err := encoder.Encode(rest); err != nil {
		return err
	}
	return explained.WriteCompared(to)
}

// uid returns the UID of the object that is there, "" if there is none.
func uid(plan *ssaplan.Plan) string {
	if live := plan.Live(); live != nil {
		return string(live.GetUID())
	}
	return ""
}

// isSensitive reports whether a value of the plan must not be shown.
func isSensitive(plan *ssaplan.Plan) bool {
	for _, side := range []projection.Projection{plan.Before, plan.After} {
		if side.Sensitive.Len() > 0 {
			return true
		}
	}
	for _, c := range plan.Changes {
		if c.Sensitive {
			return true
		}
	}
	for _, d := range plan.Dropped {
		if d.Sensitive {
			return true
		}
	}
	return false
}
