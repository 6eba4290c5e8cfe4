package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/input"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/shard"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/statefile"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/preview"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/manifest"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// planning is the way from files to plans. Whatever goes wrong on it becomes a failure of the report.
type planning struct {
	*options
	cluster   *cluster
	memory    statefile.File
	journal   *statefile.Journal // of what is applied, nil if nothing is to be remembered
	manifests []manifest.Manifest
	matches   []*statefile.Entry              // what memory knows of each manifest
	all       []manifest.Manifest             // also those that weren't chosen
	leftHooks []render.Hook                   // of these
	reading   *shard.Reading                  // of all manifests of which it is a part
	toldShard *render.Shard                   // which part that is, nil if it is all
	applySet  *applySet                       // nil if none remembers the set
	removing  *removing                       // what has left the set; nil if that isn't known
	set       *set.Set                        // of the manifests
	items     []*set.Item                     // as they were shown, of each manifest; nil where it wasn't planned
	plans     []*ssaplan.Plan                 // those that there are, stage by stage
	asPlanned map[*ssaplan.Plan]*ssaplan.Plan // without what is to be said of the input
	failures  []render.Failure
	told      struct { // as they came
		plans, failures int
		target          bool
	}
	results   []render.Result            // of the plans, nil as long as none is carried out
	at        map[int]int                // where in results those of the manifests are
	left      map[ssaplan.Action]int     // how many objects were left out, by why
	deletions map[*ssaplan.Plan][]string // what there is to know of the deletes of replacements
}

// plan reads the input and plans every object. The error is that of a context that ended.
func (o *options) plan(ctx context.Context) (*planning, error) {
	p := o.newPlanning()
	if err := p.read(ctx); err != nil {
		return nil, err
	}
	return p, p.planRead(ctx)
}

func (o *options) newPlanning() *planning {
	return &planning{options: o, at: map[int]int{}, left: map[ssaplan.Action]int{},
		asPlanned: map[*ssaplan.Plan]*ssaplan.Plan{}}
}

// planRead plans every object that was read.
func (p *planning) planRead(ctx context.Context) error {
	if err := p.prepare(ctx); err != nil {
		p.fail(configurationFailure(err))
		p.manifests = nil
	}
	p.items = make([]*set.Item, len(p.manifests))
	if err := p.planAll(ctx); err != nil {
		return err
	}
	if p.cluster != nil {
		if err := p.cluster.noOps.save(); err != nil {
			p.fail(configurationFailure(err))
		}
	}
	return p.planLeft(ctx)
}

// planLeft plans to delete what has left the set, which every plan shows.
func (p *planning) planLeft(ctx context.Context) (err error) {
	if p.cluster == nil || p.subresource != "" || len(p.plans) == 0 || p.prune && len(p.failures) > 0 {
		return nil
	}
	everything := p.run()
	everything.Manifests = p.all
	left, keep := p.found(ctx, p.memory.Left(everything))
	if p.applySet != nil {
		if left, keep, err = p.applySet.left(ctx, p.all, p.cluster.namespace); err != nil {
			p.fail(configurationFailure(err))
			return nil
		}
	}
	if len(left) > 0 {
		p.removing, err = p.planRemoval(ctx, left, p.all, keep...)
	}
	return err
}

// read reads the manifests. The error is that of a context that ended.
func (p *planning) read(ctx context.Context) error {
	if p.readsSaved() {
		p.manifests = p.saved.manifests()
		return nil
	}
	p.reading = p.part.Read()
	manifests, errs := input.Read(ctx, input.Sources{
		Paths: p.files, Recursive: p.recursive, Kustomization: p.kustomization, Stdin: p.In, Wanted: p.reading.Wants,
	})
	if ctx.Err() != nil {
		return errors.New("interrupted while reading the manifests")
	}
	p.manifests = manifests
	p.fail(inputFailures(errs)...)
	p.sayUnmatched()
	return nil
}

// sayUnmatched warns of what --sensitive names and no manifest has: a misspelt pattern hides nothing. A shard needn't
// have it.
func (p *planning) sayUnmatched() {
	for _, pattern := range p.hidden {
		every := projection.Patterns{pattern}.OfEveryItem()
		has := func(m manifest.Manifest) bool {
			_, found := every.Remove(m.Object.Object)
			return len(found) > 0
		}
		if p.shard == "" && len(p.failures) == 0 && !slices.ContainsFunc(p.manifests, has) {
			say(p.ErrOut, fmt.Sprintf("warning: --sensitive %s: no manifest has such a field", pattern))
		}
	}
}

func (p *planning) fail(failures ...render.Failure) { p.failures = append(p.failures, failures...) }

