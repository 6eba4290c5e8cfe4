package wire

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Preferred returns the kind in the version that the server prefers, for a kind without one; and if it has no group
// either, in the group that comes first: the core group, and then the server's order. A kind that nothing serves is an
// error for which meta.IsNoMatchError holds.
func (s *Server) Preferred(ctx context.Context, kind schema.GroupVersionKind) (schema.GroupVersionKind, error) {
	if kind.Version != "" {
		return kind, nil
	}
	return s.kinds.preferred(ctx, kind.GroupKind())
}

// preferred reads one document for the core group, and one for the others.
func (d *discoveredKinds) preferred(ctx context.Context, kind schema.GroupKind) (schema.GroupVersionKind, error) {
	for _, path := range []string{"/api", "/apis"} {
		if path == "/api" && kind.Group != "" {
			continue
		}
		list, err := readGroups(ctx, d.client, d.sender, path)
		if err != nil {
			return schema.GroupVersionKind{}, err
		}
		if gv, found := list.serving(kind); found {
			return gv.WithKind(kind.Kind), nil
		}
	}
	return schema.GroupVersionKind{}, &meta.NoKindMatchError{GroupKind: kind}
}

// serving returns the first group and version with the kind, of that group or, without one, of any.
func (l groupList) serving(kind schema.GroupKind) (schema.GroupVersion, bool) {
	for _, group := range l.Items {
		if kind.Group != "" && kind.Group != group.Metadata.Name {
			continue
		}
		for _, version := range group.Versions {
			for _, r := range version.Resources {
				if r.ResponseKind.Kind == kind.Kind {
					return schema.GroupVersion{Group: group.Metadata.Name, Version: version.Version}, true
				}
			}
		}
	}
	return schema.GroupVersion{}, false
}
