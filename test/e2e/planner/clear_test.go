package planner_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// TestClear carries out what a server refuses as long as fields are there that the manifest doesn't have, whoever has
// them.
func TestClear(t *testing.T) {
	c := newCluster(t)
	const probe = "image: a, livenessProbe: {%s}"
	withProbe := func(handler string) string {
		return deploymentOf("", strings.Replace(probe, "%s", handler, 1), "")
	}
	const hook = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: cleared.clear.example.com}, spec: {group: clear.example.com, scope: Namespaced, names: {plural: cleared, kind: Cleared}, conversion: CONVERSION, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}"
	for _, row := range []struct {
		name, was, is string
		others        string // a merge patch of others
		by            string // theirs if empty
		clear         string
		gone          map[string]foreign.Text // and whose it was
	}{
		{
			name: "default-of-the-server", was: deploymentOf("", "image: a", ""), is: deploymentOf("strategy: {type: Recreate}", "image: a", ""),
			clear: "spec.strategy.rollingUpdate", gone: map[string]foreign.Text{"spec.strategy.rollingUpdate.maxSurge": "", "spec.strategy.rollingUpdate.maxUnavailable": ""},
		},
		{
			name: "our-own-update", was: deploymentOf("", "image: a", ""), is: withProbe("tcpSocket: {port: 81}"), by: manager,
			others: `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"a","livenessProbe":{"httpGet":{"path":"/","port":80}}}]}}}}`,
			clear:  "spec.template.spec.containers[*].livenessProbe.httpGet",
			gone:   map[string]foreign.Text{`spec.template.spec.containers[name="app"].livenessProbe.httpGet.port`: manager},
		},
		{
			name: "caBundle", was: strings.Replace(hook, "CONVERSION", "{strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://127.0.0.1:1/'}}}", 1),
			is: strings.Replace(hook, "CONVERSION", "{strategy: None}", 1), others: `{"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":"` + base64.StdEncoding.EncodeToString(c.Config.CAData) + `"}}}}}`,
			clear: "spec.conversion.webhook", gone: map[string]foreign.Text{"spec.conversion.webhook.clientConfig.caBundle": "theirs"},
		},
		{
			name: "nothing-refuses-it", was: "{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}, data: {a: A}}", is: "{apiVersion: v1, kind: ConfigMap, metadata: {name: NAME}, data: {a: A}}",
			others: `{"data":{"b":"B"}}`, clear: "data.*", gone: map[string]foreign.Text{"data.b": "theirs"},
		},
	} {
		for _, how := range []string{"named", "proven"} {
			if how == "proven" && row.name == "nothing-refuses-it" {
				continue
			}
			t.Run(row.name+" "+how, func(t *testing.T) {
				text := func(body string) *unstructured.Unstructured {
					m := lab.Object(t, strings.NewReplacer("cleared", "cleared"+how, "Cleared", "Cleared"+how).Replace(body))
					if m.GetKind() != "CustomResourceDefinition" {
						m.SetName("clear-" + row.name + "-" + how)
					}
					return m
				}
				c.apply(t, text(row.was))
				made := c.Get(t, text(row.was))
				t.Cleanup(func() { c.Delete(t, made) })
				by := row.by
				if by == "" {
					by = "theirs"
				}
				if row.others != "" {
					c.merge(t, by, made, row.others)
				}
				if made.GetKind() == "CustomResourceDefinition" { // whose status the server writes first
					c.WaitServed(t, schema.GroupVersionKind{Group: "clear.example.com", Version: "v1", Kind: "Cleared" + how})
				}
				before := c.Get(t, made)
				request := ssaplan.Request{Manifest: text(row.is)}
				if row.name != "nothing-refuses-it" {
					_, err := c.planner.Plan(t.Context(), request)
					require.ErrorContains(t, err, "in the way", "without it")
				}
				if request.ClearBlocking = how == "proven"; how == "named" {
					request.Clear = patterns(t, row.clear)
				}
				plan := c.plan(t, request)
				require.Equal(t, ssaplan.ActionUpdate, plan.Action)
				gone := map[string]foreign.Text{}
				for _, change := range plan.Changes {
					if change.Cause == explain.CauseCleared {
						_, was := projection.Get(before.Object, change.Path)
						require.True(t, was, change)
						gone[change.Path.String()] = change.Manager
					}
				}
				require.Subset(t, gone, row.gone, plan.Changes)
				after, err := c.planner.Apply(t.Context(), plan)
				require.NoError(t, err)
				require.Equal(t, alike(t, plan.Result()), alike(t, after))
				for path := range row.gone {
					_, is := projection.Get(after.Object, pathOf(t, path))
					require.False(t, is, path)
				}
				again := c.plan(t, request)
				require.Equal(t, ssaplan.ActionNoOp, again.Action, again.Changes)
			})
		}
	}
}

// A clearing that is interrupted at any of its requests is finished by the next plan.
func TestClearInterrupted(t *testing.T) {
	c := newCluster(t)
	text := func(spec, name string) *unstructured.Unstructured {
		m := lab.Object(t, deploymentOf(spec, "image: a", ""))
		m.SetName(name)
		m.SetNamespace(c.Namespace)
		return m
	}
	between, done := 0, false
	for n := 1; !done; n++ {
		name := fmt.Sprintf("clear-interrupted-%d", n)
		m := text("strategy: {type: Recreate}", name)
		c.apply(t, text("", name))
		plan := c.plan(t, ssaplan.Request{Manifest: m, ClearBlocking: true})
		ctx, cancel := context.WithCancel(t.Context())
		_, err := c.interruptedPlanner(t, n, cancel).Apply(ctx, plan)
		cancel()
		done = err == nil
		request := ssaplan.Request{Manifest: m, ClearBlocking: true}
		if owners, failed := fieldowner.Read(c.Get(t, m).Object); failed == nil && err != nil &&
			slices.ContainsFunc(owners.Of(pathOf(t, "spec.strategy.rollingUpdate")), fieldowner.Applier{Manager: manager}.Is) {
			between++
			request.ClearBlocking = false // the field is dropped now
		}
		plan = c.plan(t, request)
		after, err := c.planner.Apply(t.Context(), plan)
		require.NoError(t, err)
		_, there := projection.Get(after.Object, pathOf(t, "spec.strategy.rollingUpdate"))
		require.False(t, there)
		require.Equal(t, ssaplan.ActionNoOp, c.plan(t, request).Action)
	}
	require.NotZero(t, between, "the writes were never interrupted between them")
}
