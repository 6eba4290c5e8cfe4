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
		Long: `Show what "plan --out FILE" saved, as plan printed it and in every format that it prints. It asks no cluster: what is shown is what
was planned then, whatever became of it.

Values of Secrets are never shown. The file has them only if it was saved with --out-secrets.`,
		Example: `# what was planned
kubectl ssaplan show upgrade.plan

# as a page for the browser, of the very file that was planned
kubectl ssaplan show upgrade.plan --digest sha256:… -o html > plan.html`,
		Annotations: map[string]string{exitCodes: "0  success\n1  an error: the file can't be read, or isn't as it was written", environment: colorEnvironment},
		Args:        cobra.ExactArgs(1),
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
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "list unchanged objects and the fields of those to be created or deferred, and shorten nothing")
	flags.StringVar(&digest, "digest", "", "`SHA256` of the file, as plan --out told it; any other is an error")
	complete(c, nil, o.outputs)
	return c
}
