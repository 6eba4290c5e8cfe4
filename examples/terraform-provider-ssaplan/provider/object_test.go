package provider_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/test/lab"
)

const configMap = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: NAMESPACE}
data: {color: blue, size: "5"}
`

// applied returns Terraform after its first run.
func applied(t *testing.T, config map[string]any) *core {
	t.Helper()
	tf := newCore(t)
	plan := tf.plan(t, config)
	require.Equal(t, "Create", plan.action)
	tf.apply(t, plan)
	tf = tf.next(t)
	again := tf.plan(t, config)
	require.Equal(t, "NoOp", again.action, "fields %v, owners %v", rows(t, again.planned, "fields"), rows(t, again.planned, "other_owners"))
	require.Empty(t, again.warnings)
	return tf.next(t)
}

// nothingLeft checks that another run finds nothing to do.
func (c *core) nothingLeft(t *testing.T, config map[string]any) {
	t.Helper()
	plan := c.next(t).plan(t, config)
	require.Equal(t, "NoOp", plan.action, "fields %v, owners %v", rows(t, plan.planned, "fields"), rows(t, plan.planned, "other_owners"))
	require.Empty(t, plan.warnings)
}

func TestCreateThenNothing(t *testing.T) {
	c, tf := newCluster(t), newCore(t)
	config := c.config(configMap)

	plan := tf.plan(t, config)
	require.Equal(t, "Create", plan.action)
	require.Empty(t, plan.warnings)
	require.Equal(t, map[string]string{"data.color": "blue", "data.size": `"5"`}, rows(t, plan.planned, "fields"))
	tf.apply(t, plan)
	require.Equal(t, "blue", c.value(t, "configmaps", "settings", "data", "color"))
	version := c.live(t, "configmaps", "settings").GetResourceVersion()

	tf.nothingLeft(t, config)
	require.Equal(t, version, c.live(t, "configmaps", "settings").GetResourceVersion())
}

// A manifest that declares nothing but its identity leaves no record of its own on the server.
func TestBareManifest(t *testing.T) {
	c := newCluster(t)
	applied(t, c.config("{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-bare}}"))
	applied(t, c.config("{apiVersion: v1, kind: ServiceAccount, metadata: {name: bare, namespace: NAMESPACE}}"))
}

// What a server leaves out, fills in or moves is no change in the next plan.
func TestEmptyAndMovedValues(t *testing.T) {
	c := newCluster(t)
	for _, text := range []string{
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: NAMESPACE, annotations: {}}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}, creationTimestamp: null}, " +
			`spec: {nodeSelector: null, volumes: [{name: v, emptyDir: {}}], tolerations: [], containers: [{name: a, image: a, env: [], command: null, resources: {limits: {cpu: "1.0", memory: 1024Mi}}}]}}}}`,
		"{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: NAMESPACE}, stringData: {password: x, empty: ''}, data: {}}",
		"{apiVersion: v1, kind: Service, metadata: {name: a, namespace: NAMESPACE, labels: null}, spec: {selector: {}, clusterIP: '', ports: [{port: 80, targetPort: http}]}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: NAMESPACE}, data: {a: ''}, binaryData: {}, immutable: false}",
	} {
		tf := newCore(t)
		tf.apply(t, tf.plan(t, c.config(text)))
		require.Equal(t, "NoOp", tf.next(t).plan(t, c.config(text)).action, text)
	}
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAMESPACE}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: "web:1", resources: {limits: {cpu: 1000m}}, ports: [{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]}
      - {name: proxy, image: "proxy:1"}
`

// What the server normalises is planned as the server says it.
func TestDeployment(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(deployment))
	got := rows(t, tf.state, "fields")
	require.Equal(t, "3", got["spec.replicas"])
	require.Equal(t, `"1"`, got[`spec.template.spec.containers[name="app"].resources.limits.cpu`])
	require.Equal(t, "UDP", got[`spec.template.spec.containers[name="app"].ports[containerPort=53,protocol="UDP"].protocol`])
	require.Empty(t, rows(t, tf.state, "other_owners"))

	t.Run("edit", func(t *testing.T) {
		config := c.config(strings.Replace(deployment, "web:1", "web:2", 1))
		plan := tf.plan(t, config)
		require.Equal(t, "Update", plan.action)
		require.Empty(t, plan.warnings)
		require.Equal(t, "web:2", rows(t, plan.planned, "fields")[`spec.template.spec.containers[name="app"].image`])
		tf.apply(t, plan)
		tf.nothingLeft(t, config)
	})
	t.Run("reordered lists and keys, comments", func(t *testing.T) {
		text := strings.Replace(deployment, "web:1", "web:2", 1)
		text = strings.Replace(text, "{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}", "{protocol: TCP, containerPort: 53}, {containerPort: 53, protocol: UDP}", 1)
		text = "# a comment\nkind: Deployment" + strings.Replace(text, "\nkind: Deployment", "", 1)
		tf.nothingLeft(t, c.config(text))

		swapped := strings.Replace(text, "{protocol: TCP, containerPort: 53}, {containerPort: 53, protocol: UDP}", "{containerPort: 53, protocol: UDP}, {protocol: TCP, containerPort: 53}", 1)
		require.NotEqual(t, text, swapped)
		plan := tf.plan(t, c.config(swapped))
		require.Equal(t, "Update", plan.action, "the order of a list is part of the object")
		require.Contains(t, strings.Join(plan.warnings, "\n"), "the order of a list changes")
		tf.apply(t, plan)
		tf.nothingLeft(t, c.config(swapped))
	})
}

