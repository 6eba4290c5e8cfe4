package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/input"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/savedplan"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/wholefile"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/manifest"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// lastingFlags are those that decide what a plan says. They are saved with it, and have the same values when it is
// carried out.
var lastingFlags = []string{
	"subresource", "field-manager", "force-conflicts", "ignore", "adopt", "clear", "lost-version", "existing",
	"sensitive", "show-values-of",
	"show-server-text", "state", "selector",
	"include", "exclude", "applyset", "applyset-tooling", "prune", "prune-adopted", "prune-contents", "allow-missing",
	"hooks",
}

// savedRun is what this program needs besides to make the plans of a saved plan again, and to show them.
type savedRun struct {
	Flags     map[string][]string `json:"flags,omitempty"` // that aren't as ever
	Target    render.Destination  `json:"target"`
	Namespace string              `json:"namespace"`
	Enforced  bool                `json:"enforced,omitempty"`
	Documents []savedDocument     `json:"documents"`
	Stages    []render.StageOf    `json:"stages,omitempty"`
	Kept      []savedRemoval      `json:"kept,omitempty"`
	Hooks     []render.Hook       `json:"hooks,omitempty"`
	Beside    []render.Beside     `json:"beside"` // of each plan that was reviewed
}

// savedDocument is a document of the manifests.
type savedDocument struct {
	Source   manifest.Source    `json:"source"`
	Object   identity.Identity  `json:"object"`
	Warnings []manifest.Warning `json:"warnings,omitempty"`
	// its number among those that were reviewed; nil if it wasn't chosen
	Plan *int `json:"plan,omitempty"`
}

// savedRemoval is an object that has left the set, and why it isn't deleted.
type savedRemoval struct {
	Object identity.Identity `json:"object"`
	Why    string            `json:"why"`
}

// savedPlan is a saved plan that was read.
type savedPlan struct {
	*savedplan.Saved
	run  savedRun
	path string
}

// mostSaved is the size in bytes up to which a saved plan is written and read.
const mostSaved = 256 << 20

// tryOut finds out whether the file of --out can be written.
func (o *options) tryOut() (err error) {
	if o.out == "" {
		return nil
	}
	if o.outTo, err = wholefile.Find(o.out); err == nil {
		err = o.outTo.Try(nil)
	}
	if err != nil {
		return fmt.Errorf("--out %s: can't be written: %w", o.out, wholefile.Cause(err))
	}
	return nil
}

// readSavedPlan reads a saved plan that passes a check, maybe from a pipe. Unless digest is empty, it has to be that of
// the file.
func readSavedPlan(ctx context.Context, path, digest string, check func(*os.File) error) (*savedPlan, error) {
	text, err := input.ReadFileUpTo(ctx, path, mostSaved, check)
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted")
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, wholefile.Told("read", err))
	}
	if is := savedplan.Digest(text); digest != "" && digest != is {
		return nil, fmt.Errorf("%s: is another file than was reviewed: its digest is %s", path, is)
	}
	saved := &savedPlan{path: path}
	if saved.Saved, err = savedplan.Decode(text); err == nil {
		err = json.Unmarshal(saved.Host, &saved.run)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, d := range saved.run.Documents {
		if d.Plan != nil && (*d.Plan < 0 || *d.Plan >= len(saved.Reviewed)) {
			return nil, fmt.Errorf("%s: %s: there is no such plan; plan again", path, d.Source)
		}
	}
	if len(saved.run.Beside) != len(saved.Reviewed) {
		return nil, fmt.Errorf("%s: isn't of this program; plan again", path)
	}
	return saved, nil
}

func isAnyFile(*os.File) error { return nil }

