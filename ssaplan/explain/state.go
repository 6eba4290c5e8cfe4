package explain

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// stateVersion is the version of the JSON form that this package writes. In version 1 equal secrets of an object had
// equal digests; since version 2 the path of a value is part of its digest, and since version 3 it takes some time to
// make one.
const stateVersion = 3

// stretched is how often a digest is made of a digest, so that trying values takes time, too: a state of 20 secrets
// costs some 20 ms; a PIN of four digits costs who has the state some 10 s on one core, where it was 0.1 s, and six
// random letters and digits more than a year. So a short secret can't be kept from who has the state, a long random one
// is.
const stretched = 5000

// State is the stored result of an apply: the identity of the object, the declared fields, and the values that the
// server had there afterwards. Its size is bounded by the size of the manifest; a value that others made much larger is
// kept as a digest.
//
// A State holds no secret value. Sensitive values are kept as salted digests (PBKDF2 of 5,000 rounds of HMAC-SHA-256),
// which still show that a value changed. The salt is part of the state. So a reader of the state can find a short
// secret by trying, at about 1 ms for each attempt on one core. A plan or refresh takes the same time for each
// sensitive value.
//
// A list whose item keys are sensitive values is in Applied and Observed as a whole, with the items of others. For such
// a list the state also keeps a digest of each applied item, to compare them one by one, and a plan takes 1 ms for each
// item.
//
// A State is made by [NewState] and marshals to versioned JSON. The zero State is empty.
type State struct {
	Identity identity.Identity
	UID      string
	// Manager is the field manager that applied, and Subresource the subresource: "status", "scale" and the like, and
	// "" for the object itself.
	Manager, Subresource string
	// Applied are the declared fields with the values that the object had after the apply.
	Applied projection.Projection
	// Observed are the same fields with the values that the object had when it was last read.
	Observed projection.Projection
	// Adopted reports whether the object existed before the manager applied to it. A caller may release such an object
	// instead of deleting it. See [IsAdopted].
	Adopted bool
	// Stale marks a state that could not be refreshed. See [authresilience.Degrade].
	Stale authresilience.Stale

	sensitive projection.FieldSet   // beside what is so in every object of the kind
	items     projection.Projection // what was applied in hidden lists, with digests; see masks
	filled    projection.FieldSet   // the maps that were declared with nothing in them, and were filled or null
	left      projection.FieldSet   // the parts of lists and maps with one owner that are left to others
	ignored   projection.Patterns   // what else of such lists and maps is left to others as soon as it is there
	cleared   projection.Patterns   // the fields to clear of the last apply
	time      time.Time             // when the manager applied last, by the object's record
	record    *appliedRecord        // nil if nothing is known of it
	salt      []byte
	// digests is 1 or 2 if the sensitive values are digests of that version, and 0 if they are those of this one.
	digests int
	renamed []projection.Renaming // since the digests were made; see reshaped
	unkept  map[string]string     // digests, by path, of what was applied and the server didn't keep
	rest    map[string]string     // and of hidden lists without the parts of them that are left to others
}

// applier returns who applied.
func (s *State) applier() fieldowner.Applier {
	return fieldowner.Applier{Manager: s.Manager, Subresource: s.Subresource}
}

// NewState returns the state to store after the applier applied manifest; obj is the server's answer. If there is a
// prior state, its salt is used again, so that an unchanged sensitive value has the same digest. Values of fields that
// match a sensitive pattern become digests, too.
//
// The manifest may be nil if it isn't known, as for an imported object. Then a map that was declared as empty and
// filled by the server may count as declared with its content; see [fieldowner.Ownership.Declared].
func NewState(manifest, obj map[string]any, applier fieldowner.Applier, prior *State, sensitive ...projection.Pattern) (*State, error) {
	if obj == nil {
		return nil, errors.New("explain: no object to remember")
	}
	id, err := identity.Of(obj)
	if err != nil {
		return nil, err
	}
	owners, err := fieldowner.Read(obj)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	out, err := newState(id, obj, applier, prior, owners.Declared(manifest, obj, applier))
	if err != nil {
		return nil, err
	}
	nulls := out.declaredNull(manifest, owners)
	out.Applied = out.Applied.Replace(nulls, func(projection.Path, any) any { return nil })
	out.filled = out.filled.Difference(nulls).Union(out.declaredHollow(manifest))
	out.unkept = out.digestsOfUnkept(manifest)
	out.time, out.record = lastApplied(obj, applier), out.newAppliedRecord(manifest, obj, owners)
	return out.hiding(sensitive, obj), nil
}

