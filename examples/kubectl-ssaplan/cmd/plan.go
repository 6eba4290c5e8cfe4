package cmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func newPlan(streams genericiooptions.IOStreams) *cobra.Command {
	o := newOptions(streams)
	c := &cobra.Command{
		Use:   "plan (-f PATH ... | -k DIR | --from DIR --to DIR)",
		Short: "Show what applying manifests will do",
		Long: `Show what applying manifests with server-side apply will do. Nothing is changed: the API server
tries each apply as a dry run, and the plan is the difference between its answer and the live object.

The plan shows for each object what happens to it (+ create, ~ update, ± replace, ! conflict, … deferred), and
the fields that change. A change that isn't your edit is shown with its cause: drift (another manager changed the
field), a field that the manifest no longer has, or a change that the server makes. ○ marks fields that change owners,
▲ warnings, × changes of a CRD that refuse values that were allowed. Values of Secrets are never shown.`,
		Example: `# what would change
kubectl ssaplan plan -f app.yaml

# leave the replicas to an autoscaler
kubectl ssaplan plan -f app.yaml --ignore spec.replicas

# save the plan, review it, and apply exactly that
kubectl ssaplan plan -f app.yaml --out upgrade.plan
kubectl ssaplan apply --plan upgrade.plan`,
		Annotations: map[string]string{
			details: `The manifests are YAML or JSON: files, folders, URLs and standard input with -f, or a
kustomization with -k. Each document is read on its own. An error names file, document, line and field; the other
documents are planned all the same.

The first line names the target: context and address of the cluster, namespace and field manager. Then comes what a
reviewer has to see first: objects that are destroyed or replaced, permissions that are widened, and fields that
other managers lose. Changes that three or more objects have in common come next, and then the objects: cluster-scoped ones
first, the others by namespace and kind.

All manifests are planned as one set, and shown in the stages in which apply carries them out. An object that can't
be planned before another one exists is deferred; the plan names the object for which it waits. A kind or namespace
that neither the server nor the manifests have is an error that suggests similar names; with --allow-missing, such
objects are deferred.

` + flagDetails + `

With --subresource, the manifests describe the status or the scale of objects that exist. Only the status of the
manifest is applied, or spec.replicas for a scale.

With --from and --to, the plan is that of an upgrade: what changes on this cluster between two states of the
manifests, if the first one were applied. The objects need not exist: the server plans both states. Whether a field
can change in place is only known for objects that are in the cluster as --from has them.

With --state, the plan compares with what apply recorded in that file for the object of the same kind, namespace and
name. It then knows for certain whether you edited the manifest or another manager changed the object. A renamed
object is a new object; the object of the old name counts as no longer in the manifests, and is deleted with
--prune.

With --contexts, the same manifests are planned for several clusters, each in the namespace of its context. JSON and
YAML then have one document for each cluster, with its target. The last lines count the changed objects of each
cluster.`,
			examples: `# everything in a folder and its sub-folders, for a program
kubectl ssaplan plan -R -f manifests/ -o json

# a kustomization, and what a template engine prints
kubectl ssaplan plan -k overlays/production
helm template web ./chart | kubectl ssaplan plan -f -

# for all clusters of the kubeconfig
kubectl ssaplan plan -f app.yaml --contexts '*'

# for the comment on a pull request
kubectl ssaplan plan -f app.yaml -o markdown

# what a new version of an application changes
kubectl ssaplan plan -R --from v1/ --to v2/

# the status that a controller writes
kubectl ssaplan plan -f status.yaml --subresource status

# don't take fields from other managers
kubectl ssaplan plan -f app.yaml --force-conflicts=false`,
			exitCodes: `0  nothing changes
1  an error: something could not be planned; the rest was planned
2  applying would change something
3  some objects are in conflict, or deferred by something that isn't in the
   manifests`,
			environment: planEnvironment,
		},
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.runPlan(c) },
	}
	o.addFlags(c)
	c.Flags().StringVar(&o.shard, "shard", "",
		"`I/N`: plan the I-th of N parts of the objects, with the namespaces and CRDs that it needs; see plan merge")
	c.Flags().StringSliceVar(&o.contexts, "contexts", nil, "plan for several `CONTEXTS` of the kubeconfig; * for all")
	c.Flags().StringVar(&o.from, "from", "", "`DIR` or file with the manifests before an upgrade; with --to")
	c.Flags().StringVar(&o.to, "to", "", "`DIR` or file with the manifests after the upgrade")
	c.Flags().StringVar(&o.like, "like", "",
		"plan what `TOOL` would do: "+strings.Join(toolNames(),
			", ")+"; sets --field-manager, --force-conflicts and --adopt unless you do")
	c.Flags().StringVar(&o.out, "out", "", "save the plan in `FILE`, for apply --plan")
	c.Flags().BoolVar(&o.outSecrets, "out-secrets", false,
		"also save manifests with secrets, so that apply --plan doesn't need -f")
	c.AddCommand(newMerge(streams))
	return c
}

func (o *options) runPlan(c *cobra.Command) error {
	if err := o.takeHabits(c.Flags()); err != nil {
		return err
	}
	if err := o.validate(); err != nil {
		return err
	}
	if len(o.contexts) > 0 {
		if err := o.validateContexts(c); err != nil {
			return err
		}
		return o.runContexts(c.Context())
	}
	if o.from != "" {
		return o.runUpgrade(c.Context())
	}
	if err := o.tryOut(); err != nil {
		return err
	}
	o.streams = o.output == outputLines
	planning, err := o.plan(c.Context())
	if err != nil {
		return err
	}
	if err := o.show(planning.untold()); err != nil {
		return err
	}
	if o.out != "" {
		if err := planning.save(c.Context(), c.Flags()); err != nil {
			return err
		}
	}
	if code := planning.exitCode(); code != exitUnchanged {
		return exit(code)
	}
	return nil
}

func (o *options) runUpgrade(ctx context.Context) error {
	upgrade, err := o.planUpgrade(ctx)
	if err != nil {
		return err
	}
	if err := o.show(upgrade.report()); err != nil {
		return err
	}
	if code := upgrade.exitCode(); code != exitUnchanged {
		return exit(code)
	}
	return nil
}
