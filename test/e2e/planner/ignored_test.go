package planner_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// TestIgnoredFields leaves fields to others. Whoever owns them, applying changes nothing there, and neither a plan nor
// a refresh calls what happens to them a change.
func TestIgnoredFields(t *testing.T) {
	c := newCluster(t)
	deployment := func(spec, container string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME}, spec: {" + spec +
			"selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: app, " + container + "}]}}}}"
	}
	service := func(selector string) string {
		return "{apiVersion: v1, kind: Service, metadata: {name: NAME}, spec: {ports: [{port: 80}], selector: {" + selector + "}}}"
	}
	policy := func(labels string) string {
		if labels != "" {
			labels = "matchLabels: {" + labels + "}"
		}
		return "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: NAME}, spec: {podSelector: {" + labels + "}, policyTypes: [Ingress]}}"
	}
	rule := func(host string) string {
		const backend = `"backend":{"service":{"name":"s","port":{"number":80}}}`
		return `{"host":"` + host + `.b","http":{"paths":[{"path":"/` + host + `","pathType":"Prefix",` + backend + `}]}}`
	}
	ingress := func(hosts ...string) string {
		var rules []string
		for _, host := range hosts {
			rules = append(rules, rule(host))
		}
		return "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: NAME}, spec: {rules: [" + strings.Join(rules, ",") + "]}}"
	}
	for _, row := range []struct {
		name, manifest, edited, ignore string
		applied, updated               string // by another manager: the value of data.a, a merge patch
		changes, handlings             []string
		warnings                       int
	}{
		{
			name: "sole-owner", manifest: "data: {a: A, b: B}", edited: "data: {a: X, b: X}", ignore: "data.a",
			changes: []string{"change data.b Edited"}, handlings: []string{"data.a held"},
		},
		{
			name: "owned-by-another-applier", manifest: "data: {a: A, b: B}", edited: "data: {a: X, b: B}", ignore: "data.a",
			applied: "theirs", handlings: []string{"data.a leftOut"},
		},
		{
			name: "autoscaler", manifest: deployment("replicas: 3, ", "image: a"), edited: deployment("replicas: 3, ", "image: b"), ignore: "/spec/replicas",
			updated: `{"spec":{"replicas":7}}`, handlings: []string{"spec.replicas leftOut"},
			changes: []string{`change spec.template.spec.containers[name="app"].image Edited`},
		},
		{
			name: "required-field", manifest: deployment("", "image: a"), edited: deployment("", "image: b, workingDir: /"), ignore: "spec.template.spec.containers[?(@.name=='app')].image",
			updated: `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"theirs"}]}}}}`, handlings: []string{`spec.template.spec.containers[name="app"].image leftOut`},
			changes: []string{`add spec.template.spec.containers[name="app"].workingDir Edited`},
		},
		{
			name: "item-without-its-defaults", manifest: deployment("", "image: a, ports: [{containerPort: 80, name: web}, {containerPort: 81, name: more}]"),
			edited:    deployment("", "image: a, ports: [{containerPort: 80, name: web2}, {containerPort: 81, name: more2}]"),
			ignore:    `spec.template.spec.containers[*].ports[containerPort=80,protocol="TCP"].name`,
			handlings: []string{`spec.template.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"].name held`},
			changes:   []string{`change spec.template.spec.containers[name="app"].ports[containerPort=81,protocol="TCP"].name Edited`},
		},
		{
			name: "items-of-one-key", manifest: deployment("", "image: a, ports: [{containerPort: 80, name: web, protocol: TCP}, {containerPort: 81, name: more, protocol: TCP}]"),
			edited: deployment("", "image: a, ports: [{containerPort: 80, name: web2, protocol: TCP}, {containerPort: 81, name: more2, protocol: TCP}]"),
			ignore: `spec.template.spec.containers[*].ports[protocol="TCP"].name`,
			handlings: []string{
				`spec.template.spec.containers[name="app"].ports[containerPort=80,protocol="TCP"].name held`,
				`spec.template.spec.containers[name="app"].ports[containerPort=81,protocol="TCP"].name held`,
			},
		},
		{
			name: "immutable-selector", manifest: deployment("", "image: a"), ignore: "spec.selector", handlings: []string{"spec.selector held"},
			edited: "{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME}, spec: {selector: {matchLabels: {a: c}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: app, image: a}]}}}}",
		},
		{
			name: "key-of-others-in-a-selector", manifest: service("a: b"), edited: service("a: c"), ignore: "spec.selector.hash",
			updated: `{"spec":{"selector":{"hash":"h"}}}`, handlings: []string{"spec.selector.hash held"},
			changes: []string{"change spec.selector Edited"},
		},
		{
			name: "key-of-others-and-no-edit", manifest: service("a: b"), edited: service("a: b"), ignore: "spec.selector.*",
			updated: `{"spec":{"selector":{"hash":"h"}}}`, handlings: []string{"spec.selector.a held", "spec.selector.hash held"},
		},
		{
			name: "key-of-others-deeper", manifest: policy("a: b"), edited: policy("a: c"), ignore: "spec.podSelector.matchLabels.hash",
			updated:   `{"spec":{"podSelector":{"matchLabels":{"hash":"h"}}}}`,
			handlings: []string{"spec.podSelector.matchLabels.hash held"}, changes: []string{"change spec.podSelector Edited"},
		},
		{
			name: "key-of-others-in-what-is-empty", manifest: policy(""), edited: policy(""), ignore: "spec.podSelector.matchLabels.hash",
			updated: `{"spec":{"podSelector":{"matchLabels":{"hash":"h"}}}}`, handlings: []string{"spec.podSelector.matchLabels.hash held"},
		},
		{
			name: "item-of-others-in-the-midst", manifest: ingress("a", "b"), edited: ingress("a", "c"), ignore: `spec.rules[?(@.host=="o.b")]`,
			updated:   `{"spec":{"rules":[` + rule("a") + "," + rule("o") + "," + rule("b") + `]}}`,
			handlings: []string{`spec.rules[host="o.b"] held`}, changes: []string{"change spec.rules Edited"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			text := func(body string) *unstructured.Unstructured {
				if body[0] != '{' {
					body = "{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}, " + body + "}"
				}
				m := lab.Object(t, body)
				m.SetName("ignored-" + row.name)
				return m
			}
			ignore := patterns(t, row.ignore)
			request := ssaplan.Request{Manifest: text(row.manifest), Ignore: ignore}
			plan := c.plan(t, request)
			require.Equal(t, ssaplan.ActionCreate, plan.Action)
			made, err := c.planner.Apply(t.Context(), plan)
			require.NoError(t, err, "all of the manifest is sent, required fields too")
			request.Prior, err = plan.State(made)
			require.NoError(t, err)
			if row.applied != "" {
				other := text(row.manifest)
				other.Object["data"] = map[string]any{"a": row.applied}
				c.Apply(t, "theirs", other)
			}
			if row.updated != "" {
				c.merge(t, "theirs", made, row.updated)
			}
			before := c.Get(t, made)
			refreshed, err := explain.Refresh(request.Prior, before.Object)
			require.NoError(t, err)
			require.Empty(t, refreshed.Drift, "nothing else was touched")

			request.Manifest, request.Prior = text(row.edited), refreshed.State
			for _, prior := range []*explain.State{nil, request.Prior} {
				request.Prior = prior
				plan = c.plan(t, request)
				require.Len(t, plan.Changes, len(row.changes))
				require.Empty(t, plan.Dropped)
				require.Equal(t, row.handlings, handlings(plan))
				require.Len(t, plan.Warnings, row.warnings)
			}
			require.Equal(t, append([]string{}, row.changes...), causes(plan))
			after := before
			if plan.Action != ssaplan.ActionNoOp {
				require.Equal(t, ssaplan.ActionUpdate, plan.Action)
				after, err = c.planner.Apply(t.Context(), plan)
				require.NoError(t, err)
			}
			for _, f := range plan.Ignored {
				if f.Handling == explain.HandlingSent {
					continue
				}
				was, existed := projection.Get(before.Object, f.Path)
				is, exists := projection.Get(after.Object, f.Path)
				require.Equal(t, was, is, f.Path)
				require.Equal(t, existed, exists, f.Path)
			}
			again := c.plan(t, request)
			require.Equal(t, ssaplan.ActionNoOp, again.Action, again.Changes)
			state, err := plan.State(after)
			require.NoError(t, err)
			require.True(t, state.Applied.Fields.Without(explain.IgnoredPaths(plan.Ignored)).Equal(state.Applied.Fields))
		})
	}
}

