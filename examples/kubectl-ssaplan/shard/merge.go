package shard

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
)

// Merged is what several shards planned, put together. Its plans are as the shards wrote them.
type Merged struct {
	APIVersion string             `json:"apiVersion"`
	Target     render.Destination `json:"target,omitzero"`
	Shard      *render.Shard      `json:"shard,omitempty"`
	Plans      []json.RawMessage  `json:"plans"`
	Unchanged  render.Unchanged   `json:"unchanged,omitempty"`
	Stages     []Stage            `json:"stages,omitempty"`
	Hooks      []json.RawMessage  `json:"hooks,omitempty"`
	Errors     []json.RawMessage  `json:"errors"`

	// Actions is how many plans have which action.
	Actions map[ssaplan.Action]int `json:"-"`
	// Waiting is how many of those that are deferred wait for what the set brings.
	Waiting int `json:"-"`
	stages  map[string][]json.RawMessage
	planned map[object]bool
	seen    map[string]bool // errors and hooks
	shards  map[shardsOf]map[int]bool
}

// shardsOf are the shards of a set.
type shardsOf struct {
	set   string
	count int
}

// object is what a plan is of.
type object struct {
	identity.Identity
	subresource string
}

// Stage is how many plans, in their order, belong to a stage.
type Stage struct {
	Name  string `json:"name"`
	Plans int    `json:"plans"`
}

// NewMerged returns what no shard has planned.
func NewMerged() *Merged {
	return &Merged{
		Plans: []json.RawMessage{}, Unchanged: render.Unchanged{}, Errors: []json.RawMessage{},
		Actions: map[ssaplan.Action]int{},
		stages:  map[string][]json.RawMessage{}, planned: map[object]bool{}, seen: map[string]bool{},
		shards: map[shardsOf]map[int]bool{},
	}
}

// Add adds what `plan -o json` of a shard, or of a set, wrote. What is in several shards counts once. Afterwards, call
// [Merged.Finish].
func (m *Merged) Add(from io.Reader) error {
	var part Merged
	decoder := json.NewDecoder(from)
	if err := decoder.Decode(&part); err != nil {
		return fmt.Errorf("isn't what plan -o json writes: %w", err)
	}
	switch {
	case part.APIVersion == "":
		return errors.New("isn't what plan -o json writes: there is no apiVersion")
	case decoder.More():
		return errors.New(
			"has several reports, as plan --contexts writes them: merge those of each context by themselves")
	case m.APIVersion != "" && m.APIVersion != part.APIVersion:
		return fmt.Errorf("is of %s, and others are of %s", part.APIVersion, m.APIVersion)
	case m.APIVersion != "" && !m.Target.IsLike(part.Target):
		return fmt.Errorf("is for %s, and others are for %s", part.Target, m.Target)
	}
	m.APIVersion, m.Target = part.APIVersion, part.Target
	deferred := m.Actions[ssaplan.ActionDeferred]
	if part.Shard != nil {
		of := shardsOf{part.Shard.Set, part.Shard.Count}
		if m.shards[of] == nil {
			m.shards[of] = map[int]bool{}
		}
		m.shards[of][part.Shard.Number] = true
	}
	if err := m.addPlans(part); err != nil {
		return err
	}
	for _, id := range part.Unchanged.Objects() {
		if m.isNew(object{Identity: id}, ssaplan.ActionNoOp) {
			m.Unchanged.Add(id)
		}
	}
	if part.Shard != nil && !part.Shard.Open {
		m.Waiting += m.Actions[ssaplan.ActionDeferred] - deferred
	}
	m.Errors, m.Hooks = m.unseen(m.Errors, part.Errors), m.unseen(m.Hooks, part.Hooks)
	return nil
}

// unseen returns all with those of some more that weren't seen yet.
func (m *Merged) unseen(all, more []json.RawMessage) []json.RawMessage {
	for _, one := range more {
		if !m.seen[string(one)] {
			m.seen[string(one)] = true
			all = append(all, one)
		}
	}
	return all
}

// addPlans adds the plans, each to its stage.
func (m *Merged) addPlans(part Merged) error {
	plans := part.Plans
	stages := part.Stages
	if len(stages) == 0 {
		stages = []Stage{{"", len(plans)}}
	}
	for _, stage := range stages {
		if stage.Plans > len(plans) {
			return errors.New("has fewer plans than its stages say")
		}
		m.Stages = withStage(m.Stages, stage.Name)
		for _, plan := range plans[:stage.Plans] {
			if err := m.addPlan(stage.Name, plan); err != nil {
				return err
			}
		}
		plans = plans[stage.Plans:]
	}
	return nil
}

func (m *Merged) addPlan(stage string, plan json.RawMessage) error {
	var head struct {
		Object      identity.Identity
		Subresource string
		Action      ssaplan.Action
	}
	if err := json.Unmarshal(plan, &head); err != nil {
		return fmt.Errorf("has something that is no plan: %w", err)
	}
	if m.isNew(object{head.Object, head.Subresource}, head.Action) {
		m.stages[stage] = append(m.stages[stage], plan)
	}
	return nil
}

// isNew counts what no shard has planned yet.
func (m *Merged) isNew(o object, action ssaplan.Action) bool {
	if m.planned[o] {
		return false
	}
	m.planned[o] = true
	m.Actions[action]++
	return true
}

// withStage returns the stages with one of a name.
func withStage(stages []Stage, name string) []Stage {
	if slices.ContainsFunc(stages, func(s Stage) bool { return s.Name == name }) {
		return stages
	}
	return append(stages, Stage{Name: name})
}

// Missing returns a line for each set of which not all shards were added.
func (m *Merged) Missing() (lines []string) {
	for of, added := range m.shards {
		var missing []string
		for number := 1; number <= of.count; number++ {
			if !added[number] {
				missing = append(missing, fmt.Sprintf("%d/%d", number, of.count))
			}
		}
		if len(missing) > 0 {
			lines = append(lines, strings.Join(missing,
				", ")+": plan them from the same manifests as the others of their set")
		}
	}
	slices.Sort(lines)
	return lines
}

// Finish puts the plans into the order of the stages, as Order has them; those that it hasn't come last.
func (m *Merged) Finish(order []string) {
	rank := func(s Stage) int {
		if i := slices.Index(order, s.Name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(m.Stages, func(a, b Stage) int { return rank(a) - rank(b) })
	for i, stage := range m.Stages {
		m.Stages[i].Plans = len(m.stages[stage.Name])
		m.Plans = append(m.Plans, m.stages[stage.Name]...)
	}
	if len(m.Stages) == 1 && m.Stages[0].Name == "" {
		m.Stages = nil
	}
}
