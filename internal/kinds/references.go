package kinds

import (
	"fmt"
	"slices"
	"strings"
)

// Reference names an object that another one refers to.
type Reference struct {
	// Kind is followed by its group, as for [HoldsOthers].
	Kind, Name string
	// Namespace is empty if it is that of the object that refers to it, or if the kind has none.
	Namespace string
}

// reference is a place in objects of a kind that names another object. Its field leads to the name, with "[]" behind
// each list on the way.
type reference struct {
	field string
	kinds []string // if there are several, the field kind beside the name selects one
}

// enforced has the kinds that a server looks for when an object of a kind is written. Source: the admission plugins
// ServiceAccount, Priority and RuntimeClass of Kubernetes 1.33 to 1.37. These check Pods; the plugin Priority also
// checks groups of Pods. They don't check the kinds that make Pods, such as Deployments. A server checks the role of a
// binding, unless the writer may bind every role.
var enforced = map[string][]reference{
	"Pod": {
		{"spec.serviceAccountName", []string{"ServiceAccount"}},
		{"spec.serviceAccount", []string{"ServiceAccount"}}, // its old name, which the server still takes
		{"spec.priorityClassName", []string{"PriorityClass.scheduling.k8s.io"}},
		{"spec.runtimeClassName", []string{"RuntimeClass.node.k8s.io"}},
	},
	// since 1.36
	"PodGroup.scheduling.k8s.io": {{"spec.priorityClassName", []string{"PriorityClass.scheduling.k8s.io"}}},
	// since 1.37
	"CompositePodGroup.scheduling.k8s.io": {{"spec.priorityClassName", []string{"PriorityClass.scheduling.k8s.io"}}},

	"RoleBinding.rbac.authorization.k8s.io":        {{"roleRef.name", roles}},
	"ClusterRoleBinding.rbac.authorization.k8s.io": {{"roleRef.name", roles}},
}

var roles = []string{"Role.rbac.authorization.k8s.io", "ClusterRole.rbac.authorization.k8s.io"}

// podReferences are what the spec of a pod refers to: without these the kubelet doesn't start it, or the scheduler
// doesn't place it.
var podReferences = func() []reference {
	configMap, secret := []string{"ConfigMap"}, []string{"Secret"}
	out := []reference{
		{"serviceAccountName", []string{"ServiceAccount"}},
		{"serviceAccount", []string{"ServiceAccount"}},
		{"priorityClassName", []string{"PriorityClass.scheduling.k8s.io"}},
		{"runtimeClassName", []string{"RuntimeClass.node.k8s.io"}},
		{"schedulingGroup.podGroupName", []string{"PodGroup.scheduling.k8s.io"}},
		{"workloadRef.name", []string{"Workload.scheduling.k8s.io"}}, // of 1.35
		{"imagePullSecrets[].name", secret},
		{"volumes[].configMap.name", configMap},
		{"volumes[].secret.secretName", secret},
		{"volumes[].projected.sources[].configMap.name", configMap},
		{"volumes[].projected.sources[].secret.name", secret},
		{"volumes[].projected.sources[].clusterTrustBundle.name", []string{"ClusterTrustBundle.certificates.k8s.io"}},
		{"volumes[].persistentVolumeClaim.claimName", []string{"PersistentVolumeClaim"}},
		// an inline volume works only if the CSIDriver object allows such volumes
		{"volumes[].csi.driver", []string{"CSIDriver.storage.k8s.io"}},
		{"volumes[].csi.nodePublishSecretRef.name", secret},
	}
	out = append(out, claimReferences("volumes[].ephemeral.volumeClaimTemplate.spec.")...)
	out = append(out, volumeReferences("volumes[].")...)
	out = append(out, deviceClaims("")...)
	for _, containers := range []string{"containers[].", "initContainers[].", "ephemeralContainers[]."} {
		out = append(out,
			reference{containers + "envFrom[].configMapRef.name", configMap},
			reference{containers + "envFrom[].secretRef.name", secret},
			reference{containers + "env[].valueFrom.configMapKeyRef.name", configMap},
			reference{containers + "env[].valueFrom.secretKeyRef.name", secret})
	}
	return out
}()

// claimReferences are what the spec of a PersistentVolumeClaim at a place refers to. The data source isn't among them.
// A claim needs it only until the data is copied, but names it forever.
func claimReferences(place string) []reference {
	return []reference{
		{place + "storageClassName", []string{"StorageClass.storage.k8s.io"}},
		{place + "volumeAttributesClassName", []string{"VolumeAttributesClass.storage.k8s.io"}},
		{place + "volumeName", []string{"PersistentVolume"}},
	}
}

