package explain

import (
	"slices"
	"time"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/managedfields"
	"github.com/ssaplan/primitives/projection"
)

// lastApplied returns the time of the applier's last change, as managedFields have it; zero if they have no entry of
// the applier, or none with a time.
func lastApplied(obj map[string]any, applier fieldowner.Applier) (last time.Time) {
	for entry := range managedfields.All(obj) {
		if !applier.Is(fieldowner.Owner(entry.Owner)) {
			continue
		}
		if t, err := answer.ParseTime(entry.Written); err == nil && t.After(last) {
			last = t
		}
	}
	return last
}

// latestOther returns the owner of p, or of a field below p, that wrote last, except the applier.
func latestOther(owners fieldowner.Ownership, p projection.Path,
	applier fieldowner.Applier) (latest fieldowner.Owner, known bool) {
	for _, owner := range slices.Concat(owners.Of(p), owners.Below(p)) {
		if !applier.Is(owner) && (!known || owner.Time.After(latest.Time)) {
			latest, known = owner, true
		}
	}
	return latest, known
}

// inVersionOf selects the owners that wrote in the API version of obj. Their fields have the shape of this version.
// Another version may have other atomic maps and lists.
func inVersionOf(obj map[string]any) func(fieldowner.Owner) bool {
	return func(owner fieldowner.Owner) bool { return string(owner.APIVersion) == obj["apiVersion"] }
}
