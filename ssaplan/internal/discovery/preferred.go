package discovery

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/ssaplan/server"
)

// preferred returns the kind in the version that the server prefers. If no group is given, it looks in the core group
// first, and then in the other groups in the server's order. It reads one document for the core group, and one for the
// others.
func (d *Documents) preferred(ctx context.Context, kind schema.GroupKind) (server.Kind, error) {
	for _, path := range []string{"/api", "/apis"} {
		if path == "/api" && kind.Group != "" {
			continue
		}
		list, err := d.readGroups(ctx, path)
		if err != nil {
			return server.Kind{}, err
		}
		if served, found := list.serving(kind); found {
			return served, nil
		}
	}
	return server.Kind{}, &meta.NoKindMatchError{GroupKind: kind}
}

// serving returns the kind in the first group and version that has it. If the kind has a group, only this group is
// searched.
func (l groupList) serving(kind schema.GroupKind) (server.Kind, bool) {
	for _, group := range l.Items {
		if kind.Group != "" && kind.Group != group.Metadata.Name {
			continue
		}
		for _, version := range group.Versions {
			for _, r := range version.Resources {
				if r.ResponseKind.Kind == kind.Kind {
					return r.kind(schema.GroupVersion{Group: group.Metadata.Name, Version: version.Version}), true
				}
			}
		}
	}
	return server.Kind{}, false
}