// prepare finds the cluster and the remembered state, and leaves out the manifests that can't be meant.
func (p *planning) prepare(ctx context.Context) (err error) {
	if p.state != "" {
		if p.memory, err = statefile.Load(ctx, p.state); err != nil {
			return err
		}
	}
	if p.cluster, err = p.connect(ctx); err != nil {
		return err
	}
	if p.cluster.enforced {
		var errs []*manifest.Error
		p.manifests, errs = input.InNamespace(p.manifests, p.cluster.namespace)
		p.fail(inputFailures(errs)...)
	}
	unique, errs := input.Unique(p.manifests, p.cluster.namespace)
	p.fail(inputFailures(errs)...)
	if !p.readsSaved() { // those of other shards, which only had to be told from these
		p.toldShard, p.reading = p.reading.Told(p.cluster.namespace), nil
		// which lets go of their memory
		unique = slices.Clone(slices.DeleteFunc(unique, func(m manifest.Manifest) bool { return m.Object == nil }))
	}
	p.all, p.manifests = unique, p.part.Of(p.choose(ctx, slices.Clone(unique)), p.cluster.namespace)
	p.matches = p.memory.Match(p.run())
	if p.applyset != "" {
		return p.openApplySet(ctx)
	}
	return nil
}

// choose returns the manifests that are meant: of a saved plan, those that were planned, and else those that the flags
// say, without hooks.
func (p *planning) choose(ctx context.Context, all []manifest.Manifest) []manifest.Manifest {
	if p.readsSaved() {
		p.leftHooks = p.saved.run.Hooks
		return slices.DeleteFunc(all, func(m manifest.Manifest) bool { return m.Object == nil })
	}
	return slices.DeleteFunc(p.chosen(ctx, all), func(m manifest.Manifest) bool {
		when := input.Hook(m)
		if when == "" || p.hooks {
			return false
		}
		p.leftHooks = append(p.leftHooks, render.Hook{Object: m.Identity, When: when})
		return true
	})
}

// planAll plans every manifest. A connection that fails before there was any answer is one failure, not one per object.
func (p *planning) planAll(ctx context.Context) error {
	if len(p.manifests) == 0 {
		return nil
	}
	progress := p.newProgress(len(p.manifests),
		func() string { return render.Report{Plans: p.plans, Failures: p.failures}.Counts() })
	defer progress.clear()
	progress.show(0, time.Now())
	requests := p.requests()
	p.adoptLate(ctx, requests)
	p.set = set.New(p.cluster.planner, requests, p.setOptions())
	answered, i := false, 0
	for item := range p.set.Plan(ctx) {
		if i++; ctx.Err() != nil {
			return fmt.Errorf("interrupted after %d of %d objects", i-1, len(p.manifests))
		}
		progress.show(i, time.Now())
		if item.Err != nil && !answered && concernsCluster(item.Err) {
			p.fail(clusterFailure(p.cluster.config.Host, item.Err, len(p.manifests)-i+1))
			return nil
		}
		p.take(item)
		if err := p.tellNews(progress); err != nil {
			return err
		}
		answered = answered || item.Err == nil && asked(item.Plan)
	}
	return nil
}

// tellNews tells what was found since it was called: on a terminal the first line of what changes, and all of it where
// lines are asked for.
func (p *planning) tellNews(progress *progress) error {
	news := render.Report{Plans: p.plans[p.told.plans:], Failures: p.failures[p.told.failures:], Whole: p.verbose}
	if !p.told.target {
		news.Target, p.told.target = p.target(), p.streams
	}
	p.told.plans, p.told.failures = len(p.plans), len(p.failures)
	if p.output == "text" && textFor(p.Out).Width > 0 {
		for _, plan := range news.Plans {
			if plan.Action != ssaplan.ActionNoOp && plan.Action != ssaplan.ActionCreate {
				progress.head(textFor(p.ErrOut).Head(plan))
			}
		}
	}
	if !p.streams {
		return nil
	}
	return p.showEncoded(news, render.Report.Lines)
}

// untold returns the report, without what was told as it came.
func (p *planning) untold() render.Report {
	report := p.report()
	if p.streams {
		report.Plans, report.Failures = report.Plans[p.told.plans:], report.Failures[p.told.failures:]
		if p.told.target {
			report.Target = render.Destination{}
		}
	}
	return report
}

// take keeps what is to be shown of an object.
func (p *planning) take(item *set.Item) {
	p.items[item.Number] = item
	if item.Err != nil {
		p.fail(objectFailure(p.manifests[item.Number], item.Err))
		return
	}
	planned := item.Plan
	plan := *planned // the set compares its own with what a later plan says
	plan.Warnings = slices.Concat(inputWarnings(p.manifests[item.Number]), plan.Warnings, p.unmatchedAdopt(planned))
	item.Plan = &plan
	p.plans = append(p.plans, &plan)
	p.asPlanned[&plan] = planned
}

