package kinds

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func TestReferences(t *testing.T) {
	pod := map[string]any{"spec": map[string]any{"serviceAccountName": "a", "priorityClassName": "b", "runtimeClassName": "c"}}
	needed := []Reference{
		{Kind: "ServiceAccount", Name: "a"}, {Kind: "PriorityClass.scheduling.k8s.io", Name: "b"}, {Kind: "RuntimeClass.node.k8s.io", Name: "c"},
	}
	assert.Equal(t, needed, EnforcedReferences("Pod", pod))
	assert.Equal(t, needed, References("Pod", pod))
	assert.Empty(t, EnforcedReferences("Pod", map[string]any{"spec": map[string]any{}}))
	deployment := map[string]any{"spec": map[string]any{"template": pod}}
	assert.Empty(t, EnforcedReferences("Deployment.apps", deployment), "the server looks for nothing then")
	assert.Equal(t, needed, References("Deployment.apps", deployment), "but its pods need it")
	for _, kind := range []string{"PodGroup", "CompositePodGroup"} {
		assert.Equal(t, []Reference{{Kind: "PriorityClass.scheduling.k8s.io", Name: "b"}}, EnforcedReferences(kind+".scheduling.k8s.io", pod))
	}
	binding := map[string]any{"roleRef": map[string]any{"kind": "ClusterRole", "name": "a"}}
	for _, kind := range []string{"RoleBinding", "ClusterRoleBinding"} {
		want := []Reference{{Kind: "ClusterRole.rbac.authorization.k8s.io", Name: "a"}}
		assert.Equal(t, want, References(kind+".rbac.authorization.k8s.io", binding))
		assert.Equal(t, want, EnforcedReferences(kind+".rbac.authorization.k8s.io", binding))
	}
	assert.Empty(t, References("RoleBinding.example.com", binding))
	for _, found := range append(References("Pod", pod), References("RoleBinding.rbac.authorization.k8s.io", binding)...) {
		assert.True(t, Referred(found.Kind), found.Kind)
	}
	assert.True(t, MayRefer("Deployment.apps", "ConfigMap"))
	assert.True(t, MayRefer("StatefulSet.apps", "Service"))
	assert.False(t, MayRefer("ConfigMap", "Deployment.apps"))
	assert.False(t, MayRefer("Deployment.example.com", "ConfigMap"))
	assert.True(t, Referred("Role.rbac.authorization.k8s.io"))
	assert.False(t, Referred("Role"))
}

