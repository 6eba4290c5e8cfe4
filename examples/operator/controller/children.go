package controller

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1 "k8s.io/client-go/applyconfigurations/networking/v1"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
)

const (
	managedByLabel = "app.kubernetes.io/managed-by"
	instanceLabel  = "app.kubernetes.io/instance"
	configHash     = "web.example.com/config-hash"
)

// kinds are the kinds of the children, in the order in which they are written.
var kinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "ConfigMap"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Version: "v1", Kind: "Service"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
}

// children returns what the Website's children have to be, and which it shall not have. They declare nothing that the
// Website doesn't say and that isn't needed, so that the rest can be anybody's.
func children(w *v1alpha1.Website) []ctrlssaplan.Child {
	all := []ctrlssaplan.Child{
		{Object: configMap(w), Absent: len(w.Spec.Config) == 0}, {Object: deployment(w)}, {Object: service(w)},
		{Object: ingress(w), Absent: w.Spec.Host == ""},
	}
	for i, kind := range kinds {
		all[i].Ignore = ignored(w, kind.Kind)
	}
	return all
}

// ignored returns the fields of a kind that the Website leaves to others.
func ignored(w *v1alpha1.Website, kind string) (fields []string) {
	for _, ignore := range w.Spec.Ignore {
		if ignore.Kind == kind {
			fields = append(fields, ignore.Fields...)
		}
	}
	return fields
}

func labels(w *v1alpha1.Website) map[string]string {
	return map[string]string{managedByLabel: FieldManager, instanceLabel: w.Name}
}

// podLabels are what the pods are selected by.
func podLabels(w *v1alpha1.Website) map[string]string {
	out := maps.Clone(w.Spec.PodLabels)
	if out == nil {
		out = map[string]string{}
	}
	out[instanceLabel] = w.Name // whatever the Website says: another Website's pods are never selected
	return out
}

func configMap(w *v1alpha1.Website) *corev1.ConfigMapApplyConfiguration {
	return corev1.ConfigMap(w.Name, w.Namespace).WithLabels(labels(w)).WithData(w.Spec.Config)
}

func deployment(w *v1alpha1.Website) *appsv1.DeploymentApplyConfiguration {
	container := corev1.Container().WithName("web").WithImage(w.Spec.Image).
		WithPorts(corev1.ContainerPort().WithName("http").WithContainerPort(port(w)))
	template := corev1.PodTemplateSpec().WithLabels(podLabels(w))
	if len(w.Spec.Config) > 0 {
		container.WithEnvFrom(corev1.EnvFromSource().WithConfigMapRef(corev1.ConfigMapEnvSource().WithName(w.Name)))
		template.WithAnnotations(map[string]string{configHash: hash(w.Spec.Config)}) // another config takes other pods
	}
	spec := appsv1.DeploymentSpec().
		WithSelector(applymetav1.LabelSelector().WithMatchLabels(podLabels(w))).
		WithTemplate(template.WithSpec(corev1.PodSpec().WithContainers(container)))
	spec.Replicas = w.Spec.Replicas
	return appsv1.Deployment(w.Name, w.Namespace).WithLabels(labels(w)).WithSpec(spec)
}

func service(w *v1alpha1.Website) *corev1.ServiceApplyConfiguration {
	return corev1.Service(w.Name, w.Namespace).WithLabels(labels(w)).
		WithSpec(corev1.ServiceSpec().WithSelector(podLabels(w)).
			WithPorts(corev1.ServicePort().WithName("http").WithPort(80).WithTargetPort(intstr.FromString("http"))))
}

func ingress(w *v1alpha1.Website) *networkingv1.IngressApplyConfiguration {
	backend := networkingv1.IngressBackend().WithService(networkingv1.IngressServiceBackend().WithName(w.Name).
		WithPort(networkingv1.ServiceBackendPort().WithName("http")))
	path := networkingv1.HTTPIngressPath().WithPath("/").WithPathType("Prefix").WithBackend(backend)
	rule := networkingv1.IngressRule().WithHost(w.Spec.Host).WithHTTP(
		networkingv1.HTTPIngressRuleValue().WithPaths(path))
	return networkingv1.Ingress(w.Name, w.Namespace).WithLabels(labels(w)).
		WithSpec(networkingv1.IngressSpec().WithRules(rule))
}

func port(w *v1alpha1.Website) int32 {
	if w.Spec.Port == 0 {
		return 8080
	}
	return w.Spec.Port
}

// hash returns a short text that differs for other values. Maps are encoded in the order of their keys.
func hash(values map[string]string) string {
	text, _ := json.Marshal(values) // texts can always be encoded
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
