package input

import (
	"fmt"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// Key returns what two identities have in common if they name the same object, in whatever version: a missing namespace
// is defaultNamespace.
func Key(id identity.Identity, defaultNamespace string) identity.Identity {
	if id.Namespace == "" {
		id.Namespace = defaultNamespace
	}
	return id.Unversioned()
}

// Unique returns the manifests without those whose object stands in an earlier one already, and an error for each that
// it left out.
func Unique(manifests []manifest.Manifest,
	defaultNamespace string) (unique []manifest.Manifest, failures []*manifest.Error) {
	first := map[identity.Identity]manifest.Source{}
	for _, m := range manifests {
		key := Key(m.Identity, defaultNamespace)
		if earlier, twice := first[key]; twice {
			problem := fmt.Sprintf("the same object as in %s; keep one of them", earlier)
			failures = append(failures, &manifest.Error{Source: m.Source, Object: m.Identity, Problem: problem})
			continue
		}
		first[key] = m.Source
		unique = append(unique, m)
	}
	return unique, failures
}

// InNamespace returns the manifests that may go to namespace, those that name it and those that name none, and an error
// for each of the others.
func InNamespace(manifests []manifest.Manifest,
	namespace string) (inside []manifest.Manifest, failures []*manifest.Error) {
	for _, m := range manifests {
		if m.Identity.Namespace != "" && m.Identity.Namespace != namespace {
			problem := fmt.Sprintf(
				"metadata.namespace: %q is not the namespace that -n asks for, %q; leave out one of them",
				foreign.Text(m.Identity.Namespace), foreign.Text(namespace))
			failures = append(failures, &manifest.Error{Source: m.Source, Object: m.Identity, Problem: problem})
			continue
		}
		inside = append(inside, m)
	}
	return inside, failures
}