func TestDrift(t *testing.T) {
	c := newCluster(t)
	config := c.config(deployment)
	tf := applied(t, config)
	c.foreign(t, "deployments", "web", `{"spec":{"replicas":7}}`, "scale")

	plan := tf.plan(t, config)
	require.Equal(t, "Update", plan.action)
	require.Equal(t, "7", rows(t, plan.prior, "fields")["spec.replicas"])
	require.Equal(t, "3", rows(t, plan.planned, "fields")["spec.replicas"])
	require.Equal(t, map[string]string{"spec.replicas": "somebody (Update of scale)"}, rows(t, plan.prior, "other_owners"))
	warned := strings.Join(plan.warnings, "\n")
	require.Contains(t, warned, "apps/v1/Deployment "+c.Namespace+"/web: drifted")
	require.Contains(t, warned, `spec.replicas: 7 -> 3 (drifted: changed by "somebody" (Update of scale))`)
	tf.apply(t, plan)
	require.Empty(t, rows(t, tf.state, "other_owners"))
	tf.nothingLeft(t, config)
}

func TestWhatHappensBetweenPlanAndApply(t *testing.T) {
	c := newCluster(t)
	edited := strings.Replace(configMap, "blue", "red", 1)
	for i, test := range []struct {
		why       string
		meanwhile func(t *testing.T, name string)
		want      string // of the error; empty if the plan still holds
	}{
		{"a field that nobody declared changes nothing that was reviewed", func(t *testing.T, name string) {
			c.foreign(t, "configmaps", name, `{"data":{"other":"x"}}`)
		}, ""},
		{"the field that was to be changed has another value than was reviewed", func(t *testing.T, name string) {
			c.foreign(t, "configmaps", name, `{"data":{"color":"green"}}`)
		}, "somebody changed the object since the plan was made: data.color: plan again"},
		{"setting back a field that was as it should be was not reviewed", func(t *testing.T, name string) {
			c.foreign(t, "configmaps", name, `{"data":{"size":"6"}}`)
		}, "somebody changed the object since the plan was made: data.size: plan again"},
		{"an object that was removed would be created", func(t *testing.T, name string) {
			require.NoError(t, c.resource("configmaps").Delete(t.Context(), name, metav1.DeleteOptions{}))
		}, "somebody deleted the object since the plan was made: plan again"},
		{"another object of the same values isn't the one that was reviewed", func(t *testing.T, name string) {
			live := c.live(t, "configmaps", name)
			live.SetResourceVersion("")
			live.SetUID("")
			require.NoError(t, c.resource("configmaps").Delete(t.Context(), name, metav1.DeleteOptions{}))
			_, err := c.resource("configmaps").Create(t.Context(), live, metav1.CreateOptions{FieldManager: "somebody"})
			require.NoError(t, err)
		}, "somebody replaced the object since the plan was made"},
		{"somebody else owns a field, too, of the same value", func(t *testing.T, name string) {
			_, err := c.resource("configmaps").Apply(t.Context(), name, lab.Object(t, c.in(`{apiVersion: v1, kind: ConfigMap, metadata: {name: `+name+`, namespace: NAMESPACE}, data: {size: "5"}}`)),
				metav1.ApplyOptions{FieldManager: "another"})
			require.NoError(t, err)
		}, "data.size is owned by "},
		{"somebody did the same already", func(t *testing.T, name string) {
			c.foreign(t, "configmaps", name, `{"data":{"color":"red"}}`)
		}, "data.color"},
	} {
		t.Run(test.why, func(t *testing.T) {
			name := fmt.Sprintf("settings-%d", i)
			tf := applied(t, c.config(strings.Replace(configMap, "settings", name, 1)))
			config := c.config(strings.Replace(edited, "settings", name, 1))
			plan := tf.plan(t, config)
			test.meanwhile(t, name)
			_, err := tf.next(t).tryApply(t, plan)
			if test.want != "" {
				require.ErrorContains(t, err, test.want)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "red", c.value(t, "configmaps", name, "data", "color"))
		})
	}
}

