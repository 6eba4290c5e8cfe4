// Package savedplan keeps reviewed plans in a file, so that another process can carry them out later.
package savedplan

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// savedVersion is the version of the form. It grows when a program could misread what another release wrote.
const savedVersion = 1

// savedHeading begins the first line of a saved plan. The version and the digest of all that follows the line come
// after it.
const savedHeading = "ssaplan saved plan"

// Saved are reviewed plans in the form to save them, so that another process can carry them out later. That process
// plans again, calls [Reviewed.Check] for each object and [deletion.Plan.Covers] for each deletion, and writes nothing
// if one of them differs.
//
// A digest in the file detects a cut or damaged file. It doesn't detect an attacker, who can change the digest as well:
// to exclude that, compare the [Digest] of the file with the one that the reviewer saw. Write the file with mode 0600,
// since plans show the content of a cluster.
type Saved struct {
	// Cluster is the cluster of the plans. The caller compares it by [review.Cluster.Is] with the one that it will
	// write to.
	Cluster review.Cluster `json:"cluster"`
	// Host is data that the caller needs to make the same plans again, such as its options. Optional.
	Host json.RawMessage `json:"host,omitempty"`
	// Reviewed are the plans, in the order in which they were shown.
	Reviewed []Reviewed `json:"reviewed"`
	// Deletions are the plans to delete objects that have left the set.
	Deletions []*deletion.Plan `json:"deletions,omitempty"`
}

// Reviewed is a plan that was reviewed.
type Reviewed struct {
	// Plan is the reviewed plan. It can be shown again, but not applied.
	Plan *ssaplan.Plan `json:"plan"`
	// Fingerprint is the [review.Fingerprint] of the plan.
	Fingerprint string `json:"fingerprint"`
	// Manifest is the manifest of the plan, nil if it isn't kept.
	Manifest *unstructured.Unstructured `json:"manifest,omitempty"`
}

// Keep returns the plan as Reviewed, to save it. It keeps a manifest with sensitive values only if secrets is true. The
// same holds for the manifest of a no-op from [ssaplan.Options.NoOps], since such a plan doesn't show whether the
// manifest has sensitive values.
func Keep(plan *ssaplan.Plan, manifest *unstructured.Unstructured, secrets bool) (Reviewed, error) {
	fingerprint, err := review.Fingerprint(plan)
	if err != nil {
		return Reviewed{}, err
	}
	kept := Reviewed{Plan: plan, Fingerprint: fingerprint}
	if secrets || isBare(manifest) || !plan.HasSensitive() && !isUntold(plan) {
		kept.Manifest = manifest
	}
	return kept, nil
}

// isUntold reports whether a plan has no values to tell by which of them are sensitive.
func isUntold(plan *ssaplan.Plan) bool {
	return plan.Action == ssaplan.ActionNoOp && plan.Before.Fields.Len() == 0 && plan.After.Fields.Len() == 0
}

// isBare reports whether a manifest has nothing but the identity, as that of a Namespace or of an empty Secret may.
func isBare(manifest *unstructured.Unstructured) bool {
	metadata, _ := manifest.Object["metadata"].(map[string]any)
	return hasOnly(manifest.Object, "apiVersion", "kind", "metadata") && hasOnly(metadata, "name", "namespace")
}

func hasOnly(fields map[string]any, names ...string) bool {
	for name := range fields {
		if !slices.Contains(names, name) {
			return false
		}
	}
	return true
}

// Check returns a [ssaplan.ChangedError] unless now, a new plan for the object, is the same as the reviewed plan.
func (r *Reviewed) Check(now *ssaplan.Plan) error {
	fingerprint, err := review.Fingerprint(now)
	if err == nil && fingerprint != r.Fingerprint {
		err = &ssaplan.ChangedError{Plan: now}
	}
	return err
}

// Encode returns the saved form: a line with version and digest, and JSON.
func (s *Saved) Encode() ([]byte, error) {
	body, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("saved plan: %w", err)
	}
	return append(fmt.Appendf(nil, "%s %d %s\n", savedHeading, savedVersion, Digest(body)), body...), nil
}

// Digest returns the digest of a file's content: "sha256:" and 64 hexadecimal digits.
func Digest(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

// Decode reads the form of [Saved.Encode]. It checks version and digest first.
func Decode(data []byte) (*Saved, error) {
	line, body, _ := bytes.Cut(data, []byte("\n"))
	rest, found := bytes.CutPrefix(line, []byte(savedHeading+" "))
	if !found {
		return nil, errors.New("not a saved plan")
	}
	version, digest, _ := bytes.Cut(rest, []byte(" "))
	switch n, err := strconv.Atoi(string(version)); {
	case err != nil:
		return nil, errors.New("not a saved plan")
	case n != savedVersion:
		return nil, fmt.Errorf("a saved plan of version %d, but this program reads version %d: plan again", n,
			savedVersion)
	case string(digest) != Digest(body):
		return nil, errors.New("the saved plan isn't as it was written: its content was cut or changed; plan again")
	}
	saved := &Saved{}
	if err := json.Unmarshal(body, saved); err != nil {
		return nil, fmt.Errorf("saved plan: %w", err)
	}
	for i, r := range saved.Reviewed {
		if r.Plan == nil {
			return nil, fmt.Errorf("saved plan: reviewed[%d].plan: missing", i)
		}
	}
	return saved, nil
}
