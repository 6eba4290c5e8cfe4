package cmd

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func newShow(streams genericiooptions.IOStreams) *cobra.Command {
	o := newOptions(streams)
	digest := ""
	c := &cobra.Command{
		Use:   "show FILE",
		Short: "Show a saved plan",
		Long: `Show what "plan --out FILE" saved, in every format of plan. Show sends no request: the plan is shown
as it was made, even if the cluster has changed since.

Values of Secrets are never shown. The file has them only if it was saved with --out-secrets.`,
		Example: `# the saved plan
kubectl ssaplan show upgrade.plan

# as a page for the browser, if the file is the one that was planned
kubectl ssaplan show upgrade.plan --digest sha256:… -o html > plan.html`,
		Annotations: map[string]string{exitCodes: "0  success\n1  an error: the file can't be read, or was changed",
			environment: colorEnvironment},
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkOutput(o.output, o.outputs); err != nil {
				return err
			}
			saved, err := readSavedPlan(c.Context(), args[0], digest, isAnyFile)
			if err != nil {
				return err
			}
			o.saved = saved
			report := saved.report()
			report.Whole = o.verbose
			return o.show(report)
		},
	}
	flags := c.Flags()
	flags.StringVarP(&o.output, "output", "o", "text", "output `FORMAT`: "+strings.Join(o.outputs, ", "))
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "show also unchanged objects, and whole values")
	flags.StringVar(&digest, "digest", "", "`SHA256` that the file must have, as plan --out printed it")
	complete(c, nil, o.outputs)
	return c
}
