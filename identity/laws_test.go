package identity_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
)

// identities is every combination of a few values for each field.
func identities() []identity.Identity {
	var ids []identity.Identity
	for _, apiVersion := range []string{"v1", "v2", "apps/v1", "apps/v2"} {
		for _, kind := range []string{"A", "B"} {
			for _, namespace := range []string{"", "x", "y"} {
				for _, name := range []string{"a", "b"} {
					ids = append(ids, identity.Identity{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name})
				}
			}
		}
	}
	return ids
}

func manifest(id identity.Identity) map[string]any {
	return map[string]any{
		"apiVersion": id.APIVersion,
		"kind":       id.Kind,
		"metadata":   map[string]any{"namespace": id.Namespace, "name": id.Name},
	}
}

func TestOfInvertsManifest(t *testing.T) {
	for _, id := range identities() {
		got, err := identity.Of(manifest(id))
		require.NoError(t, err)
		assert.Equal(t, id, got)
	}
}

func TestStringIsInjective(t *testing.T) {
	seen := map[string]identity.Identity{}
	for _, id := range identities() {
		other, dup := seen[id.String()]
		assert.False(t, dup, "%#v and %#v print alike", other, id)
		seen[id.String()] = id
	}
}

func TestUnversionedLaws(t *testing.T) {
	ids := append(identities(), identity.Identity{APIVersion: "apps", Kind: "A", Name: "a"}) // a version of the core group
	for _, a := range ids {
		plain := a.Unversioned()
		assert.Equal(t, a.Group(), plain.Group(), "the group stays")
		assert.Empty(t, plain.Version())
		assert.Equal(t, plain, plain.Unversioned(), "twice is once")
		for _, b := range ids {
			same := a.Group() == b.Group() && a.Kind == b.Kind && a.Namespace == b.Namespace && a.Name == b.Name
			assert.Equal(t, same, plain == b.Unversioned(), "%v, %v", a, b)
		}
	}
}

func TestCompareLaws(t *testing.T) {
	order := []string{"apiVersion", "kind", "metadata.namespace", "metadata.name"}
	compare := func(a, b identity.Identity) identity.Result {
		return identity.Compare(identity.Ref{Identity: a}, identity.Ref{Identity: b}, identity.Options{})
	}
	ids := identities()
	for _, a := range ids {
		for _, b := range ids {
			got, reverse := compare(a, b), compare(b, a)
			assert.Equal(t, a == b, got.Same(), "strict: the same object if and only if everything is equal")
			assert.Equal(t, a != b, got.Replace(), "strict: every difference is a replacement")
			assert.Equal(t, got.Relation, reverse.Relation, "the relation has no direction")

			forth, back := got.Changes, reverse.Changes
			assert.Equal(t, a == b, len(forth) == 0, "no changes if and only if equal")
			require.Len(t, back, len(forth), "both directions see the same fields")
			last := -1
			for i := range forth {
				assert.Equal(t, identity.Mismatch{Field: forth[i].Field, Old: forth[i].New, New: forth[i].Old}, back[i])
				at := slices.Index(order, forth[i].Field.String())
				assert.Greater(t, at, last, "changes are in the order of the fields")
				last = at
			}
			assert.Equal(t, b, patched(a, forth), "old + changes = new")
		}
	}
}

func patched(id identity.Identity, changes []identity.Mismatch) identity.Identity {
	fields := map[string]*string{
		"apiVersion": &id.APIVersion, "kind": &id.Kind, "metadata.namespace": &id.Namespace, "metadata.name": &id.Name,
	}
	for _, c := range changes {
		*fields[c.Field.String()] = c.New
	}
	return id
}

func TestResolveLaws(t *testing.T) {
	for _, id := range identities() {
		for _, scope := range []identity.Scope{identity.ScopeUnknown, identity.ScopeNamespaced, identity.ScopeCluster} {
			once, _ := id.Resolve(scope, "x")
			twice, warning := once.Resolve(scope, "x")
			assert.Equal(t, once, twice, "resolving twice is resolving once")
			assert.Empty(t, warning, "what is dropped is gone")
		}
	}
}

// FuzzOf checks that Of is total, and that an identity it returns can be written down and read again.
func FuzzOf(f *testing.F) {
	f.Add(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"}}`)
	f.Add(`{"apiVersion":"a/b/c","kind":"K","metadata":{"name":"web"}}`)
	f.Add(`{"apiVersion":1,"kind":null,"metadata":[]}`)
	f.Add(`{"apiVersion":"v1","kind":"K","metadata":{"generateName":"web-"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		var obj map[string]any
		if json.Unmarshal([]byte(text), &obj) != nil {
			return
		}
		id, err := identity.Of(obj)
		if err != nil {
			assert.Zero(t, id)
			var fieldErr *identity.FieldError
			assert.ErrorAs(t, err, &fieldErr)
			return
		}
		assert.NotEmpty(t, id.APIVersion)
		assert.NotEmpty(t, id.Kind)
		assert.NotEmpty(t, id.Name)
		again, err := identity.Of(manifest(id))
		require.NoError(t, err)
		assert.Equal(t, id, again)
		joined := id.Version()
		if id.Group() != "" {
			joined = id.Group() + "/" + joined
		}
		assert.Equal(t, id.APIVersion, joined)
	})
}
