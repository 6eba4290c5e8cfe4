package planner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan"
)

// scaledDeployment is a Deployment whose scale is applied.
const scaledDeployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: 1, selector: {matchLabels: {a: b}},
	template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}`

func timeless(owners []fieldowner.Owner) (out []fieldowner.Owner) {
	for _, o := range owners {
		o.Time = time.Time{}
		out = append(out, o)
	}
	return out
}

// What a subresource can't be asked for is an error that says so, and nothing is ever replaced or deleted for one.
func TestSubresourceErrors(t *testing.T) {
	c := newCluster(t)
	widget := manifest(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: errors}, spec: {size: 1}}")
	c.apply(t, widget)
	settings := manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: errors}, data: {a: b}}")
	c.apply(t, settings)
	c.apply(t, manifest(t, scaledDeployment, "errors"))
	elsewhere := manifest(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: elsewhere}, status: {ready: 1}}")
	for _, row := range []struct {
		why     string
		request ssaplan.Request
		want    string
	}{
		{"the object isn't there", ssaplan.Request{Manifest: elsewhere, Subresource: "status"}, "create it first"},
		{"a kind without status", ssaplan.Request{Manifest: settings, Subresource: "status"}, "apply of the subresource status"},
		{"a kind without scale", ssaplan.Request{
			Manifest:    manifest(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: errors}, spec: {replicas: 2}}"),
			Subresource: "scale"}, "subresource scale"},
		{"no subresource at all", ssaplan.Request{Manifest: widget, Subresource: "nonsense"}, "apply of the subresource nonsense"},
		{"the scale of a custom resource whose replicas nobody owns", ssaplan.Request{
			Manifest:    manifest(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: errors}, spec: {replicas: 2}}"),
			Subresource: "scale"}, "autoscaling/v1"},
		{"more than a scale has", ssaplan.Request{
			Manifest:    manifest(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: errors}, spec: {replicas: 2, paused: true}}"),
			Subresource: "scale"}, ".spec.paused"},
	} {
		_, err := c.planner.Plan(t.Context(), row.request)
		require.ErrorContains(t, err, row.want, row.why)
		t.Log(err)
	}
	c.Get(t, widget)
}
