package planner_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// testGeneratedValues plans creates of objects for which the server generates values. The plan lists the fields with
// generated values. They are the fields in which another dry run and the apply differ.
func testGeneratedValues(t *testing.T, server *controlplane.Server) {
	c := clusterOn(t, server)
	c.Apply(t, installer, manifest(t, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}"))

	for _, test := range []struct {
		why, manifest string
		made          []string
	}{
		{"uid and time of creation", "{apiVersion: v1, kind: ConfigMap, metadata: {name: made}, data: {a: b}}", nil},
		{"an address", "{apiVersion: v1, kind: Service, metadata: {name: made}, spec: {ports: [{port: 80}]}}", []string{`spec.clusterIP`, `spec.clusterIPs`}},
		{"no address", "{apiVersion: v1, kind: Service, metadata: {name: none}, spec: {clusterIP: None, ports: [{port: 80}]}}", nil},
		{"node ports", "{apiVersion: v1, kind: Service, metadata: {name: ports}, spec: {type: NodePort, ports: [{port: 80, name: a}, {port: 81, name: b, nodePort: 30081}]}}", []string{`spec.clusterIP`, `spec.clusterIPs`, `spec.ports[port=80,protocol="TCP"].nodePort`}},
		{"a port for health checks", "{apiVersion: v1, kind: Service, metadata: {name: health}, spec: {type: LoadBalancer, externalTrafficPolicy: Local, ports: [{port: 80}]}}", []string{`spec.clusterIP`, `spec.clusterIPs`, `spec.healthCheckNodePort`, `spec.ports[port=80,protocol="TCP"].nodePort`}},
		{"labels with the uid", `{apiVersion: batch/v1, kind: Job, metadata: {name: made}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}}`, []string{`metadata.labels["batch.kubernetes.io/controller-uid"]`, `metadata.labels.controller-uid`, `spec.selector.matchLabels["batch.kubernetes.io/controller-uid"]`, `spec.template.metadata.labels["batch.kubernetes.io/controller-uid"]`, `spec.template.metadata.labels.controller-uid`}},
		{"no selector of its own", `{apiVersion: batch/v1, kind: Job, metadata: {name: manual}, spec: {manualSelector: true, selector: {matchLabels: {a: b}},
			template: {metadata: {labels: {a: b}}, spec: {restartPolicy: Never, containers: [{name: a, image: "a:1"}]}}}}`, nil},
		{"a volume with a token", `{apiVersion: v1, kind: Pod, metadata: {name: made}, spec: {containers: [{name: a, image: "a:1"}], initContainers: [{name: b, image: "b:1"}]}}`, []string{"spec.containers[name=\"a\"].volumeMounts", "spec.initContainers[name=\"b\"].volumeMounts", "spec.volumes"}},
		{"a volume beside others", `{apiVersion: v1, kind: Pod, metadata: {name: more}, spec: {containers: [{name: a, image: "a:1", volumeMounts: [{name: v, mountPath: /v}]}], volumes: [{name: v, emptyDir: {}}]}}`, []string{
			`spec.containers[name="a"].volumeMounts[mountPath="/var/run/secrets/kubernetes.io/serviceaccount"].name`,
			`spec.volumes[name="kube-api-access-*"].name`, `spec.volumes[name="kube-api-access-*"].projected.defaultMode`, `spec.volumes[name="kube-api-access-*"].projected.sources`,
		}},
	} {
		t.Run(test.why, func(t *testing.T) {
			m := manifest(t, "%s", test.manifest)
			plan := c.plan(t, ssaplan.Request{Manifest: m})
			require.Equal(t, ssaplan.ActionCreate, plan.Action)
			dryRun := c.dryRun(t, m)
			applied, err := c.planner.Apply(lab.Context(t), plan)
			require.NoError(t, err)
			require.NotEqual(t, dryRun.GetUID(), applied.GetUID())
			require.Equal(t, []string{"metadata.creationTimestamp", "metadata.uid"}, texts(plan.Generated[:2]))
			require.Equal(t, test.made, texts(plan.Generated[2:]))
			require.Equal(t, unlike(t, dryRun.Object, applied.Object), changing(texts(plan.Generated[2:])))
		})
	}
}

// unlike returns the fields in which two objects differ, except the fields that only the second one has.
func unlike(t *testing.T, a, b map[string]any) []string {
	set, err := projection.Differing(a, b, projection.FieldSet{})
	require.NoError(t, err)
	var out []string
	for _, change := range projection.Diff(projection.Project(a, set), projection.Project(b, set)) {
		if change.Op != projection.OpAdd {
			out = append(out, generatedName.ReplaceAllString(change.Path.String(), "kube-api-access-*"))
		}
	}
	return out
}

// changing shortens paths to the paths of a diff: an item with a generated name is one path, since it changes as a
// whole.
func changing(paths []string) []string {
	var out []string
	for _, p := range paths {
		p = generatedItem.ReplaceAllString(p, "$1")
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

var (
	generatedName = regexp.MustCompile(`kube-api-access-[a-z0-9]{5}`)
	generatedItem = regexp.MustCompile(`^(spec\.volumes\[name="kube-api-access-\*"\]).*`)
)

// dryRun tries what a plan's Apply does.
func (c *cluster) dryRun(t *testing.T, manifest *unstructured.Unstructured) *unstructured.Unstructured {
	force := true
	obj, err := c.TryApply(t, manifest, metav1.PatchOptions{FieldManager: manager, Force: &force, DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	return obj
}

func texts(paths []projection.Path) []string {
	var out []string
	for _, p := range paths {
		out = append(out, generatedName.ReplaceAllString(p.String(), "kube-api-access-*"))
	}
	return out
}