// declaredNull returns those of the filled maps that the manifest declares as null, and in which others own something.
// What they have there isn't what was declared, and neither is an empty map that they leave behind.
func (s *State) declaredNull(manifest map[string]any, owners fieldowner.Ownership) projection.FieldSet {
	var paths []projection.Path
	sent := projection.NewManifest(manifest, s.Applied.Fields)
	for p := range s.filled.Intersection(s.Applied.Fields.Above(owners.Fields(nil))).All() {
		if v, declared := sent.Get(p); declared && v == nil {
			paths = append(paths, p)
		}
	}
	return projection.NewFieldSet(paths...)
}

// declaredHollow returns the maps that the manifest declares as empty and that are null, and those in which it has
// nothing that a server records and that have something in them. A server makes a map null if it can be, and all goes
// from it that was in it. Another manager that declares it as empty as well gets an empty map.
func (s *State) declaredHollow(manifest map[string]any) projection.FieldSet {
	sent := projection.NewManifest(manifest, s.Applied.Fields)
	var paths []projection.Path
	for p, v := range s.Applied.Leaves() {
		has, isFilled := v.(map[string]any)
		if v != nil && len(has) == 0 {
			continue
		}
		wanted, _ := sent.Get(p)
		m, isMap := wanted.(map[string]any)
		if isMap && (len(m) == 0 || isFilled && fieldowner.IsHollow(m)) {
			paths = append(paths, p)
		}
	}
	return projection.NewFieldSet(paths...)
}

// digestsOfUnkept returns the digests of the values that the manifest has where the server kept none. If one is there
// later, since another write made the server keep it, that isn't drift. Each digest takes a millisecond: of a
// manifest that hardly fits its kind nothing of that is remembered.
func (s *State) digestsOfUnkept(manifest map[string]any) map[string]string {
	const most = 100
	if len(s.Applied.Missing) == 0 || len(s.Applied.Missing) > most {
		return nil
	}
	sent, unkept := projection.NewManifest(manifest, s.Applied.Fields), map[string]string{}
	for _, p := range s.Applied.Missing {
		if value, declared := sent.Get(p); declared && value != nil {
			unkept[p.String()], _ = s.digest(p, value).(string)
		}
	}
	return unkept
}

// NewImportedState returns the state to store for an imported object: the state as if the manager had applied manifest,
// which [fieldowner.NewManifest] made from live. Values of fields that match a sensitive pattern become digests.
func NewImportedState(manifest fieldowner.Manifest, live map[string]any, manager string, sensitive ...projection.Pattern) (*State, error) {
	id, err := identity.Of(live)
	if err != nil {
		return nil, err
	}
	out, err := newState(id, live, fieldowner.Applier{Manager: manager}, nil, manifest.Declaration)
	if err != nil {
		return nil, err
	}
	return out.hiding(sensitive, live), nil
}

// newState returns the state with digests of the values that are sensitive in every object of the kind, and of no
// others.
func newState(
	id identity.Identity, obj map[string]any, applier fieldowner.Applier, prior *State, declared fieldowner.Declaration,
) (*State, error) {
	uid := (&unstructured.Unstructured{Object: obj}).GetUID()
	out := &State{Identity: id, UID: string(uid), Manager: applier.Manager, Subresource: applier.Subresource}
	if prior != nil {
		out.salt, out.digests = prior.salt, prior.digests
		out.Adopted = prior.Adopted && prior.UID == out.UID
	}
	if len(out.salt) == 0 {
		out.salt = make([]byte, 16)
		if _, err := rand.Read(out.salt); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
	}
	out.Applied = out.Digested(declared.Project(obj))
	out.Observed = out.Applied
	out.filled = declared.Filled
	return out, nil
}

// clone returns a copy of s to set fields in. Projections are never changed, so the copy shares them.
func (s *State) clone() *State {
	c := *s
	return &c
}

// Left reports whether pattern is one of the patterns for ignored fields that are stored in s. For a pattern with a
// position it is always true, since such patterns aren't stored.
func (s *State) Left(pattern projection.Pattern) bool {
	return remembers(s.ignored, pattern)
}

// Cleared reports whether pattern is one of the patterns for fields to clear that are stored in s. For a pattern with a
// position it is always true, since such patterns aren't stored.
func (s *State) Cleared(pattern projection.Pattern) bool {
	return remembers(s.cleared, pattern)
}

