package kinds

// Stage is a part of the built-in kinds, whose objects are applied together.
type Stage struct {
	Name string
	// Kinds are followed by their group, as for [HoldsOthers].
	Kinds []string
}

// Stages has all stages in the order in which their objects are applied. Objects of later stages may need those of
// earlier ones. A kind that isn't listed, such as that of each custom resource, is of the last stage.
var Stages = []Stage{
	{"namespaces and CRDs", []string{"Namespace", "CustomResourceDefinition.apiextensions.k8s.io"}},
	{"classes and limits", []string{
		"PriorityClass.scheduling.k8s.io", "StorageClass.storage.k8s.io", "VolumeAttributesClass.storage.k8s.io",
		"CSIDriver.storage.k8s.io",
		"IngressClass.networking.k8s.io", "RuntimeClass.node.k8s.io", "DeviceClass.resource.k8s.io",
		"NetworkPolicy.networking.k8s.io", "ResourceQuota", "LimitRange",
		"PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io", "FlowSchema.flowcontrol.apiserver.k8s.io",
	}},
	{"accounts and roles", []string{"ServiceAccount", "ClusterRole.rbac.authorization.k8s.io",
		"Role.rbac.authorization.k8s.io"}},
	{"RBAC and configuration", []string{
		"ClusterRoleBinding.rbac.authorization.k8s.io", "RoleBinding.rbac.authorization.k8s.io",
		"ConfigMap", "Secret", "ClusterTrustBundle.certificates.k8s.io", "PersistentVolume", "PersistentVolumeClaim",
		"ResourceClaim.resource.k8s.io", "ResourceClaimTemplate.resource.k8s.io",
	}},
	{"services and workloads", []string{
		"Service", "Endpoints", "EndpointSlice.discovery.k8s.io", "Pod", "PodTemplate", "ReplicationController",
		"Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "ReplicaSet.apps", "Job.batch", "CronJob.batch",
		"HorizontalPodAutoscaler.autoscaling", "PodDisruptionBudget.policy",
		"Workload.scheduling.k8s.io", "CompositePodGroup.scheduling.k8s.io", "PodGroup.scheduling.k8s.io",
	}},
	{"admission and further APIs", append(admissionKinds(), "APIService.apiregistration.k8s.io")},
	{"custom resources and the rest", nil},
}

// admissionKinds returns the kinds of the [AdmissionGroup] with their group.
func admissionKinds() (kinds []string) {
	for _, kind := range AdmissionKinds {
		kinds = append(kinds, kind.Kind+"."+AdmissionGroup)
	}
	return kinds
}
