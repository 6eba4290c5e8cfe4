package set

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Stage is a part of a set. Its objects are planned and applied after those of earlier stages.
type Stage struct {
	Name string
	// Has reports whether an object belongs to the stage. It is called in the order of the stages. An object that no
	// stage has belongs to the last one.
	Has func(*unstructured.Unstructured) bool
}

// stages has what the objects of the built-in kinds are for those of later stages, "Kind.group" as schema.GroupKind
// prints it. A kind that isn't listed, such as that of each custom resource, is of the last stage.
var stages = []struct {
	name  string
	kinds []string
}{
	{"namespaces and CRDs", []string{"Namespace", "CustomResourceDefinition.apiextensions.k8s.io"}},
	{"classes and limits", []string{
		"PriorityClass.scheduling.k8s.io", "StorageClass.storage.k8s.io", "VolumeAttributesClass.storage.k8s.io", "CSIDriver.storage.k8s.io",
		"IngressClass.networking.k8s.io", "RuntimeClass.node.k8s.io", "DeviceClass.resource.k8s.io",
		"NetworkPolicy.networking.k8s.io", "ResourceQuota", "LimitRange",
		"PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io", "FlowSchema.flowcontrol.apiserver.k8s.io",
	}},
	{"accounts and roles", []string{"ServiceAccount", "ClusterRole.rbac.authorization.k8s.io", "Role.rbac.authorization.k8s.io"}},
	{"RBAC and configuration", []string{
		"ClusterRoleBinding.rbac.authorization.k8s.io", "RoleBinding.rbac.authorization.k8s.io",
		"ConfigMap", "Secret", "PersistentVolume", "PersistentVolumeClaim",
	}},
	{"services and workloads", []string{
		"Service", "Endpoints", "EndpointSlice.discovery.k8s.io", "Pod", "PodTemplate", "ReplicationController",
		"Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "ReplicaSet.apps", "Job.batch", "CronJob.batch",
		"HorizontalPodAutoscaler.autoscaling", "PodDisruptionBudget.policy",
	}},
	{"admission and further APIs", []string{
		"MutatingWebhookConfiguration.admissionregistration.k8s.io", "ValidatingWebhookConfiguration.admissionregistration.k8s.io",
		"MutatingAdmissionPolicy.admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io",
		"ValidatingAdmissionPolicy.admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io",
		"APIService.apiregistration.k8s.io",
	}},
	{"custom resources and the rest", nil},
}

// DefaultStages returns the stages by what the objects are: namespaces and CRDs, classes, accounts, RBAC and
// configuration, Services and workloads, admission, and custom resources with the rest. A caller may insert stages of
// its own.
func DefaultStages() []Stage {
	out := make([]Stage, len(stages))
	for i, stage := range stages {
		kinds := map[string]bool{}
		for _, kind := range stage.kinds {
			kinds[kind] = true
		}
		out[i] = Stage{stage.name, func(obj *unstructured.Unstructured) bool {
			return kinds[groupKind(obj).String()]
		}}
	}
	return out
}

func groupKind(obj *unstructured.Unstructured) schema.GroupKind {
	return obj.GroupVersionKind().GroupKind()
}

// stageOf returns the number of the stage of a manifest.
func (s *Set) stageOf(manifest *unstructured.Unstructured) int {
	last := len(s.options.Stages) - 1
	if manifest == nil {
		return last
	}
	for i, stage := range s.options.Stages[:last] {
		if stage.Has(manifest) {
			return i
		}
	}
	return last
}

// arrange puts each object into its stage, or into one behind what it needs of the set.
func (s *Set) arrange() {
	s.stage = make([]int, len(s.requests))
	for i, request := range s.requests {
		s.stage[i] = s.stageOf(request.Manifest)
	}
	for range 2 { // an object needs a definition or a namespace, and these need nothing
		for i := range s.requests {
			for _, other := range s.needs(i) {
				s.postpone(i, other)
			}
		}
	}
}

// postpone makes an object come in a later stage than another one. It reports whether it didn't already.
func (s *Set) postpone(i, other int) bool {
	if s.stage[i] > s.stage[other] {
		return false
	}
	if s.stage[i] = s.stage[other] + 1; s.stage[i] == len(s.options.Stages) {
		s.options.Stages = append(s.options.Stages, Stage{Name: "what comes after the rest"})
	}
	return true
}

// inStage returns the numbers of the objects of a stage, in their order.
func (s *Set) inStage(stage int) (numbers []int) {
	for i, of := range s.stage {
		if of == stage {
			numbers = append(numbers, i)
		}
	}
	return numbers
}