func TestImmutable(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(deployment))
	old := c.live(t, "deployments", "web").GetUID()
	config := c.config(strings.ReplaceAll(deployment, "app: web", "app: site"))

	plan := tf.plan(t, config)
	require.Equal(t, "Replace", plan.action)
	warned := strings.Join(plan.warnings, "\n")
	for _, want := range []string{
		"will be deleted, and apps/v1/Deployment " + c.Namespace + "/web created", "spec.selector: ", "field is immutable", "hazard: ", "evidence: ", "dry-run create: valid",
	} {
		require.Contains(t, warned, want)
	}
	require.Equal(t, 1, strings.Count(warned, "will be deleted"), "said once, though Terraform plans twice")
	tf.apply(t, plan)
	require.NotEqual(t, old, c.live(t, "deployments", "web").GetUID())
	tf.nothingLeft(t, config)
}

func TestIdentity(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(configMap))
	config := c.config(strings.Replace(configMap, "settings", "options", 1))

	plan := tf.plan(t, config)
	require.Equal(t, "Replace", plan.action)
	warned := strings.Join(plan.warnings, "\n")
	require.Contains(t, warned, c.in("v1/ConfigMap NAMESPACE/settings: will be deleted, and v1/ConfigMap NAMESPACE/options created"))
	require.Equal(t, "blue", rows(t, plan.planned, "fields")["data.color"], "the new object is planned, too")
	tf.apply(t, plan)
	_, err := c.resource("configmaps").Get(t.Context(), "settings", metav1.GetOptions{})
	require.Error(t, err, "nothing is orphaned")
	tf.nothingLeft(t, config)
}

// Another version of the group replaces the object, which is said to be needless, unless the configuration allows to change it in place.
func TestVersionChange(t *testing.T) {
	c := newCluster(t)
	const autoscaler = "{apiVersion: autoscaling/%s, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: NAMESPACE}, " +
		"spec: {maxReplicas: %d, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}"
	tf := applied(t, c.config(fmt.Sprintf(autoscaler, "v1", 3)))
	uid := c.live(t, "horizontalpodautoscalers", "web").GetUID()
	plan := tf.plan(t, c.config(fmt.Sprintf(autoscaler, "v2", 4)))
	require.Equal(t, "Replace", plan.action)
	require.Contains(t, strings.Join(plan.warnings, "\n"), `set version_change = "in_place" to keep it`)

	allowed := c.config(fmt.Sprintf(autoscaler, "v2", 4), map[string]any{"version_change": "in_place"})
	plan = tf.plan(t, allowed)
	require.Equal(t, "Update", plan.action)
	require.Equal(t, "4", rows(t, plan.planned, "fields")["spec.maxReplicas"])
	tf.apply(t, plan)
	require.Equal(t, uid, c.live(t, "horizontalpodautoscalers", "web").GetUID())
	require.Equal(t, "4", c.value(t, "horizontalpodautoscalers", "web", "spec", "maxReplicas"))
	tf.nothingLeft(t, allowed)
}

// A field that leaves the manifest is shown as removed only if it goes: not if others own it, too.
func TestRemovals(t *testing.T) {
	c := newCluster(t)
	config := func(data string) map[string]any {
		return c.config(strings.Replace(configMap, `color: blue, size: "5"`, data, 1))
	}
	tf := applied(t, config("color: blue, shared: x, own: z"))
	_, err := c.resource("configmaps").Apply(t.Context(), "settings", lab.Object(t, c.in(strings.Replace(configMap, `color: blue, size: "5"`, "shared: x", 1))),
		metav1.ApplyOptions{FieldManager: "other"})
	require.NoError(t, err)
	plan := tf.plan(t, config("color: blue"))
	planned := rows(t, plan.planned, "fields")
	require.Equal(t, "x", planned["data.shared"], "it stays")
	require.NotContains(t, planned, "data.own")
	require.Contains(t, strings.Join(plan.warnings, "\n"), `data.shared: retained by "other" (Apply)`)
	tf.apply(t, plan)
	require.Equal(t, "map[color:blue shared:x]", c.value(t, "configmaps", "settings", "data"))
	tf.nothingLeft(t, config("color: blue"))
}

