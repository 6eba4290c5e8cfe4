package handover

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
)

// change returns the object with other managedFields: by returns the new entry for each entry, and more are added.
func change(
	obj map[string]any, by func(fieldowner.Entry) fieldowner.Entry, more ...fieldowner.Entry,
) (map[string]any, error) {
	changed, err := fieldowner.HandOver(obj, by, more...)
	if err != nil || changed.Empty() {
		return obj, err
	}
	return changed.Object(), nil
}

// versionOf returns the API version of the applier's entry, and "" if the applier has no entry.
func versionOf(owners fieldowner.Ownership, applier fieldowner.Applier) string {
	for _, e := range owners.Entries() {
		if applier.Is(e.Owner) {
			return string(e.APIVersion)
		}
	}
	return ""
}

// InVersions returns the owners whose entries are in one of the versions; none of a live object that is nil.
func InVersions(live *unstructured.Unstructured, versions ...string) (owners []string) {
	if live == nil {
		return nil
	}
	ownership, err := fieldowner.Read(live.Object)
	if err != nil {
		return nil
	}
	for _, e := range ownership.Entries() {
		if slices.Contains(versions, string(e.APIVersion)) {
			owners = append(owners, e.Owner.String())
		}
	}
	return owners
}
