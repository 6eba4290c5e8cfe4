package cmd

import (
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func newPlan(streams genericiooptions.IOStreams) *cobra.Command {
	o := newOptions(streams)
	c := &cobra.Command{
		Use:   "plan -f FILE",
		Short: "Show what applying manifests will do",
		Long: `Show what applying manifests will do. Nothing is changed.

With --state, the plan compares with what apply remembered in that file. It then knows for certain whether the manifest
was edited or somebody else changed the object, and sees that an object was renamed: a manifest belongs to the
remembered object of the same kind, namespace and name, wherever it stood, or else to the one that was applied from the
same document of the same file, if that object is no longer in the input.

Exit codes:
  0  nothing changes
  1  error: something could not be planned; everything else was
  2  applying would change something
  3  some objects are in conflict with other managers, or can't be planned yet`,
		Example: `  # what would change
  kubectl ssaplan plan -f app.yaml

  # everything in a folder, for a program
  kubectl ssaplan plan -R -f manifests/ -o json

  # for the comment on a pull request
  kubectl ssaplan plan -f app.yaml -o markdown

  # leave the replicas to an autoscaler
  kubectl ssaplan plan -f app.yaml --ignore spec.replicas

  # leave fields alone that others own
  kubectl ssaplan plan -f app.yaml --force-conflicts=false`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.runPlan(c) },
	}
	o.addFlags(c)
	return c
}

func (o *options) runPlan(c *cobra.Command) error {
	if err := o.validate(); err != nil {
		return err
	}
	planning, err := o.plan(c.Context())
	if err != nil {
		return err
	}
	if err := o.show(planning.report()); err != nil {
		return err
	}
	if code := planning.exitCode(); code != exitUnchanged {
		return exit(code)
	}
	return nil
}
