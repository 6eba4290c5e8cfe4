package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/shard"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
)

func newMerge(streams genericiooptions.IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:   "merge FILE...",
		Short: "Combine the reports of all shards of a plan",
		Long: `Combine the reports that "plan --shard I/N -o json" wrote for each shard. Objects that several
shards planned, such as a namespace that all of them need, count once. It is an error if a shard is missing or was
made from other manifests than the rest, and if reports have several contexts. The plans are in the order of the
stages, as in one run. The number of plans by action is printed to standard error. Merge sends no request.`,
		Example: `# two processes, one plan
kubectl ssaplan plan -f fleet/ --shard 1/2 -o json > 1.json
kubectl ssaplan plan -f fleet/ --shard 2/2 -o json > 2.json
kubectl ssaplan plan merge 1.json 2.json > plan.json`,
		Annotations: map[string]string{
			exitCodes: `0  nothing changes
1  an error: in a file, of a missing shard, or in a plan
2  applying would change something
3  some objects are in conflict, or wait for missing objects`,
		},
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error { return merge(c.Context(), streams, files) },
	}
}

func merge(ctx context.Context, streams genericiooptions.IOStreams, files []string) error {
	merged := shard.NewMerged()
	for _, file := range files {
		_, err := await(ctx, func() (any, error) { return nil, addFile(merged, file) }) // which may be a pipe
		switch {
		case ctx.Err() != nil:
			return errors.New("interrupted")
		case err != nil:
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	if missing := merged.Missing(); len(missing) > 0 {
		return fmt.Errorf("shards are missing: %s", strings.Join(missing, "; "))
	}
	var stages []string
	for _, stage := range set.DefaultStages() {
		stages = append(stages, stage.Name)
	}
	merged.Finish(stages)
	text, err := render.Rows(merged)
	if err != nil {
		return err
	}
	if _, err := streams.Out.Write(text); err != nil {
		return err
	}
	fmt.Fprintln(streams.ErrOut, mergedSummary(merged))
	if code := mergedCode(merged); code != exitUnchanged {
		return exit(code)
	}
	return nil
}

func addFile(merged *shard.Merged, file string) error {
	opened, err := os.Open(file)
	if err != nil {
		return err
	}
	defer opened.Close()
	return merged.Add(opened)
}

// mergedSummary says in a line how many plans there are.
func mergedSummary(merged *shard.Merged) string {
	var parts []string
	plans := 0
	for action, n := range merged.Actions {
		plans += n
		parts = append(parts, fmt.Sprintf("%d %s", n, action))
	}
	if len(merged.Errors) > 0 {
		parts = append(parts, fmt.Sprintf("%d errors", len(merged.Errors)))
	}
	slices.Sort(parts)
	return fmt.Sprintf("%d plans: %s", plans, strings.Join(parts, ", "))
}

func mergedCode(merged *shard.Merged) int {
	if len(merged.Errors) > 0 {
		return exitError
	}
	code := exitUnchanged
	for action, n := range merged.Actions {
		if action == ssaplan.ActionDeferred && n == merged.Waiting {
			code = max(code, exitChanges) // apply comes to them
		} else if n > 0 {
			code = max(code, actionCode(action))
		}
	}
	return code
}
