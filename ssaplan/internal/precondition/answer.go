package precondition

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// ErrOnlyTried says that the answer to a write is the answer to a dry run. A program in front of the server must have
// turned the write into a dry run.
var ErrOnlyTried = errors.New("the server only tried it: the answer is the one to a dry run")

// Written returns an error if a successful answer can't be the answer to this write. live is the object before the
// write, or nil if the write creates the object.
func Written(live, answer *unstructured.Unstructured) error {
	switch err := Complete(answer); {
	case err != nil:
		return err
	case onlyTried(live, answer):
		return ErrOnlyTried
	case live != nil && answer.GetUID() != live.GetUID():
		return secrecy.Quoting("the answer is another object", "its uid is %q and not %q", answer.GetUID(),
			live.GetUID())
	}
	return nil
}

// onlyTried reports whether the answer to a write is the one to a dry run: it has the version of before and another
// content. The record of a Scale isn't compared, since no server sends one.
func onlyTried(live, answer *unstructured.Unstructured) bool {
	switch {
	case live == nil:
		return answer.GetResourceVersion() == AbsentVersion
	case answer.GetResourceVersion() != live.GetResourceVersion() || WentWith(live, answer):
		return false
	case answer.GetKind() == "Scale":
		return !explain.Equal(WithoutManagedFields(live), WithoutManagedFields(answer))
	}
	return !explain.Equal(live.Object, answer.Object)
}

// WentWith reports whether the write may have removed an object that is being deleted, as a write that removes the last
// finalizer does. The answer to such a write has the version before the write.
func WentWith(live, answer *unstructured.Unstructured) bool {
	return live.GetDeletionTimestamp() != nil && len(answer.GetFinalizers()) == 0
}

// Tried returns an error if the answer to a dry run can't be about the live object, in this version or another one.
// Another object with the same resourceVersion is such an answer, and so is the live object without a resourceVersion.
// Without a resourceVersion, another uid is fine: the dry run would create the object. If live is nil, the result is
// nil.
func Tried(live, answer *unstructured.Unstructured) error {
	if live == nil {
		return nil
	}
	if uid := answer.GetUID(); answer.GetResourceVersion() == "" && uid != "" && uid != live.GetUID() {
		return nil // it would create the object, so the live one is gone
	}
	if err := Complete(answer); err != nil {
		return fmt.Errorf("dry run: %w", err)
	}
	if err := Another(live, answer); err != nil {
		return fmt.Errorf("dry run: %w", err)
	}
	return nil
}

// DryRunWrote says that a dry run was carried out.
func DryRunWrote(answer *unstructured.Unstructured) error {
	return secrecy.Quoting(
		"the dry run wrote: something in front of the server drops dryRun, so nothing can be planned through it",
		"%q in resourceVersion %q", answer.GetName(), answer.GetResourceVersion())
}

// CheckDryRun returns an error if the server carried out the dry run of a create or an update. in is the object that
// the request sent.
func CheckDryRun(in, answer *unstructured.Unstructured, dryRun []string) error {
	version := answer.GetResourceVersion()
	if len(dryRun) == 0 || version == "" || version == in.GetResourceVersion() {
		return nil
	}
	return DryRunWrote(answer)
}
