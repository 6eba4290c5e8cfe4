package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/statefile"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/set"
)

func newDelete(streams genericiooptions.IOStreams) *cobra.Command {
	o := newOptions(streams)
	yes, dryRun := false, false
	c := &cobra.Command{
		Use:   "delete (-f PATH ... | -k DIR | --state FILE)",
		Short: "Show what deleting objects will do, and do exactly that",
		Long: `Show what deleting objects will do, ask, and do exactly that. With -f or -k, the objects are
those of the manifests. With --state they are all that the state file remembers. With both they are those of the
manifests that the state file remembers.

Objects are deleted in the opposite order of apply: custom resources first, namespaces and CRDs last. Each delete
names the UID, so that an object that was deleted and created again in between is kept. Objects that existed before
the first apply are kept, too, unless you pass --prune-adopted. Namespaces and CRDs that hold objects of others are
kept unless you pass --prune-contents.`,
		Example: `# everything that was applied with this state file
kubectl ssaplan delete --state app.state.json

# only show what would be deleted
kubectl ssaplan delete -f app.yaml --dry-run`,
		Annotations: map[string]string{
			exitCodes: `0  all of the objects are gone
1  error, or not confirmed
2  with --dry-run: something would be deleted
3  something was kept`,
			environment: clusterEnvironment,
		},
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.runDelete(c.Context(), yes, dryRun) },
	}
	o.addSourceFlags(c)
	flags := c.Flags()
	flags.StringVar(&o.state, "state", "", "`FILE` with a record of what was applied")
	o.addRemovalFlags(c)
	flags.DurationVar(&o.timeout, "timeout", time.Minute, "`TIME` to wait until an object is gone")
	flags.BoolVar(&dryRun, "dry-run", false, "only show what would be deleted")
	flags.BoolVarP(&yes, "yes", "y", false, "delete without asking")
	o.config.AddFlags(c.Flags())
	complete(c, o.config, nil)
	return c
}

func (o *options) runDelete(ctx context.Context, yes, dryRun bool) error {
	if o.state == "" || len(o.files) > 0 || o.kustomization != "" {
		if err := o.validateSources(); err != nil {
			return err
		}
	}
	if !yes && !dryRun && !o.canAsk() {
		return errors.New(
			"delete: can't ask for confirmation: standard input is no terminal, or holds the manifests; use --yes to " +
				"delete without asking")
	}
	p := &planning{options: o}
	entries, err := p.remembered(ctx)
	if err != nil {
		return fmt.Errorf("%w; nothing was deleted", err)
	}
	entries, keep := p.found(ctx, entries)
	removing, err := p.planRemoval(ctx, entries, nil, keep...)
	if err != nil {
		return err
	}
	text := o.text()
	if _, err := fmt.Fprint(o.Out, text.Heading(p.target())+text.Removals(removing.shown(), true)); err != nil {
		return err
	}
	return o.carryOutDelete(ctx, p.cluster, removing, yes, dryRun)
}

func (o *options) carryOutDelete(ctx context.Context, c *cluster, r *removing, yes, dryRun bool) (err error) {
	switch {
	case dryRun && r.deletes() && !r.failed():
		return exit(exitChanges)
	case dryRun:
		return r.kept()
	case r.deletes() && !yes && !o.ask(ctx, c, "Delete"):
		return errors.New("nothing was deleted")
	}
	var journal *statefile.Journal
	if o.state != "" {
		if journal, err = statefile.OpenJournal(ctx, o.state); err != nil {
			return fmt.Errorf("%w; nothing was deleted", err)
		}
	}
	ok, err := r.apply(ctx, journal, func(render.Result) {})
	if journal != nil {
		last, cancel := lastly(ctx)
		defer cancel()
		err = errors.Join(err, journal.Save(last, statefile.Run{}, nil))
	}
	if err != nil {
		return err
	}
	if !ok {
		return exit(exitError)
	}
	return r.kept()
}

// failed reports whether an object couldn't be planned or deleted.
func (r *removing) failed() bool {
	return slices.ContainsFunc(r.items, func(item *set.RemovalItem) bool { return item.Err != nil })
}

// kept returns exitError if an object failed, exitOpen if an object still exists that was to be deleted, and nil
// otherwise.
func (r *removing) kept() error {
	switch {
	case r.failed():
		return exit(exitError)
	case slices.ContainsFunc(r.items, func(item *set.RemovalItem) bool { return item.Kept != "" && !item.Gone() }):
		return exit(exitOpen)
	}
	return nil
}

// remembered returns what is remembered of the objects, or what they are where nothing is.
func (p *planning) remembered(ctx context.Context) ([]statefile.Entry, error) {
	if len(p.files) > 0 || p.kustomization != "" {
		if err := p.read(ctx); err != nil {
			return nil, err
		}
	}
	if err := p.parseFilters(); err != nil {
		return nil, err
	}
	p.manager = cmp.Or(p.manager, manager)
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	if len(p.failures) > 0 {
		p.showFailures(p.failures)
		return nil, errors.New("correct the errors first")
	}
	for _, hook := range p.leftHooks {
		say(p.ErrOut, fmt.Sprintf("left out %s, which Helm runs apart: %s", hook.Object, hook.When))
	}
	if len(p.all) == 0 { // no manifests are named
		return p.memory.Left(p.run()), nil
	}
	var entries []statefile.Entry
	for i, m := range p.manifests {
		if match := p.matches[i]; match != nil && !p.isOther(match, m.Identity) {
			entries = append(entries, *match)
			continue
		}
		state, err := p.stateOf(ctx, i)
		if err != nil {
			return nil, errors.New(objectFailure(m, err).Message)
		}
		entries = append(entries, statefile.Entry{Source: m.Source.Key(), State: state})
	}
	return entries, nil
}

// stateOf returns what there is to know of an object that nobody remembers: its identity and UID.
func (p *planning) stateOf(ctx context.Context, i int) (*explain.State, error) {
	id, err := p.cluster.planner.Resolve(ctx, p.manifests[i].Identity)
	if err != nil {
		return nil, err
	}
	state := &explain.State{Identity: id}
	reading, err := p.cluster.planner.Read(ctx, state)
	if err == nil && reading.Presence != ssaplan.PresenceAbsent && reading.Live != nil {
		state.UID = string(reading.Live.GetUID())
	}
	return state, err
}
