package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

var importOutputs = []string{"yaml", "json"}

func newImport(streams genericiooptions.IOStreams) *cobra.Command {
	r := newReading(streams)
	showSecrets := false
	c := &cobra.Command{
		Use:   "import ID",
		Short: "Print an object, or what a manager owns of it, as a manifest",
		Long: `Print an object, or a part of it, as a manifest that can be applied.

An ID names the object, and the fields to print:

  shop/Deployment/web               all, with what the server filled in
  shop/Deployment/web?unowned       those that nobody owns: defaults, and what
                                    webhooks added
  shop/Deployment/web?manager=helm  those of a field manager; &operation=Apply
                                    or &operation=Update narrow it down
  shop/Deployment.apps/web          the kind with its group
  shop/apps/v1/Deployment/web       or with group and version
  ClusterRole/system:node           an object without a namespace, or in the
                                    one of the kubeconfig or of -n

What a manager applied can be applied again as that manager, and nothing changes. The manifest of a Secret has its
values in it, so it is printed only with --show-secrets.`,
		Example: `# the fields of a manager, to go on with them in a file
kubectl ssaplan import 'shop/Deployment/web?manager=helm' > web.yaml`,
		Annotations: map[string]string{exitCodes: usualExitCodes, environment: lookupEnvironment},
		RunE:        func(c *cobra.Command, args []string) error { return r.runImport(c.Context(), args, showSecrets) },
	}
	r.addFlags(c, importOutputs)
	c.Flags().BoolVar(&showSecrets, "show-secrets", false, "print the manifest of a Secret, with its values")
	return c
}

func (r *reading) runImport(ctx context.Context, args []string, showSecrets bool) error {
	if len(args) != 1 {
		return errors.New("name one object by its ID: " + importid.Form)
	}
	id, err := importid.Parse(args[0])
	if err == nil {
		err = checkOutput(r.output, importOutputs)
	}
	if err != nil {
		return err
	}
	obj, err := r.read(ctx, id.String(), func(ctx context.Context) (*unstructured.Unstructured, error) { return r.get(ctx, id) })
	if err != nil {
		return err
	}
	if !projection.Sensitive(obj.Object).Empty() && !showSecrets {
		return fmt.Errorf("%s: its manifest holds the secret values; print them with --show-secrets", identityOf(obj))
	}
	manifest, err := imported(obj, id.Selection)
	if err != nil {
		return fmt.Errorf("%s: %w", identityOf(obj), err)
	}
	r.sayMissing(manifest.Missing)
	return r.print(manifest.Object)
}

// get reads the object that id names.
func (r *reading) get(ctx context.Context, id importid.ID) (*unstructured.Unstructured, error) {
	mapping, err := r.mapping(id)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(r.cluster.config)
	if err != nil {
		return nil, err
	}
	objects := client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		if id.Namespace != "" {
			return nil, usageError(fmt.Sprintf("a %s is in no namespace; leave %q out", mapping.GroupVersionKind.Kind, id.Namespace))
		}
		return objects.Get(ctx, id.Name, metav1.GetOptions{})
	}
	namespace := id.Namespace
	if namespace == "" {
		namespace = r.cluster.namespace
	}
	return objects.Namespace(namespace).Get(ctx, id.Name, metav1.GetOptions{})
}

// mapping finds the kind of id. One without a group is whichever the server prefers, as in kubectl.
func (r *reading) mapping(id importid.ID) (*meta.RESTMapping, error) {
	mapper, err := r.config.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	kind := schema.GroupVersionKind{Group: id.Group, Version: id.Version, Kind: id.Kind}
	if id.Version == "" {
		if kind, err = mapper.KindFor(schema.GroupVersionResource{Group: id.Group, Resource: id.Kind}); err != nil {
			return nil, err
		}
	}
	return mapper.RESTMapping(kind.GroupKind(), kind.Version)
}

// imported makes the manifest. One without fields is an error, because it would be a manifest for everything.
func imported(obj *unstructured.Unstructured, selection fieldowner.Selection) (fieldowner.Manifest, error) {
	manifest, err := fieldowner.NewManifest(obj.Object, selection)
	if err != nil || !manifest.Fields.Empty() {
		return manifest, err
	}
	if selection.Strategy != fieldowner.ManagerFields {
		return manifest, errors.New("there are no such fields")
	}
	ownership, err := fieldowner.Read(obj.Object)
	if err != nil {
		return manifest, err
	}
	var owners []string
	for _, e := range ownership.Entries() {
		owners = append(owners, e.String())
	}
	return manifest, fmt.Errorf("%q owns no such fields; the owners are %s", selection.Manager, strings.Join(owners, ", "))
}

// sayMissing names what a manager owns and the object doesn't have.
func (r *reading) sayMissing(missing []projection.Path) {
	if len(missing) == 0 {
		return
	}
	var paths []string
	for _, p := range missing {
		paths = append(paths, p.String())
	}
	slices.Sort(paths)
	fmt.Fprintf(r.ErrOut, "note: the object has no value there: %s\n", foreign.Visible(strings.Join(paths, ", ")))
}

func (r *reading) print(obj map[string]any) error {
	marshal := render.YAML
	if r.output == "json" {
		marshal = func(v any) ([]byte, error) {
			text, err := json.MarshalIndent(v, "", "  ")
			return append(text, '\n'), err
		}
	}
	text, err := marshal(obj)
	if err == nil {
		_, err = r.Out.Write(text)
	}
	return err
}
