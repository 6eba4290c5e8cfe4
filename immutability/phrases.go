package immutability

const nodeSelectorTerms = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

// Remedies that several phrases have.
const (
	mergeRemedy      = "remove the other field by a merge patch that makes the change as well"
	leftoverRemedy   = mergeRemedy + ", or update the object with the whole manifest (PUT) instead of applying it"
	shrinkRemedy     = "volumes don't shrink: keep the size, or move the data to a new, smaller claim"
	attributesRemedy = "name another volume attributes class instead of none"
)

// phrases is all that this package knows about the texts of servers, 1.33 to 1.36. The texts of subresources (status,
// scale, resize, ephemeralcontainers) are not in it: an apply of a manifest doesn't get them.
var phrases = []phrase{
	{
		family: fieldIsImmutable, verdict: RefusalImmutable, cause: invalid, text: "field is immutable",
		where: []where{
			{kind: "apps/ControllerRevision", field: "data", checks: all, seen: "1.33 1.36"},
			{kind: "apps/DaemonSet", field: "spec.selector", checks: all, seen: "1.33 1.36"},
			{kind: "apps/Deployment", field: "spec.selector", checks: all, seen: "1.33 1.36"},
			{kind: "apps/ReplicaSet", field: "spec.selector", checks: all, seen: "1.33 1.36"},
			{kind: "batch/Job", field: "spec.backoffLimitPerIndex", seen: "1.33 1.36"},
			{kind: "batch/Job", field: "spec.completionMode", seen: "1.33 1.36"},
			{kind: "batch/Job", field: "spec.completions", seen: "1.33 1.36"},
			{kind: "batch/Job", field: "spec.managedBy", seen: "1.33 1.36"},
			{kind: "batch/Job", field: "spec.podFailurePolicy", seen: "1.33 1.36"},
			{kind: "batch/Job", field: "spec.selector", seen: "1.33 1.36"},
			{kind: "batch/Job", field: "spec.successPolicy", seen: "1.33 1.36"},
			{kind: "batch/Job", field: "spec.template", seen: "1.33 1.36"},
			{kind: "batch/Job", field: "spec.template.spec", seen: "1.36"},
			// Only events.k8s.io/v1 has these rules, but the server calls the kind and the fields as in the core group.
			{kind: "Event", field: "action", seen: "1.33 1.36"},
			{kind: "Event", field: "count", real: "deprecatedCount", seen: "1.33 1.36"},
			{kind: "Event", field: "eventTime", seen: "1.33 1.36"},
			{kind: "Event", field: "firstTimestamp", real: "deprecatedFirstTimestamp", seen: "1.33 1.36"},
			{kind: "Event", field: "involvedObject", real: "regarding", seen: "1.33 1.36"},
			{kind: "Event", field: "lastTimestamp", real: "deprecatedLastTimestamp", seen: "1.33 1.36"},
			{kind: "Event", field: "message", real: "note", seen: "1.33 1.36"},
			{kind: "Event", field: "reason", seen: "1.33 1.36"},
			{kind: "Event", field: "related", seen: "1.33 1.36"},
			{kind: "Event", field: "reportingController", seen: "1.33 1.36"},
			{kind: "Event", field: "reportingInstance", seen: "1.33 1.36"},
			{kind: "Event", field: "source", real: "deprecatedSource", seen: "1.33 1.36"},
			{kind: "Event", field: "type", seen: "1.33 1.36"},
			{kind: "PersistentVolume", field: "volumeMode", real: "spec.volumeMode", checks: all, seen: "1.33 1.36"},
			{kind: "PersistentVolumeClaim", field: "metadata.annotations.volume.beta.kubernetes.io/storage-class",
				real: `metadata.annotations["volume.beta.kubernetes.io/storage-class"]`, checks: all, seen: "1.33 1.36"},
			{kind: "PersistentVolumeClaim", field: "volumeMode", real: "spec.volumeMode", checks: all, seen: "1.33 1.36"},
			{kind: "ResourceQuota", field: "spec.scopes", checks: all, seen: "1.33 1.36"},
			{kind: "Secret", field: "type", checks: all, seen: "1.33 1.36"},
			{kind: "apiextensions.k8s.io/CustomResourceDefinition", field: "spec.names.kind", checks: all, seen: "1.33 1.36"},
			{kind: "apiextensions.k8s.io/CustomResourceDefinition", field: "spec.scope", checks: all, seen: "1.33 1.36"},
			{kind: "certificates.k8s.io/PodCertificateRequest", field: "spec", seen: "1.36"},
			{kind: "coordination.k8s.io/LeaseCandidate", field: "spec.leaseName", seen: "1.33 1.36"},
			{kind: "discovery.k8s.io/EndpointSlice", field: "addressType", seen: "1.33 1.36"},
			{kind: "networking.k8s.io/IPAddress", field: "spec.parentRef", seen: "1.33 1.36"},
			{kind: "networking.k8s.io/IngressClass", field: "spec.controller", checks: all, seen: "1.33 1.36"},
			{kind: "networking.k8s.io/ServiceCIDR", field: "spec.cidrs", seen: "1.33 1.36"},
			{kind: "networking.k8s.io/ServiceCIDR", field: "spec.cidrs[*]", seen: "1.33 1.36"},
			{kind: "node.k8s.io/RuntimeClass", field: "handler", seen: "1.33 1.36"},
			{kind: "resource.k8s.io/ResourceClaim", field: "spec", seen: "1.33 1.36"},
			{kind: "resource.k8s.io/ResourceClaimTemplate", field: "spec", seen: "1.33 1.36"},
			{kind: "resource.k8s.io/ResourcePoolStatusRequest", field: "spec", seen: "1.36"},
			{kind: "resource.k8s.io/ResourceSlice", field: "spec.driver", seen: "1.33 1.36"},
			{kind: "resource.k8s.io/ResourceSlice", field: "spec.nodeName", seen: "1.33 1.36"},
			{kind: "resource.k8s.io/ResourceSlice", field: "spec.pool.name", seen: "1.33 1.36"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.disruptionMode"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.podGroupTemplateRef", seen: "1.36"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.priority"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.priorityClassName"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.resourceClaims"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.schedulingConstraints"},
			{kind: "scheduling.k8s.io/PodGroup", field: "spec.schedulingPolicy", seen: "1.36"},
			{kind: "scheduling.k8s.io/PriorityClass", field: "preemptionPolicy", seen: "1.33 1.36"},
			{kind: "scheduling.k8s.io/Workload", field: "spec.controllerRef", seen: "1.36"},
			{kind: "scheduling.k8s.io/Workload", field: "spec.podGroupTemplates", seen: "1.36"},
			{kind: "scheduling.k8s.io/Workload", field: "spec.podGroups"}, // 1.35
			{kind: "storage.k8s.io/CSIDriver", field: "spec.attachedRequired", checks: all, seen: "1.33 1.36"},
			{kind: "storage.k8s.io/CSIDriver", field: "spec.volumeLifecycleModes", checks: all, seen: "1.33 1.36"},
			{kind: "storage.k8s.io/CSINode", field: "spec.drivers", seen: "1.33 1.36"},
			{kind: "storage.k8s.io/CSIStorageCapacity", field: "nodeTopology", seen: "1.33 1.36"},
			{kind: "storage.k8s.io/CSIStorageCapacity", field: "storageClassName", seen: "1.33 1.36"},
			{kind: "storage.k8s.io/StorageClass", field: "parameters", seen: "1.36"}, // since 1.36
			{kind: "storage.k8s.io/StorageClass", field: "provisioner", seen: "1.36"},
			{kind: "storage.k8s.io/StorageClass", field: "reclaimPolicy", seen: "1.36"},
			{kind: "storage.k8s.io/StorageClass", field: "volumeBindingMode", seen: "1.33 1.36"},
			{kind: "storage.k8s.io/VolumeAttachment", field: "spec", seen: "1.33 1.36"},
			{kind: "storagemigration.k8s.io/StorageVersionMigration", field: "spec", seen: "1.36"},                                     // since 1.35
			{kind: "storagemigration.k8s.io/StorageVersionMigration", field: "group", real: "spec.resource.group", seen: "1.33"},       // up to 1.34
			{kind: "storagemigration.k8s.io/StorageVersionMigration", field: "resource", real: "spec.resource.resource", seen: "1.33"}, // up to 1.34
			{kind: "storagemigration.k8s.io/StorageVersionMigration", field: "version", real: "spec.resource.version", seen: "1.33"},   // up to 1.34
		},
	},
	{
		family: fieldIsImmutable, verdict: RefusalImmutable, cause: forbidden, text: "field is immutable",
		where: []where{{kind: "Service", field: "spec.healthCheckNodePort", seen: "1.33 1.36"}},
	},
	{
		family: fieldIsImmutable, verdict: RefusalImmutable, cause: forbidden, text: "field is immutable when `immutable` is set",
		where: []where{
			{kind: "ConfigMap", field: "binaryData", checks: all, seen: "1.33 1.36"},
			{kind: "ConfigMap", field: "data", checks: all, seen: "1.33 1.36"},
			{kind: "ConfigMap", field: "immutable", checks: all, seen: "1.33 1.36"},
			{kind: "Secret", field: "data", checks: all, seen: "1.33 1.36"},
			{kind: "Secret", field: "immutable", checks: all, seen: "1.33 1.36"},
		},
	},
	{
		family: fieldIsImmutable, verdict: RefusalImmutable, cause: invalid,
		text:  "field is immutable, except for updating from beta label to GA",
		where: []where{{kind: "PersistentVolume", field: "nodeAffinity", real: "spec.nodeAffinity", checks: all, seen: "1.33 1.36"}},
	},

	{
		family: immutableSpec, verdict: RefusalImmutable, cause: forbidden,
		text:  "spec.persistentvolumesource is immutable after creation",
		where: []where{{kind: "PersistentVolume", field: "spec.persistentvolumesource", real: "spec", checks: all, seen: "1.33 1.36"}},
	},
	{
		family: immutableSpec, verdict: RefusalImmutable, cause: forbidden, prefix: true,
		text:  "spec is immutable after creation except resources.requests", // continued differently before 1.29
		where: []where{{kind: "PersistentVolumeClaim", field: "spec", checks: all, seen: "1.33 1.36"}},
	},

	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden, prefix: true,
		text:  "updates to statefulset spec for fields other than", // the list of fields grows with the versions
		where: []where{{kind: "apps/StatefulSet", field: "spec", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden, prefix: true,
		text:  "pod updates may not change fields other than", // as for the StatefulSet
		where: []where{{kind: "Pod", field: "spec", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden,
		text: "pod updates may not add or remove containers",
		where: []where{
			{kind: "Pod", field: "spec.containers", seen: "1.33 1.36"},
			{kind: "Pod", field: "spec.initContainers", seen: "1.33 1.36"},
		},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden,
		text:  "existing toleration can not be modified except its tolerationSeconds",
		where: []where{{kind: "Pod", field: "spec.tolerations", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden, prefix: true,
		text:  "only deletion is allowed, but found new scheduling gate '",
		where: []where{{kind: "Pod", field: "spec.schedulingGates[*].name", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: invalid,
		text:  "must be less than or equal to previous value",
		where: []where{{kind: "Pod", field: "spec.activeDeadlineSeconds", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: invalid,
		text:  "must not update from a positive integer to nil value",
		where: []where{{kind: "Pod", field: "spec.activeDeadlineSeconds", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: invalid,
		text:  "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
		where: []where{{kind: "Pod", field: "spec.nodeSelector", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: invalid,
		text:  "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
		where: []where{{kind: "Pod", field: nodeSelectorTerms, seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: invalid,
		text:  "only additions are allowed (no mutations or deletions)",
		where: []where{{kind: "Pod", field: nodeSelectorTerms + "[*]", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden,
		text:  "may not remove or update AppArmor annotations",
		where: []where{{kind: "Pod", field: "metadata.annotations[*]", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden,
		text:  "may not add AppArmor annotations",
		where: []where{{kind: "Pod", field: "metadata.annotations[*]", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden,
		text:  "may not remove or update mirror pod annotation",
		where: []where{{kind: "Pod", field: "metadata.annotations[*]", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden,
		text:  "may not add mirror pod annotation",
		where: []where{{kind: "Pod", field: "metadata.annotations[*]", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: invalid, text: "may not change once set",
		where: []where{
			{kind: "Service", field: "spec.clusterIPs[*]", seen: "1.33 1.36"},
			{kind: "Service", field: "spec.ipFamilies[*]", seen: "1.33 1.36"},
			{kind: "Service", field: "spec.loadBalancerClass", seen: "1.33 1.36"},
		},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: invalid, text: "primary clusterIP can not be unset",
		where: []where{{kind: "Service", field: "spec.clusterIPs[*]"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: invalid, text: "primary ipFamily can not be unset",
		where: []where{{kind: "Service", field: "spec.ipFamilies[*]"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: invalid, text: "cannot change roleRef",
		where: []where{
			{kind: "rbac.authorization.k8s.io/ClusterRoleBinding", field: "roleRef", checks: all, seen: "1.33 1.36"},
			{kind: "rbac.authorization.k8s.io/RoleBinding", field: "roleRef", checks: all, seen: "1.33 1.36"},
		},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden, text: "may not be changed in an update.",
		where: []where{{kind: "scheduling.k8s.io/PriorityClass", field: "value", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden, text: "updates to driverName are forbidden.",
		where: []where{{kind: "storage.k8s.io/VolumeAttributesClass", field: "driverName", checks: all, seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden, text: "updates to parameters are forbidden.",
		where: []where{
			{kind: "storage.k8s.io/StorageClass", field: "parameters", seen: "1.33"}, // up to 1.35
			{kind: "storage.k8s.io/VolumeAttributesClass", field: "parameters", checks: all, seen: "1.33 1.36"},
		},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden, text: "updates to provisioner are forbidden.",
		where: []where{{kind: "storage.k8s.io/StorageClass", field: "provisioner", seen: "1.33"}}, // up to 1.35
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden, text: "updates to reclaimPolicy are forbidden.",
		where: []where{{kind: "storage.k8s.io/StorageClass", field: "reclaimPolicy", seen: "1.33"}}, // up to 1.35
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden,
		text:  `node updates may not change podCIDR except from "" to valid`,
		where: []where{{kind: "Node", field: "spec.podCIDRs", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden,
		text:  `node updates may not change providerID except from "" to valid`,
		where: []where{{kind: "Node", field: "spec.providerID", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: forbidden, text: "may not be updated",
		where: []where{{kind: "Node", field: "spec.externalID", seen: "1.33 1.36"}},
	},
	{
		family: forbiddenTransition, verdict: RefusalImmutable, cause: invalid,
		text:  "can only be modified in tandem with spec.parallelism",
		where: []where{{kind: "batch/Job", field: "spec.completions", seen: "1.33 1.36"}},
	},

	{
		family: oneWayRule, verdict: RefusalDirectional, cause: forbidden, text: "field can not be less than status.capacity",
		remedy: shrinkRemedy,
		where:  []where{{kind: "PersistentVolumeClaim", field: "spec.resources.requests.storage", seen: "1.33 1.36"}},
	},
	{
		family: oneWayRule, verdict: RefusalDirectional, cause: forbidden, text: "field can not be less than previous value",
		remedy: shrinkRemedy,
		where:  []where{{kind: "PersistentVolumeClaim", field: "spec.resources.requests.storage"}},
	},
	{
		family: oneWayRule, verdict: RefusalDirectional, cause: forbidden,
		text:   "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil",
		remedy: attributesRemedy,
		where:  []where{{kind: "PersistentVolumeClaim", field: "spec.volumeAttributesClassName", seen: "1.36"}},
	},
	{
		family: oneWayRule, verdict: RefusalDirectional, cause: forbidden,
		text:   "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil",
		remedy: attributesRemedy,
		where:  []where{{kind: "PersistentVolumeClaim", field: "spec.volumeAttributesClassName", seen: "1.36"}},
	},
	{
		family: oneWayRule, verdict: RefusalDirectional, cause: forbidden, text: "update from non-nil value to nil is forbidden",
		remedy: attributesRemedy,
		where: []where{
			{kind: "PersistentVolume", field: "spec.volumeAttributesClassName", seen: "1.33 1.36"},
			{kind: "PersistentVolumeClaim", field: "spec.volumeAttributesClassName", seen: "1.33"},
		},
	},
	{
		family: oneWayRule, verdict: RefusalDirectional, cause: forbidden,
		text:   "update from non-nil value to an empty string is forbidden", // up to 1.33
		remedy: attributesRemedy,
		where:  []where{{kind: "PersistentVolumeClaim", field: "spec.volumeAttributesClassName", seen: "1.33"}},
	},
	{
		family: oneWayRule, verdict: RefusalDirectional, cause: forbidden,
		text: "update is forbidden when the VolumeAttributesClass feature gate is disabled",
		where: []where{
			{kind: "PersistentVolume", field: "spec.volumeAttributesClassName"},
			{kind: "PersistentVolumeClaim", field: "spec.volumeAttributesClassName"},
		},
	},
	{
		// A create with fewer versions is accepted, but it takes the deletion of every object that is stored in the
		// missing one.
		family: oneWayRule, verdict: RefusalDirectional, cause: invalid,
		prefix: true, text: "missing from spec.versions; ", // followed by the version's name
		remedy: "keep the version in spec.versions until a storage migration has removed it from status.storedVersions",
		where:  []where{{kind: "apiextensions.k8s.io/CustomResourceDefinition", field: "status.storedVersions[*]", seen: "1.33 1.36"}},
	},

	{
		family: neverReplaceable, verdict: RefusalInvalid, cause: invalid, text: "field is immutable",
		remedy: "the field is part of the object's name; with the name to match it is another object",
		where: []where{
			{kind: "certificates.k8s.io/ClusterTrustBundle", field: "spec.signerName", seen: "1.33 1.36"},
			{kind: "apiextensions.k8s.io/CustomResourceDefinition", field: "spec.group", seen: "1.33 1.36"},
			{kind: "apiextensions.k8s.io/CustomResourceDefinition", field: "spec.names.plural", seen: "1.33 1.36"},
		},
	},

	{
		family: defaultInTheWay, verdict: RefusalMergeLeftover, cause: forbidden,
		text:   "may not be specified when strategy `type` is 'Recreate'",
		remedy: leftoverRemedy,
		where:  []where{{kind: "apps/Deployment", field: "spec.strategy.rollingUpdate", seen: "1.33 1.36"}},
	},
	{
		family: defaultInTheWay, verdict: RefusalMergeLeftover, cause: invalid,
		text:   "only allowed for updateStrategy 'RollingUpdate'",
		remedy: leftoverRemedy,
		where:  []where{{kind: "apps/StatefulSet", field: "spec.updateStrategy.rollingUpdate", seen: "1.33 1.36"}},
	},
	{
		family: defaultInTheWay, verdict: RefusalMergeLeftover, cause: forbidden, text: "may not specify more than 1 volume type",
		remedy: leftoverRemedy,
		where: []where{
			{kind: "PersistentVolume", field: "spec.*"},
			{kind: "Pod", field: "spec.volumes[*].*"},
			{kind: "PodTemplate", field: "template.spec.volumes[*].*", seen: "1.33 1.36"},
			{kind: "ReplicationController", field: "spec.template.spec.volumes[*].*", seen: "1.33 1.36"},
			{kind: "apps/DaemonSet", field: "spec.template.spec.volumes[*].*", seen: "1.33 1.36"},
			{kind: "apps/Deployment", field: "spec.template.spec.volumes[*].*", seen: "1.33 1.36"},
			{kind: "apps/ReplicaSet", field: "spec.template.spec.volumes[*].*", seen: "1.33 1.36"},
			{kind: "apps/StatefulSet", field: "spec.template.spec.volumes[*].*", seen: "1.36"},
			{kind: "batch/CronJob", field: "spec.jobTemplate.spec.template.spec.volumes[*].*", seen: "1.33 1.36"},
		},
	},

	{
		family: metadataRule, verdict: RefusalMetadataPrecondition, cause: invalid, text: "field is immutable",
		remedy: "leave uid, timestamps and grace period out of the manifest; the server sets them",
		where: []where{
			{kind: "*", field: "metadata.creationTimestamp"},
			{kind: "*", field: "metadata.deletionGracePeriodSeconds"},
			{kind: "*", field: "metadata.deletionTimestamp"},
			{kind: "*", field: "metadata.name"},
			{kind: "*", field: "metadata.namespace"},
			{kind: "*", field: "metadata.uid", seen: "1.33 1.36"},
		},
	},
	{
		family: metadataRule, verdict: RefusalMetadataPrecondition, cause: invalid, text: "must be specified for an update",
		remedy: "send the resourceVersion of the live object, or apply instead of updating",
		where:  []where{{kind: "*", field: "metadata.resourceVersion"}},
	},
	{
		family: metadataRule, verdict: RefusalMetadataPrecondition, cause: invalid, text: "must not be decremented",
		remedy: "leave generation out of the manifest; the server counts it",
		where:  []where{{kind: "*", field: "metadata.generation"}},
	},
	{
		family: metadataRule, verdict: RefusalMetadataPrecondition, cause: forbidden, prefix: true,
		text:   "no new finalizers can be added if the object is being deleted, found new finalizers",
		remedy: "wait until the object is gone, and create it then",
		where:  []where{{kind: "*", field: "metadata.finalizers", seen: "1.33 1.36"}},
	},
}
