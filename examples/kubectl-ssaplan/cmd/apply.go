package cmd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/input"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/statefile"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/ssaplan/write"
)

func newApply(streams genericiooptions.IOStreams) *cobra.Command {
	o := newOptions(streams)
	yes, plan, digest := false, "", ""
	c := &cobra.Command{
		Use:   "apply (-f PATH ... | -k DIR | --plan FILE) [--yes]",
		Short: "Show what applying manifests will do, and do exactly that",
		Long: `Show what applying manifests will do, ask, and do exactly that. Without a terminal to ask at, as in
a script, apply needs --yes.

If the plan for an object is no longer the one that was shown, neither the object nor a later stage is applied. If
anything can't be planned, nothing is applied. --keep-going applies the rest. Objects in conflict, deferred, or to be
replaced (without --replace) are skipped.`,
		Example: `# show, ask and apply
kubectl ssaplan apply -f app.yaml

# in a script, with a record of what was applied
kubectl ssaplan apply -f app.yaml --yes --state app.state.json`,
		Annotations: map[string]string{
			details: `Objects that need each other are applied in stages, in one run: namespaces and CRDs first,
then the objects that need them, and webhooks and policies after the objects that they need. Each stage is planned
again when those before it are applied. If the plan for an object now differs from the one that was shown, the rest
of its stage is still applied, but no later stage.

` + flagDetails + `

With --replace, an object that has to be replaced is deleted, and created from the manifest when it is gone. That
can destroy data: the plan and the question name the known hazards. If you interrupt it, apply says how far it got.
The next apply creates the new object if the old one is gone. Otherwise use --replace again.

With --plan, apply carries out what "plan --out FILE" saved, in another process or on another day, without asking.
It plans again first. If an object, a CRD, the state file or the cluster has changed so that anything else would be
done than was reviewed, nothing is applied, and the difference is shown. So the same plan can't be applied twice.`,
			examples: `# apply the reviewed plan, and nothing else
kubectl ssaplan plan -f app.yaml --out upgrade.plan
kubectl ssaplan show upgrade.plan
kubectl ssaplan apply --plan upgrade.plan

# delete and create what can't change in place
kubectl ssaplan apply -f app.yaml --replace`,
			exitCodes: `0  everything is as in the manifests
1  error, or not confirmed
3  some objects were skipped; everything else was applied`,
			environment: planEnvironment,
		},
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if plan == "" && digest != "" {
				return errors.New("--digest: is that of a saved plan; name one with --plan")
			}
			if plan != "" {
				if err := o.takeSaved(c, plan, digest); err != nil {
					return err
				}
			}
			return o.runApply(c.Context(), yes || plan != "")
		},
	}
	o.addFlags(c)
	c.Flags().BoolVar(&o.replace, "replace", false, "delete objects that have to be replaced, and create them again")
	c.Flags().BoolVar(&o.keepGoing, "keep-going", false,
		"apply the rest if some objects can't be applied; skip those that need them")
	c.Flags().DurationVar(&o.timeout, "timeout", time.Minute,
		"`TIME` to wait between stages, for example until a CRD is served, and with --wait until all objects are ready")
	c.Flags().BoolVar(&o.wait, "wait", false, "wait until all objects are ready, at most for --timeout")
	c.Flags().StringArrayVar(&o.ready, "ready", nil,
		"`RULE` for when objects of a kind are ready, such as Certificate.cert-manager.io=Ready; repeatable")
	c.Flags().StringVar(&plan, "plan", "", "`FILE` with a saved plan: apply exactly that, without asking")
	c.Flags().StringVar(&digest, "digest", "", "`SHA256` that the saved plan must have, as plan --out printed it")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "apply without asking")
	return c
}

func (o *options) runApply(ctx context.Context, yes bool) error {
	if err := o.validate(); err != nil {
		return err
	}
	if !yes && !o.canAsk() {
		return errors.New(
			"apply: can't ask for confirmation: standard input is no terminal, or holds the manifests; use --yes to " +
				"apply without asking")
	}
	planning, err := o.plan(ctx)
	if err != nil {
		return fmt.Errorf("%w; nothing was applied", err)
	}
	if o.saved != nil {
		if err := planning.asReviewed(ctx); err != nil {
			return err
		}
	}
	if !o.encodes() {
		if err := o.show(planning.report()); err != nil {
			return err
		}
		return planning.carryOut(ctx, yes)
	}
	// the user has to see the plan before the question, and a program gets it at the end
	if !yes && (planning.writes() || planning.prunes()) {
		fmt.Fprint(o.ErrOut, textFor(o.ErrOut).Report(planning.report())+"\n")
	}
	if o.output == outputLines {
		return planning.carryOutInLines(ctx, yes)
	}
	err = planning.carryOut(ctx, yes)
	return cmp.Or(o.show(planning.report()), err)
}

