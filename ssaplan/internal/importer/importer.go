// Package importer finds the object that an import ID names, and makes of it what a host goes on with.
package importer

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// Import returns what to go on with of the object that id names, for who is going to apply it, and the identity of the object as far as
// it is known, also with an error. That there is none is an error for which apierrors.IsNotFound holds, and that nothing serves the
// kind one for which meta.IsNoMatchError holds.
// Fields that match a sensitive pattern, or that the definition of the kind marks as passwords, are sensitive.
func Import(ctx context.Context, server *wire.Server, id importid.ID, defaultNamespace, manager string, sensitive projection.Patterns) (identity.Identity, *explain.Imported, error) {
	named := id.Identity()
	kind, err := server.Preferred(ctx, schema.GroupVersionKind{Group: id.Group, Version: id.Version, Kind: id.Kind})
	if err != nil {
		return named, nil, err
	}
	named.APIVersion = kind.GroupVersion().String()
	target, err := server.Locate(ctx, named, "", defaultNamespace)
	if err != nil {
		return named, nil, err
	}
	if id.Namespace != "" && target.Scope == identity.ScopeCluster {
		return named, nil, fmt.Errorf("a %s is in no namespace; leave %q out", foreign.Text(id.Kind), foreign.Text(id.Namespace))
	}
	live, err := target.Live(ctx)
	if err == nil && live == nil {
		err = target.NotFound()
	}
	if err != nil {
		return target.Identity, nil, err
	}
	server.LearnCarried(ctx, live)
	hidden := secrecy.Fields(sensitive, server.Passwords, target.Identity, live)
	imported, err := explain.NewImported(live, id.Selection, manager, hidden...)
	if version := new(fieldowner.VersionError); errors.As(err, &version) {
		version.Path = hidden.Shown(version.Path)
	}
	return target.Identity, imported, err
}
