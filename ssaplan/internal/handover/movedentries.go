package handover

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// movesAfter reports whether the handover moves the entries because of which a server refused an apply.
func (h *Handover) movesAfter(refusal error) bool {
	version, found := lostVersion(refusal)
	return found && slices.Contains(h.wanted.Lost, version)
}

// ConflictError has the conflicts that an apply after the handover is going to meet. No server was asked.
type ConflictError struct{ Conflicts []fieldowner.Conflict }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%d fields have other owners", len(e.Conflicts))
}

// conflict returns the conflicts of the apply of the manifest after the handover, given what a server records of it. A
// server says nothing of conflicts before the entries have moved.
func (h *Handover) conflict(manifest map[string]any, declared projection.FieldSet) error {
	conflicts, err := fieldowner.PredictConflicts(h.after.Object, manifest, declared, h.wanted.Applier)
	if err == nil && len(conflicts) > 0 {
		err = &ConflictError{conflicts}
	}
	return err
}

// Warnings says which entries of the record move to another version; nothing if h is nil.
func (h *Handover) Warnings() (warnings []foreign.Text) {
	if h == nil {
		return nil
	}
	for _, version := range h.wanted.Lost {
		if owners := InVersions(h.live, version); len(owners) > 0 {
			warnings = append(warnings, foreign.Textf("managedFields of %s are moved from %s to %s before the apply",
				strings.Join(owners, ", "), foreign.Text(version), foreign.Text(h.live.GetAPIVersion())))
		}
	}
	return warnings
}

// Lost returns the refusal of an apply to the live object, nil if it couldn't be read, with the managers whose entries
// are in the version that the server can't convert to.
func Lost(live *unstructured.Unstructured, refusal error) error {
	version, found := lostVersion(refusal)
	if owners := InVersions(live, version); found && len(owners) > 0 {
		return fmt.Errorf("managedFields of %s are in %s, which the CRD no longer has: %w",
			strings.Join(owners, ", "), foreign.Text(version), refusal)
	}
	return refusal
}

func lostVersion(refusal error) (version string, found bool) {
	for _, status := range answer.Statuses(refusal) {
		if version, found = answer.VersionLost(status); found {
			break
		}
	}
	return version, found
}