func TestConflict(t *testing.T) {
	c := newCluster(t)
	careful := c.config(configMap, map[string]any{"force_conflicts": false})
	tf := applied(t, careful)
	c.foreign(t, "configmaps", "settings", `{"data":{"color":"red"}}`)

	_, err := tf.tryPlan(t, careful)
	require.ErrorContains(t, err, `data.color: owned by "somebody" (Update)`)
	require.ErrorContains(t, err, "ignore_fields")

	left := c.config(configMap, map[string]any{"force_conflicts": false, "ignore_fields": []string{"data.color"}})
	plan := tf.plan(t, left)
	require.Equal(t, "Update", plan.action)
	tf.apply(t, plan)
	require.Equal(t, "red", c.value(t, "configmaps", "settings", "data", "color"))
	tf.nothingLeft(t, left)
}

// What kubectl apply left behind is warned of until it is adopted, and goes then.
func TestAdopt(t *testing.T) {
	c := newCluster(t)
	c.Kubectl(t, c.in(strings.Replace(configMap, "{color", "{old: X, color", 1)), "apply", "-f", "-")
	tf := newCore(t)
	tf.apply(t, tf.plan(t, c.config(configMap)))
	plan := tf.plan(t, c.config(configMap))
	require.Equal(t, "NoOp", plan.action)
	warned := strings.Join(plan.warnings, "\n")
	require.Contains(t, warned, `set adopt = ["auto"]`)
	require.Contains(t, warned, `kubectl apply: "kubectl-client-side-apply" (Update), of which stays behind: data.old`)
	for _, names := range [][]string{{"auto"}, {"kubectl-client-side-apply"}} {
		adopting := c.config(configMap, map[string]any{"adopt": names})
		plan = tf.plan(t, adopting)
		require.Equal(t, "Update", plan.action)
		warned = strings.Join(plan.warnings, "\n")
		require.NotContains(t, warned, "stays behind")
		if names[0] == "auto" {
			require.Contains(t, warned, `data.old: - "X" (not in the manifest, and taken over from "kubectl-client-side-apply" (Update))`)
		}
		tf.apply(t, plan)
		_, exists, _ := unstructured.NestedString(c.live(t, "configmaps", "settings").Object, "data", "old")
		require.False(t, exists)
		tf.nothingLeft(t, adopting)
	}
}

// An object that others made is refused or taken over, and let go of in the end.
func TestExistingIsReleased(t *testing.T) {
	c := newCluster(t)
	careful := c.config(configMap, map[string]any{"if_exists": "refuse", "on_destroy": "release"})
	tf := newCore(t)
	plan := tf.plan(t, careful)
	require.Equal(t, "Create", plan.action)
	c.Apply(t, "somebody", lab.Object(t, c.in(configMap)))
	_, err := tf.tryApply(t, plan)
	require.ErrorContains(t, err, "exists already, and isn't ours", "it appeared after the plan")
	_, err = tf.tryPlan(t, careful)
	require.ErrorContains(t, err, "exists already, and isn't ours")

	config := c.config(configMap, map[string]any{"if_exists": "take_over", "on_destroy": "release"})
	tf.apply(t, tf.plan(t, config))
	tf.nothingLeft(t, config)
	require.Equal(t, "Update", tf.plan(t, careful).action, "of the setting alone: the object is ours by now")
	before := c.live(t, "configmaps", "settings")
	require.Contains(t, strings.Join(tf.planDestroy(t), "\n"), "will be released, and stays as it is")
	_, err = tf.destroy(t)
	require.NoError(t, err)
	after := c.live(t, "configmaps", "settings")
	require.Equal(t, before.GetUID(), after.GetUID())
	require.Equal(t, before.Object["data"], after.Object["data"])
	owners, err := fieldowner.Read(after.Object)
	require.NoError(t, err)
	require.Empty(t, owners.Fields(fieldowner.By("terraform-ssaplan")).String())
}

