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
	kinds []string // of several it is the one that the kind beside the name says
}

// enforced has the kinds that a server looks for when an object of a kind is written. Source: the admission plugins
// ServiceAccount, Priority and RuntimeClass of Kubernetes 1.33 to 1.37, which look at Pods, and the one of Priority
// at groups of Pods, and at nothing that makes Pods. A binding is checked against its role, unless who writes it may
// bind every role.
var enforced = map[string][]reference{
	"Pod": {
		{"spec.serviceAccountName", []string{"ServiceAccount"}},
		{"spec.priorityClassName", []string{"PriorityClass.scheduling.k8s.io"}},
		{"spec.runtimeClassName", []string{"RuntimeClass.node.k8s.io"}},
	},
	"PodGroup.scheduling.k8s.io":          {{"spec.priorityClassName", []string{"PriorityClass.scheduling.k8s.io"}}}, // since 1.36
	"CompositePodGroup.scheduling.k8s.io": {{"spec.priorityClassName", []string{"PriorityClass.scheduling.k8s.io"}}}, // since 1.37

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
		{"priorityClassName", []string{"PriorityClass.scheduling.k8s.io"}},
		{"runtimeClassName", []string{"RuntimeClass.node.k8s.io"}},
		{"imagePullSecrets[].name", secret},
		{"volumes[].configMap.name", configMap},
		{"volumes[].secret.secretName", secret},
		{"volumes[].projected.sources[].configMap.name", configMap},
		{"volumes[].projected.sources[].secret.name", secret},
		{"volumes[].persistentVolumeClaim.claimName", []string{"PersistentVolumeClaim"}},
		{"resourceClaims[].resourceClaimName", []string{"ResourceClaim.resource.k8s.io"}},
		{"resourceClaims[].resourceClaimTemplateName", []string{"ResourceClaimTemplate.resource.k8s.io"}},
	}
	for _, containers := range []string{"containers[].", "initContainers[]."} {
		out = append(out,
			reference{containers + "envFrom[].configMapRef.name", configMap}, reference{containers + "envFrom[].secretRef.name", secret},
			reference{containers + "env[].valueFrom.configMapKeyRef.name", configMap},
			reference{containers + "env[].valueFrom.secretKeyRef.name", secret})
	}
	return out
}()

// podSpecs are the places of the specs of pods, by the kinds that have one.
var podSpecs = map[string]string{
	"Pod": "spec", "PodTemplate": "template.spec", "ReplicationController": "spec.template.spec", "Deployment.apps": "spec.template.spec",
	"StatefulSet.apps": "spec.template.spec", "DaemonSet.apps": "spec.template.spec", "ReplicaSet.apps": "spec.template.spec",
	"Job.batch": "spec.template.spec", "CronJob.batch": "spec.jobTemplate.spec.template.spec",
}

// references are what objects of a kind don't work without, beside the spec of a pod.
var references = func() map[string][]reference {
	service, secret, class := []string{"Service"}, []string{"Secret"}, []string{"StorageClass.storage.k8s.io"}
	webhooks := []reference{{"webhooks[].clientConfig.service.name", service}}
	return map[string][]reference{
		"StatefulSet.apps": {
			{"spec.serviceName", service}, {"spec.volumeClaimTemplates[].spec.storageClassName", class},
		},
		"PersistentVolumeClaim": {{"spec.storageClassName", class}, {"spec.volumeName", []string{"PersistentVolume"}}},
		"ServiceAccount":        {{"imagePullSecrets[].name", secret}, {"secrets[].name", secret}},
		"Ingress.networking.k8s.io": {
			{"spec.ingressClassName", []string{"IngressClass.networking.k8s.io"}}, {"spec.tls[].secretName", secret},
			{"spec.defaultBackend.service.name", service}, {"spec.rules[].http.paths[].backend.service.name", service},
		},
		"RoleBinding.rbac.authorization.k8s.io":                         {{"roleRef.name", roles}},
		"ClusterRoleBinding.rbac.authorization.k8s.io":                  {{"roleRef.name", roles}},
		"MutatingWebhookConfiguration.admissionregistration.k8s.io":     webhooks,
		"ValidatingWebhookConfiguration.admissionregistration.k8s.io":   webhooks,
		"CustomResourceDefinition.apiextensions.k8s.io":                 {{"spec.conversion.webhook.clientConfig.service.name", service}},
		"APIService.apiregistration.k8s.io":                             {{"spec.service.name", service}},
		"MutatingAdmissionPolicyBinding.admissionregistration.k8s.io":   {{"spec.policyName", []string{"MutatingAdmissionPolicy.admissionregistration.k8s.io"}}},
		"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io": {{"spec.policyName", []string{"ValidatingAdmissionPolicy.admissionregistration.k8s.io"}}},
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

// MayRefer reports whether objects of a kind can refer to those of another one. No kinds do so in a circle.
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
			reference.Namespace, _ = holder["namespace"].(string)
			if !slices.Contains(found, reference) {
				found = append(found, reference)
			}
		}
	})
	return found
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