// volumeReferences are the references of the types of volumes that Pods and PersistentVolumes have in common.
func volumeReferences(place string) (out []reference) {
	for _, field := range []string{
		"azureFile.secretName", "cephfs.secretRef.name", "cinder.secretRef.name", "flexVolume.secretRef.name",
		"iscsi.secretRef.name",
		"rbd.secretRef.name", "scaleIO.secretRef.name", "storageos.secretRef.name",
	} {
		out = append(out, reference{place + field, []string{"Secret"}})
	}
	return append(out, reference{place + "glusterfs.endpoints", []string{"Endpoints"}})
}

// deviceClaims are references to claims of devices. Pods, or groups of pods, share a claim, or each gets its own claim
// from a template.
func deviceClaims(place string) []reference {
	return []reference{
		{place + "resourceClaims[].resourceClaimName", []string{"ResourceClaim.resource.k8s.io"}},
		{place + "resourceClaims[].resourceClaimTemplateName", []string{"ResourceClaimTemplate.resource.k8s.io"}},
	}
}

// deviceReferences are what the spec of a ResourceClaim refers to.
func deviceReferences(place string) (out []reference) {
	for _, request := range []string{"exactly.", "firstAvailable[].", ""} { // the last one is that of v1beta1
		out = append(out, reference{place + "devices.requests[]." + request + "deviceClassName",
			[]string{"DeviceClass.resource.k8s.io"}})
	}
	return out
}

// podSpecs are the places of the specs of pods, by the kinds that have one.
var podSpecs = map[string]string{
	"Pod": "spec", "PodTemplate": "template.spec", "ReplicationController": "spec.template.spec",
	"Deployment.apps": "spec.template.spec", "StatefulSet.apps": "spec.template.spec",
	"DaemonSet.apps": "spec.template.spec", "ReplicaSet.apps": "spec.template.spec", "Job.batch": "spec.template.spec",
	"CronJob.batch": "spec.jobTemplate.spec.template.spec",
}

// references has the objects that an object of a kind needs to work. Those in the spec of a pod are in podReferences.
// TestReferenceFields has the other fields that name objects, and why they aren't here. Two of those fields could be
// here as well: the target of a HorizontalPodAutoscaler, and the accounts among the subjects of a binding. While the
// target or the account is missing, nothing is scaled, no rights are given, and no harm is done. Both work by
// themselves as soon as it exists. The annotation by which a token Secret names its ServiceAccount isn't here: the
// account may list the Secret, so that each would wait for the other.
var references = func() map[string][]reference {
	service, secret := []string{"Service"}, []string{"Secret"}
	priorityClass, composite := []string{"PriorityClass.scheduling.k8s.io"},
		[]string{"CompositePodGroup.scheduling.k8s.io"}
	webhooks := []reference{{"webhooks[].clientConfig.service.name", service}}
	volume := append(volumeReferences("spec."), claimReferences("spec.")[:2]...)
	for _, use := range []string{"controllerExpand", "controllerPublish", "nodeExpand", "nodePublish", "nodeStage"} {
		volume = append(volume, reference{"spec.csi." + use + "SecretRef.name", secret})
	}
	workload := []reference{}
	for _, groups := range []string{"spec.podGroupTemplates[].", "spec.compositePodGroupTemplates[].",
		"spec.compositePodGroupTemplates[].podGroupTemplates[]."} {
		workload = append(append(workload, reference{groups + "priorityClassName", priorityClass}),
			deviceClaims(groups)...)
	}
	return map[string][]reference{
		"StatefulSet.apps": append([]reference{{"spec.serviceName", service}},
			claimReferences("spec.volumeClaimTemplates[].spec.")...),
		"Job.batch":                             deviceClaims("spec.scheduling."),
		"CronJob.batch":                         deviceClaims("spec.jobTemplate.spec.scheduling."),
		"PersistentVolumeClaim":                 claimReferences("spec."),
		"PersistentVolume":                      volume,
		"ResourceClaim.resource.k8s.io":         deviceReferences("spec."),
		"ResourceClaimTemplate.resource.k8s.io": deviceReferences("spec.spec."),
		"Workload.scheduling.k8s.io":            workload,
		"PodGroup.scheduling.k8s.io": append([]reference{
			{"spec.priorityClassName", priorityClass}, {"spec.parentCompositePodGroupName", composite},
		}, deviceClaims("spec.")...),
		"CompositePodGroup.scheduling.k8s.io": {
			{"spec.priorityClassName", priorityClass}, {"spec.parentCompositePodGroupName", composite},
		},
		"ServiceAccount": {{"imagePullSecrets[].name", secret}, {"secrets[].name", secret}},
		"Ingress.networking.k8s.io": {
			{"spec.ingressClassName", []string{"IngressClass.networking.k8s.io"}}, {"spec.tls[].secretName", secret},
			{"spec.defaultBackend.service.name", service}, {"spec.rules[].http.paths[].backend.service.name", service},
		},
		// A server ignores a FlowSchema whose level is missing: another FlowSchema gets its requests.
		"FlowSchema.flowcontrol.apiserver.k8s.io": {
			{"spec.priorityLevelConfiguration.name",
				[]string{"PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io"}},
		},
		"RoleBinding.rbac.authorization.k8s.io":                       {{"roleRef.name", roles}},
		"ClusterRoleBinding.rbac.authorization.k8s.io":                {{"roleRef.name", roles}},
		"MutatingWebhookConfiguration.admissionregistration.k8s.io":   webhooks,
		"ValidatingWebhookConfiguration.admissionregistration.k8s.io": webhooks,
		"CustomResourceDefinition.apiextensions.k8s.io":               {{"spec.conversion.webhook.clientConfig.service.name", service}},
		"APIService.apiregistration.k8s.io":                           {{"spec.service.name", service}},
		"MutatingAdmissionPolicyBinding.admissionregistration.k8s.io": {{"spec.policyName",
			[]string{"MutatingAdmissionPolicy.admissionregistration.k8s.io"}}},
		"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io": {{"spec.policyName",
			[]string{"ValidatingAdmissionPolicy.admissionregistration.k8s.io"}}},
	}
}()

