package explain

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/managedfields"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Rival is an apply under the manager's own name that isn't in [Input].Prior. Either another tool applies to the object
// under the same name, and the two undo each other's changes, or the caller didn't store the state of its last apply.
type Rival struct {
	// Time is the time of the apply.
	Time time.Time `json:"time"`
	// Paths are the fields in which the apply differs from the stored state: fields that it added, and fields that it
	// changed or removed and that no other manager owns now. There is at least one.
	Paths []projection.Path `json:"paths"`
}

// String returns a sentence for people.
func (r Rival) String() string {
	return foreign.Textf(
		"another tool applies under the same field manager, last at %s, or that apply was not recorded: these fields "+
			"differ from the recorded ones: %s",
		r.Time.UTC().Format(time.RFC3339), projection.JoinPaths(r.Paths)).String()
}

// RivalOf returns the apply to the live object under the manager's name that came after prior. It is nil if there is
// none, if the object has another UID, or if managedFields don't show it. Its paths are redacted for the sensitive
// patterns.
func RivalOf(live *unstructured.Unstructured, prior *State, sensitive ...projection.Pattern) *Rival {
	if live == nil || prior == nil {
		return nil
	}
	return rivalOf(live.Object, prior.WithSensitive(sensitive), nil, sensitive)
}

// rivalOf returns another apply to the live object under the name of prior's manager. It is nil if there was none, or
// if nothing is known of one.
//
// A server sets the time of an entry in managedFields when its manager changes something, and leaves it when others
// take fields away. So another apply has a later time than the stored one, unless both were within a second. An apply
// that changes no value leaves the time unchanged, so a new entry of such an apply has no time. Source:
// k8s.io/apimachinery/pkg/util/managedfields/internal.
func rivalOf(live map[string]any, prior *State, records fieldowner.Records, sensitive projection.Patterns) *Rival {
	if live == nil || prior.UID != uidOf(live) {
		return nil
	}
	last := lastApplied(live, prior.applier())
	if prior.time.IsZero() && prior.record == nil || last.Before(prior.time) {
		return nil
	}
	owners, err := records.Read(live)
	if err != nil {
		return nil // Apply returns the same error of its live object; Known and RivalOf ignore the error
	}
	prior = prior.reshaped(owners, live, false)
	disagreement := prior.disagreement
	if last.Equal(prior.time) {
		disagreement = prior.disagreementWithinSecond
	}
	paths := redactedOnce(disagreement(owners, live), prior.shownPath, pathItself, always)
	paths = redactedPaths(paths, sensitive.OfEveryItem())
	if len(paths) == 0 {
		return nil
	}
	return &Rival{Time: last, Paths: paths}
}

// disagreement returns the fields of the live object that aren't as they were applied, and that no other manager can
// have changed.
func (s *State) disagreement(owners fieldowner.Ownership, live map[string]any) []projection.Path {
	prior := s.revealed(live)
	applied := prior.appliedTo(live)
	own := prior.shown(owners.Declared(nil, live, s.applier()).Fields)
	paths := slices.Collect(own.Leaves().Difference(applied.Fields).Without(prior.filled).All())
	for _, d := range projection.Diff(applied, prior.Digested(projection.Project(live, applied.Fields))) {
		if _, others := latestOther(owners, d.Path, s.applier()); !others {
			paths = append(paths, d.Path)
		}
	}
	return slices.Collect(projection.NewFieldSet(paths...).All())
}

// disagreementWithinSecond is used in place of disagreement if the live object has the time of the stored apply.
// Another apply may have the same time. So it returns only differences that nothing but an apply under the manager's
// name can cause.
func (s *State) disagreementWithinSecond(owners fieldowner.Ownership, live map[string]any) []projection.Path {
	if was := s.record; was == nil || !was.canShowApply(s, live) {
		return nil
	}
	prior := s.revealed(live)
	was := prior.record
	own, applied := prior.shown(owners.Fields(s.applier().Is)).Leaves(), prior.Applied.Fields.Leaves()
	known := applied.Union(was.unsure)
	var paths []projection.Path
	for p := range own.All() {
		// managedFields name the content of a list in another way once the list becomes atomic or granular.
		if !known.Covers(p) && known.Under(p).Empty() {
			paths = append(paths, p)
		}
	}
	generation := (&unstructured.Unstructured{Object: live}).GetGeneration()
	isSameGeneration := was.generation != 0 && was.generation == generation
	for _, d := range projection.Diff(prior.Applied, prior.Digested(projection.Project(live, prior.Applied.Fields))) {
		// If the generation is the same, no write changed the value: the server only reads it in another form. The
		// generation doesn't count writes to the metadata.
		isReadOtherwise := isSameGeneration && d.Path[0].Name() != "metadata"
		if d.Op == projection.OpChange && own.Has(d.Path) && applied.Has(d.Path) && !was.unsure.Covers(d.Path) &&
			!isReadOtherwise {
			paths = append(paths, d.Path)
		}
	}
	return slices.Collect(projection.NewFieldSet(paths...).All())
}

// newAppliedRecord returns the record of obj, the answer to an apply of the manifest. s is the state made from it. The
// record is nil if the manifest isn't known, or for a subresource.
func (s *State) newAppliedRecord(manifest, obj map[string]any, owners fieldowner.Ownership) *appliedRecord {
	if manifest == nil || s.Subresource != "" {
		return nil
	}
	live := unstructured.Unstructured{Object: obj}
	out := &appliedRecord{version: live.GetResourceVersion(), generation: live.GetGeneration(),
		others: s.othersDigest(obj)}
	own := s.shown(owners.Fields(s.applier().Is))
	sent, stored := projection.NewManifest(manifest, own), projection.NewObject(obj, own)
	var sure []projection.Path
	for p := range s.Applied.Fields.Leaves().Without(s.filled).All() {
		wanted, wasSent := sent.Get(p)
		value, isStored := stored.Get(p)
		_, isMap := value.(map[string]any)
		if wasSent && isStored && !isMap && equal(wanted, value) {
			sure = append(sure, p)
		}
	}
	out.unsure = own.Leaves().Difference(projection.NewFieldSet(sure...))
	return out
}

// canShowApply reports whether r can still show another apply to the live object. The live object must have the API
// version of the state, and another resourceVersion than r. In managedFields, the entries of other managers must be
// unchanged, except those of subresources.
func (r *appliedRecord) canShowApply(of *State, live map[string]any) bool {
	obj := unstructured.Unstructured{Object: live}
	return obj.GetAPIVersion() == of.Identity.APIVersion && obj.GetResourceVersion() != r.version &&
		of.othersDigest(live) == r.others
}

// othersDigest returns a digest of the entries of other managers than the applier, without those of subresources: a
// write to a subresource changes owners, too, and controllers write a status all the time.
func (s *State) othersDigest(obj map[string]any) string {
	var entries []string
	for entry := range managedfields.All(obj) {
		isOther := entry.Owner.Subresource == "" && !s.applier().Is(fieldowner.Owner(entry.Owner))
		if text, err := json.Marshal(entry.Whole); err == nil && isOther {
			entries = append(entries, string(text))
		}
	}
	slices.Sort(entries)
	mac := hmac.New(sha256.New, s.salt) // with the salt, since managedFields contain list keys, which may be secret
	for _, entry := range entries {
		mac.Write(append([]byte(entry), 0))
	}
	return base64.RawStdEncoding.EncodeToString(mac.Sum(nil))
}