func remembers(stored projection.Patterns, pattern projection.Pattern) bool {
	remembered := projection.Patterns{pattern}.WithoutPositions()
	return len(remembered) == 0 || slices.ContainsFunc(stored, func(p projection.Pattern) bool { return p.String() == pattern.String() })
}

// WithCleared returns s with the patterns of the fields to clear; see [State.Cleared].
func (s *State) WithCleared(patterns projection.Patterns) *State {
	out := s.clone()
	out.cleared = patterns.WithoutPositions()
	return out
}

// Without returns s without the ignored fields, so that they are no drift any more. Parts of atomic lists and maps that
// the patterns match, now or later, are no drift either. If a part of a list with sensitive item keys is ignored,
// Applied and Observed lack the whole list. obj is the object from which s was made.
func (s *State) Without(obj map[string]any, fields projection.FieldSet, patterns ...projection.Pattern) *State {
	out := s.clone()
	out.ignored = projection.Patterns(patterns).WithoutPositions()
	shown := projection.NewFieldSet(shownOnce(slices.Collect(fields.All()), s.shownPath, pathItself, always)...)
	out.Applied, out.Observed = s.Applied.Without(shown), s.Observed.Without(shown)
	lists := s.hiddenLists()
	given := s.masks(lists).hidden(fields)
	out.items = s.items.Without(given)
	if s.record != nil {
		record := *s.record
		record.unsure, out.record = record.unsure.Without(given).Union(given), &record // of which a leaf covers what is below it
	}
	for p := range shown.All() {
		if len(wholeAt(out.Applied.Fields, p)) < len(p) {
			out.left = out.left.Union(projection.NewFieldSet(p))
		}
	}
	if out.left.Empty() && len(out.ignored) == 0 {
		return out
	}
	out.rest = map[string]string{}
	there := projection.NewObject(obj, out.Applied.Fields)
	for p := range out.Applied.Fields.Leaves().All() {
		v, _ := there.Get(p)
		if _, isList := v.([]any); isList && s.sensitive.Covers(p) { // of a map each field has its digest
			out.rest[p.String()] = out.digestOfRest(p, obj)
		}
	}
	return out
}

// wholesIn returns the lists and maps with one owner of which a part is left to others. A map that was declared as
// empty, and that others fill, is none.
func (s *State) wholesIn(obj map[string]any) []whole {
	parts := slices.Concat(slices.Collect(s.left.All()), s.ignored.Find(obj, s.Applied.Fields))
	wholes := wholesOf(s.Applied.Fields, parts, s.ignored)
	return slices.DeleteFunc(wholes, func(w whole) bool { return s.filled.Has(w.at) })
}

// digestOfRest returns the digest of what the object has there without the parts that are left to others.
func (s *State) digestOfRest(at projection.Path, obj map[string]any) string {
	parts := slices.Clone(s.ignored)
	for p := range s.left.All() {
		parts = append(parts, projection.PatternOf(p))
	}
	rest, _ := parts.Remove(obj)
	v, _ := projection.NewObject(rest, s.Applied.Fields).Get(at)
	digest, _ := s.digest(at, v).(string)
	return digest
}

// appliedTo returns what was applied with the parts that are left to others as obj has them. Of a list or map that was
// nothing but such parts, nothing is sent unless obj has an empty one; all that obj has there is of others then.
//
// It lacks the maps that were declared as empty and that others filled and emptied again, if a server leaves out such
// an empty one.
func (s *State) appliedTo(obj map[string]any) projection.Projection {
	out := s.withoutOmitted(obj)
	if s.left.Empty() && len(s.ignored) == 0 {
		return out
	}
	wholes := s.wholesIn(obj)
	if len(wholes) == 0 {
		return out
	}
	out.Object, _ = projection.Patterns{}.Remove(out.Object) // a copy
	applied := projection.NewObject(out.Object, out.Fields)
	var at []projection.Path
	for _, w := range wholes {
		at = append(at, w.at)
	}
	there := projection.NewObject(s.Digested(projection.Project(obj, projection.NewFieldSet(at...))).Object, out.Fields)
	for _, w := range wholes {
		value, had := applied.Get(w.at)
		live, exists := there.Get(w.at)
		if rest, isHidden := s.rest[w.at.String()]; isHidden {
			if exists && s.digestOfRest(w.at, obj) == rest {
				_ = applied.Set(w.at, live)
			}
			continue
		}
		held, err := w.parts.Hold(w.at, value, live)
		switch {
		case !had || err != nil:
		case held.Exists:
			_ = applied.Set(w.at, held.Value)
		case exists:
			_ = applied.Set(w.at, live)
		default:
			applied.Remove(w.at)
		}
	}
	return out
}