// carryOutInLines does what carryOut does, and prints also the target, and what couldn't be planned, as lines.
func (p *planning) carryOutInLines(ctx context.Context, yes bool) error {
	line, err := p.target().Line()
	if err == nil {
		_, err = p.Out.Write(line)
	}
	if err != nil {
		return err
	}
	p.showFailures(p.failures)
	for _, f := range p.failures {
		p.line(render.Result{Object: f.Object, Outcome: write.OutcomeNotSent, Class: f.Class, Message: f.Message})
	}
	return p.carryOut(ctx, yes)
}

// carryOut applies the plans, if there are no errors and nobody objects.
func (p *planning) carryOut(ctx context.Context, yes bool) (err error) {
	if len(p.failures) > 0 && !p.goesOn() {
		return errors.New("nothing was applied; correct the errors first")
	}
	if p.state != "" { // tried before anything is written that would have to be remembered
		if p.journal, err = statefile.OpenJournal(ctx, p.state); err != nil {
			return fmt.Errorf("%w; nothing was applied", err)
		}
	}
	p.planDeletions(ctx)
	p.sayReplacements()
	if (p.writes() || p.prunes()) && !yes && !p.ask(ctx, p.cluster, "Apply") {
		return errors.New("nothing was applied")
	}
	if err := p.intend(ctx); err != nil {
		return fmt.Errorf("%w; nothing was applied", err)
	}
	if err := p.widen(ctx); err != nil {
		return fmt.Errorf("%w; nothing was applied", err)
	}
	return p.apply(ctx)
}

// canAsk reports whether somebody sits at the terminal.
func (o *options) canAsk() bool {
	file, ok := o.In.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && !slices.Contains(o.files, input.Stdin)
}

// ask names the cluster, asks whether to do what was shown, and reports whether the answer is yes. It doesn't wait for
// an answer when ctx ends.
func (o *options) ask(ctx context.Context, c *cluster, verb string) bool {
	fmt.Fprintf(o.ErrOut, "Target: %s\n%s this? Type yes: ", c.target(o.manager), verb)
	answers := make(chan string, 1)
	go func() {
		answer, _ := bufio.NewReader(o.In).ReadString('\n') // what can't be read isn't a yes
		answers <- answer
	}()
	select {
	case answer := <-answers:
		return strings.TrimSpace(answer) == "yes"
	case <-ctx.Done():
		fmt.Fprintln(o.ErrOut)
		return false
	}
}

// goesOn reports whether what can be applied is applied although there are errors.
func (p *planning) goesOn() bool { return p.keepGoing && len(p.plans) > 0 }

// writes reports whether apply would send anything.
func (p *planning) writes() bool {
	return slices.ContainsFunc(p.items, func(item *set.Item) bool {
		if item == nil || item.Err != nil {
			return false
		}
		plan := item.Plan
		return plan.Action == ssaplan.ActionCreate || plan.Action == ssaplan.ActionUpdate || p.replaces(plan) ||
			len(item.After) > 0
	})
}

// apply applies the set, and remembers what it did also when some of it failed.
func (p *planning) apply(ctx context.Context) error {
	states := make([]*explain.State, len(p.manifests))
	code := exitUnchanged
	if len(p.failures) > 0 {
		code = exitError
	}
	for result := range p.set.Apply(ctx) {
		if ctx.Err() != nil && errors.Is(result.Err, ctx.Err()) && result.Outcome == write.OutcomeNotSent {
			fmt.Fprintf(p.ErrOut, "interrupted before %s\n", result.Item.Object)
			code = exitError
			break
		}
		state, failed := p.tell(result)
		states[result.Item.Number] = state
		if err := p.note(ctx, result.Item.Number, state); err != nil {
			p.interrupt("stopped, because what was applied can't be remembered")
			return fmt.Errorf("%w; stopped after %s", err, result.Item.Object)
		}
		if code != exitError && failed != exitUnchanged {
			code = failed
		}
	}
	p.interrupt("interrupted")
	if pruned, err := p.pruneLeft(ctx, code); err != nil {
		return err
	} else if !pruned {
		code = exitError
	}
	if code != exitError && !p.awaitReady(ctx) {
		code = exitError
	}
	p.sayLeftOut()
	p.sayResults()
	if err := p.remember(ctx, states); err != nil {
		return err
	}
	if code != exitUnchanged {
		return exit(code)
	}
	return nil
}