// TestReferencesOf has a row for each field that names another object.
func TestReferencesOf(t *testing.T) {
	for kind, row := range map[string]struct {
		manifest string
		want     []string
	}{
		"CronJob.batch": {`{spec: {jobTemplate: {spec: {template: {spec: {imagePullSecrets: [{name: a}], initContainers: [{envFrom: [{secretRef: {name: b}}]}],
			containers: [{env: [{valueFrom: {configMapKeyRef: {name: c}}}, {valueFrom: {secretKeyRef: {name: d}}}], envFrom: [{configMapRef: {name: e}}]}],
			volumes: [{configMap: {name: f}}, {secret: {secretName: g}}, {persistentVolumeClaim: {claimName: h}},
				{projected: {sources: [{configMap: {name: i}}, {secret: {name: j}}]}}, {configMap: {name: k, optional: true}}],
			resourceClaims: [{resourceClaimName: l}, {resourceClaimTemplateName: m}]}}}}}}`, []string{
			"Secret a", "ConfigMap f", "Secret g", "ConfigMap i", "Secret j", "PersistentVolumeClaim h", "ResourceClaim.resource.k8s.io l",
			"ResourceClaimTemplate.resource.k8s.io m", "ConfigMap e", "ConfigMap c", "Secret d", "Secret b",
		}},
		"StatefulSet.apps": {`{spec: {serviceName: a, volumeClaimTemplates: [{spec: {storageClassName: b, volumeAttributesClassName: c}}], template: {spec: {serviceAccountName: d}}}}`,
			[]string{"Service a", "StorageClass.storage.k8s.io b", "VolumeAttributesClass.storage.k8s.io c", "ServiceAccount d"}},
		"PersistentVolumeClaim": {`{spec: {storageClassName: a, volumeName: b, volumeAttributesClassName: c, dataSource: {kind: PersistentVolumeClaim, name: d}}}`,
			[]string{"StorageClass.storage.k8s.io a", "VolumeAttributesClass.storage.k8s.io c", "PersistentVolume b"}},
		"Pod": {`{spec: {serviceAccount: a, ephemeralContainers: [{envFrom: [{secretRef: {name: b}}]}], volumes: [{csi: {driver: c, nodePublishSecretRef: {name: d}}},
			{azureFile: {secretName: e}}, {ephemeral: {volumeClaimTemplate: {spec: {storageClassName: f}}}}, {projected: {sources: [{clusterTrustBundle: {name: g, optional: true}}]}}],
			workloadRef: {name: h}, schedulingGroup: {podGroupName: i}}}`, []string{
			"ServiceAccount a", "PodGroup.scheduling.k8s.io i", "Workload.scheduling.k8s.io h", "CSIDriver.storage.k8s.io c", "Secret d",
			"StorageClass.storage.k8s.io f", "Secret e", "Secret b",
		}},
		"PersistentVolume": {`{spec: {storageClassName: a, claimRef: {name: b}, azureFile: {secretName: c, secretNamespace: ns}, glusterfs: {endpoints: d, endpointsNamespace: ns},
			csi: {nodeStageSecretRef: {name: e, namespace: ns}}}}`, []string{"Secret ns/c", "Endpoints ns/d", "StorageClass.storage.k8s.io a", "Secret ns/e"}},
		"ResourceClaim.resource.k8s.io": {`{spec: {devices: {requests: [{deviceClassName: a}, {exactly: {deviceClassName: b}}, {firstAvailable: [{deviceClassName: c}]}]}}}`,
			[]string{"DeviceClass.resource.k8s.io b", "DeviceClass.resource.k8s.io c", "DeviceClass.resource.k8s.io a"}},
		"PodGroup.scheduling.k8s.io": {`{spec: {parentCompositePodGroupName: a, workloadRef: {workloadName: b}}}`, []string{"CompositePodGroup.scheduling.k8s.io a"}},
		"FlowSchema.flowcontrol.apiserver.k8s.io": {`{spec: {priorityLevelConfiguration: {name: a}}}`,
			[]string{"PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io a"}},
		"ServiceAccount": {`{imagePullSecrets: [{name: a}], secrets: [{name: b}]}`, []string{"Secret a", "Secret b"}},
		"Ingress.networking.k8s.io": {`{spec: {ingressClassName: a, tls: [{secretName: b}], defaultBackend: {service: {name: c}},
			rules: [{http: {paths: [{backend: {service: {name: d}}}]}}]}}`,
			[]string{"IngressClass.networking.k8s.io a", "Secret b", "Service c", "Service d"}},
		"ValidatingWebhookConfiguration.admissionregistration.k8s.io": {`{webhooks: [{clientConfig: {service: {name: a, namespace: ns}}}]}`, []string{"Service ns/a"}},
		"CustomResourceDefinition.apiextensions.k8s.io":               {`{spec: {conversion: {webhook: {clientConfig: {service: {name: a, namespace: ns}}}}}}`, []string{"Service ns/a"}},
		"APIService.apiregistration.k8s.io":                           {`{spec: {service: {name: a, namespace: ns}}}`, []string{"Service ns/a"}},
		"ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io": {`{spec: {policyName: a}}`,
			[]string{"ValidatingAdmissionPolicy.admissionregistration.k8s.io a"}},
		"ConfigMap": {`{spec: {serviceAccountName: a}}`, nil},
	} {
		var manifest map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(row.manifest), &manifest), kind)
		var got []string
		for _, found := range References(kind, manifest) {
			assert.True(t, Referred(found.Kind), found.Kind)
			name := found.Name
			if found.Namespace != "" {
				name = found.Namespace + "/" + name
			}
			got = append(got, found.Kind+" "+name)
		}
		assert.Equal(t, row.want, got, kind)
	}
}

// A removal keeps what others refer to until these are gone: no kinds may refer to each other in a circle.
func TestNoCircleOfReferences(t *testing.T) {
	const own = "CompositePodGroup.scheduling.k8s.io" // a group in one of its kind
	var follow func(kind string, from []string)
	follow = func(kind string, from []string) {
		assert.NotContains(t, from, kind, "%s", from)
		for to := range referred {
			if MayRefer(kind, to) && !(kind == own && to == own) && !t.Failed() {
				follow(to, append(from[:len(from):len(from)], kind))
			}
		}
	}
	for kind := range references {
		follow(kind, nil)
	}
	for kind := range podSpecs {
		follow(kind, nil)
	}
}

func TestLimits(t *testing.T) {
	assert.True(t, Limits("ResourceQuota"))
	assert.True(t, Limits("LimitRange"))
	assert.False(t, Limits("ResourceQuota.example.com"))
}
