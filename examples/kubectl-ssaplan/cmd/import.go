package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
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
		Short: "Print an object, or the fields of one manager, as a manifest",
		Long: `Print an object, or a part of it, as a manifest that can be applied.

An ID names the object, and the fields to print:

  shop/Deployment/web               all fields, also those that the server set
  shop/Deployment/web?unowned       fields without an owner: defaults, and
                                    fields that webhooks added
  shop/Deployment/web?manager=helm  fields of a manager, narrowed down by
                                    &operation=Apply or &operation=Update
  shop/Deployment.apps/web          the kind with its group
  shop/apps/v1/Deployment/web       or with group and version
  ClusterRole/system:node           an object without a namespace, or in the
                                    one of the kubeconfig or of -n

If you apply the printed fields of a manager again, as that manager, nothing changes. The manifest of a Secret
holds its values, so it is printed only with --show-secrets.`,
		Example: `# the fields of a manager, as a file to work on
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
	imported, err := r.read(ctx, func(context.Context) (importid.ID, error) { return id, nil })
	if err != nil {
		return err
	}
	if !imported.Sensitive.Empty() && !showSecrets {
		return fmt.Errorf("%s: its manifest holds secret values; print them with --show-secrets",
			imported.State.Identity)
	}
	if target := r.cluster.target(manager); r.output == "json" { // which has no comments
		fmt.Fprintf(r.ErrOut, "Target: %s\n", target)
	} else {
		fmt.Fprintf(r.Out, "# Target: %s\n", target)
	}
	r.sayMissing(imported.Manifest.Missing)
	return r.print(imported.Manifest.Object)
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
		marshal = render.JSON
	}
	text, err := marshal(obj)
	if err == nil {
		_, err = r.Out.Write(text)
	}
	return err
}
