package answer

const nodeSelectorTerms = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

// Remedies that several texts have.
const (
	MergeRemedy      = "remove the other field by a merge patch that makes the change as well"
	LeftoverRemedy   = MergeRemedy + ", or update the object with the whole manifest (PUT) instead of applying it"
	shrinkRemedy     = "volumes don't shrink: keep the size, or move the data to a new, smaller claim"
	attributesRemedy = "name another volume attributes class instead of none"
)

// FieldTexts are the texts about fields that can't change, or not in this way. The texts of subresources (status,
// scale, resize, ephemeralcontainers) are not among them: an apply of a manifest doesn't get them.
var FieldTexts = []FieldText{
	{
		Family: FieldIsImmutable, Type: invalidValue, Text: "field is immutable",
		Where: []Place{
			{Kind: "apps/ControllerRevision", Field: "data", AllChecks: true},
			{Kind: "apps/DaemonSet", Field: "spec.selector", AllChecks: true},
			{Kind: "apps/Deployment", Field: "spec.selector", AllChecks: true},
			{Kind: "apps/ReplicaSet", Field: "spec.selector", AllChecks: true},
			{Kind: "apps/StatefulSet", Field: "spec.podManagementPolicy", Seen: "1.37"},  // since 1.37
			{Kind: "apps/StatefulSet", Field: "spec.selector", Seen: "1.37"},             // since 1.37
			{Kind: "apps/StatefulSet", Field: "spec.serviceName", Seen: "1.37"},          // since 1.37
			{Kind: "apps/StatefulSet", Field: "spec.volumeClaimTemplates", Seen: "1.37"}, // since 1.37
			{Kind: "batch/Job", Field: "spec.backoffLimitPerIndex"},
			{Kind: "batch/Job", Field: "spec.completionMode"},
			{Kind: "batch/Job", Field: "spec.completions"},
			{Kind: "batch/Job", Field: "spec.managedBy"},
			{Kind: "batch/Job", Field: "spec.podFailurePolicy"},
			{Kind: "batch/Job", Field: "spec.selector"},
			{Kind: "batch/Job", Field: "spec.successPolicy"},
			{Kind: "batch/Job", Field: "spec.template"},
			{Kind: "batch/Job", Field: "spec.template.spec", Seen: "1.37"},
			// Only events.k8s.io/v1 has these rules, but the server calls the kind and the fields as in the core group.
			{Kind: "Event", Field: "action"},
			{Kind: "Event", Field: "count", Real: "deprecatedCount"},
			{Kind: "Event", Field: "eventTime"},
			{Kind: "Event", Field: "firstTimestamp", Real: "deprecatedFirstTimestamp"},
			{Kind: "Event", Field: "involvedObject", Real: "regarding"},
			{Kind: "Event", Field: "lastTimestamp", Real: "deprecatedLastTimestamp"},
			{Kind: "Event", Field: "message", Real: "note"},
			{Kind: "Event", Field: "reason"},
			{Kind: "Event", Field: "related"},
			{Kind: "Event", Field: "reportingController"},
			{Kind: "Event", Field: "reportingInstance"},
			{Kind: "Event", Field: "source", Real: "deprecatedSource"},
			{Kind: "Event", Field: "type"},
			{Kind: "PersistentVolume", Field: "volumeMode", Real: "spec.volumeMode", AllChecks: true},
			{Kind: "PersistentVolumeClaim", Field: "metadata.annotations.volume.beta.kubernetes.io/storage-class",
				Real: `metadata.annotations["volume.beta.kubernetes.io/storage-class"]`, AllChecks: true},
			{Kind: "PersistentVolumeClaim", Field: "volumeMode", Real: "spec.volumeMode", AllChecks: true},
			{Kind: "ResourceQuota", Field: "spec.scopes", AllChecks: true},
			{Kind: "Secret", Field: "type", AllChecks: true},
			{Kind: "apiextensions.k8s.io/CustomResourceDefinition", Field: "spec.names.kind", AllChecks: true},
			{Kind: "apiextensions.k8s.io/CustomResourceDefinition", Field: "spec.scope", AllChecks: true},
			{Kind: "certificates.k8s.io/PodCertificateRequest", Field: "spec", Seen: "1.37"},
			{Kind: "coordination.k8s.io/LeaseCandidate", Field: "spec.leaseName"},
			{Kind: "discovery.k8s.io/EndpointSlice", Field: "addressType"},
			{Kind: "networking.k8s.io/IPAddress", Field: "spec.parentRef"},
			{Kind: "networking.k8s.io/IngressClass", Field: "spec.controller", AllChecks: true},
			{Kind: "networking.k8s.io/ServiceCIDR", Field: "spec.cidrs"},
			{Kind: "networking.k8s.io/ServiceCIDR", Field: "spec.cidrs[*]"},
			{Kind: "node.k8s.io/RuntimeClass", Field: "handler"},
			// since 1.37
			{Kind: "rbac.authorization.k8s.io/ClusterRoleBinding", Field: "roleRef", AllChecks: true, Seen: "1.37"},
			// since 1.37
			{Kind: "rbac.authorization.k8s.io/RoleBinding", Field: "roleRef", AllChecks: true, Seen: "1.37"},
			{Kind: "resource.k8s.io/ResourceClaim", Field: "spec"},
			{Kind: "resource.k8s.io/ResourceClaimTemplate", Field: "spec"},
			{Kind: "resource.k8s.io/ResourcePoolStatusRequest", Field: "spec", Seen: "1.37"},
			{Kind: "resource.k8s.io/ResourceSlice", Field: "spec.driver"},
			{Kind: "resource.k8s.io/ResourceSlice", Field: "spec.nodeName"},
			{Kind: "resource.k8s.io/ResourceSlice", Field: "spec.pool.name"},
			{Kind: "scheduling.k8s.io/CompositePodGroup", Field: "spec.disruptionMode", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/CompositePodGroup", Field: "spec.parentCompositePodGroupName", Seen: never},
			{Kind: "scheduling.k8s.io/CompositePodGroup", Field: "spec.preemptionPolicy", Seen: never},
			{Kind: "scheduling.k8s.io/CompositePodGroup", Field: "spec.priority", Seen: never},
			{Kind: "scheduling.k8s.io/CompositePodGroup", Field: "spec.priorityClassName", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/CompositePodGroup", Field: "spec.schedulingConstraints", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/CompositePodGroup", Field: "spec.schedulingPolicy.basic", Seen: never},
			{Kind: "scheduling.k8s.io/CompositePodGroup", Field: "spec.schedulingPolicy", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/CompositePodGroup", Field: "spec.workloadRef", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/PodGroup", Field: "spec.disruptionMode", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/PodGroup", Field: "spec.parentCompositePodGroupName", Seen: never},
			{Kind: "scheduling.k8s.io/PodGroup", Field: "spec.podGroupTemplateRef", Seen: never}, // 1.36
			{Kind: "scheduling.k8s.io/PodGroup", Field: "spec.preemptionPolicy", Seen: never},
			{Kind: "scheduling.k8s.io/PodGroup", Field: "spec.priority", Seen: never},
			{Kind: "scheduling.k8s.io/PodGroup", Field: "spec.priorityClassName", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/PodGroup", Field: "spec.resourceClaims", Seen: never},
			{Kind: "scheduling.k8s.io/PodGroup", Field: "spec.schedulingConstraints", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/PodGroup", Field: "spec.schedulingPolicy", Seen: never}, // 1.36
			{Kind: "scheduling.k8s.io/PodGroup", Field: "spec.schedulingPolicy.basic", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/PodGroup", Field: "spec.workloadRef", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/PriorityClass", Field: "preemptionPolicy"},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.controllerRef", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.podGroupTemplates", Seen: never}, // 1.36
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.podGroupTemplates[*].disruptionMode", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.podGroupTemplates[*].preemptionPolicy", Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.podGroupTemplates[*].priority", Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.podGroupTemplates[*].priorityClassName", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.podGroupTemplates[*].resourceClaims", Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.podGroupTemplates[*].schedulingConstraints",
				Seen: "1.37"},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.podGroupTemplates[*].schedulingPolicy.basic",
				Seen: "1.37"},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.compositePodGroupTemplates[*].disruptionMode",
				Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.compositePodGroupTemplates[*].preemptionPolicy",
				Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.compositePodGroupTemplates[*].priority", Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.compositePodGroupTemplates[*].priorityClassName",
				Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.compositePodGroupTemplates[*].schedulingConstraints",
				Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.compositePodGroupTemplates[*].schedulingPolicy.basic",
				Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.podGroups", Seen: never}, // 1.35
			{Kind: "storage.k8s.io/CSIDriver", Field: "spec.attachedRequired", AllChecks: true},
			{Kind: "storage.k8s.io/CSIDriver", Field: "spec.volumeLifecycleModes", AllChecks: true},
			{Kind: "storage.k8s.io/CSINode", Field: "spec.drivers"},
			{Kind: "storage.k8s.io/CSIStorageCapacity", Field: "nodeTopology"},
			{Kind: "storage.k8s.io/CSIStorageCapacity", Field: "storageClassName"},
			{Kind: "storage.k8s.io/StorageClass", Field: "parameters", Seen: "1.37"}, // since 1.36
			{Kind: "storage.k8s.io/StorageClass", Field: "provisioner", Seen: "1.37"},
			{Kind: "storage.k8s.io/StorageClass", Field: "reclaimPolicy", Seen: "1.37"},
			{Kind: "storage.k8s.io/StorageClass", Field: "volumeBindingMode"},
			{Kind: "storage.k8s.io/VolumeAttachment", Field: "spec"},
			// since 1.35
			{Kind: "storagemigration.k8s.io/StorageVersionMigration", Field: "spec", Seen: "1.37"},
			// up to 1.34
			{Kind: "storagemigration.k8s.io/StorageVersionMigration", Field: "group", Real: "spec.resource.group",
				Seen: "1.33"},
			// up to 1.34
			{Kind: "storagemigration.k8s.io/StorageVersionMigration", Field: "resource", Real: "spec.resource.resource",
				Seen: "1.33"},
			// up to 1.34
			{Kind: "storagemigration.k8s.io/StorageVersionMigration", Field: "version", Real: "spec.resource.version",
				Seen: "1.33"},
		},
	},
	{
		Family: FieldIsImmutable, Type: forbidden, Text: "field is immutable",
		Where: []Place{{Kind: "Service", Field: "spec.healthCheckNodePort"}},
	},
	{
		Family: FieldIsImmutable, Type: forbidden, Text: "field is immutable when `immutable` is set",
		Where: []Place{
			{Kind: "ConfigMap", Field: "binaryData", AllChecks: true},
			{Kind: "ConfigMap", Field: "data", AllChecks: true},
			{Kind: "ConfigMap", Field: "immutable", AllChecks: true},
			{Kind: "Secret", Field: "data", AllChecks: true},
			{Kind: "Secret", Field: "immutable", AllChecks: true},
		},
	},
	{
		Family: FieldIsImmutable, Type: invalidValue,
		Text:  "field is immutable, except for updating from beta label to GA",
		Where: []Place{{Kind: "PersistentVolume", Field: "nodeAffinity", Real: "spec.nodeAffinity", AllChecks: true}},
	},

	{
		Family: ImmutableSpec, Type: forbidden,
		Text:  "spec.persistentvolumesource is immutable after creation",
		Where: []Place{{Kind: "PersistentVolume", Field: "spec.persistentvolumesource", Real: "spec", AllChecks: true}},
	},
	{
		Family: ImmutableSpec, Type: forbidden, Prefix: true,
		Text:  "spec is immutable after creation except resources.requests", // continued differently before 1.29
		Where: []Place{{Kind: "PersistentVolumeClaim", Field: "spec", AllChecks: true}},
	},

	{
		Family: ForbiddenTransition, Type: forbidden, Prefix: true,
		// the list of fields grows with the versions
		Text:  "updates to statefulset spec for fields other than",
		Where: []Place{{Kind: "apps/StatefulSet", Field: "spec", Seen: "1.33"}}, // up to 1.36
	},
	{
		Family: ForbiddenTransition, Type: forbidden, Prefix: true,
		Text:  "pod updates may not change fields other than", // as for the StatefulSet
		Where: []Place{{Kind: "Pod", Field: "spec"}},
	},
	{
		Family: ForbiddenTransition, Type: forbidden,
		Text: "pod updates may not add or remove containers",
		Where: []Place{
			{Kind: "Pod", Field: "spec.containers"},
			{Kind: "Pod", Field: "spec.initContainers"},
		},
	},
	{
		Family: ForbiddenTransition, Type: forbidden,
		Text:  "existing toleration can not be modified except its tolerationSeconds",
		Where: []Place{{Kind: "Pod", Field: "spec.tolerations"}},
	},
	{
		Family: ForbiddenTransition, Type: forbidden, Prefix: true,
		Text:  "only deletion is allowed, but found new scheduling gate '",
		Where: []Place{{Kind: "Pod", Field: "spec.schedulingGates[*].name"}},
	},
	{
		Family: ForbiddenTransition, Type: invalidValue,
		Text:  "must be less than or equal to previous value",
		Where: []Place{{Kind: "Pod", Field: "spec.activeDeadlineSeconds"}},
	},
	{
		Family: ForbiddenTransition, Type: invalidValue,
		Text:  "must not update from a positive integer to nil value",
		Where: []Place{{Kind: "Pod", Field: "spec.activeDeadlineSeconds"}},
	},
	{
		Family: ForbiddenTransition, Type: invalidValue,
		Text:  "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
		Where: []Place{{Kind: "Pod", Field: "spec.nodeSelector"}},
	},
	{
		Family: ForbiddenTransition, Type: invalidValue,
		Text:  "no additions/deletions to non-empty NodeSelectorTerms list are allowed",
		Where: []Place{{Kind: "Pod", Field: nodeSelectorTerms}},
	},
	{
		Family: ForbiddenTransition, Type: invalidValue,
		Text:  "only additions are allowed (no mutations or deletions)",
		Where: []Place{{Kind: "Pod", Field: nodeSelectorTerms + "[*]"}},
	},
	{
		Family: ForbiddenTransition, Type: forbidden,
		Text:  "may not remove or update AppArmor annotations",
		Where: []Place{{Kind: "Pod", Field: "metadata.annotations[*]"}},
	},
	{
		Family: ForbiddenTransition, Type: forbidden,
		Text:  "may not add AppArmor annotations",
		Where: []Place{{Kind: "Pod", Field: "metadata.annotations[*]"}},
	},
	{
		Family: ForbiddenTransition, Type: forbidden,
		Text:  "may not remove or update mirror pod annotation",
		Where: []Place{{Kind: "Pod", Field: "metadata.annotations[*]"}},
	},
	{
		Family: ForbiddenTransition, Type: forbidden,
		Text:  "may not add mirror pod annotation",
		Where: []Place{{Kind: "Pod", Field: "metadata.annotations[*]"}},
	},
	{
		Family: ForbiddenTransition, Type: invalidValue, Text: "may not change once set",
		Where: []Place{
			{Kind: "Service", Field: "spec.clusterIPs[*]"},
			{Kind: "Service", Field: "spec.ipFamilies[*]"},
			{Kind: "Service", Field: "spec.loadBalancerClass"},
		},
	},
	{
		Family: ForbiddenTransition, Type: invalidValue, Text: "primary clusterIP can not be unset",
		Where: []Place{{Kind: "Service", Field: "spec.clusterIPs[*]", Seen: never}},
	},
	{
		Family: ForbiddenTransition, Type: invalidValue, Text: "primary ipFamily can not be unset",
		Where: []Place{{Kind: "Service", Field: "spec.ipFamilies[*]", Seen: never}},
	},
	{
		Family: ForbiddenTransition, Type: invalidValue, Text: "cannot change roleRef",
		Where: []Place{
			// up to 1.36
			{Kind: "rbac.authorization.k8s.io/ClusterRoleBinding", Field: "roleRef", AllChecks: true, Seen: "1.33"},
			// up to 1.36
			{Kind: "rbac.authorization.k8s.io/RoleBinding", Field: "roleRef", AllChecks: true, Seen: "1.33"},
		},
	},
	{
		Family: ForbiddenTransition, Type: forbidden, Text: "may not be changed in an update.",
		Where: []Place{{Kind: "scheduling.k8s.io/PriorityClass", Field: "value"}},
	},
	{
		Family: ForbiddenTransition, Type: forbidden, Text: "updates to driverName are forbidden.",
		Where: []Place{{Kind: "storage.k8s.io/VolumeAttributesClass", Field: "driverName", AllChecks: true}},
	},
	{
		Family: ForbiddenTransition, Type: forbidden, Text: "updates to parameters are forbidden.",
		Where: []Place{
			{Kind: "storage.k8s.io/StorageClass", Field: "parameters", Seen: "1.33"}, // up to 1.35
			{Kind: "storage.k8s.io/VolumeAttributesClass", Field: "parameters", AllChecks: true},
		},
	},
	{
		Family: ForbiddenTransition, Type: forbidden, Text: "updates to provisioner are forbidden.",
		Where: []Place{{Kind: "storage.k8s.io/StorageClass", Field: "provisioner", Seen: "1.33"}}, // up to 1.35
	},
	{
		Family: ForbiddenTransition, Type: forbidden, Text: "updates to reclaimPolicy are forbidden.",
		Where: []Place{{Kind: "storage.k8s.io/StorageClass", Field: "reclaimPolicy", Seen: "1.33"}}, // up to 1.35
	},
	{
		Family: ForbiddenTransition, Type: forbidden,
		Text:  `node updates may not change podCIDR except from "" to valid`,
		Where: []Place{{Kind: "Node", Field: "spec.podCIDRs"}},
	},
	{
		Family: ForbiddenTransition, Type: forbidden,
		Text:  `node updates may not change providerID except from "" to valid`,
		Where: []Place{{Kind: "Node", Field: "spec.providerID", Seen: "1.33"}}, // up to 1.36
	},
	{
		Family: ForbiddenTransition, Type: invalidValue, Text: "field cannot be modified once set",
		Where: []Place{{Kind: "Node", Field: "spec.providerID", Seen: "1.37"}}, // since 1.37
	},
	{
		Family: ForbiddenTransition, Type: forbidden, Text: "may not be updated",
		Where: []Place{{Kind: "Node", Field: "spec.externalID"}},
	},
	{
		Family: ForbiddenTransition, Type: forbidden, Text: "item may not be added",
		Where: []Place{
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.compositePodGroupTemplates[*]", Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.podGroupTemplates[*]", Seen: "1.37"},
		},
	},
	{
		Family: ForbiddenTransition, Type: forbidden, Text: "item may not be removed",
		Where: []Place{
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.compositePodGroupTemplates", Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.podGroupTemplates", Seen: "1.37"},
		},
	},
	{
		Family: ForbiddenTransition, Type: invalidValue, Text: "field cannot be cleared once set",
		Where: []Place{
			{Kind: "Node", Field: "spec.providerID", Seen: never}, // since 1.37
			{Kind: "scheduling.k8s.io/CompositePodGroup", Field: "spec.schedulingPolicy.gang", Seen: never},
			{Kind: "scheduling.k8s.io/PodGroup", Field: "spec.schedulingPolicy.gang", Seen: "1.37"},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.compositePodGroupTemplates[*].schedulingPolicy.gang",
				Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.podGroupTemplates[*].schedulingPolicy.gang",
				Seen: "1.37"},
		},
	},
	{
		Family: ForbiddenTransition, Type: invalidValue, Text: "field cannot be set once created",
		Where: []Place{
			{Kind: "scheduling.k8s.io/CompositePodGroup", Field: "spec.schedulingPolicy.gang", Seen: never},
			{Kind: "scheduling.k8s.io/PodGroup", Field: "spec.schedulingPolicy.gang", Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.compositePodGroupTemplates[*].schedulingPolicy.gang",
				Seen: never},
			{Kind: "scheduling.k8s.io/Workload", Field: "spec.podGroupTemplates[*].schedulingPolicy.gang", Seen: never},
		},
	},
	{
		Family: ForbiddenTransition, Type: invalidValue,
		Text:  "can only be modified in tandem with spec.parallelism",
		Where: []Place{{Kind: "batch/Job", Field: "spec.completions"}},
	},

	{
		Family: OneWayRule, Type: forbidden, Text: "field can not be less than status.capacity",
		Remedy: shrinkRemedy,
		Where:  []Place{{Kind: "PersistentVolumeClaim", Field: "spec.resources.requests.storage"}},
	},
	{
		Family: OneWayRule, Type: forbidden, Text: "field can not be less than previous value",
		Remedy: shrinkRemedy,
		Where:  []Place{{Kind: "PersistentVolumeClaim", Field: "spec.resources.requests.storage", Seen: never}},
	},
	{
		Family: OneWayRule, Type: forbidden,
		Text:   "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil",
		Remedy: attributesRemedy,
		Where:  []Place{{Kind: "PersistentVolumeClaim", Field: "spec.volumeAttributesClassName", Seen: "1.37"}},
	},
	{
		Family: OneWayRule, Type: forbidden,
		Text:   "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil",
		Remedy: attributesRemedy,
		Where:  []Place{{Kind: "PersistentVolumeClaim", Field: "spec.volumeAttributesClassName", Seen: "1.37"}},
	},
	{
		Family: OneWayRule, Type: forbidden, Text: "update from non-nil value to nil is forbidden",
		Remedy: attributesRemedy,
		Where: []Place{
			{Kind: "PersistentVolume", Field: "spec.volumeAttributesClassName"},
			{Kind: "PersistentVolumeClaim", Field: "spec.volumeAttributesClassName", Seen: "1.33"},
		},
	},
	{
		Family: OneWayRule, Type: forbidden,
		Text:   "update from non-nil value to an empty string is forbidden", // up to 1.33
		Remedy: attributesRemedy,
		Where:  []Place{{Kind: "PersistentVolumeClaim", Field: "spec.volumeAttributesClassName", Seen: "1.33"}},
	},
	{
		Family: OneWayRule, Type: forbidden,
		Text: "update is forbidden when the VolumeAttributesClass feature gate is disabled",
		Where: []Place{
			{Kind: "PersistentVolume", Field: "spec.volumeAttributesClassName", Seen: never},
			{Kind: "PersistentVolumeClaim", Field: "spec.volumeAttributesClassName", Seen: never},
		},
	},
	{
		// A create of the CRD with fewer versions is accepted. But the CRD must be deleted before, and with it every
		// object that is stored in the missing version.
		Family: OneWayRule, Type: invalidValue,
		Prefix: true, Text: "missing from spec.versions; ", // followed by the version's name
		Remedy: "keep the version in spec.versions until a storage migration has removed it from status.storedVersions",
		Where:  []Place{{Kind: "apiextensions.k8s.io/CustomResourceDefinition", Field: "status.storedVersions[*]"}},
	},

	{
		Family: BoundToName, Type: invalidValue, Text: "field is immutable",
		Remedy: "the field is part of the object's name; with the name to match it is another object",
		Where: []Place{
			{Kind: "certificates.k8s.io/ClusterTrustBundle", Field: "spec.signerName"},
			{Kind: "apiextensions.k8s.io/CustomResourceDefinition", Field: "spec.group"},
			{Kind: "apiextensions.k8s.io/CustomResourceDefinition", Field: "spec.names.plural"},
		},
	},

	{
		Family: DefaultInTheWay, Type: forbidden,
		Text:   "may not be specified when strategy `type` is 'Recreate'",
		Remedy: LeftoverRemedy,
		Where:  []Place{{Kind: "apps/Deployment", Field: "spec.strategy.rollingUpdate"}},
	},
	{
		Family: DefaultInTheWay, Type: invalidValue,
		Text:   "only allowed for updateStrategy 'RollingUpdate'",
		Remedy: LeftoverRemedy,
		Where:  []Place{{Kind: "apps/StatefulSet", Field: "spec.updateStrategy.rollingUpdate"}},
	},
	{
		Family: DefaultInTheWay, Type: forbidden, Text: "may not specify more than 1 volume type",
		Remedy: LeftoverRemedy,
		Where: []Place{
			{Kind: "PersistentVolume", Field: "spec.*", Seen: never},
			{Kind: "Pod", Field: "spec.volumes[*].*", Seen: never},
			{Kind: "PodTemplate", Field: "template.spec.volumes[*].*"},
			{Kind: "ReplicationController", Field: "spec.template.spec.volumes[*].*"},
			{Kind: "apps/DaemonSet", Field: "spec.template.spec.volumes[*].*"},
			{Kind: "apps/Deployment", Field: "spec.template.spec.volumes[*].*"},
			{Kind: "apps/ReplicaSet", Field: "spec.template.spec.volumes[*].*"},
			{Kind: "apps/StatefulSet", Field: "spec.template.spec.volumes[*].*", Seen: "1.37"},
			{Kind: "batch/CronJob", Field: "spec.jobTemplate.spec.template.spec.volumes[*].*"},
		},
	},

	{
		Family: MetadataRule, Type: invalidValue, Text: "field is immutable",
		Remedy: "leave uid, timestamps and grace period out of the manifest; the server sets them",
		Where: []Place{
			{Kind: "*", Field: "metadata.creationTimestamp", Seen: never},
			{Kind: "*", Field: "metadata.deletionGracePeriodSeconds", Seen: never},
			{Kind: "*", Field: "metadata.deletionTimestamp", Seen: never},
			{Kind: "*", Field: "metadata.name", Seen: never},
			{Kind: "*", Field: "metadata.namespace", Seen: never},
			{Kind: "*", Field: "metadata.uid"},
		},
	},
	{
		Family: MetadataRule, Type: invalidValue, Text: "must be specified for an update",
		Remedy: "send the resourceVersion of the live object, or apply instead of updating",
		Where:  []Place{{Kind: "*", Field: "metadata.resourceVersion", Seen: never}},
	},
	{
		Family: MetadataRule, Type: invalidValue, Text: "must not be decremented",
		Remedy: "leave generation out of the manifest; the server counts it",
		Where:  []Place{{Kind: "*", Field: "metadata.generation", Seen: never}},
	},
	{
		Family: MetadataRule, Type: forbidden, Prefix: true,
		Text:   "no new finalizers can be added if the object is being deleted, found new finalizers",
		Remedy: "wait until the object is gone, and create it then",
		Where:  []Place{{Kind: "*", Field: "metadata.finalizers"}},
	},
}
