package proof_test

import (
	"reflect"
	"slices"
)

// shrinkRuns is how often a case is run, at most, to make it smaller.
const shrinkRuns = 250

// shrink returns a smaller case for which fails still holds.
func shrink(c Case, fails func(Case) bool) Case {
	s := &shrinker{smallest: c, fails: fails, runs: shrinkRuns}
	for before := -1; before != s.runs && s.runs > 0; {
		before = s.runs
		progress := s.dropSteps()
		progress = s.dropOptions() || progress
		progress = s.dropValues() || progress
		if !progress {
			break
		}
	}
	return s.smallest
}

type shrinker struct {
	smallest Case
	fails    func(Case) bool
	runs     int
}

// try takes over a smaller case if it still fails.
func (s *shrinker) try(c Case) bool {
	if s.runs == 0 {
		return false
	}
	s.runs--
	if !s.fails(c.clone()) {
		return false
	}
	s.smallest = c
	return true
}

func (s *shrinker) dropSteps() (progress bool) {
	for i := len(s.smallest.Steps) - 1; i >= 0; i-- {
		c := s.smallest.clone()
		c.Steps = slices.Delete(c.Steps, i, i+1)
		progress = s.try(c) || progress
	}
	return progress
}

func (s *shrinker) dropOptions() (progress bool) {
	if c := s.smallest.clone(); c.Managers != nil {
		c.Managers = nil
		progress = s.try(c)
	}
	for i := range s.smallest.Steps {
		for _, change := range []func(*Step){
			func(s *Step) { s.Remember = false }, func(s *Step) { s.Supply = false }, func(s *Step) { s.Ignore = nil }, func(s *Step) { s.Strip = nil },
			func(s *Step) { s.Policy = "" }, func(s *Step) { s.Clear = nil }, func(s *Step) { s.ClearBlocking = false }, func(s *Step) { s.LostVersions = nil },
			func(s *Step) { s.Adopt = nil }, func(s *Step) { s.GiveUp = nil },
			func(s *Step) { s.Adopt = s.Adopt[:max(len(s.Adopt)-1, 0)] },
		} {
			c := s.smallest.clone()
			change(&c.Steps[i])
			if !reflect.DeepEqual(c, s.smallest) {
				progress = s.try(c) || progress
			}
		}
	}
	return progress
}

// dropValues takes values out of the bodies, large ones first.
func (s *shrinker) dropValues() (progress bool) {
	for i := range s.smallest.Steps {
		all := places(s.smallest.Steps[i].Body)
		slices.SortStableFunc(all, func(a, b place) int { return len(a) - len(b) })
		slices.Reverse(all) // positions at the end of lists go before those at the front
		slices.SortStableFunc(all, func(a, b place) int { return len(a) - len(b) })
		for _, at := range all {
			if _, exists := lookup(s.smallest.Steps[i].Body, at); !exists || len(at) == 1 && (at[0] == "kind" || at[0] == "apiVersion") {
				continue
			}
			c := s.smallest.clone()
			c.Steps[i].Body = cut(c.Steps[i].Body, at)
			progress = s.try(c) || progress
		}
	}
	return progress
}
