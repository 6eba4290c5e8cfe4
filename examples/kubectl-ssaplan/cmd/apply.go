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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/input"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/statefile"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

func newApply(streams genericiooptions.IOStreams) *cobra.Command {
	o := newOptions(streams)
	yes := false
	c := &cobra.Command{
		Use:   "apply (-f FILE|DIR|URL|- ... | -k DIR) [--yes]",
		Short: "Show what applying manifests will do, and do exactly that",
		Long: `Show what applying manifests will do, ask, and do exactly that.

The question is asked at the terminal. Where there is none, as in a script, apply refuses to go on without --yes.

What is sent is what was shown. An object that changed in between is left as it is, and reported. Nothing at all is
applied as long as something can't be planned. Objects that are in conflict, deferred or to be replaced are left out:
deferred ones can be applied once what they wait for is there, so run apply again.

With --replace, an object that has to be replaced is deleted, and created from the manifest when it is gone. The old
object of a renamed one is deleted, too. That can destroy data: the plan and the question say what is known of that. Who
interrupts it is told how far it got; running apply again goes on from there.`,
		Example: `# show, ask and apply
kubectl ssaplan apply -f app.yaml

# in a script, with a memory of what was applied
kubectl ssaplan apply -f app.yaml --yes --state app.state.json

# delete and create what can't change in place
kubectl ssaplan apply -f app.yaml --replace`,
		Annotations: map[string]string{
			exitCodes: `0  everything is as the manifests say
1  error, or not confirmed
3  everything was applied but what was left out`,
			environment: clusterEnvironment,
		},
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.runApply(c.Context(), yes) },
	}
	o.addFlags(c)
	c.Flags().BoolVar(&o.replace, "replace", false, "delete what has to be replaced, and create it anew")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "apply without asking")
	return c
}

func (o *options) runApply(ctx context.Context, yes bool) error {
	if err := o.validate(); err != nil {
		return err
	}
	if !yes && !o.canAsk() {
		return errors.New("apply: nobody can be asked, because standard input is no terminal or has the manifests; use --yes to apply without asking")
	}
	planning, err := o.plan(ctx)
	if err != nil {
		return fmt.Errorf("%w; nothing was applied", err)
	}
	if !o.encodes() {
		if err := o.show(planning.report()); err != nil {
			return err
		}
		return planning.carryOut(ctx, yes)
	}
	if !yes && planning.writes() { // who is asked has to see the plan, and a program is told in the end
		fmt.Fprint(o.ErrOut, textFor(o.ErrOut).Plans(planning.report().Plans)+"\n")
	}
	err = planning.carryOut(ctx, yes)
	return cmp.Or(o.show(planning.report()), err)
}

// carryOut applies the plans, if there are no errors and nobody objects.
func (p *planning) carryOut(ctx context.Context, yes bool) (err error) {
	if len(p.failures) > 0 {
		return errors.New("nothing was applied; correct the errors first")
	}
	if p.state != "" { // tried before anything is written that would have to be remembered
		if p.journal, err = statefile.OpenJournal(ctx, p.state); err != nil {
			return fmt.Errorf("%w; nothing was applied", err)
		}
	}
	p.planDeletions(ctx)
	p.sayReplacements()
	if p.writes() && !yes && !p.ask(ctx) {
		return errors.New("nothing was applied")
	}
	return p.apply(ctx)
}

// canAsk reports whether somebody sits at the terminal.
func (o *options) canAsk() bool {
	file, ok := o.In.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && !slices.Contains(o.files, input.Stdin)
}