// referred are the kinds that others refer to.
var referred = func() map[string]bool {
	out := map[string]bool{}
	add := func(of []reference) {
		for _, r := range of {
			for _, kind := range r.kinds {
				out[kind] = true
			}
		}
	}
	add(podReferences)
	for _, of := range references {
		add(of)
	}
	for _, of := range enforced {
		add(of)
	}
	return out
}()

// Referred reports whether objects refer to others of a kind.
func Referred(kind string) bool { return referred[kind] }

// MayRefer reports whether objects of a kind can refer to objects of another kind. No chain of references leads back to
// its first kind, so objects never wait for each other. Groups of pods are the exception: they can be in groups of
// their own kind.
func MayRefer(kind, to string) bool {
	refer := func(r reference) bool { return slices.Contains(r.kinds, to) }
	_, hasPods := podSpecs[kind]
	return slices.ContainsFunc(references[kind], refer) || hasPods && slices.ContainsFunc(podReferences, refer)
}

// EnforcedReferences returns the objects without which a server refuses an object of a kind.
func EnforcedReferences(kind string, obj map[string]any) (found []Reference) {
	for _, r := range enforced[kind] {
		found = r.in(obj, found)
	}
	return found
}

// References returns the objects without which an object of a kind doesn't work. Those that it says are optional
// aren't among them.
func References(kind string, obj map[string]any) (found []Reference) {
	for _, r := range references[kind] {
		found = r.in(obj, found)
	}
	if place, hasPods := podSpecs[kind]; hasPods {
		eachAt(obj, strings.Split(place, "."), func(spec map[string]any) {
			for _, r := range podReferences {
				found = r.in(spec, found)
			}
		})
	}
	return found
}

// in adds what an object refers to by r.
func (r reference) in(obj map[string]any, found []Reference) []Reference {
	place := strings.Split(r.field, ".")
	eachAt(obj, place[:len(place)-1], func(holder map[string]any) {
		name, _ := holder[place[len(place)-1]].(string)
		if name == "" || holder["optional"] == true {
			return
		}
		for _, kind := range r.kinds {
			if len(r.kinds) > 1 && !strings.HasPrefix(kind, fmt.Sprint(holder["kind"])+".") {
				continue
			}
			reference := Reference{Kind: kind, Name: name}
			reference.Namespace, _ = holder[namespaceBeside(place[len(place)-1])].(string)
			if !slices.Contains(found, reference) {
				found = append(found, reference)
			}
		}
	})
	return found
}

// namespaceBeside returns the name of the field with the namespace of a referenced object. The field with the name of
// that object is next to it.
func namespaceBeside(field string) string {
	if field == "name" {
		return "namespace"
	}
	return strings.TrimSuffix(field, "Name") + "Namespace" // secretName, endpoints
}

// eachAt calls visit for all maps at a place below v.
func eachAt(v any, place []string, visit func(map[string]any)) {
	m, isMap := v.(map[string]any)
	switch {
	case !isMap:
	case len(place) == 0:
		visit(m)
	default:
		name, isList := strings.CutSuffix(place[0], "[]")
		if !isList {
			eachAt(m[name], place[1:], visit)
			return
		}
		items, _ := m[name].([]any)
		for _, item := range items {
			eachAt(item, place[1:], visit)
		}
	}
}

// limits are the kinds that bound what a server admits into a namespace.
var limits = []string{"ResourceQuota", "LimitRange"}

// Limits reports whether an object of a kind bounds what a server admits into its namespace.
func Limits(kind string) bool { return slices.Contains(limits, kind) }