func handlings(plan *ssaplan.Plan) (out []string) {
	for _, f := range plan.Ignored {
		out = append(out, f.Path.String()+" "+string(f.Handling))
	}
	return out
}

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

// The items of a list with one owner have no names. One that moves keeps what is ignored in it, and a new one is sent
// as it is.
func TestIgnoredPartsOfItemsThatMove(t *testing.T) {
	c := newCluster(t)
	ingress := func(rules ...string) *unstructured.Unstructured { return ingressOf(t, "moved", rules) }
	c.apply(t, ingress("a mine", "b mine"))
	theirs := ingress("a theirs-a", "b theirs-b")
	patch, err := json.Marshal(map[string]any{"spec": theirs.Object["spec"]})
	require.NoError(t, err)
	c.merge(t, "theirs", theirs, string(patch))
	plan := c.plan(t, ssaplan.Request{Manifest: ingress("b mine", "c mine", "a mine"), Ignore: patterns(t, "spec.rules[*].http")})
	require.Equal(t, []string{"spec.rules[0].http held", "spec.rules[2].http held", "spec.rules[1].http sent"}, handlings(plan))
	after, err := c.planner.Apply(t.Context(), plan)
	require.NoError(t, err)
	require.Equal(t, ingress("b theirs-b", "c mine", "a theirs-a").Object["spec"], after.Object["spec"])
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
		after, err := c.planner.Apply(t.Context(), made)
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

// A position of a list with one owner that the object doesn't have can't be left to others: what follows would come
// there.
func TestIgnoredPositionsThatTheObjectLacks(t *testing.T) {
	c := newCluster(t)
	deployment := func(args string) *unstructured.Unstructured {
		return manifest(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: args}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: app, image: a%s}]}}}}", args)
	}
	c.apply(t, deployment(""))
	request := ssaplan.Request{Manifest: deployment(", args: [one, two]"), Ignore: patterns(t, `spec.template.spec.containers[name="app"].args[0]`)}
	_, err := c.planner.Plan(t.Context(), request)
	require.ErrorContains(t, err, `spec.template.spec.containers[name="app"].args: items of it are to stay as they are`)

	c.apply(t, deployment(", args: [theirs, old]"))
	plan := c.plan(t, request)
	require.Equal(t, []string{`spec.template.spec.containers[name="app"].args[0] held`}, handlings(plan))
	after, err := c.planner.Apply(t.Context(), plan)
	require.NoError(t, err)
	args, _ := projection.Get(after.Object, pathOf(t, `spec.template.spec.containers[name="app"].args`))
	require.Equal(t, []any{"theirs", "two"}, args)
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, request).Action)
}