// withoutOmitted returns what was applied without the maps that were declared as empty and had something in them, and
// that obj lacks, if it is of a kind that comes with Kubernetes, in which a server stores no such map that is empty.
func (s *State) withoutOmitted(obj map[string]any) projection.Projection {
	if s.filled.Empty() || !kinds.IsBuiltin(obj) {
		return s.Applied
	}
	var omitted []projection.Path
	kind, _ := obj["kind"].(string)
	there := projection.NewObject(obj, s.Applied.Fields)
	for p := range s.filled.All() {
		if _, exists := there.Get(p); !exists && kinds.IsMapField(kind, p[len(p)-1].Name()) {
			omitted = append(omitted, p)
		}
	}
	if omitted == nil {
		return s.Applied
	}
	out := s.Applied
	out.Object, _ = projection.Patterns{}.Remove(out.Object) // a copy
	applied := projection.NewObject(out.Object, out.Fields)
	for _, p := range omitted {
		applied.Remove(p)
	}
	return out
}

// Digested returns p with the values of sensitive fields replaced by digests, to compare p with s.Applied and
// s.Observed. For example, compare s.Observed with the digested After of a plan to show what the plan changes.
func (s *State) Digested(p projection.Projection) projection.Projection {
	if !s.sensitive.Empty() {
		p.Sensitive = p.Sensitive.Union(s.sensitive)
	}
	return p.ReplaceSensitive(s.digest)
}

func (s *State) digest(at projection.Path, v any) any {
	text, _ := json.Marshal(v)
	for _, item := range slices.Backward(s.renamed) { // inner items first
		if at.HasPrefix(item.Is) {
			at = slices.Concat(item.Was, at[len(item.Is):])
			break
		}
	}
	if s.digests == 0 {
		salt := append(append(bytes.Clone(s.salt), at.String()...), 0)
		if key, err := pbkdf2.Key(sha256.New, string(text), salt, stretched, sha256.Size); err == nil {
			return "pbkdf2-sha256:" + base64.RawStdEncoding.EncodeToString(key)
		}
	}
	mac := hmac.New(sha256.New, s.salt)
	if s.digests != 1 {
		mac.Write(append([]byte(at.String()), 0))
	}
	mac.Write(text)
	return "hmac-sha256:" + base64.RawStdEncoding.EncodeToString(mac.Sum(nil))
}

// bounded returns what was observed with digests in place of values that are much larger than those that were applied.
// They grow in the hands of others, and the state shall not grow with them.
func (s *State) bounded(observed projection.Projection, drift []Change) projection.Projection {
	const room = 1 << 10
	var large []projection.Path
	for _, change := range drift {
		if size(change.After) > room+2*size(change.Before) {
			large = append(large, change.Path)
		}
	}
	return observed.Replace(projection.NewFieldSet(large...), s.digest)
}

// size returns the length of v as JSON.
func size(v any) int {
	text, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(text)
}

// upgraded returns s with digests as this version makes them. Only an object whose secrets are still those that were
// applied tells what they have to be; for any other, s stays as it is.
func (s *State) upgraded(live map[string]any) *State {
	if s.digests == 0 {
		return s
	}
	read := projection.Project(live, s.Applied.Fields)
	for _, change := range projection.Diff(s.Applied, s.Digested(read)) {
		if change.Sensitive {
			return s
		}
	}
	out, clear := s.clone(), s.revealed(live)
	out.digests = 0
	lists := s.hiddenLists()
	out.items = out.masks(lists).itemsOf(clear.Applied)
	digests := map[string]any{}
	read.ReplaceSensitive(func(at projection.Path, v any) any {
		digests[at.String()] = out.digest(at, v)
		return nil
	})
	out.Applied = s.Applied.ReplaceSensitive(func(at projection.Path, _ any) any { return digests[at.String()] })
	return out
}

