package proof_test

import (
	"context"
	"fmt"
)

// run is what came of a case.
type run struct {
	trials []*trial
	writes map[string]*figure // how many of the others' writes were accepted
}

// runCase does what the case says to a new object of the given name, and deletes it. An error is one of the test
// itself.
func (c *cluster) runCase(ctx context.Context, the Case, name string, slot int) (*run, error) {
	o, err := c.newObject(the, name, slot)
	if err != nil {
		return nil, err
	}
	r := &run{writes: map[string]*figure{}}
	if o.isRevised() {
		if err := o.define(ctx, 0); err != nil {
			return nil, err
		}
	}
	for i, s := range the.Steps {
		isTrial, by := s.isTrial(), s.By
		if s = o.named(s); !isTrial {
			err := o.write(ctx, s)
			if s.By != by {
				count(r.writes, "as "+s.By).add(err == nil)
			}
			count(r.writes, s.Write+" "+s.Of).add(err == nil)
			if len(hollowsOf(s.Body)) > 0 {
				count(r.writes, "hollow "+s.Write).add(err == nil)
			}
			if s.Write == "define" && err != nil { // there is no revision that a server refuses
				return r, fmt.Errorf("step %d: %w", i, err)
			}
			continue
		}
		t := &trial{object: o, step: s}
		r.trials = append(r.trials, t)
		if err := t.run(ctx); err != nil {
			return r, fmt.Errorf("step %d: %w", i, err)
		}
		if t.over {
			break
		}
	}
	return r, o.remove(ctx)
}

// disagreement returns the first one, if there is any.
func (r *run) disagreement() (check, bool) {
	for _, t := range r.trials {
		for _, c := range t.checks {
			if c.wrong != "" {
				return c, true
			}
		}
	}
	return check{}, false
}

// disagreesOn reports whether the run disagrees on a property.
func (r *run) disagreesOn(property string) bool {
	for _, t := range r.trials {
		for _, c := range t.checks {
			if c.wrong != "" && c.property == property {
				return true
			}
		}
	}
	return false
}