// save writes the plans to a file, with what it takes to make the same ones again.
func (p *planning) save(ctx context.Context, flags *pflag.FlagSet) error {
	if len(p.failures) > 0 {
		return fmt.Errorf("%s wasn't written: correct the errors first", p.out)
	}
	saved, leftOut, err := p.toSave(ctx, flags)
	if err != nil {
		return fmt.Errorf("%s wasn't written: %w", p.out, err)
	}
	text, err := saved.Encode()
	if err == nil && len(text) > mostSaved {
		err = fmt.Errorf("it would be larger than the %d MiB that are read again: plan parts of the set", mostSaved>>20)
	}
	if err == nil {
		_, err = await(ctx, func() (any, error) { return nil, p.outTo.Write(text) })
	}
	if err != nil {
		return fmt.Errorf("%s wasn't written: %w", p.out, wholefile.Cause(err))
	}
	say(p.ErrOut, fmt.Sprintf("saved the plan in %s, %s", p.out, savedplan.Digest(text)))
	if leftOut > 0 {
		say(p.ErrOut, fmt.Sprintf(
			"manifests with secrets aren't in it (%d): to apply it, name the manifests once more, or save it with "+
				"--out-secrets", leftOut))
	}
	return nil
}

func (p *planning) toSave(ctx context.Context, flags *pflag.FlagSet) (saved *savedplan.Saved, leftOut int, err error) {
	saved = &savedplan.Saved{}
	if saved.Cluster, err = p.clusterNow(ctx); err != nil {
		return nil, 0, err
	}
	report := p.report()
	run := savedRun{Flags: lasting(flags), Target: p.target(), Namespace: p.cluster.namespace,
		Enforced: p.cluster.enforced, Stages: report.Stages, Hooks: report.Hooks}
	numbers := map[*ssaplan.Plan]int{}
	manifests := map[*ssaplan.Plan]manifest.Manifest{}
	for _, item := range p.items {
		manifests[item.Plan] = p.manifests[item.Number]
	}
	for i, plan := range p.plans {
		kept, err := savedplan.Keep(p.asPlanned[plan], manifests[plan].Object, p.outSecrets)
		if err != nil {
			return nil, 0, err
		}
		if kept.Manifest == nil {
			leftOut++
		}
		kept.Plan, numbers[plan] = plan, i
		saved.Reviewed = append(saved.Reviewed, kept)
		run.Beside = append(run.Beside, render.BesideOf(plan))
	}
	run.Documents = p.documents(numbers)
	for _, removal := range report.Removals {
		if removal.Plan != nil && removal.Kept == "" {
			saved.Deletions = append(saved.Deletions, removal.Plan)
		} else {
			run.Kept = append(run.Kept, savedRemoval{removal.Object, removal.Kept})
		}
	}
	saved.Host, err = json.Marshal(run)
	return saved, leftOut, err
}

// documents returns those of the manifests, given the numbers of the plans.
func (p *planning) documents(numbers map[*ssaplan.Plan]int) (documents []savedDocument) {
	planned := map[string]int{}
	for _, item := range p.items {
		planned[p.manifests[item.Number].Source.Key()] = numbers[item.Plan]
	}
	for _, m := range p.all {
		document := savedDocument{Source: m.Source, Object: m.Identity, Warnings: m.Warnings}
		if n, ok := planned[m.Source.Key()]; ok {
			document.Plan = &n
		}
		documents = append(documents, document)
	}
	return documents
}

// lasting returns the values of the flags that were given and decide what a plan says.
func lasting(flags *pflag.FlagSet) map[string][]string {
	values := map[string][]string{}
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(lastingFlags, f.Name) {
			return
		}
		values[f.Name] = []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values[f.Name] = list.GetSlice()
		}
	})
	return values
}

// beside returns what the plans that were read don't tell any more.
func (s *savedPlan) beside() map[*ssaplan.Plan]render.Beside {
	known := map[*ssaplan.Plan]render.Beside{}
	for i, reviewed := range s.Reviewed {
		known[reviewed.Plan] = s.run.Beside[i]
	}
	return known
}

// report returns what was reviewed.
func (s *savedPlan) report() render.Report {
	r := render.Report{Target: s.run.Target, Stages: s.run.Stages, Hooks: s.run.Hooks,
		Pruned: slices.Equal(s.run.Flags["prune"], []string{"true"})}
	for _, reviewed := range s.Reviewed {
		r.Plans = append(r.Plans, reviewed.Plan)
	}
	for _, plan := range s.Deletions {
		r.Removals = append(r.Removals, render.Removal{Object: plan.Object, Plan: plan})
	}
	for _, kept := range s.run.Kept {
		r.Removals = append(r.Removals, render.Removal{Object: kept.Object, Kept: kept.Why})
	}
	return r
}