// baseline returns the values to compare those of an explanation with. Nothing has to be compared for a no-op.
func (s *State) baseline(e *Explanation) projection.Projection {
	switch {
	case s == nil:
		return e.Before
	case e.NoOp || !s.Stale.IsZero():
		return s.Digested(e.Before)
	}
	fields, stays := s.Observed.Fields, s.stays(e.Dropped, e.After.Fields)
	stays = stays.Union(projection.NewFieldSet(e.Assigned...)) // which After lacks
	var around []projection.Path
	for p := range stays.Union(e.After.Fields).All() {
		for n := range p {
			around = append(around, p[:n])
		}
	}
	kept := fields.Without(stays).Difference(projection.NewFieldSet(around...).Difference(fields.Leaves()).Difference(e.After.Fields))
	if kept.Equal(fields) {
		return s.Observed
	}
	out := projection.Project(s.Observed.Object, kept)
	out.Sensitive = s.Observed.Sensitive
	return out
}

// stays returns those of the dropped fields of whose values nothing goes: others retain them, or the server resets them
// to what was observed there, and more. A hidden list of which items are dropped and others aren't is after the apply,
// too.
func (s *State) stays(dropped []fieldowner.DroppedField, after projection.FieldSet) projection.FieldSet {
	var paths []projection.Path
	observed := projection.NewObject(s.Observed.Object, s.Observed.Fields)
	for _, d := range dropped {
		value := d.Value
		if d.Sensitive {
			value = s.digest(d.Path, value)
		}
		was, _ := observed.Get(d.Path)
		if d.Fate == fieldowner.FateRetained || d.Fate != fieldowner.FateDeleted && isPart(was, value) {
			paths = append(paths, d.Path)
		}
	}
	return projection.NewFieldSet(paths...).Difference(after)
}

// isPart reports whether whole has all of part: nothing of that goes when whole takes its place. A map that was
// declared as empty is part of one with defaults.
func isPart(part, whole any) bool {
	fields, isMap := part.(map[string]any)
	all, wasMap := whole.(map[string]any)
	if !isMap || !wasMap {
		return equal(part, whole)
	}
	for name, v := range fields {
		if other, exists := all[name]; !exists || !isPart(v, other) {
			return false
		}
	}
	return true
}

// stateJSON is the persistent form. Observed is left out as long as it is the same as Applied, and Digests as long as
// they are those of this version.
type stateJSON struct {
	Version     int                  `json:"version"`
	APIVersion  string               `json:"apiVersion"`
	Kind        string               `json:"kind"`
	Namespace   string               `json:"namespace,omitempty"`
	Name        string               `json:"name"`
	UID         string               `json:"uid,omitempty"`
	Manager     string               `json:"manager"`
	Subresource string               `json:"subresource,omitempty"`
	Salt        []byte               `json:"salt"`
	Digests     int                  `json:"digests,omitempty"`
	Fields      projection.FieldSet  `json:"fields"`
	Sensitive   *projection.FieldSet `json:"sensitive,omitempty"`
	Items       *itemsJSON           `json:"items,omitempty"`
	Filled      *projection.FieldSet `json:"filled,omitempty"`
	Left        *projection.FieldSet `json:"left,omitempty"`
	Time        time.Time            `json:"time,omitzero"`
	Ignored     projection.Patterns  `json:"ignored,omitempty"`
	Cleared     projection.Patterns  `json:"cleared,omitempty"`
	Record      *recordJSON          `json:"record,omitempty"`
	Applied     json.RawMessage      `json:"applied"`
	Observed    json.RawMessage      `json:"observed,omitempty"`
	Unkept      map[string]string    `json:"unkept,omitempty"`
	Rest        map[string]string    `json:"rest,omitempty"`
	Adopted     bool                 `json:"adopted,omitempty"`
	Stale       authresilience.Stale `json:"stale,omitzero"`
}

// itemsJSON are the items of hidden lists, with digests in place of all names and values.
type itemsJSON struct {
	Fields projection.FieldSet `json:"fields"`
	Values map[string]any      `json:"values"`
}

type recordJSON struct {
	Version    string               `json:"resourceVersion"`
	Generation int64                `json:"generation,omitempty"`
	Others     string               `json:"others"`
	Unsure     *projection.FieldSet `json:"unsure,omitempty"`
}

func (r *appliedRecord) json() *recordJSON {
	if r == nil {
		return nil
	}
	return &recordJSON{r.version, r.generation, r.others, unlessEmpty(r.unsure)}
}

