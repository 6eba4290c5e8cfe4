package explain

import (
	"crypto/rand"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
)

// NewState returns the state to store after the applier applied manifest; obj is the server's answer. If there is a
// prior state, its salt is used again, so that an unchanged sensitive value has the same digest. Values of fields that
// match a sensitive pattern become digests, too.
//
// The manifest may be nil if it isn't known, as for an imported object. Then a map that was declared as empty and
// filled by the server may count as declared with its content; see [fieldowner.Ownership.Declared].
func NewState(manifest, obj map[string]any, applier fieldowner.Applier, prior *State,
	sensitive ...projection.Pattern) (*State, error) {
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
	return out.withSensitive(sensitive, obj), nil
}

// declaredNull returns the filled maps that the manifest declares as null and in which others own fields. The state has
// null for such a map: the manifest declares neither the fields of others nor an empty map.
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

// declaredHollow returns the maps in which the manifest declares nothing that a server records, and that are null or
// have content in the object. A map that is null in the object counts only if it is empty in the manifest. A server
// makes a nullable map null when all of its content is removed. If another manager declares the map as empty, too, it
// becomes an empty map.
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

// digestsOfUnkept returns the digests of the manifest's values in fields where the server kept none. If the object has
// such a value later, since another write made the server keep it, that isn't drift. Each digest takes a millisecond,
// so there are none if the manifest has very many such values.
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
func NewImportedState(manifest fieldowner.Manifest, live map[string]any, manager string,
	sensitive ...projection.Pattern) (*State, error) {
	id, err := identity.Of(live)
	if err != nil {
		return nil, err
	}
	out, err := newState(id, live, fieldowner.Applier{Manager: manager}, nil, manifest.Declaration)
	if err != nil {
		return nil, err
	}
	return out.withSensitive(sensitive, live), nil
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