// What a server won't let go of is told by the plan of the destroy, and stays.
func TestReleaseThatIsRefused(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(configMap, map[string]any{"on_destroy": "release"}))
	before := c.live(t, "configmaps", "settings")
	policy := lab.Object(t, fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: %[1]s}, spec: {
		matchConstraints: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}},
			resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [configmaps]}]},
		validations: [{expression: "false", message: "nobody changes it"}]}}`, c.Namespace))
	binding := lab.Object(t, fmt.Sprintf(`{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: %[1]s},
		spec: {policyName: %[1]s, validationActions: [Deny]}}`, c.Namespace))
	c.Apply(t, "admin", policy)
	defer c.Delete(t, policy)
	c.Apply(t, "admin", binding)
	defer c.Delete(t, binding)
	var warned string
	lab.Eventually(t, "the policy is at work", func() bool {
		warned = strings.Join(tf.planDestroy(t), "\n")
		return strings.Contains(warned, "can't be released")
	})
	require.NotContains(t, warned, "will be released")
	_, err := tf.destroy(t)
	require.ErrorContains(t, err, "The object can't be released")
	require.Equal(t, before, c.live(t, "configmaps", "settings"))
}

// Fields that change hands without changing their value are a change, too.
func TestOwnershipAlone(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(configMap))
	live := c.live(t, "configmaps", "settings")
	live.SetManagedFields([]metav1.ManagedFieldsEntry{{}})
	_, err := c.resource("configmaps").Update(t.Context(), live, metav1.UpdateOptions{FieldManager: "somebody"})
	require.NoError(t, err)

	plan := tf.plan(t, c.config(configMap))
	require.Equal(t, "Update", plan.action)
	require.Equal(t, rows(t, plan.prior, "fields"), rows(t, plan.planned, "fields"))
	require.Equal(t, "nobody", rows(t, plan.prior, "other_owners")["data.color"])
	tf.apply(t, plan)
	tf.nothingLeft(t, c.config(configMap))
}

func TestAdoption(t *testing.T) {
	c, tf := newCluster(t), newCore(t)
	_, err := c.resource("configmaps").Create(t.Context(), lab.Object(t, c.in(strings.Replace(configMap, "blue", "red", 1))), metav1.CreateOptions{FieldManager: "somebody"})
	require.NoError(t, err)
	plan := tf.plan(t, c.config(configMap))
	require.Equal(t, "Create", plan.action)
	warned := strings.Join(plan.warnings, "\n")
	require.Contains(t, warned, "exists already, and will be taken over by this resource")
	require.Contains(t, warned, "data.color")
	tf.apply(t, plan)
	require.Equal(t, map[string]string{"data.size": "somebody (Update), terraform-ssaplan (Apply)"}, rows(t, tf.state, "other_owners"))
	tf.nothingLeft(t, c.config(configMap))
}

func TestExistsAndCantBecomeWhatTheManifestSays(t *testing.T) {
	c, tf := newCluster(t), newCore(t)
	_, err := c.resource("deployments").Create(t.Context(), lab.Object(t, c.in(strings.ReplaceAll(deployment, "app: web", "app: site"))), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = tf.tryPlan(t, c.config(deployment))
	require.ErrorContains(t, err, "exists already, and can't become what the manifest says")
	require.ErrorContains(t, err, "Import it")
}

// Values that the server picks aren't known before the apply.
func TestAssignedValues(t *testing.T) {
	c, tf := newCluster(t), newCore(t)
	config := c.config(`{apiVersion: v1, kind: Service, metadata: {name: web, namespace: NAMESPACE}, spec: {type: NodePort, clusterIP: "", ports: [{port: 80, nodePort: 0}]}}`)
	plan := tf.plan(t, config)
	got := rows(t, plan.planned, "fields")
	require.NotContains(t, got, "spec.clusterIP", "the manifest leaves it to the server, whose dry run makes one up")
	require.NotContains(t, got, `spec.ports[port=80,protocol="TCP"].nodePort`)
	require.Equal(t, "80", got[`spec.ports[port=80,protocol="TCP"].port`])
	tf.apply(t, plan)
	tf.nothingLeft(t, config)
}

func TestUnknownValues(t *testing.T) {
	c, tf := newCluster(t), newCore(t)
	config := c.config(configMap)
	credentials := c.block()
	credentials["client_key"] = unknown{}
	for name, later := range map[string]map[string]any{
		"manifest": {"yaml_body": unknown{}}, "cluster": {"cluster": credentials},
		"patterns": {"ignore_fields": unknown{}}, "sensitive": {"sensitive_fields": unknown{}}, "adopt": {"adopt": unknown{}},
	} {
		nowhere := maps.Clone(later)
		if name != "cluster" {
			nowhere["cluster"] = map[string]any{"host": "https://127.0.0.1:1"}
		}
		require.Equal(t, "Create", tf.plan(t, c.config(configMap, nowhere)).action, "no request is sent")
		t.Run(name, func(t *testing.T) {
			plan := tf.plan(t, c.config(configMap, later))
			require.Equal(t, "Create", plan.action)
			require.Equal(t, map[string]string{"?": "?"}, rows(t, plan.planned, "fields"))
			plan.config = value(t, tf.schema.ValueType(), config) // known by now
			first := tf.next(t)
			first.apply(t, plan)
			first.nothingLeft(t, config)
			plan = first.plan(t, c.config(configMap, later))
			require.Equal(t, "Update", plan.action)
			require.Contains(t, strings.Join(plan.warnings, "\n"), "can only be planned when it is applied")
			_, err := first.destroy(t)
			require.NoError(t, err)
		})
	}
}

func TestDelete(t *testing.T) {
	c := newCluster(t)
	text := strings.Replace(configMap, "name: settings", `name: settings, finalizers: [example.com/backup]`, 1)
	config := c.config(text, map[string]any{"timeouts": map[string]any{"delete": "10s"}})
	tf := applied(t, config)
	_, err := tf.destroy(t)
	require.ErrorContains(t, err, "waits for finalizers example.com/backup")
	c.foreign(t, "configmaps", "settings", `{"metadata":{"finalizers":null}}`)
	_, err = tf.destroy(t)
	require.NoError(t, err, "gone already")

	tf = applied(t, c.config(configMap))
	require.NoError(t, c.resource("configmaps").Delete(t.Context(), "settings", metav1.DeleteOptions{}))
	_, err = c.resource("configmaps").Create(t.Context(), lab.Object(t, c.in(configMap)), metav1.CreateOptions{})
	require.NoError(t, err)
	warnings, err := tf.destroy(t)
	require.NoError(t, err)
	require.Contains(t, strings.Join(warnings, "\n"), "re-created")
	require.Nil(t, c.live(t, "configmaps", "settings").GetDeletionTimestamp(), "it is not what was applied")
}

// What goes with an object, and who keeps it, is said when its destruction is planned. What is only what it says isn't.
func TestPlanOfADestroy(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(configMap))
	require.Empty(t, tf.planDestroy(t))
	c.foreign(t, "configmaps", "settings", `{"metadata":{"finalizers":["example.com/backup"]}}`)
	warnings := strings.Join(tf.planDestroy(t), "\n")
	require.Contains(t, warnings, "will be destroyed")
	require.Contains(t, warnings, "the delete waits for finalizers: example.com/backup\nfinalizer example.com/backup (set by ")
	require.NotContains(t, warnings, "owner")
	c.foreign(t, "configmaps", "settings", `{"metadata":{"finalizers":null}}`)
	require.NoError(t, c.resource("configmaps").Delete(t.Context(), "settings", metav1.DeleteOptions{}))
	require.Empty(t, tf.planDestroy(t), "gone already")
}

// What a replacement takes along is said before anything is deleted.
func TestPlanOfAReplacement(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(configMap))
	c.foreign(t, "configmaps", "settings", `{"metadata":{"finalizers":["example.com/backup"]}}`)
	plan := tf.plan(t, c.config(strings.Replace(configMap, "settings", "options", 1)))
	require.Equal(t, "Replace", plan.action)
	warned := strings.Join(plan.warnings, "\n")
	require.Equal(t, 1, strings.Count(warned, "the delete waits for finalizers: example.com/backup"), warned)
	require.Contains(t, warned, "\nfinalizer example.com/backup (set by ")
}

// A Secret of which nobody can be asked yet shows no value.
func TestDeferredSecret(t *testing.T) {
	c := newCluster(t)
	plan := newCore(t).plan(t, c.config("{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: NAMESPACE-later}, stringData: {password: canary}}"))
	require.Empty(t, plan.warnings)
	manifest := plan.manifest(t)
	require.Contains(t, manifest, "password: <redacted>")
	require.NotContains(t, manifest, "canary")
	require.NotContains(t, manifest, "Y2FuYXJ5")
}

// Of a tainted object Terraform may hand over nothing that is remembered. What is destroyed is the object of the UID in the state, and no other one.
func TestDestroyOfWhatIsNotRemembered(t *testing.T) {
	c := newCluster(t)
	for _, gone := range []bool{false, true} {
		tf := applied(t, c.config(configMap))
		tf.private = nil
		if gone {
			require.NoError(t, c.resource("configmaps").Delete(t.Context(), "settings", metav1.DeleteOptions{}))
		}
		_, err := tf.destroy(t)
		require.NoError(t, err)
		_, err = c.resource("configmaps").Get(t.Context(), "settings", metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
	}
	tf := applied(t, c.config(configMap))
	tf.private = nil
	require.NoError(t, c.resource("configmaps").Delete(t.Context(), "settings", metav1.DeleteOptions{}))
	_, err := c.resource("configmaps").Apply(t.Context(), "settings", lab.Object(t, c.in(configMap)), metav1.ApplyOptions{FieldManager: "terraform-ssaplan"})
	require.NoError(t, err)
	_, err = tf.destroy(t)
	require.NoError(t, err)
	require.Nil(t, c.live(t, "configmaps", "settings").GetDeletionTimestamp(), "also if the same field manager made it")
}

// A manifest that was read from a cluster may ask for the object as it was then.
func TestManifestOfAnEarlierObject(t *testing.T) {
	c := newCluster(t)
	applied(t, c.config(configMap))
	for _, field := range []string{"resourceVersion: '1'", "uid: abc"} {
		text := strings.Replace(configMap, "name: settings", "name: settings, "+field, 1)
		if strings.HasPrefix(field, "uid") {
			text = strings.Replace(text, "name: settings", "name: other", 1)
		}
		_, err := newCore(t).tryPlan(t, c.config(text))
		require.ErrorContains(t, err, "metadata.uid or metadata.resourceVersion was read: remove them")
	}
}

func TestGoneIsCreatedAgain(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(configMap))
	require.NoError(t, c.resource("configmaps").Delete(t.Context(), "settings", metav1.DeleteOptions{}))
	plan := tf.plan(t, c.config(configMap))
	require.Equal(t, "Create", plan.action)
	tf.apply(t, plan)
	tf.nothingLeft(t, c.config(configMap))
}

func TestRecreatedByOthers(t *testing.T) {
	c := newCluster(t)
	tf := applied(t, c.config(configMap))
	require.NoError(t, c.resource("configmaps").Delete(t.Context(), "settings", metav1.DeleteOptions{}))
	_, err := c.resource("configmaps").Create(t.Context(), lab.Object(t, c.in(configMap)), metav1.CreateOptions{FieldManager: "somebody"})
	require.NoError(t, err)
	plan := tf.plan(t, c.config(configMap))
	require.Equal(t, "Update", plan.action)
	require.Contains(t, strings.Join(plan.warnings, "\n"), "re-created")
	tf.apply(t, plan)
	tf.nothingLeft(t, c.config(configMap))
	_, err = tf.destroy(t)
	require.NoError(t, err)
}

func TestWrongConfiguration(t *testing.T) {
	c, tf := newCluster(t), newCore(t)
	const canary = "hunter2-canary"
	for _, test := range []struct{ why, yamlBody, want string }{
		{"two documents", configMap + "---" + configMap, "more than one object"},
		{"nothing in it", "# a comment", "holds no object"},
		{"a list", "[a]", "expected an object with apiVersion, kind and metadata, found a list"},
		{"no name", "{apiVersion: v1, kind: ConfigMap}", "metadata"},
		{"a name that the server makes up", "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a}}", "generateName"},
		{"syntax, with a secret near", "---\na: b\n" + canary + ": [" + canary, "yaml_body: line 4: not valid YAML: did not find expected"},
		{"something after it", c.in(configMap) + "\n...\n" + canary, "more than one object"},
		{"something after it in the document", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n" + canary, "yaml_body: line 2: not valid YAML: did not find expected"},
		{"a key twice", "a: 1\na: " + canary, `yaml_body: line 2: the key "a" stands twice; keep one of them`},
		{"a field that the kind doesn't have", c.in(configMap) + "\nspec: {x: " + canary + "}", "spec"},
	} {
		t.Run(test.why, func(t *testing.T) {
			_, err := tf.tryPlan(t, c.config(test.yamlBody))
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), canary)
		})
	}
}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.NAMESPACE.example.com}
spec:
  group: NAMESPACE.example.com
  names: {plural: gadgets, kind: Gadget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`

