package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/statefile"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/release"
)

func newRelease(streams genericiooptions.IOStreams) *cobra.Command {
	o := newOptions(streams)
	yes, dryRun := false, false
	c := &cobra.Command{
		Use:   "release (-f PATH ... | -k DIR | --state FILE)",
		Short: "Stop owning objects, and keep them as they are",
		Long: `Show which fields are released, ask, and release them. With -f or -k, the objects are
those of the manifests. With --state they are all that the state file remembers. With both they are those of the
manifests that the state file remembers.

Values stay. The field manager owns no field of the objects any more, so that others can change them without a
conflict, and the state file forgets the objects. An object that was deleted and created again in between is kept as
it is.`,
		Example: `# hand an application over to another tool
kubectl ssaplan release --state app.state.json

# only show what would be released
kubectl ssaplan release -f app.yaml --dry-run`,
		Annotations: map[string]string{
			exitCodes: `0  the field manager owns no field of the objects any more
1  error, not confirmed, or refused by the server
2  with --dry-run: something would be released`,
			environment: clusterEnvironment,
		},
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.runRelease(c.Context(), yes, dryRun) },
	}
	o.addSourceFlags(c)
	flags := c.Flags()
	flags.StringVar(&o.state, "state", "", "`FILE` with a record of what was applied")
	flags.StringVar(&o.manager, "field-manager", manager,
		"`NAME` of the field manager, for objects that no state file remembers")
	flags.BoolVar(&dryRun, "dry-run", false, "only show what would be released")
	flags.BoolVarP(&yes, "yes", "y", false, "release without asking")
	o.config.AddFlags(c.Flags())
	complete(c, o.config, nil)
	return c
}

// releasing is what is remembered of an object, and the plan to let go of it.
type releasing struct {
	statefile.Entry
	*release.Plan
}

func (o *options) runRelease(ctx context.Context, yes, dryRun bool) error {
	if o.state == "" || len(o.files) > 0 || o.kustomization != "" {
		if err := o.validateSources(); err != nil {
			return err
		}
	}
	if !yes && !dryRun && !o.canAsk() {
		return errors.New(
			"release: can't ask for confirmation: standard input is no terminal, or holds the manifests; use --yes " +
				"to release without asking")
	}
	p := &planning{options: o}
	plans, err := p.toRelease(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(o.Out, o.text().Heading(p.target()))
	owned, refused := 0, false
	for _, r := range plans {
		fmt.Fprintln(o.Out, r.Plan)
		switch r.Action {
		case release.ActionRelease:
			owned++
		case release.ActionRefused:
			refused = true
		}
	}
	switch {
	case dryRun && refused:
		return exit(exitError)
	case dryRun && owned > 0:
		return exit(exitChanges)
	case dryRun:
		return nil
	case owned > 0 && !yes && !o.ask(ctx, p.cluster, "Release"):
		return errors.New("nothing was released")
	}
	return o.carryOutRelease(ctx, plans)
}

// toRelease plans to let go of each of the objects, or of none.
func (p *planning) toRelease(ctx context.Context) ([]releasing, error) {
	entries, err := p.remembered(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w; nothing was released", err)
	}
	var plans []releasing
	for _, entry := range entries {
		state := *entry.State
		state.Manager = cmp.Or(state.Manager, p.manager)
		plan, err := p.cluster.planner.PlanRelease(ctx, &state)
		if err != nil {
			return nil, fmt.Errorf("%w; nothing was released", err)
		}
		plans = append(plans, releasing{entry, plan})
	}
	return plans, nil
}

// carryOutRelease lets go of the objects, one after the other, and forgets them.
func (o *options) carryOutRelease(ctx context.Context, plans []releasing) (err error) {
	var journal *statefile.Journal
	if o.state != "" {
		if journal, err = statefile.OpenJournal(ctx, o.state); err != nil {
			return fmt.Errorf("%w; nothing was released", err)
		}
	}
	var failed []error
	for _, r := range plans {
		if err := r.Plan.Apply(ctx); err != nil {
			failed = append(failed, err)
			continue
		}
		if r.Action == release.ActionRelease {
			fmt.Fprintln(o.ErrOut, foreign.Textf("released %s", r.Object))
		}
		if journal != nil {
			failed = append(failed, journal.Forget(ctx, r.Entry))
		}
	}
	if journal != nil {
		last, cancel := lastly(ctx)
		defer cancel()
		failed = append(failed, journal.Save(last, statefile.Run{}, nil))
	}
	return errors.Join(failed...)
}
