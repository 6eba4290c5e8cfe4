// Package set_test applies sets to a real server.
package set_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/lab"
)

const manager = "set-test"

// cluster is the server with a planner, and a name that no other test has. The name replaces NAME in the texts of
// manifests.
type cluster struct {
	*lab.Cluster
	planner *ssaplan.Planner
	name    string
}

// newCluster returns one for a test that runs side by side with others.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	t.Parallel()
	return another(t)
}

// another returns one for a test that has one already, or that runs alone: a removal counts what namespaces hold, of
// all kinds that the server serves, which a definition that another test deletes meanwhile makes unknown.
func another(t *testing.T) *cluster {
	t.Helper()
	c := lab.New(t)
	return &cluster{c, c.Planner(t, ssaplan.Options{FieldManager: manager}), strings.ToLower(c.Namespace)}
}

// set returns the set of the YAML documents of a text.
func (c *cluster) set(t *testing.T, options set.Options, text string) *set.Set {
	t.Helper()
	var requests []ssaplan.Request
	for _, document := range strings.Split(text, "\n---\n") {
		requests = append(requests, ssaplan.Request{Manifest: lab.Object(t, strings.ReplaceAll(document, "NAME", c.name))})
	}
	return set.New(c.planner, requests, options)
}

// plan returns a line for each item: stage, action, kind, and after which kinds it comes.
func (c *cluster) plan(t *testing.T, s *set.Set) (lines []string) {
	t.Helper()
	for item := range s.Plan(t.Context()) {
		line := fmt.Sprintf("%d %s ", item.Stage, item.Object.Kind)
		if item.Err != nil {
			lines = append(lines, line+c.tidy(item.Err))
			continue
		}
		line += string(item.Plan.Action)
		for _, other := range item.After {
			line += " after " + other.Kind
		}
		lines = append(lines, line)
	}
	return lines
}

// apply returns a line for each result: kind, and what became of it. After each result is called before the next
// object.
func (c *cluster) apply(t *testing.T, s *set.Set, after ...func(*set.Result)) (lines []string) {
	t.Helper()
	for result := range s.Apply(t.Context()) {
		for _, each := range after {
			each(result)
		}
		line := fmt.Sprintf("%s %s", result.Item.Object.Kind, result.Outcome)
		if result.Err != nil {
			line += ": " + c.tidy(result.Err)
		}
		lines = append(lines, line)
	}
	return lines
}

func (c *cluster) tidy(err error) string { return strings.ReplaceAll(err.Error(), c.name, "NAME") }