const gadget = `{apiVersion: NAMESPACE.example.com/v1, kind: Gadget, metadata: {name: one, namespace: NAMESPACE}, spec: {size: 9007199254740993}}`

// Terraform plans both before it makes one of them.
func TestDefinitionAndCustomResource(t *testing.T) {
	c := newCluster(t)
	crd, cr := newCore(t), newCore(t)
	crdPlan, crPlan := crd.plan(t, c.config(definition)), cr.plan(t, c.config(gadget))
	require.Equal(t, "Create", crPlan.action)
	require.Equal(t, map[string]string{"?": "?"}, rows(t, crPlan.planned, "fields"))
	warned := strings.Join(crPlan.warnings, "\n")
	require.Contains(t, warned, "can only be planned when it is applied")
	require.Contains(t, warned, "spec.size: + 9007199254740993", "what the manifest declares is known")
	crd.apply(t, crdPlan)
	cr.apply(t, crPlan)
	require.Equal(t, "9007199254740993", rows(t, cr.state, "fields")["spec.size"])
	cr.nothingLeft(t, c.config(gadget))

	_, err := crd.destroy(t)
	require.NoError(t, err)
	warnings, err := cr.refresh(t)
	require.NoError(t, err)
	require.Contains(t, strings.Join(warnings, "\n"), "doesn't serve this kind")
	_, err = cr.destroy(t)
	require.NoError(t, err, "it went with its definition")
}

