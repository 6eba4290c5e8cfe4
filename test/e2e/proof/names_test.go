package proof_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan"
)

// specialNames are names of managers that a server treats in a way of their own, the longest that it takes, and one of
// other letters.
var specialNames = []string{
	"kubectl", fieldowner.ClientSideApply, fieldowner.BeforeFirstApply, strings.Repeat("long-", 25) + "end", "Übersicht/管理者 №1 \"x\"",
}

// ourNames are those of them that a Planner takes.
var ourNames = slices.DeleteFunc(slices.Clone(specialNames), func(name string) bool { return name == fieldowner.BeforeFirstApply })

// managers are the names under which some of the managers of a case write; see [Case].
func (g *generator) managers() map[string]string {
	names := slices.Clone(specialNames)
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	out := map[string]string{}
	for i := range 1 + g.IntN(2) {
		if of := pick(g, manager, manager, "ann", "bob", "creator", "patcher"); of != manager || slices.Contains(ourNames, names[i]) {
			out[of] = names[i]
		}
	}
	return out
}

// named returns the step with the names under which its managers write, and with the group of the object in the
// versions.
func (o *object) named(s Step) Step {
	s.By = cmp.Or(o.managers[s.By], s.By)
	s.Adopt = slices.Clone(s.Adopt)
	for i, name := range s.Adopt {
		s.Adopt[i] = cmp.Or(o.managers[name], name)
	}
	s.LostVersions = slices.Clone(s.LostVersions)
	for i, version := range s.LostVersions {
		s.LostVersions[i], _ = o.fill(version).(string)
	}
	return s
}

// installPlanners makes planners for the special names.
func (c *cluster) installPlanners(t *testing.T) {
	c.special = map[string]pair{}
	for _, name := range ourNames {
		c.special[name] = c.newPair(t, name)
	}
}

// newPair makes planners of a field manager.
func (c *cluster) newPair(t *testing.T, name string) pair {
	config := rest.CopyConfig(c.Config)
	config.WarningHandler = rest.NoWarnings{}
	return pair{
		forcing:  c.newPlanners(t, config, ssaplan.Options{FieldManager: name}),
		refusing: c.newPlanners(t, config, ssaplan.Options{FieldManager: name, RefuseConflicts: true}),
	}
}

// of returns the planners of a field manager.
func (c *cluster) of(name string) pair {
	if special, is := c.special[name]; is {
		return special
	}
	return c.pair
}

// demandedNames are features that say under which special names we applied.
func demandedNames() (out []string) {
	for _, name := range ourNames {
		out = append(out, "applied as "+name)
	}
	return out
}