// clusterNow is the cluster that is planned for.
func (p *planning) clusterNow(ctx context.Context) (review.Cluster, error) {
	return review.ClusterOf(ctx, p.cluster.planner, p.cluster.config.Host)
}

// takeSaved reads the plan of --plan, and has the flags that it was made with.
func (o *options) takeSaved(c *cobra.Command, path, digest string) (err error) {
	check := wholefile.CheckOurs // it is carried out, and nobody is asked
	if digest != "" {
		check = isAnyFile // nobody else's has this digest
	}
	if o.saved, err = readSavedPlan(c.Context(), path, digest, check); err != nil {
		return err
	}
	for _, name := range lastingFlags {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s: a saved plan has its own; leave it out with --plan, or plan again", name)
		}
	}
	for name, values := range o.saved.run.Flags {
		flag := c.Flags().Lookup(name)
		if !slices.Contains(lastingFlags, name) || flag == nil {
			return fmt.Errorf("%s: the plan was made with --%s, which this program doesn't have; plan again", path,
				name)
		}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			err = list.Replace(values)
		} else {
			err = flag.Value.Set(strings.Join(values, ","))
		}
		if err != nil {
			return fmt.Errorf("%s: --%s: %w", path, name, err)
		}
	}
	if len(o.files) == 0 && o.kustomization == "" {
		return o.saved.complete()
	}
	return nil
}

// takeNamespace has the namespace that the saved plan was made with, and refuses another one that a flag names.
func (o *options) takeNamespace(c *cluster) error {
	run := o.saved.run
	if *o.config.Namespace != "" && c.namespace != run.Namespace {
		return fmt.Errorf("--namespace %s: %s was made for the namespace %q; leave the flag out, or plan again",
			c.namespace, o.saved.path, run.Namespace)
	}
	c.namespace, c.enforced = run.Namespace, run.Enforced
	return nil
}

// complete returns an error if there are manifests that weren't saved.
func (s *savedPlan) complete() error {
	missing := 0
	for _, reviewed := range s.Reviewed {
		if reviewed.Manifest == nil {
			missing++
		}
	}
	if missing > 0 {
		return fmt.Errorf(
			"%s: manifests with secrets aren't in it (%d): name the manifests that were planned with -f or -k, too",
			s.path, missing)
	}
	return nil
}

// manifests returns those that were planned, and of the others what they are called.
func (s *savedPlan) manifests() (all []manifest.Manifest) {
	for _, d := range s.run.Documents {
		m := manifest.Manifest{Source: d.Source, Identity: d.Object, Warnings: d.Warnings}
		if d.Plan != nil {
			m.Object = s.Reviewed[*d.Plan].Manifest
		}
		all = append(all, m)
	}
	return all
}

// readsSaved reports whether the manifests come from the saved plan.
func (o *options) readsSaved() bool {
	return o.saved != nil && len(o.files) == 0 && o.kustomization == ""
}

// difference is what isn't as it was reviewed.
type difference struct {
	what  string
	now   *ssaplan.Plan // nil if there is none
	isNew bool          // whether the object wasn't reviewed at all
}

// asReviewed returns an error, and says why, unless the plans are those that were reviewed.
func (p *planning) asReviewed(ctx context.Context) error {
	var cluster review.Cluster
	var err error
	if p.cluster != nil { // else that is a failure
		cluster, err = p.clusterNow(ctx)
	}
	switch {
	case p.cluster != nil && err == nil && !cluster.Is(p.saved.Cluster): // whatever else is wrong comes of that
		return fmt.Errorf("nothing was applied: %s was made for another cluster: for %s (%s), and this is %s (%s)",
			p.saved.path, p.saved.run.Target, p.saved.Cluster, p.target(), cluster)
	case len(p.failures) > 0:
		p.showFailures(p.failures)
		return fmt.Errorf("nothing was applied: %s can't be planned again as it was reviewed", p.saved.path)
	case err != nil:
		return fmt.Errorf("nothing was applied: which cluster this is can't be found out: %s", oneLine(err.Error()))
	}
	differences, err := p.differences()
	if err != nil || len(differences) == 0 {
		return err
	}
	var now []*ssaplan.Plan
	all := len(p.saved.Reviewed) + len(p.saved.Deletions)
	for _, d := range differences {
		if d.isNew {
			all++
		}
		say(p.ErrOut, d.what)
		if d.now != nil && d.now.Action != ssaplan.ActionNoOp {
			now = append(now, d.now)
		}
	}
	if len(now) > 0 {
		fmt.Fprint(p.ErrOut, "\nWhat would be done now:\n\n"+textFor(p.ErrOut).Plans(now)+"\n")
	}
	return fmt.Errorf("nothing was applied: not as it was reviewed: %d of %d objects; plan again", len(differences),
		all)
}

