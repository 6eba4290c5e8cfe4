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
		Use:   "plan (-f FILE|DIR|URL|- ... | -k DIR)",
		Short: "Show what applying manifests will do",
		Long: `Show what applying manifests with server-side apply will do. Nothing is changed: the API server tries each apply
as a dry run, and the plan is how its answer differs from the object as it is.

The manifests are YAML or JSON: files, folders, URLs and standard input with -f, or a kustomization with -k. Each document
is read on its own. An error names file, document, line and field, and the other documents are planned all the same.

The first line names the target: context and address of the cluster, namespace and field manager.

What is to be seen first stands first: what is destroyed or replaced, rights that are widened, and what is taken from others.
Then come changes that many objects have in common, and the objects, those of the cluster first, then by namespace and kind.
Every object has a block: what happens to it (created +, changed ~, replaced ±, in conflict !, deferred …), which fields
change from what to what, and why if it isn't the manifest that changed: somebody else changed the object (drifted), the
manifest has no longer the field, or the server changes it along. Below the fields stands which of them change hands (○),
and what to be warned of (▲). Values of secrets are never shown.

Objects that need each other are planned as a set, and shown in the stages in which apply carries them out. What can't be asked
before others are there is deferred, and says for which object it waits. A kind or namespace that neither the server nor the
manifests have is an error that names what may be meant; --allow-missing takes it for something that somebody else makes.

With --subresource the manifests say what the status or the scale of objects shall be, which have to be there. Of a status
nothing else of the manifest counts; in the manifest of a scale spec.replicas is the only field.

With --from and --to, the plan is that of an upgrade: what changes on this cluster between two states of the manifests, if the first one
were applied. Nothing has to be there: the server is asked what it makes of both. Whether it takes a change in place is only known of
objects that are as --from says.

With --state, the plan compares with what apply remembered in that file of the object of the same kind, namespace and name.
It then knows for certain whether the manifest was edited or somebody else changed the object. A manifest with another name
is a new object; the one of the old name is counted as no longer in the manifests, and deleted with --prune.

With --contexts the same manifests are planned for several clusters, each in the namespace of its context. JSON and YAML are a
document for each of them then, with its target. In the end stands how many objects of which cluster change.`,
		Example: `# what would change
kubectl ssaplan plan -f app.yaml

# everything in a folder and its sub-folders, for a program
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

# leave the replicas to an autoscaler
kubectl ssaplan plan -f app.yaml --ignore spec.replicas

# the status of what a controller looks after
kubectl ssaplan plan -f status.yaml --subresource status

# leave fields alone that others own
kubectl ssaplan plan -f app.yaml --force-conflicts=false`,
		Annotations: map[string]string{
			exitCodes: `0  nothing changes
1  an error: something could not be planned; everything else was
2  applying would change something
3  some objects are in conflict, or wait for what isn't there`,
			environment: planEnvironment,
		},
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.runPlan(c) },
	}
	o.addFlags(c)
	c.Flags().StringVar(&o.shard, "shard", "", "`I/N`: plan the I-th of N parts of the objects, with the namespaces and definitions that it needs; see plan merge")
	c.Flags().StringSliceVar(&o.contexts, "contexts", nil, "plan for the clusters of these `CONTEXTS` of the kubeconfig, one after the other; * stands for all")
	c.Flags().StringVar(&o.from, "from", "", "`DIR` or file with the manifests before an upgrade, as if they were applied; with --to")
	c.Flags().StringVar(&o.to, "to", "", "`DIR` or file with the manifests after it")
	c.Flags().StringVar(&o.like, "like", "", "`TOOL` that is going to apply: "+strings.Join(toolNames(), ", ")+"; its field manager, force and what it takes over, unless flags say otherwise")
	c.Flags().StringVar(&o.out, "out", "", "`FILE` to save the plan in, for show and for apply --plan; only its owner may read it")
	c.Flags().BoolVar(&o.outSecrets, "out-secrets", false, "save manifests with secrets, too, so that apply --plan needs no others")
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
