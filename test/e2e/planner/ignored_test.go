package planner_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// ingressOf returns an Ingress with these rules, each a host and its service.
func ingressOf(t *testing.T, name string, rules []string) *unstructured.Unstructured {
	const backend = "{host: %s.b, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: %s, port: {number: 80}}}}]}}"
	var items []string
	for _, rule := range rules {
		host, service, _ := strings.Cut(rule, " ")
		items = append(items, fmt.Sprintf(backend, host, service))
	}
	return manifest(t, "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: %s}, spec: {rules: [%s]}}", name, strings.Join(items, ", "))
}

// An item that could be any of several, or none, is no item whose parts can be left as they are. A part of another
// item must not come into it.
func TestIgnoredPartsOfItemsThatMayBeOthers(t *testing.T) {
	c := newCluster(t)
	ingress := func(rules ...string) *unstructured.Unstructured { return ingressOf(t, "others", rules) }
	plan := func(pattern string, rules ...string) (*ssaplan.Plan, error) {
		return c.planner.Plan(t.Context(), ssaplan.Request{Manifest: ingress(rules...), Ignore: patterns(t, pattern)})
	}
	apply := func(pattern string, rules, want []string) {
		t.Helper()
		made, err := plan(pattern, rules...)
		require.NoError(t, err)
		after, err := c.planner.Apply(lab.Context(t), made)
		require.NoError(t, err)
		require.Equal(t, ingress(want...).Object["spec"], after.Object["spec"])
		again, err := plan(pattern, rules...)
		require.NoError(t, err)
		require.Equal(t, ssaplan.ActionNoOp, again.Action)
	}
	const all, named = "spec.rules[*].http", `spec.rules[host~"*"].http`
	c.apply(t, ingress("a mine", "b mine"))
	theirs := ingress("a theirs-a", "b theirs-b")
	patch, err := json.Marshal(map[string]any{"spec": theirs.Object["spec"]})
	require.NoError(t, err)
	c.merge(t, "theirs", theirs, string(patch))
	for _, rules := range [][]string{{"new mine", "a mine"}, {"x mine", "y mine"}, {"z mine"}, {"x mine", "y mine", "z mine"}} {
		_, err := plan(all, rules...)
		require.ErrorContains(t, err, "spec.rules: the object has other items there than the manifest", rules)
	}
	apply(all, []string{"a mine"}, []string{"a theirs-a"})
	apply(all, []string{"new mine", "a mine"}, []string{"new mine", "a theirs-a"})
	apply(all, []string{"edited other", "a other"}, []string{"edited mine", "a theirs-a"})
	apply(named, []string{"x named", "y named", "a named"}, []string{"x named", "y named", "a theirs-a"})
}
