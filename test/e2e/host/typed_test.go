package host_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	apps "k8s.io/client-go/applyconfigurations/apps/v1"
	core "k8s.io/client-go/applyconfigurations/core/v1"
	meta "k8s.io/client-go/applyconfigurations/meta/v1"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/manifest"
	"github.com/ssaplan/primitives/test/lab"
)

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

var (
	labels   = map[string]string{"app": "a"}
	template = corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "c", Image: "i", Ports: []corev1.ContainerPort{{ContainerPort: 80}},
			Env:            []corev1.EnvVar{{Name: "E"}, {Name: "CPU", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}}},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(80)}}},
		}}, Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}},
	}
)

const templateYAML = `{metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i, ports: [{containerPort: 80}],
	env: [{name: E}, {name: CPU, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}], readinessProbe: {httpGet: {path: /, port: 80}}}],
	volumes: [{name: v, emptyDir: {}}]}}`

// Widget is a custom resource as its author declares it in Go, with numbers that are required and structs that aren't.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec,omitempty"`
	Status            WidgetStatus `json:"status,omitempty"`
}

type WidgetSpec struct {
	Size      int32                         `json:"size"`
	Enabled   *bool                         `json:"enabled,omitempty"`
	Resources corev1.ResourceRequirements   `json:"resources,omitempty"`
	Parts     []corev1.LocalObjectReference `json:"parts"`
}

type WidgetStatus struct {
	Ready int32 `json:"ready"`
}

func (w *Widget) DeepCopyObject() runtime.Object { c := *w; return &c }

