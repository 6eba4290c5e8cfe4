package attention_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/attention"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// object returns an object from YAML, with integers as objects of a server have them.
func object(t *testing.T, text string) (v map[string]any) {
	t.Helper()
	asJSON, err := yaml.YAMLToJSONStrict([]byte(text))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(asJSON, &v))
	return v
}

func plan(t *testing.T, apiVersion, kind, before, after string) *ssaplan.Plan {
	p := &ssaplan.Plan{Object: identity.Identity{APIVersion: apiVersion, Kind: kind, Name: "x"}, Action: ssaplan.ActionUpdate}
	p.Before, p.After = projection.Projection{Object: object(t, before)}, projection.Projection{Object: object(t, after)}
	return p
}

func texts(points []attention.Point) (out []string) {
	for _, p := range points {
		out = append(out, p.String())
	}
	return out
}

func TestRights(t *testing.T) {
	const rbac, hooks = "rbac.authorization.k8s.io/v1", "admissionregistration.k8s.io/v1"
	pod := func(spec string) string { return "{spec: {template: {spec: " + spec + "}}}" }
	tests := []struct {
		why, apiVersion, kind, before, after string
		want                                 []string
	}{
		{"a verb", rbac, "Role",
			`{rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`, `{rules: [{apiGroups: [""], resources: [pods], verbs: [get, delete]}]}`,
			[]string{"widens permissions " + rbac + "/Role x: a role may do more: delete pods"}},
		{"rules that are written otherwise", rbac, "Role",
			`{rules: [{apiGroups: ["", apps], resources: [a, b], verbs: [get, list]}]}`,
			`{rules: [{apiGroups: [""], resources: [b, a], verbs: [list, get]}, {apiGroups: [apps], resources: [a, b], verbs: [get, list]}]}`, nil},
		{"what wildcards covered", rbac, "ClusterRole",
			`{rules: [{apiGroups: ["*"], resources: ["*"], verbs: [get]}]}`, `{rules: [{apiGroups: [apps], resources: [deployments], verbs: [get]}]}`, nil},
		{"one object of those that were covered", rbac, "Role",
			`{rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]}`,
			`{rules: [{apiGroups: [""], resources: [secrets], resourceNames: [a], verbs: [get]}]}`, nil},
		{"all objects instead of one", rbac, "Role",
			`{rules: [{apiGroups: [""], resources: [secrets], resourceNames: [a], verbs: [get]}]}`,
			`{rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]}`,
			[]string{"widens permissions " + rbac + "/Role x: a role may do more: get secrets"}},
		{"the most dangerous come first", rbac, "ClusterRole", ``,
			`{rules: [{apiGroups: [""], resources: [a, b, c, secrets], verbs: [get]}, {apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [bind]}]}`,
			[]string{"widens permissions " + rbac + "/ClusterRole x: a role may do more: bind roles.rbac.authorization.k8s.io; get secrets; get a; and as much with 2 more"}},
		{"paths of the server", rbac, "ClusterRole", ``, `{rules: [{nonResourceURLs: [/metrics], verbs: [get]}]}`,
			[]string{"widens permissions " + rbac + "/ClusterRole x: a role may do more: get /metrics"}},
		{"fewer rights", rbac, "Role", `{rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]}`,
			`{rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`, nil},
		{"a subject", rbac, "RoleBinding",
			`{roleRef: {kind: ClusterRole, name: admin}, subjects: [{kind: User, name: a}]}`,
			`{roleRef: {kind: ClusterRole, name: admin}, subjects: [{kind: User, name: a}, {kind: ServiceAccount, name: b, namespace: shop}]}`,
			[]string{"widens permissions " + rbac + "/RoleBinding x: a role for a subject: ServiceAccount shop/b gets ClusterRole admin"}},
		{"a privileged container", "apps/v1", "Deployment", pod(`{containers: [{name: a}]}`), pod(`{containers: [{name: a, securityContext: {privileged: true}}]}`),
			[]string{"widens permissions apps/v1/Deployment x: a privileged container: a"}},
		{"the host, in whatever kind has pods", "example.com/v1", "Runner", ``,
			pod(`{hostNetwork: true, containers: [{name: a, securityContext: {capabilities: {add: [SYS_ADMIN]}}}], volumes: [{name: v, hostPath: {path: /etc}}], securityContext: {runAsUser: 0}}`),
			[]string{
				"widens permissions example.com/v1/Runner x: pods with hostNetwork", "widens permissions example.com/v1/Runner x: pods with a path of the host: /etc",
				"widens permissions example.com/v1/Runner x: a container that runs as root: a",
				"widens permissions example.com/v1/Runner x: a container with a capability: a with SYS_ADMIN",
			}},
		{"what was so before", "apps/v1", "DaemonSet", pod(`{hostPID: true, containers: [{name: a}]}`), pod(`{hostPID: true, containers: [{name: a, image: b}]}`), nil},
		{"pods of a CronJob", "batch/v1", "CronJob", ``, "{spec: {jobTemplate: {spec: {template: {spec: {hostIPC: true, containers: [{name: a}]}}}}}}",
			[]string{"widens permissions batch/v1/CronJob x: pods with hostIPC"}},
		{"a webhook fails closed unless it says otherwise", hooks, "ValidatingWebhookConfiguration", `{webhooks: [{name: a, failurePolicy: Ignore}]}`,
			`{webhooks: [{name: a, rules: [{resources: [pods, jobs]}]}]}`,
			[]string{"widens permissions " + hooks + "/ValidatingWebhookConfiguration x: a webhook that fails closed: a, for jobs, pods"}},
		{"and one that doesn't stops nobody", hooks, "MutatingWebhookConfiguration", ``, `{webhooks: [{name: a, failurePolicy: Ignore}]}`, nil},
		{"a lower level of security", "v1", "Namespace", `{metadata: {labels: {pod-security.kubernetes.io/enforce: restricted}}}`, `{metadata: {name: x}}`,
			[]string{"widens permissions v1/Namespace x: pods of another security level: privileged instead of restricted"}},
		{"a higher one", "v1", "Namespace", `{metadata: {name: x}}`, `{metadata: {labels: {pod-security.kubernetes.io/enforce: baseline}}}`, nil},
		{"a new namespace", "v1", "Namespace", ``, `{metadata: {name: x}}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			p := plan(t, tt.apiVersion, tt.kind, tt.before, tt.after)
			assert.Equal(t, tt.want, texts(attention.Of(p)))
			assert.Empty(t, attention.Of(plan(t, tt.apiVersion, tt.kind, tt.after, tt.after)), "nothing is widened by nothing")
		})
	}
}

// If an object has sensitive fields, the findings about it show no values, since any value may be sensitive.
func TestRightsOfHiddenFields(t *testing.T) {
	p := plan(t, "v1", "Pod", ``, `{spec: {containers: [{name: a}], volumes: [{hostPath: {path: /c4n4ry}}]}}`)
	assert.Equal(t, []string{"widens permissions v1/Pod x: pods with a path of the host: /c4n4ry"}, texts(attention.Of(p)))
	hidden, err := projection.ParsePath("spec.volumes[0].hostPath.path")
	require.NoError(t, err)
	p.After.Sensitive = projection.NewFieldSet(hidden)
	assert.Equal(t, []string{"widens permissions v1/Pod x: pods with a path of the host"}, texts(attention.Of(p)))
}

func TestPointsAreInOrder(t *testing.T) {
	field := func(text string) projection.Path {
		p, err := projection.ParsePath(text)
		require.NoError(t, err)
		return p
	}
	taken := plan(t, "v1", "ConfigMap", ``, `{data: {}}`)
	other := []fieldowner.Owner{{Manager: "e\x1bvil", Operation: "Update"}}
	taken.Ownership = []fieldowner.Transfer{
		{Path: field("data.a"), Kind: fieldowner.TransferTaken, Owners: other}, {Path: field("data.b"), Kind: fieldowner.TransferTaken, Owners: other},
		{Path: field("data.c"), Kind: fieldowner.TransferGivenUp},
	}
	replaced := plan(t, "v1", "PersistentVolumeClaim", ``, ``)
	replaced.Action, replaced.Reason = ssaplan.ActionReplace, "can't change in place: spec"
	replaced.Replacement = &ssaplan.Replacement{Hazards: []immutability.Hazard{
		{Kind: immutability.HazardBlocked, Message: "waits"}, {Kind: immutability.HazardData, Message: "the data is lost"},
	}}
	broken := plan(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", ``, ``)
	broken.Explanation.Changes = []explain.Change{{Difference: projection.Difference{
		Path: field("spec.versions"), Op: projection.OpChange,
		Before: []any{map[string]any{"name": "v1", "served": true}}, After: []any{map[string]any{"name": "v1", "served": false}},
	}}}
	unchanged := plan(t, "v1", "Pod", ``, `{spec: {hostPID: true, containers: [{name: a}]}}`)
	unchanged.Action = ssaplan.ActionNoOp
	assert.Equal(t, []string{
		"destroyed v1/PersistentVolumeClaim x: the data is lost",
		"replaced v1/PersistentVolumeClaim x: can't change in place: spec",
		"breaks objects apiextensions.k8s.io/v1/CustomResourceDefinition x: v1: no longer served: requests for this version fail",
		`taken from others v1/ConfigMap x: 2 fields of "e\x1bvil" (Update)`,
	}, texts(attention.Of(taken, unchanged, broken, replaced)))
}
