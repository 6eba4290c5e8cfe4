package render

import (
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
)

// apiVersion names the form of the JSON output.
const apiVersion = "ssaplan/v1"

// Report is the outcome of planning a set of objects.
type Report struct {
	// Target is what was planned for.
	Target Destination
	// Shard is the part of a set that was planned; nil if that is all of it.
	Shard *Shard
	// Plans are in the order of their stages.
	Plans []*ssaplan.Plan
	// Stages say how many of the plans belong together, one after the other.
	Stages []StageOf
	// Removals are what is remembered and no manifest has any more.
	Removals []Removal
	// Pruned says that removals are carried out.
	Pruned bool
	// Hooks are the manifests that were left out because Helm runs them apart.
	Hooks []Hook
	// Failures are what could not be planned.
	Failures []Failure
	// Results are what became of the plans, in their order; nil if none was carried out.
	Results []Result
	// Whole says that JSON has all of every plan. Default: unchanged objects are named only, and of others everything
	// is said once.
	Whole bool
}

// Shard is the number, from 1, of a part of a set, and of how many.
type Shard struct {
	Number int `json:"number"`
	Count  int `json:"count"`
	// Set is a digest of all manifests of the set.
	Set string `json:"set"`
	// Open says that an object is in conflict, or waits for what the set doesn't bring.
	Open bool `json:"open"`
}

// StageOf is a stage in which objects are applied together.
type StageOf struct {
	Name string
	// Plans is how many plans it has.
	Plans int
}

// Failure says what could not be planned, and why.
type Failure struct {
	// Object is what the failure is about; zero if it isn't about one object, or not known of which.
	Object identity.Identity
	// Class is the class of package authresilience, or "Input" for what is wrong in the manifests' files.
	Class string
	// Message is one line that names the source, the object and the next step.
	Message string
}

type reportJSON struct {
	APIVersion string          `json:"apiVersion"`
	Target     *Destination    `json:"target,omitempty"`
	Shard      *Shard          `json:"shard,omitempty"`
	Plans      []*ssaplan.Plan `json:"plans"`
	Unchanged  Unchanged       `json:"unchanged,omitempty"`
	Stages     []stageJSON     `json:"stages,omitempty"`
	Removals   []removalJSON   `json:"removals,omitempty"`
	Hooks      []hookJSON      `json:"hooks,omitempty"`
	Errors     []failureJSON   `json:"errors"`
	Results    []resultJSON    `json:"results,omitempty"`
}

// stageJSON is a stage with the number of its plans, which follow those of the stage before.
type stageJSON struct {
	Name  string `json:"name"`
	Plans int    `json:"plans"`
}

type failureJSON struct {
	Object  *objectJSON `json:"object"` // null where no object is known
	Class   string      `json:"class"`
	Message string      `json:"message"`
}

// JSON returns the report as JSON with a line for each plan, error and result.
func (r Report) JSON() ([]byte, error) {
	out := reportJSON{APIVersion: apiVersion, Target: r.target(), Shard: r.Shard, Plans: []*ssaplan.Plan{},
		Unchanged: Unchanged{}, Errors: []failureJSON{}}
	rest := r.Plans
	for _, stage := range r.Stages {
		before := len(out.Plans)
		out.add(rest[:stage.Plans], r.Whole)
		rest = rest[stage.Plans:]
		if n := len(out.Plans) - before; n > 0 {
			out.Stages = append(out.Stages, stageJSON{stage.Name, n})
		}
	}
	out.add(rest, r.Whole)
	for _, removal := range r.Removals {
		out.Removals = append(out.Removals, removal.json())
	}
	for _, hook := range r.Hooks {
		out.Hooks = append(out.Hooks, hook.json())
	}
	for _, f := range r.Failures {
		out.Errors = append(out.Errors, f.json())
	}
	for _, result := range r.Results {
		out.Results = append(out.Results, result.json())
	}
	return Rows(out)
}

// target returns the destination, nil if there is none.
func (r Report) target() *Destination {
	if r.Target == (Destination{}) {
		return nil
	}
	return &r.Target
}

// add adds plans, whole or the short way.
func (out *reportJSON) add(plans []*ssaplan.Plan, whole bool) {
	for _, plan := range plans {
		switch {
		case whole:
			out.Plans = append(out.Plans, plan)
		case isPlainNoOp(plan):
			out.Unchanged.Add(plan.Object)
		default:
			out.Plans = append(out.Plans, short(plan))
		}
	}
}

// Lines returns the target and the items of the lists of [Report.JSON], each as a line of JSON: with a plan of every
// object.
func (r Report) Lines() ([]byte, error) {
	var items []any
	for _, plan := range r.Plans {
		if !r.Whole {
			plan = short(plan)
		}
		items = append(items, plan)
	}
	for _, removal := range r.Removals {
		items = append(items, removal.json())
	}
	for _, hook := range r.Hooks {
		items = append(items, hook.json())
	}
	for _, f := range r.Failures {
		items = append(items, f.json())
	}
	out, err := r.Target.Line()
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		line, err := compact(item)
		if err != nil {
			return nil, err
		}
		out = append(append(out, line...), '\n')
	}
	return out, nil
}

// YAML returns the report as a YAML document with the same content as [Report.JSON].
func (r Report) YAML() ([]byte, error) { return asYAML(r.JSON()) }

func (f Failure) json() failureJSON {
	out := failureJSON{Class: f.Class, Message: f.Message}
	if id := f.Object; id != (identity.Identity{}) {
		object := objectToJSON(id)
		out.Object = &object
	}
	return out
}
