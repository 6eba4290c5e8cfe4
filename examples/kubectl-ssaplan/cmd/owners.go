package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

func newOwners(streams genericiooptions.IOStreams) *cobra.Command {
	r := newReading(streams)
	c := &cobra.Command{
		Use:   "owners TYPE/NAME",
		Short: "Show who owns which field of an object",
		Long: `Show who owns which field of an object, as a tree of the fields with their values. Each line has the
field manager, the operation (Apply or Update), the subresource, and when the manager's fields last changed.

List items and maps can have owners of their own, apart from the fields in them. Fields without an owner, such as
the server's defaults, aren't shown. Values of Secrets are never shown.`,
		Example: `# of a deployment in the namespace of the context
kubectl ssaplan owners deploy/web

# for a program
kubectl ssaplan owners deployments.apps web -n shop -o json`,
		Annotations: map[string]string{exitCodes: usualExitCodes, environment: lookupEnvironment},
		RunE:        func(c *cobra.Command, args []string) error { return r.runOwners(c.Context(), args) },
	}
	r.addFlags(c, readOutputs)
	return c
}

func (r *reading) runOwners(ctx context.Context, args []string) error {
	typ, name, err := typeAndName(args)
	if err == nil {
		err = checkOutput(r.output, readOutputs)
	}
	if err != nil {
		return err
	}
	imported, err := r.read(ctx, func(ctx context.Context) (importid.ID, error) { return r.find(ctx, typ, name) })
	if err != nil {
		return err
	}
	owners := render.Owners{Target: r.cluster.target(manager), Object: imported.State.Identity}
	if owners.Ownership, err = fieldowner.Read(imported.Live.Object); err != nil {
		return fmt.Errorf("%s: %w", owners.Object, err)
	}
	owners.Ownership = owners.Ownership.Redacted(r.planner.Redactor(imported.Live).Fields(imported.Live))
	owners.Values = shownValues(imported, owners.Ownership.Fields(nil))
	return writeDocument(r.Out, r.output, owners, func(t render.Text) string { return t.Owners(owners) })
}

// shownValues returns the values of fields. If some of the object's are sensitive, only those are known that a manifest
// of it has, of which it is known whether they are.
func shownValues(imported *explain.Imported, fields projection.FieldSet) projection.Projection {
	if !imported.Sensitive.Empty() {
		fields = fields.Intersection(imported.Manifest.Fields)
	}
	values := projection.Project(imported.Live.Object, fields)
	values.Sensitive = values.Sensitive.Union(imported.Sensitive)
	return values
}

// typeAndName reads "TYPE/NAME" and "TYPE NAME".
func typeAndName(args []string) (typ, name string, err error) {
	parts := args
	if len(args) == 1 {
		parts = strings.Split(args[0], "/")
	}
	if len(parts) != 2 || parts[0] == "" || parts[1] == "" || strings.ContainsAny(parts[0], ",/") ||
		strings.Contains(parts[1], "/") {
		return "", "", errors.New("name one object as TYPE/NAME or TYPE NAME, such as deploy/web")
	}
	return parts[0], parts[1], nil
}

// find returns the ID of an object as kubectl names it, which knows short names and plurals. A program for credentials
// runs before that, as kubectl's discovery would run one that fails for each of its requests.
func (r *reading) find(ctx context.Context, typ, name string) (importid.ID, error) {
	if r.cluster.config.ExecProvider != nil {
		_, err := r.planner.Import(ctx, importid.ID{Version: "v1", Kind: "Namespace", Name: "default"})
		if authresilience.Classify(err) == authresilience.ClassCredentialPlugin {
			return importid.ID{}, err
		}
	}
	mapper, err := r.config.ToRESTMapper()
	if err != nil {
		return importid.ID{}, err
	}
	full, part := schema.ParseResourceArg(strings.ToLower(typ))
	var kind schema.GroupVersionKind
	if full != nil {
		kind, err = mapper.KindFor(*full)
	}
	if full == nil || err != nil {
		kind, err = mapper.KindFor(part.WithVersion(""))
	}
	if meta.IsNoMatchError(err) {
		return importid.ID{}, fmt.Errorf("%s/%s: the server doesn't have a resource type %q", typ, name, typ)
	}
	id := importid.ID{Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Name: name}
	return id, err
}