func TestMissingNamespace(t *testing.T) {
	c, tf := newCluster(t), newCore(t)
	text := strings.Replace(configMap, "NAMESPACE", c.Namespace+"-later", 1)
	config := c.config(text, map[string]any{"timeouts": map[string]any{"create": "10s"}})
	plan := tf.plan(t, config)
	require.Equal(t, map[string]string{"?": "?"}, rows(t, plan.planned, "fields"))
	_, err := tf.tryApply(t, plan)
	require.ErrorContains(t, err, c.Namespace+`-later" doesn't exist (yet): create that first`)

	namespace := newCore(t)
	namespace.apply(t, namespace.plan(t, c.config(`{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-later}}`)))
	tf.apply(t, plan)
	tf.nothingLeft(t, config)
}

// What an autoscaler set survives that its field is left to it, and that the manifest stops naming it.
func TestReplicasSurviveIgnoring(t *testing.T) {
	c := newCluster(t)
	workload := func(replicas string) string {
		return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: scaled, namespace: NAMESPACE}, spec: {" + replicas +
			"selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}"
	}
	ignoring := map[string]any{"ignore_fields": []string{"spec.replicas"}}
	replicas := func() string { return c.value(t, "deployments", "scaled", "spec", "replicas") }

	tf := applied(t, c.config(workload("replicas: 1, ")))
	c.foreign(t, "deployments", "scaled", `{"spec":{"replicas":7}}`, "scale")
	tf.apply(t, tf.plan(t, c.config(workload("replicas: 1, "), ignoring)))
	require.Equal(t, "7", replicas())
	tf.nothingLeft(t, c.config(workload("replicas: 1, "), ignoring))

	c.foreign(t, "deployments", "scaled", `{"spec":{"replicas":5}}`, "scale")
	tf.nothingLeft(t, c.config(workload("replicas: 1, "), ignoring))
	plan := tf.plan(t, c.config(workload("replicas: 1, ")))
	require.Equal(t, "Update", plan.action, "without ignore_fields, the manifest's value counts again, and the plan says so")
	tf.apply(t, tf.plan(t, c.config(workload(""))))
	require.Equal(t, "5", replicas())
	tf.nothingLeft(t, c.config(workload("")))
}