const widgets = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.typed.example.com}, spec: {
	group: typed.example.com, scope: Namespaced, names: {plural: widgets, singular: widget, kind: Widget}, versions: [{name: v1, served: true, storage: true,
	subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {
		spec: {type: object, required: [size], properties: {size: {type: integer}, enabled: {type: boolean}, parts: {type: array, items: {type: object, properties: {name: {type: string}}}},
			resources: {type: object, properties: {limits: {type: object, additionalProperties: {x-kubernetes-int-or-string: true}}}}}},
		status: {type: object, required: [ready], properties: {ready: {type: integer}}}}}}}]}}`

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypeWithName(schema.GroupVersionKind{Group: "typed.example.com", Version: "v1", Kind: "Widget"}, &Widget{})
	return s
}

// rows are Go values, each with the shortest manifest that a person would write by hand for it.
var rows = []struct {
	why    string
	object any
	scheme *runtime.Scheme
	yaml   string
}{
	{"the structs of a Deployment", &appsv1.Deployment{ObjectMeta: named("a"), Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template}},
		clientscheme.Scheme, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {app: a}}, template: " + templateYAML + "}}"},
	{"a pointer to zero was written", &appsv1.Deployment{ObjectMeta: named("zero"), Spec: appsv1.DeploymentSpec{Replicas: new(int32(0)), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template}},
		clientscheme.Scheme, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: zero}, spec: {replicas: 0, selector: {matchLabels: {app: a}}, template: " + templateYAML + "}}"},
	{"claims of a StatefulSet have structs of their own", &appsv1.StatefulSet{ObjectMeta: named("a"), Spec: appsv1.StatefulSetSpec{ServiceName: "a", Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template,
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: named("data"), Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}}}}}}},
		clientscheme.Scheme, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {serviceName: a, selector: {matchLabels: {app: a}}, template: ` + templateYAML + `,
			volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}`},
	{"a port without a target", &corev1.Service{ObjectMeta: named("a"), Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}}},
		clientscheme.Scheme, "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {app: a}, ports: [{port: 80}]}}"},
	{"metadata in metadata", &batchv1.CronJob{ObjectMeta: named("a"), Spec: batchv1.CronJobSpec{Schedule: "0 0 * * *", Suspend: new(false), JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}}}},
		clientscheme.Scheme, `{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {schedule: "0 0 * * *", suspend: false, jobTemplate: {spec: {template: {spec: {
			restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}`},
	{"a status with required numbers", &autoscalingv2.HorizontalPodAutoscaler{ObjectMeta: named("a"), Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 3, ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "a"},
		Metrics: []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{Name: "cpu", Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(int32(80))}}}}}},
		clientscheme.Scheme, `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a},
			metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}}`},
	{"zero as a pointer to a number or text", &policyv1.PodDisruptionBudget{ObjectMeta: named("a"), Spec: policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(0)), Selector: &metav1.LabelSelector{}}},
		clientscheme.Scheme, "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {maxUnavailable: 0, selector: {}}}"},
	{"the port of a backend", &networkingv1.Ingress{ObjectMeta: named("a"), Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: "a.example.com", IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
		Paths: []networkingv1.HTTPIngressPath{{Path: "/", PathType: new(networkingv1.PathTypePrefix), Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "a", Port: networkingv1.ServiceBackendPort{Number: 80}}}}}}}}}}},
		clientscheme.Scheme, `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, spec: {rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix,
			backend: {service: {name: a, port: {number: 80}}}}]}}]}}`},
	{"a rule that allows all", &networkingv1.NetworkPolicy{ObjectMeta: named("a"), Spec: networkingv1.NetworkPolicySpec{PodSelector: metav1.LabelSelector{MatchLabels: labels}, Ingress: []networkingv1.NetworkPolicyIngressRule{{}},
		Egress: []networkingv1.NetworkPolicyEgressRule{{To: []networkingv1.NetworkPolicyPeer{{NamespaceSelector: &metav1.LabelSelector{}}}}}}},
		clientscheme.Scheme, "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {matchLabels: {app: a}}, ingress: [{}], egress: [{to: [{namespaceSelector: {}}]}]}}"},
	{"a selector of all pods, which the type can't tell from none", &networkingv1.NetworkPolicy{ObjectMeta: named("all"), Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{"Ingress"}}},
		clientscheme.Scheme, "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: all}, spec: {policyTypes: [Ingress]}}"},
	{"the core group", &rbacv1.Role{ObjectMeta: named("a"), Rules: []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}},
		clientscheme.Scheme, `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}`},
	{"a required number that is zero", &schedulingv1.PriorityClass{ObjectMeta: named("typed-zero")}, clientscheme.Scheme, "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: typed-zero}, value: 0}"},
	{"bytes", &corev1.Secret{ObjectMeta: named("a"), Data: map[string][]byte{"a": []byte("x"), "empty": {}}, Immutable: new(false)},
		clientscheme.Scheme, `{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: eA==, empty: ""}, immutable: false}`},
	{"a custom resource", &Widget{ObjectMeta: named("a"), Spec: WidgetSpec{Enabled: new(false)}}, scheme(), "{apiVersion: typed.example.com/v1, kind: Widget, metadata: {name: a}, spec: {size: 0, enabled: false}}"},
	{"an apply configuration", apps.Deployment("applied", "").WithSpec(apps.DeploymentSpec().WithReplicas(0).WithSelector(meta.LabelSelector().WithMatchLabels(labels)).WithTemplate(
		core.PodTemplateSpec().WithLabels(labels).WithSpec(core.PodSpec().WithContainers(core.Container().WithName("c").WithImage("i").WithResources(core.ResourceRequirements()))))),
		nil, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: applied, namespace: ""}, spec: {replicas: 0, selector: {matchLabels: {app: a}},
			template: {metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: i, resources: {}}]}}}}`},
	{"no Go type", object(widgets), nil, widgets},
}

// adding are the rows of types that have numbers in their status which the server leaves out.
var adding = []string{"a status with required numbers", "a custom resource"}

func object(text string) *unstructured.Unstructured {
	manifests, failures := manifest.Parse("test", []byte(text))
	if len(failures) > 0 {
		panic(failures[0])
	}
	return manifests[0].Object
}

// The plan of a typed object equals the plan of its handwritten manifest. After the apply the next plan is a no-op,
// also with a live object that a typed client read.
func TestTypedObjectsArePlannedAsTheirYAML(t *testing.T) {
	c := lab.New(t)
	c.Define(t, object(widgets))
	planner := c.Planner(t, ssaplan.Options{FieldManager: "typed", DefaultNamespace: c.Namespace})
	for _, row := range rows {
		t.Run(row.why, func(t *testing.T) {
			byHand := object(row.yaml)
			made, err := manifest.Of(row.object, row.scheme)
			require.NoError(t, err)
			require.Equal(t, byHand.Object, made.Object)

			plan := planOf(t, planner, ssaplan.Request{Manifest: made})
			require.JSONEq(t, asJSON(t, planOf(t, planner, ssaplan.Request{Manifest: byHand})), asJSON(t, plan))
			applied, err := planner.Apply(lab.Context(t), plan)
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionNoOp, planOf(t, planner, ssaplan.Request{Manifest: made}).Action)

			known := planOf(t, planner, ssaplan.Request{Manifest: made, Live: read(t, row.object, applied)})
			require.Equal(t, ssaplan.ActionNoOp, known.Action)
			if slices.Contains(adding, row.why) {
				require.Equal(t, 3, known.Requests, "what the type adds to the object proves nothing, so the Planner reads it")
			} else {
				require.Equal(t, 1, known.Requests, "the live object was of use")
			}

			c.Patch(t, "somebody", applied, `{"metadata": {"labels": {"drifted": "yes"}}}`)
			made.SetLabels(map[string]string{"drifted": "no"})
			drifted := planOf(t, planner, ssaplan.Request{Manifest: made, Live: read(t, row.object, c.Get(t, applied))})
			want := planOf(t, planner, ssaplan.Request{Manifest: made})
			want.Requests = drifted.Requests
			require.JSONEq(t, asJSON(t, want), asJSON(t, drifted), "a plan of what changes doesn't depend on who read the object")
		})
	}
}

// planOf returns a plan that has nothing to say of the manifest.
func planOf(t *testing.T, planner *ssaplan.Planner, request ssaplan.Request) *ssaplan.Plan {
	t.Helper()
	plan, err := planner.Plan(t.Context(), request)
	require.NoError(t, err)
	assert.Empty(t, plan.Adjustments)
	assert.Empty(t, plan.Warnings)
	assert.Empty(t, plan.Ineffective)
	return plan
}

// read returns an object as a typed client reads it, for a host that makes no more of it than what the converter does.
func read(t *testing.T, like any, live *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	typed, ok := like.(runtime.Object)
	if _, untyped := like.(runtime.Unstructured); !ok || untyped {
		return live
	}
	typed = typed.DeepCopyObject()
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, typed))
	typed.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	require.NoError(t, err)
	require.NotContains(t, content, "kind")
	return &unstructured.Unstructured{Object: content}
}
