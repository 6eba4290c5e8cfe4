package ssaplan

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Import reads the object of an import ID, and returns it with a manifest and a state to manage it. If the ID has a
// kind without a group, the server's preferred group is used. Fields that match [Options.Sensitive], or that the CRD
// marks as passwords, are sensitive. If the object doesn't exist, apierrors.IsNotFound is true for the error. If the
// server doesn't serve the kind, meta.IsNoMatchError is true for it.
func (p *Planner) Import(ctx context.Context, id importid.ID) (*explain.Imported, error) {
	named := id.Identity()
	err := p.expired()
	var imported *explain.Imported
	if err == nil {
		named, imported, err = p.imported(ctx, id)
	}
	if err != nil {
		return nil, p.failure(named, "read", err)
	}
	return imported, nil
}

// imported does the work of Import. It also returns the identity of the object for error messages, as complete as it is
// known.
func (p *Planner) imported(ctx context.Context, id importid.ID) (identity.Identity, *explain.Imported, error) {
	named := id.Identity()
	kind, err := p.server.Preferred(ctx, schema.GroupVersionKind{Group: id.Group, Version: id.Version, Kind: id.Kind})
	if err != nil {
		return named, nil, err
	}
	named.APIVersion = kind.GroupVersion().String()
	target, err := p.locate(ctx, named, "")
	if err != nil {
		return named, nil, err
	}
	if id.Namespace != "" && target.Scope == identity.ScopeCluster {
		return named, nil, fmt.Errorf("a %s is in no namespace; leave %q out", foreign.Text(id.Kind),
			foreign.Text(id.Namespace))
	}
	live, err := target.Live(ctx)
	if err == nil && live == nil {
		err = target.NotFound()
	}
	if err != nil {
		return target.Identity, nil, err
	}
	hidden := p.sensitive(target.Identity, live)
	imported, err := explain.NewImported(live, id.Selection, p.options.FieldManager, hidden...)
	if version := new(fieldowner.VersionError); errors.As(err, &version) {
		version.Path = hidden.RedactedPath(version.Path)
	}
	return target.Identity, imported, err
}