// pruneLeft deletes what has left the set, unless something failed before. It reports whether that went well.
func (p *planning) pruneLeft(ctx context.Context, code int) (bool, error) {
	switch {
	case code == exitError || ctx.Err() != nil:
		if p.prunes() {
			say(p.ErrOut, "nothing was pruned, because something else failed")
		}
		return true, nil
	case !p.prunes():
		return true, p.narrow(ctx)
	}
	ok, err := p.removing.apply(ctx, p.journal, func(result render.Result) {
		p.results = append(p.results, result)
		p.line(result)
	})
	if err == nil {
		err = p.narrow(ctx)
	}
	return ok, err
}

// tell says what became of an object, and returns the state to remember.
func (p *planning) tell(of *set.Result) (*explain.State, int) {
	item := p.items[of.Item.Number]
	var left *set.LeftOutError
	switch {
	case item == nil || item.Err != nil: // told with the plan
		return nil, exitError
	case errors.As(of.Err, &left):
		p.leave(of, left)
		return nil, exitOpen
	}
	plan, obj := cmp.Or(of.Item.Plan, item.Plan), of.Made
	if of.Err == nil && of.Made == nil { // a no-op
		if plan.Live() == nil {
			plan = item.Plan // a set doesn't keep what nothing happens to
		}
		obj = plan.Live()
	}
	var state *explain.State
	err := of.Err
	if err == nil {
		p.applied(plan)
		state, err = plan.State(obj)
	}
	result := resultOf(plan, of.Outcome, "")
	if err != nil {
		p.blame(&result, item, err)
		return nil, exitError
	}
	result.ResourceVersion, result.Differences, result.Unshown = obj.GetResourceVersion(), of.Differences, of.Unshown
	for _, change := range of.Unshown {
		say(p.ErrOut, "    couldn't be shown before: "+change.String())
	}
	for _, d := range of.Differences {
		say(p.ErrOut, "    not as planned: "+d.String())
	}
	p.add(item.Number, result)
	return state, exitUnchanged
}

// leave says that an object is left out: at the end, if its plan is why, and else at once.
func (p *planning) leave(of *set.Result, left *set.LeftOutError) {
	switch plan := of.Item.Plan; {
	case plan == nil || left.Because != (identity.Identity{}):
		say(p.ErrOut, left.Error())
	case p.leavesOut(plan):
		p.left[plan.Action]++
	case plan.Action != ssaplan.ActionNoOp:
		p.left[behindFailure]++
	}
	plan := cmp.Or(of.Item.Plan, p.items[of.Item.Number].Plan)
	p.add(of.Item.Number, resultOf(plan, write.OutcomeNotSent, "left out: "+left.Reason))
}

// blame adds the result of an object that failed, and says why.
func (p *planning) blame(result *render.Result, item *set.Item, err error) {
	failure := objectFailure(p.manifests[item.Number], err)
	if stopped := (*write.ReplaceError)(nil); errors.As(err, &stopped) {
		result.Stage = stopped.Stage
	}
	result.Class, result.Message = failure.Class, failure.Message
	p.add(item.Number, *result)
	p.showFailures([]render.Failure{failure})
	if now := planToReview(err); now != nil {
		fmt.Fprint(p.ErrOut, textFor(p.ErrOut).Plans([]*ssaplan.Plan{now}))
	}
}

// planToReview returns the plan that is to be reviewed in place of the one that was shown, nil if err is of another
// kind. The set compares plans before a write, and the Planner compares them again when it sends.
func planToReview(err error) *ssaplan.Plan {
	if changed := (*set.ChangedError)(nil); errors.As(err, &changed) {
		return changed.Now
	}
	if changed := (*ssaplan.ChangedError)(nil); errors.As(err, &changed) {
		return changed.Plan
	}
	return nil
}

func resultOf(plan *ssaplan.Plan, outcome write.Outcome, message string) render.Result {
	return render.Result{Object: plan.Object, Subresource: plan.Subresource, Action: plan.Action, Outcome: outcome,
		Message: message}
}

// add keeps the result of a manifest, and prints it at once if it was asked for as a line.
func (p *planning) add(number int, result render.Result) {
	p.at[number] = len(p.results)
	p.results = append(p.results, result)
	p.line(result)
}