// unmatchedAdopt warns of the names of --adopt that no field manager of an object has, such as a misspelt one. The name
// of a tool that is known isn't: everything may have been taken over from it before. Nor are the names that the tool of
// --like has, which the user didn't write.
func (o *options) unmatchedAdopt(plan *ssaplan.Plan) (warnings []foreign.Text) {
	live := plan.Live()
	if live == nil || len(o.adopt) == 0 || slices.Equal(o.adopt, tools[o.like].adopt) {
		return nil
	}
	owners, err := fieldowner.Read(live.Object)
	if err != nil {
		return nil
	}
	for _, name := range withoutAuto(o.adopt) {
		known := false
		for _, operation := range []string{fieldowner.OperationApply, fieldowner.OperationUpdate} {
			_, isTool := fieldowner.ToolOf(fieldowner.Owner{Manager: foreign.Text(name), Operation: operation},
				fieldowner.Tools())
			known = known || isTool
		}
		if !known && owners.Fields(fieldowner.By(name)).Empty() {
			warnings = append(warnings,
				foreign.Textf("--adopt %s: the object has no fields of this manager (any more)", foreign.Text(name)))
		}
	}
	return warnings
}

// setOptions returns how the manifests are planned and applied as a set.
func (p *planning) setOptions() set.Options {
	options := set.Options{
		AllowMissing: p.allowMissing, KeepGoing: p.keepGoing, Replace: p.replace, Delete: p.replaceOptions(),
		Patience: p.timeout, Preview: preview.Of, Unusable: p.sayUnusable, Waiting: p.newWaiting().show,
	}
	if p.applySet != nil {
		options.Stages = p.applySet.stages()
	}
	return options
}

// prunes reports whether apply deletes what has left the set.
func (p *planning) prunes() bool { return p.prune && p.removing != nil && p.removing.deletes() }

// run is what is remembered of this one.
func (p *planning) run() statefile.Run {
	return statefile.Run{Manifests: p.manifests, Subresource: p.subresource, DefaultNamespace: p.cluster.namespace}
}

func (p *planning) requests() []ssaplan.Request {
	requests := make([]ssaplan.Request, len(p.manifests))
	for i, m := range p.manifests {
		requests[i] = p.request(m.Object)
		if p.matches[i] != nil {
			requests[i].Prior = p.matches[i].State
		}
	}
	return requests
}

// asked reports whether a server answered for the plan. That of a renamed object takes none.
func asked(plan *ssaplan.Plan) bool {
	return plan.Requests > 0 || plan.Deferral == ssaplan.DeferralTypeNotServed
}

// target returns what is planned for, nothing if it couldn't be found.
func (p *planning) target() render.Destination {
	if p.cluster == nil {
		return render.Destination{}
	}
	return p.cluster.target(p.manager)
}

// report returns what is to be shown.
func (p *planning) report() render.Report {
	if p.toldShard != nil {
		p.toldShard.Open = slices.ContainsFunc(p.items, isOpen)
	}
	r := render.Report{Target: p.target(), Shard: p.toldShard, Plans: p.plans, Failures: p.failures, Hooks: p.leftHooks,
		Results: p.results, Pruned: p.prune, Whole: p.verbose}
	if p.removing != nil {
		r.Removals = p.removing.shown()
	}
	if p.set != nil {
		for _, name := range p.set.Stages() {
			r.Stages = append(r.Stages, render.StageOf{Name: name})
		}
	}
	for _, item := range p.items {
		if item != nil && item.Err == nil {
			r.Stages[item.Stage].Plans++
		}
	}
	return r
}

// exitCode returns the code of the plan command: an error outweighs what is open, and that outweighs changes.
func (p *planning) exitCode() int {
	code := exitUnchanged
	for _, item := range p.items {
		switch {
		case item == nil || item.Err != nil:
		case len(item.After) > 0: // apply comes to it
			code = max(code, exitChanges)
		default:
			code = max(code, actionCode(item.Plan.Action))
		}
	}
	if p.prunes() {
		code = max(code, exitChanges)
	}
	if len(p.failures) > 0 {
		code = exitError
	}
	return code
}

// isOpen reports whether an object is in conflict, or waits for what the set doesn't bring.
func isOpen(item *set.Item) bool {
	return item != nil && item.Err == nil && len(item.After) == 0 && actionCode(item.Plan.Action) == exitOpen
}

func actionCode(action ssaplan.Action) int {
	switch action {
	case ssaplan.ActionNoOp:
		return exitUnchanged
	case ssaplan.ActionConflict, ssaplan.ActionDeferred:
		return exitOpen
	}
	return exitChanges
}
