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
	return foreign.Textf("another tool applies under the same field manager, last at %s, or that apply was not recorded: these fields differ from the recorded ones: %s",
		r.Time.UTC().Format(time.RFC3339), projection.JoinPaths(r.Paths)).String()
}

// RivalOf returns the apply to the live object under the manager's name that came after prior. It is nil if there is
// none, if the object has another UID, or if managedFields don't show it. Its paths are redacted for the sensitive
// patterns.
func RivalOf(live *unstructured.Unstructured, prior *State, sensitive ...projection.Pattern) *Rival {
	if live == nil || prior == nil {
		return nil
	}
	in := Input{Live: live.Object, Prior: prior.Hiding(sensitive), Manager: prior.Manager, Subresource: prior.Subresource}
	in.Sensitive = sensitive
	return in.rival()
}

// rival returns who else applied under the name of the manager, nil if nobody did or nothing is known of it. A server
// sets the time of a record when its manager changes something, and leaves it when others take fields away; so another
// apply has a later time than the remembered one, unless both were within a second. An apply that changes no value of
// an object has no time. Source: k8s.io/apimachinery/pkg/util/managedfields/internal.
func (in Input) rival() *Rival {
	if in.Was != nil {
		in.Live = in.Was
	}
	if in.Live == nil || in.Prior == nil || !in.Prior.isOf(in) {
		return nil
	}
	last := lastApplied(in.Live, in.applier())
	if in.Prior.time.IsZero() && in.Prior.record == nil || last.Before(in.Prior.time) {
		return nil
	}
	owners, err := in.Records.Read(in.Live)
	if err != nil {
		return nil // of which the explanation of an apply that isn't known to be a no-op is an error
	}
	in.Prior = in.Prior.reshaped(owners, in.Live, false)
	disagreement := in.disagreement
	if last.Equal(in.Prior.time) {
		disagreement = in.disagreementWithinSecond
	}
	paths := shownOnce(disagreement(owners), in.Prior.shownPath, pathItself, always)
	paths = shownPaths(paths, in.Sensitive.OfEveryItem())
	if len(paths) == 0 {
		return nil
	}
	return &Rival{Time: last, Paths: paths}
}

// isOf reports whether s remembers an apply of that manager to that object.
func (s *State) isOf(in Input) bool {
	live := unstructured.Unstructured{Object: in.Live}
	return s.applier() == in.applier() && s.UID == string(live.GetUID())
}

// prior returns the remembered state with the items of hidden lists.
func (in Input) prior() *State {
	if in.clear == nil {
		return in.Prior.revealed(in.Live)
	}
	return in.clear
}

// disagreement returns where the live object isn't as it was applied, and none but the manager can be the reason.
func (in Input) disagreement(owners fieldowner.Ownership) []projection.Path {
	prior := in.prior()
	applied := prior.appliedTo(in.Live)
	own := prior.shown(owners.Declared(nil, in.Live, in.applier()).Fields)
	paths := slices.Collect(own.Leaves().Difference(applied.Fields).Without(prior.filled).All())
	for _, d := range projection.Diff(applied, prior.Digested(projection.Project(in.Live, applied.Fields))) {
		if _, others := latestOther(owners, d.Path, in.applier()); !others {
			paths = append(paths, d.Path)
		}
	}
	return slices.Collect(projection.NewFieldSet(paths...).All())
}

// disagreementWithinSecond is disagreement where the time of the record doesn't tell that there was another apply. It
// has what nothing but another one under the manager's name leaves behind.
func (in Input) disagreementWithinSecond(owners fieldowner.Ownership) []projection.Path {
	if was := in.Prior.record; was == nil || !was.isKept(in.Prior, in.Live) {
		return nil
	}
	prior := in.prior()
	was := prior.record
	own, applied := prior.shown(owners.Fields(in.applier().Is)).Leaves(), prior.Applied.Fields.Leaves()
	known := applied.Union(was.unsure)
	var paths []projection.Path
	for p := range own.All() {
		// A list that becomes atomic, or none, changes how a record names what is in it.
		if !known.Covers(p) && known.Under(p).Empty() {
			paths = append(paths, p)
		}
	}
	live := unstructured.Unstructured{Object: in.Live}
	isSameGeneration := was.generation != 0 && was.generation == live.GetGeneration()
	for _, d := range projection.Diff(prior.Applied, prior.Digested(projection.Project(in.Live, prior.Applied.Fields))) {
		isReadOtherwise := isSameGeneration && d.Path[0].Name() != "metadata" // nobody wrote it
		if d.Op == projection.OpChange && own.Has(d.Path) && applied.Has(d.Path) && !was.unsure.Covers(d.Path) && !isReadOtherwise {
			paths = append(paths, d.Path)
		}
	}
	return slices.Collect(projection.NewFieldSet(paths...).All())
}

// newAppliedRecord returns that of the object that an apply of the manifest was answered with, given what s remembers
// of it.
func (s *State) newAppliedRecord(manifest, obj map[string]any, owners fieldowner.Ownership) *appliedRecord {
	if manifest == nil || s.Subresource != "" {
		return nil
	}
	live := unstructured.Unstructured{Object: obj}
	out := &appliedRecord{version: live.GetResourceVersion(), generation: live.GetGeneration(), others: s.othersDigest(obj)}
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

// isKept reports whether the live object was written since, and none of the records of others changed by that.
func (r *appliedRecord) isKept(of *State, live map[string]any) bool {
	obj := unstructured.Unstructured{Object: live}
	return obj.GetAPIVersion() == of.Identity.APIVersion && obj.GetResourceVersion() != r.version && of.othersDigest(live) == r.others
}

// othersDigest returns a digest of the records of others than the applier, without those of subresources: what is
// written through one changes owners as well, and controllers write a status all the time.
func (s *State) othersDigest(obj map[string]any) string {
	var entries []string
	for _, entry := range record(obj) {
		owner, _ := recordedOwner(entry)
		if text, err := json.Marshal(entry); err == nil && owner.Subresource == "" && !s.applier().Is(owner) {
			entries = append(entries, string(text))
		}
	}
	slices.Sort(entries)
	mac := hmac.New(sha256.New, s.salt) // a record has the values of sets
	for _, entry := range entries {
		mac.Write(append([]byte(entry), 0))
	}
	return base64.RawStdEncoding.EncodeToString(mac.Sum(nil))
}