// A kind that Kubernetes doesn't have is a typo, and nothing to wait for until the apply.
func TestTypoInABuiltinKind(t *testing.T) {
	c := newCluster(t)
	tf := newCore(t)
	_, err := tf.tryPlan(t, c.config("{apiVersion: apps/v1, kind: Deploymnt, metadata: {name: a, namespace: NAMESPACE}}"))
	require.ErrorContains(t, err, "has a kind Deploymnt in apps/v1; did you mean apps/v1 Deployment")
	_, err = tf.tryPlan(t, c.config("{apiVersion: apps/v2, kind: Deployment, metadata: {name: a, namespace: NAMESPACE}}"))
	require.ErrorContains(t, err, "did you mean apps/v1 Deployment")
	plan := tf.plan(t, c.config("{apiVersion: later.example.com/v1, kind: Deploymnt, metadata: {name: a, namespace: NAMESPACE}}"))
	require.Equal(t, "Create", plan.action, "a definition may come with the same run")
}

// Terraform evaluates the configuration once more when it has made the plan for the apply. What was planned is applied, whatever time it is by then.
func TestConfigurationIsEvaluatedAgain(t *testing.T) {
	c := newCluster(t)
	written := func(how, color string) map[string]any {
		text := c.in(strings.Replace(configMap, "blue", color, 1))
		if how != "object" {
			return c.config("", map[string]any{"yaml_body": nil, how: text})
		}
		return c.config("", map[string]any{"yaml_body": nil, "object": lab.Object(t, text).Object})
	}
	for _, how := range []string{"yaml_body", "manifest", "object"} {
		tf := newCore(t)
		for _, colors := range [][]string{{"one", "two"}, {"three", "four"}} {
			plan := tf.plan(t, written(how, colors[0]))
			plan.again = written(how, colors[1])
			tf.apply(t, plan)
			require.Equal(t, colors[0], c.value(t, "configmaps", "settings", "data", "color"), how)
		}
		_, err := tf.destroy(t)
		require.NoError(t, err)
	}
}