// line prints a result for a program that reads them as they come.
func (p *planning) line(result render.Result) {
	if p.output != outputLines {
		return
	}
	text, err := result.Line()
	if err == nil {
		_, err = p.Out.Write(text)
	}
	if err != nil {
		say(p.ErrOut, err.Error())
	}
}

// interrupt gives the objects that weren't reached a result that says why.
func (p *planning) interrupt(why string) {
	for _, item := range p.items {
		if item == nil || item.Err != nil {
			continue
		}
		if _, told := p.at[item.Number]; !told {
			p.add(item.Number, resultOf(item.Plan, write.OutcomeNotSent, why))
		}
	}
}

// sayResults sums up, if a write failed.
func (p *planning) sayResults() {
	if slices.ContainsFunc(p.results, func(r render.Result) bool { return r.Class != "" }) {
		fmt.Fprint(p.ErrOut, textFor(p.ErrOut).Results(p.results))
	}
}

// leavesOut reports whether apply doesn't touch the object of a plan that isn't a no-op.
func (p *planning) leavesOut(plan *ssaplan.Plan) bool {
	switch plan.Action {
	case ssaplan.ActionConflict, ssaplan.ActionDeferred:
		return true
	}
	return plan.Action == ssaplan.ActionReplace && !p.replaces(plan)
}

// behindFailure stands for the actions of objects that could be applied, if nothing before them had failed.
const behindFailure ssaplan.Action = ""

// leftOut says for each action that isn't carried out what to do instead.
var leftOut = []struct {
	action ssaplan.Action
	text   string
}{
	{behindFailure,
		"behind a failed object: correct it, and apply again; --keep-going applies the objects that don't need it"},
	{ssaplan.ActionConflict,
		"in conflict: leave the fields to their managers, or take them over with --force-conflicts"},
	{ssaplan.ActionDeferred, "deferred: apply again once what they wait for is there"},
	{ssaplan.ActionReplace, "to be replaced: --replace deletes the old object and creates the new one"},
}

func (p *planning) sayLeftOut() {
	for _, l := range leftOut {
		if n := p.left[l.action]; n > 0 {
			say(p.ErrOut, fmt.Sprintf("left out %d %s", n, l.text))
		}
	}
}

func (p *planning) applied(plan *ssaplan.Plan) {
	if old := replaced(plan); old != plan.Object {
		fmt.Fprintf(p.ErrOut, "deleted %s\ncreated %s\n", old, plan.Object)
		return
	}
	verb := map[ssaplan.Action]string{ssaplan.ActionCreate: "created", ssaplan.ActionUpdate: "updated",
		ssaplan.ActionReplace: "replaced"}[plan.Action]
	if verb != "" {
		fmt.Fprintf(p.ErrOut, "%s %s\n", verb, render.Target(plan))
	}
}

// intend remembers what is going to be made.
func (p *planning) intend(ctx context.Context) error {
	if p.journal == nil || p.subresource != "" {
		return nil
	}
	var entries []statefile.Entry
	for _, item := range p.items {
		if item != nil && item.Err == nil && (item.Plan.Action == ssaplan.ActionCreate || len(item.After) > 0) {
			entries = append(entries,
				statefile.Entry{Source: p.manifests[item.Number].Source.Key(),
					State: &explain.State{Identity: item.Object}})
		}
	}
	return p.journal.Intend(ctx, entries)
}

// note remembers one object at once, so that it isn't lost if the program is killed.
func (p *planning) note(ctx context.Context, i int, state *explain.State) error {
	if err := p.widenLate(ctx); err != nil {
		return err
	}
	if p.journal == nil || state == nil {
		return nil
	}
	ctx, cancel := lastly(ctx)
	defer cancel()
	err := p.journal.Add(ctx, statefile.Entry{Source: p.manifests[i].Source.Key(), State: state})
	if err == nil && p.isOther(p.matches[i], state.Identity) { // which was replaced
		err = p.journal.Forget(ctx, *p.matches[i])
	}
	return err
}

func (p *planning) remember(ctx context.Context, states []*explain.State) error {
	if p.journal == nil {
		return nil
	}
	ctx, cancel := lastly(ctx)
	defer cancel()
	return p.journal.Save(ctx, p.run(), states)
}

// lastly returns a context for what has to be done also after an interrupt.
func lastly(ctx context.Context) (context.Context, context.CancelFunc) {
	const patience = 10 * time.Second
	return context.WithTimeout(context.WithoutCancel(ctx), patience)
}
