// Package review tells whether a plan is the one that somebody has reviewed, in another process or on another day, and what a reviewer has to see
// beside the values.
package review

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

// rounds is how often the fingerprint of a plan with sensitive values is made of itself, so that trying values takes time.
const rounds = 5000

// Fingerprint returns a text of 50 characters that another plan has, too, if and only if who has reviewed the one knows the
// other: it is for the same object and does the same. It stands for what [ssaplan.Planner.Apply] compares before it applies a
// plan that is outdated: the action, what is sent and how, which object it is, all values before and after, causes, owners,
// what is dropped or destroyed, and warnings. When others wrote doesn't matter, nor do the resourceVersion and what a
// dropped field keeps. An object has one fingerprint for all its no-ops.
//
// It is the same in every process, so that it can be compared as a text, and shows no value. With sensitive ones it is
// stretched (PBKDF2 of 5,000 rounds of HMAC-SHA-256, salted with the object and its UID), which takes some 2 ms, and as long
// for each guess of who knows all the rest of the plan: where such values are short, guard it as a secret.
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

func write(to io.Writer, plan *ssaplan.Plan) error {
	encoder := json.NewEncoder(to)
	if err := encoder.Encode([]any{plan.Object, plan.Subresource, plan.Action}); err != nil {
		return err
	}
	if plan.Action == ssaplan.ActionNoOp {
		return nil // whatever is there stays, and nothing is sent
	}
	patch, live := plan.Patch(), plan.Live()
	rest := []any{uid(plan), live != nil && live.GetDeletionTimestamp() != nil, string(patch.Body), patch.Options, plan.Conflicts, plan.Adjustments}
	if r := plan.Replacement; r != nil {
		rest = append(rest, r.Old, r.UID, r.Fields, r.Hazards, r.Propagation)
	}
	if err := encoder.Encode(rest); err != nil {
		return err
	}
	return plan.WriteCompared(to)
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
