package cmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

// habits are how a tool applies on the server's side.
type habits struct {
	manager string
	force   bool
	adopt   []string // managers whose fields it takes over before it applies
	// after a first apply, which still has conflicts with them, it takes over from who updated what it keeps
	late bool
	keep string // what of these it leaves where it is
}

// tools are the habits of those of --like.
//
// Sources: k8s.io/kubectl, pkg/cmd/apply; github.com/fluxcd/pkg, ssa, and kustomize-controller, which takes over from
// each manager whose name begins with kubectl, and from itself before it applied on the server's side;
// github.com/argoproj/argo-cd, gitops-engine/pkg/sync, which applies with the code of kubectl; helm.sh/helm/v4,
// pkg/kube and pkg/action, which takes over from itself where a release changes to server-side apply.
var tools = map[string]habits{
	"kubectl": {manager: "kubectl", late: true, keep: lastApplied},
	"flux": {manager: "kustomize-controller", force: true, adopt: []string{
		"kubectl", fieldowner.ClientSideApply, "kubectl-annotate", "kubectl-create", "kubectl-edit", "kubectl-label",
		"kubectl-last-applied", "kubectl-patch",
		"kubectl-replace", "kubectl-rollout", "kubectl-run", "kubectl-scale", "kubectl-set", "kubectl-taint",
		fieldowner.BeforeFirstApply, "kustomize-controller",
	}},
	"argocd": {manager: "argocd-controller", force: true, adopt: []string{fieldowner.ClientSideApply}, late: true,
		keep: lastApplied},
	"helm": {manager: "helm", adopt: []string{"helm"}},
}

// lastApplied is the annotation of kubectl's client-side apply, which kubectl goes on writing under a name of its own.
const lastApplied = `metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"]`

func toolNames() []string { return slices.Sorted(maps.Keys(tools)) }

// takeHabits sets the flags that weren't given to what the tool of --like does.
func (o *options) takeHabits(flags *pflag.FlagSet) (err error) {
	if o.like == "" {
		return nil
	}
	tool, known := tools[o.like]
	switch {
	case !known:
		return fmt.Errorf("--like %s: the tools are %s", o.like, strings.Join(toolNames(), ", "))
	case o.out != "" || o.state != "" || o.applyset != "":
		return fmt.Errorf("--like: what %s is going to do isn't applied here; leave --out, --state and --applyset out",
			o.like)
	}
	if !flags.Changed("field-manager") {
		o.manager = tool.manager
	}
	if !flags.Changed("force-conflicts") {
		o.force = tool.force
	}
	if !flags.Changed("adopt") {
		o.adopt = tool.adopt
	}
	if tool.keep != "" {
		o.keep, err = projection.ParsePatterns(tool.keep)
	}
	return err
}

// adoptLate has the tools that take fields over after a first apply do so only where that isn't refused, and from those
// that are found then. What they keep they have to give up only where they take it over.
func (p *planning) adoptLate(ctx context.Context, requests []ssaplan.Request) {
	if !tools[p.like].late {
		return
	}
	first := slices.Clone(requests)
	for i := range first {
		first[i].GiveUp = nil
	}
	i := 0
	for plan, err := range p.cluster.planner.PlanAll(ctx, first) {
		var late []string
		if err == nil && plan.Action != ssaplan.ActionConflict { // an error the second plan has, too
			late = updaters(plan.Live(), p.keep)
		}
		requests[i].Adopt = slices.Concat(requests[i].Adopt, late)
		if len(late) == 0 {
			requests[i].GiveUp = nil
		}
		i++
	}
}

// updaters returns the managers that updated fields of an object other than by applying it.
func updaters(live *unstructured.Unstructured, fields projection.Patterns) (names []string) {
	if live == nil {
		return nil
	}
	owners, err := fieldowner.Read(live.Object)
	if err != nil {
		return nil // which no plan can be made of
	}
	for _, entry := range owners.Entries() {
		if _, has := fields.Split(entry.Fields); entry.Operation == fieldowner.OperationUpdate && !has.Empty() {
			names = append(names, string(entry.Manager))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}