func (r *recordJSON) record() *appliedRecord {
	if r == nil {
		return nil
	}
	out := &appliedRecord{version: r.Version, generation: r.Generation, others: r.Others}
	if r.Unsure != nil {
		out.unsure = *r.Unsure
	}
	return out
}

// MarshalJSON returns the versioned form of s.
func (s State) MarshalJSON() ([]byte, error) {
	applied, err := json.Marshal(s.Applied.Object)
	if err != nil {
		return nil, err
	}
	observed, err := json.Marshal(s.Observed.Object)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(applied, observed) {
		observed = nil
	}
	var items *itemsJSON
	if !s.items.Fields.Empty() {
		items = &itemsJSON{s.items.Fields, s.items.Object}
	}
	return json.Marshal(stateJSON{
		Items:     items,
		Sensitive: unlessEmpty(s.sensitive), Filled: unlessEmpty(s.filled), Left: unlessEmpty(s.left), Ignored: s.ignored, Cleared: s.cleared, Time: s.time, Record: s.record.json(), Version: stateVersion, APIVersion: s.Identity.APIVersion, Kind: s.Identity.Kind, Namespace: s.Identity.Namespace,
		Name: s.Identity.Name, UID: s.UID, Manager: s.Manager, Subresource: s.Subresource, Salt: s.salt, Digests: s.digests, Fields: s.Applied.Fields,
		Applied: applied, Observed: observed, Unkept: s.unkept, Rest: s.rest, Adopted: s.Adopted, Stale: s.Stale,
	})
}

func unlessEmpty(fields projection.FieldSet) *projection.FieldSet {
	if fields.Empty() {
		return nil
	}
	return &fields
}

// UnmarshalJSON reads the form of [State.MarshalJSON] in this or an older version. A newer version is an error. A state
// of version 1 or 2 keeps its old digests until [Refresh] finds that the secrets are still the applied ones.
func (s *State) UnmarshalJSON(data []byte) error {
	in, err := parseState(data)
	if err != nil {
		return fmt.Errorf("explain: state: %w", err)
	}
	id := identity.Identity{APIVersion: in.APIVersion, Kind: in.Kind, Namespace: in.Namespace, Name: in.Name}
	out := State{Identity: id, UID: in.UID, Manager: in.Manager, Subresource: in.Subresource, Adopted: in.Adopted, Stale: in.Stale}
	out.salt, out.digests, out.time, out.record = in.Salt, in.Digests, in.Time, in.Record.record()
	if in.Sensitive != nil {
		out.sensitive = *in.Sensitive
	}
	if in.Items != nil {
		out.items = projection.Projection{Object: in.Items.Values, Fields: in.Items.Fields}
	}
	if in.Filled != nil {
		out.filled = *in.Filled
	}
	if in.Left != nil {
		out.left = *in.Left
	}
	out.ignored, out.cleared, out.unkept, out.rest = in.Ignored, in.Cleared, in.Unkept, in.Rest
	if out.Applied, err = in.projection(in.Applied); err != nil {
		return fmt.Errorf("explain: state of %s: applied: %w", id, err)
	}
	out.Observed = out.Applied
	if in.Observed != nil {
		if out.Observed, err = in.projection(in.Observed); err != nil {
			return fmt.Errorf("explain: state of %s: observed: %w", id, err)
		}
	}
	*s = out
	return nil
}

// parseState returns the persistent form that data has, in any version.
func parseState(data []byte) (in stateJSON, err error) {
	var form struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return in, err
	}
	if form.Version < 1 {
		return in, errors.New("no version: is it a state of this package?")
	}
	if form.Version > stateVersion {
		return in, fmt.Errorf("version %d, but this program reads versions up to %d: use a newer program", form.Version, stateVersion)
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return in, err
	}
	if form.Version < stateVersion && in.Digests == 0 {
		in.Digests = form.Version
	}
	if in.Digests < 0 || in.Digests >= stateVersion {
		return in, fmt.Errorf("digests of version %d", in.Digests)
	}
	return in, nil
}

func (in stateJSON) projection(values json.RawMessage) (projection.Projection, error) {
	p := projection.Projection{
		Fields:    in.Fields,
		Sensitive: projection.Sensitive(map[string]any{"apiVersion": in.APIVersion, "kind": in.Kind}),
	}
	if in.Sensitive != nil {
		p.Sensitive = p.Sensitive.Union(*in.Sensitive)
	}
	return p, utiljson.Unmarshal(values, &p.Object) // keeps integers exact
}
