package explain

import (
	"slices"
	"time"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// managedFields returns the managedFields of an object, not decoded. Decoding the fields of all entries takes much
// longer than reading their owners and times.
func managedFields(obj map[string]any) []any {
	metadata, _ := obj["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	return entries
}

// recordedOwner returns the owner and the time of an entry of managedFields. The owner has no Time and no APIVersion.
func recordedOwner(entry any) (owner fieldowner.Owner, written string) {
	fields, _ := entry.(map[string]any)
	text := func(name string) string { v, _ := fields[name].(string); return v }
	return fieldowner.Owner{
		Manager: foreign.Text(text("manager")), Operation: text("operation"), Subresource: foreign.Text(text("subresource")),
	}, text("time")
}

// lastApplied returns the time of the applier's last change, as managedFields have it; zero if they have no entry of
// the applier, or none with a time.
func lastApplied(obj map[string]any, applier fieldowner.Applier) (last time.Time) {
	for _, entry := range managedFields(obj) {
		owner, written := recordedOwner(entry)
		if t, err := time.Parse(time.RFC3339, written); err == nil && applier.Is(owner) && t.After(last) {
			last = t
		}
	}
	return last
}

// latestOther returns the owner of p, or of a field below p, that wrote last, except the applier.
func latestOther(owners fieldowner.Ownership, p projection.Path, applier fieldowner.Applier) (latest fieldowner.Owner, known bool) {
	for _, owner := range slices.Concat(owners.Of(p), owners.Below(p)) {
		if !applier.Is(owner) && (!known || owner.Time.After(latest.Time)) {
			latest, known = owner, true
		}
	}
	return latest, known
}

// inVersionOf selects the owners whose fields have the shape that they have in the version of obj. Another version
// may have other atomic maps and lists.
func inVersionOf(obj map[string]any) func(fieldowner.Owner) bool {
	return func(owner fieldowner.Owner) bool { return string(owner.APIVersion) == obj["apiVersion"] }
}