// ask reports whether the answer is yes, and doesn't wait for one when ctx ends.
func (o *options) ask(ctx context.Context) bool {
	fmt.Fprint(o.ErrOut, "Apply this? Type yes: ")
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

// writes reports whether apply would send anything.
func (p *planning) writes() bool {
	return slices.ContainsFunc(p.plans, func(plan *ssaplan.Plan) bool {
		return plan.Action == ssaplan.ActionCreate || plan.Action == ssaplan.ActionUpdate || p.replaces(plan)
	})
}

// apply applies the plans, in their order, and remembers what it did also when some of it failed.
func (p *planning) apply(ctx context.Context) error {
	states := make([]*explain.State, len(p.plans))
	code := exitUnchanged
	for i, plan := range p.plans {
		if ctx.Err() != nil {
			fmt.Fprintf(p.ErrOut, "interrupted before %s\n", render.Target(plan))
			code = exitError
			break
		}
		state, result := p.applyOne(ctx, i)
		states[i] = state
		if err := p.note(ctx, i, state); err != nil {
			p.interrupt("stopped, because what was applied can't be remembered")
			return fmt.Errorf("%w; stopped after %s", err, render.Target(plan))
		}
		if code != exitError && result != exitUnchanged {
			code = result
		}
	}
	p.interrupt("interrupted")
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

// applyOne applies one plan and says so.
func (p *planning) applyOne(ctx context.Context, i int) (*explain.State, int) {
	plan := p.plans[i]
	if p.leavesOut(plan) {
		p.results = append(p.results, resultOf(plan, ssaplan.OutcomeNotSent, "left out: "+plan.Reason))
		return nil, exitOpen
	}
	obj, err := p.send(ctx, plan)
	result := resultOf(plan, ssaplan.OutcomeOf(err), "")
	if err == nil {
		p.applied(plan)
		var state *explain.State
		if state, err = plan.State(obj); err == nil {
			p.results = append(p.results, result)
			return state, exitUnchanged
		}
	}
	failure := objectFailure(p.manifests[i], err)
	if stopped := (*ssaplan.ReplaceError)(nil); errors.As(err, &stopped) {
		result.Stage = stopped.Stage
	}
	result.Class, result.Message = failure.Class, failure.Message
	p.results = append(p.results, result)
	p.showFailures([]render.Failure{failure})
	return nil, exitError
}

func resultOf(plan *ssaplan.Plan, outcome ssaplan.Outcome, message string) render.Result {
	return render.Result{Object: plan.Object, Subresource: plan.Subresource, Outcome: outcome, Message: message}
}

// interrupt gives the plans that weren't reached a result that says why.
func (p *planning) interrupt(why string) {
	for _, plan := range p.plans[len(p.results):] {
		p.results = append(p.results, resultOf(plan, ssaplan.OutcomeNotSent, why))
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

func (p *planning) send(ctx context.Context, plan *ssaplan.Plan) (*unstructured.Unstructured, error) {
	if p.replaces(plan) {
		return p.cluster.planner.Replace(ctx, plan, p.replaceOptions())
	}
	return p.cluster.planner.Apply(ctx, plan)
}

// leftOut says for each action that can't be applied what to do instead.
var leftOut = []struct {
	action ssaplan.Action
	text   string
}{
	{ssaplan.ActionConflict, "in conflict: leave the fields to their managers, or take them over with --force-conflicts"},
	{ssaplan.ActionDeferred, "deferred: apply again once what they wait for is there"},
	{ssaplan.ActionReplace, "to be replaced: --replace deletes the old object and creates the new one"},
}

func (p *planning) sayLeftOut() {
	for _, l := range leftOut {
		n := 0
		for _, plan := range p.plans {
			if plan.Action == l.action && p.leavesOut(plan) {
				n++
			}
		}
		if n > 0 {
			say(p.ErrOut, fmt.Sprintf("left out %d %s", n, l.text))
		}
	}
}

func (p *planning) applied(plan *ssaplan.Plan) {
	if old := replaced(plan); old != plan.Object {
		fmt.Fprintf(p.ErrOut, "deleted %s\ncreated %s\n", old, plan.Object)
		return
	}
	verb := map[ssaplan.Action]string{ssaplan.ActionCreate: "created", ssaplan.ActionUpdate: "updated", ssaplan.ActionReplace: "replaced"}[plan.Action]
	if verb != "" {
		fmt.Fprintf(p.ErrOut, "%s %s\n", verb, render.Target(plan))
	}
}

// note remembers one object at once, so that it isn't lost if the program is killed.
func (p *planning) note(ctx context.Context, i int, state *explain.State) error {
	if p.journal == nil || state == nil {
		return nil
	}
	ctx, cancel := lastly(ctx)
	defer cancel()
	return p.journal.Add(ctx, statefile.Entry{Source: p.manifests[i].Source.Key(), State: state})
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