// differences returns in what the plans are others than those that were reviewed.
func (p *planning) differences() (found []difference, err error) {
	reviewed := map[identity.Identity]*savedplan.Reviewed{}
	for i := range p.saved.Reviewed {
		reviewed[p.saved.Reviewed[i].Plan.Object] = &p.saved.Reviewed[i]
	}
	for _, plan := range p.plans {
		was := reviewed[plan.Object]
		delete(reviewed, plan.Object)
		changed := (*ssaplan.ChangedError)(nil)
		switch {
		case was == nil:
			found = append(found, difference{what: fmt.Sprintf("%s: wasn't reviewed", plan.Object), now: plan,
				isNew: true})
		default:
			if err := was.Check(p.asPlanned[plan]); errors.As(err, &changed) {
				found = append(found, difference{what: fmt.Sprintf("%s: reviewed was %s: %s; now it is %s: %s%s",
					plan.Object, was.Plan.Action, was.Plan.Reason, plan.Action, plan.Reason,
					otherParts(was.Plan, plan)), now: plan})
			} else if err != nil {
				return nil, err
			}
		}
	}
	for _, was := range p.saved.Reviewed {
		if reviewed[was.Plan.Object] != nil {
			found = append(found, difference{what: fmt.Sprintf("%s: isn't among the manifests any more",
				was.Plan.Object)})
		}
	}
	return append(found, p.otherDeletions()...), nil
}

// otherParts says in which parts two plans with the same action differ, but for the reason, which is shown.
func otherParts(was, now *ssaplan.Plan) string {
	if was.Action != now.Action {
		return ""
	}
	then, is := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for plan, parts := range map[*ssaplan.Plan]*map[string]json.RawMessage{was: &then, now: &is} {
		text, err := json.Marshal(plan)
		if err != nil || json.Unmarshal(text, parts) != nil {
			return ""
		}
	}
	var names []string
	for name := range is {
		if !bytes.Equal(then[name], is[name]) && name != "requests" && name != "reason" {
			names = append(names, name)
		}
	}
	for name := range then {
		if is[name] == nil {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) > 0 {
		return "; " + strings.Join(names, ", ") + " differ"
	}
	return "; the difference can't be shown: the object was re-created, the manifest changed, or a secret has " +
		"another value"
}

// otherDeletions returns in what deletions differ from those that were reviewed.
func (p *planning) otherDeletions() (found []difference) {
	if !p.prune {
		return nil
	}
	var now []render.Removal
	if p.removing != nil {
		now = p.removing.shown()
	}
	for _, removal := range now {
		if removal.Plan == nil || removal.Kept != "" || !removal.Plan.Deletes() {
			continue
		}
		if !slices.ContainsFunc(p.saved.Deletions, func(was *deletion.Plan) bool { return was.Covers(removal.Plan) }) {
			isNew := !slices.ContainsFunc(p.saved.Deletions,
				func(was *deletion.Plan) bool { return was.Object == removal.Object })
			found = append(found, difference{
				what: fmt.Sprintf("%s: would be deleted, which wasn't reviewed so: %s", removal.Object,
					removal.Plan.Reason), isNew: isNew,
			})
		}
	}
	for _, was := range p.saved.Deletions {
		i := slices.IndexFunc(now, func(r render.Removal) bool { return r.Object == was.Object })
		switch {
		case !was.Deletes():
		case i < 0:
			found = append(found, difference{what: fmt.Sprintf("%s: was to be deleted, and isn't remembered any more",
				was.Object)})
		case now[i].Kept != "":
			found = append(found, difference{what: fmt.Sprintf("%s: was to be deleted, and now it would be kept: %s",
				was.Object, now[i].Kept)})
		}
	}
	return found
}
