package immutability_test

const secret = `
apiVersion: v1
kind: Secret
type: Opaque
data: {password: aHVudGVyMg==}
`

const configMap = `
apiVersion: v1
kind: ConfigMap
data: {a: "1"}
binaryData: {b: AA==}
immutable: true
`

const quota = `
apiVersion: v1
kind: ResourceQuota
spec: {hard: {pods: "100"}, scopes: [BestEffort]}
`

const event = `
apiVersion: events.k8s.io/v1
kind: Event
metadata: {namespace: default}
eventTime: "2024-05-01T10:00:00.000000Z"
reportingController: example.com/c
reportingInstance: c-1
action: Act
reason: Acted
type: Normal
note: first
regarding: {apiVersion: v1, kind: Pod, name: p, namespace: default}
`

const endpointSlice = `
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
addressType: IPv4
endpoints: [{addresses: [10.1.2.3]}]
`

const ingressClass = `
apiVersion: networking.k8s.io/v1
kind: IngressClass
spec: {controller: example.com/a}
`

const runtimeClass = `
apiVersion: node.k8s.io/v1
kind: RuntimeClass
handler: a
`

const priorityClass = `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
value: 10
`

const roleBinding = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane}]
`

const clusterRoleBinding = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
`

const node = `
apiVersion: v1
kind: Node
spec:
  podCIDRs: [10.2.0.0/24]
  podCIDR: 10.2.0.0/24
  providerID: "example://a"
`

const otherDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

const secondVersion = "{name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}"

const service = `
apiVersion: v1
kind: Service
spec:
  selector: {app: a}
  ports: [{port: 80}]
`

const loadBalancer = `
apiVersion: v1
kind: Service
spec:
  type: LoadBalancer
  loadBalancerClass: example.com/a
  externalTrafficPolicy: Local
  healthCheckNodePort: 31001
  selector: {app: a}
  ports: [{name: http, port: 80, nodePort: 31000}]
`

const nodePort = `
apiVersion: v1
kind: Service
spec:
  type: NodePort
  selector: {app: a}
  ports: [{name: a, port: 80, nodePort: 31010}]
`

const dualStack = `
apiVersion: v1
kind: Service
spec:
  ipFamilyPolicy: RequireDualStack
  ipFamilies: [IPv4, IPv6]
  selector: {app: a}
  ports: [{port: 80}]
`

const podGroup = `
apiVersion: scheduling.k8s.io/any
kind: PodGroup
spec:
  workloadRef: {workloadName: w, templateName: t}
  schedulingPolicy: {gang: {minCount: 2}}
  schedulingConstraints: {topology: [{key: zone}]}
  disruptionMode: {single: {}}
`

const compositePodGroup = `
apiVersion: scheduling.k8s.io/any
kind: CompositePodGroup
spec:
  workloadRef: {workloadName: w, templateName: t}
  schedulingPolicy: {gang: {minGroupCount: 2}}
  schedulingConstraints: {topology: [{key: zone}]}
  disruptionMode: {single: {}}
`

const workload = `
apiVersion: scheduling.k8s.io/any
kind: Workload
spec:
  controllerRef: {apiGroup: batch, kind: Job, name: a}
  podGroupTemplates:
  - {name: t, schedulingPolicy: {gang: {minCount: 2}}, schedulingConstraints: {topology: [{key: zone}]}, disruptionMode: {single: {}}}
`

func coreKinds() []pair {
	return []pair{
		{name: "secret-type", before: secret, truth: replaceWorks, edit: []string{"type=example.com/other"}},
		{name: "secret-type-invalid", before: secret, truth: notValid, edit: []string{"type=kubernetes.io/tls"}},
		{name: "secret-data", before: secret + "immutable: true\n", truth: replaceWorks, edit: []string{"data.password=b3RoZXI="}},
		{name: "secret-data-invalid", before: secret + "immutable: true\n", truth: notValid, edit: []string{"data={not/a/key: b3RoZXI=}"}},
		{name: "secret-immutable-unset", before: secret + "immutable: true\n", truth: replaceWorks, edit: []string{"-immutable"}},
		{name: "configmap-data", before: configMap, truth: replaceWorks, edit: []string{`data.a="2"`}},
		{name: "configmap-data-invalid", before: configMap, truth: notValid, edit: []string{`data={not/a/key: "2"}`}},
		{name: "configmap-binarydata", before: configMap, truth: replaceWorks, edit: []string{"binaryData.b=AQ=="}},
		{name: "configmap-immutable-unset", before: configMap, truth: replaceWorks, edit: []string{"immutable=false"}},
		{name: "quota-scopes", before: quota, truth: replaceWorks, edit: []string{"spec.scopes=[NotBestEffort]"}},
		{name: "quota-scopes-invalid", before: quota, truth: notValid, edit: []string{"spec.scopes=[BestEffort, NotBestEffort]"}},
		{name: "node-podcidrs", before: node, truth: replaceWorks, edit: []string{"spec.podCIDRs=[10.3.0.0/24]", "spec.podCIDR=10.3.0.0/24"}},
		{name: "node-podcidrs-invalid", before: node, truth: notValid, edit: []string{"spec.podCIDRs=[nonsense]", "spec.podCIDR=nonsense"}},
		{name: "node-providerid", before: node, truth: replaceWorks, edit: []string{`spec.providerID="example://b"`}},
		{name: "node-externalid", before: node + "  externalID: a\n", truth: replaceWorks, edit: []string{"spec.externalID=b"}},
		{name: "event", before: event, truth: replaceWorks, edit: []string{"reason=Other", "note=second", "type=Warning", "action=Other",
			"reportingInstance=c-2", "reportingController=example.com/d", "regarding.name=q", `eventTime="2024-05-01T10:00:01.000000Z"`,
			"related={apiVersion: v1, kind: Pod, name: r, namespace: default}"}},
		{name: "event-deprecated-fields", before: event, truth: notValid, // only older events may have them
			edit: []string{"deprecatedCount=2", "deprecatedSource={component: c}",
				`deprecatedFirstTimestamp="2024-05-01T10:00:00Z"`, `deprecatedLastTimestamp="2024-05-01T10:00:00Z"`}},
		{name: "event-invalid", before: event, truth: notValid, edit: []string{"action=" + long(200)}},
	}
}

func long(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = 'x'
	}
	return string(text)
}

func otherKinds() []pair {
	return []pair{
		{name: "endpointslice-addresstype", before: endpointSlice, truth: replaceWorks,
			edit: []string{"addressType=IPv6", "endpoints[0].addresses=['2001:db8::1']"}},
		{name: "endpointslice-addresstype-invalid", before: endpointSlice, truth: notValid, // unchanged addresses aren't checked on update
			edit: []string{"addressType=IPv6"}},
		{name: "ingressclass-controller", before: ingressClass, truth: replaceWorks, edit: []string{"spec.controller=example.com/b"}},
		{name: "ingressclass-controller-invalid", before: ingressClass, truth: notValid, edit: []string{"spec.controller=no-domain"}},
		{name: "ipaddress-parent", truth: replaceWorks,
			before: `{apiVersion: networking.k8s.io/v1, kind: IPAddress, metadata: {name: 192.0.2.1}, spec: {parentRef: {resource: services, name: a, namespace: default}}}`,
			edit:   []string{"spec.parentRef.name=b"}},
		{name: "ipaddress-parent-invalid", truth: notValid,
			before: `{apiVersion: networking.k8s.io/v1, kind: IPAddress, metadata: {name: 192.0.2.2}, spec: {parentRef: {resource: services, name: a, namespace: default}}}`,
			edit:   []string{"spec.parentRef.name=not/a/name"}},
		{name: "servicecidr", truth: replaceWorks,
			before: `{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, spec: {cidrs: [10.98.0.0/24]}}`,
			edit:   []string{"spec.cidrs=[10.99.0.0/24]"}},
		{name: "servicecidr-invalid", truth: notValid,
			before: `{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, spec: {cidrs: [10.98.0.0/24]}}`,
			edit:   []string{"spec.cidrs=[10.99.0.1/24]"}}, // host bits
		{name: "servicecidr-fewer", truth: replaceWorks,
			before: `{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, spec: {cidrs: [10.98.0.0/24, 'fd01::/112']}}`,
			edit:   []string{"spec.cidrs=[10.98.0.0/24]"}},
		{name: "runtimeclass-handler", before: runtimeClass, truth: replaceWorks, edit: []string{"handler=b"}},
		{name: "runtimeclass-handler-invalid", before: runtimeClass, truth: notValid, edit: []string{"handler=Not_A_Name"}},
		{name: "priorityclass-value", before: priorityClass, truth: replaceWorks, edit: []string{"value=20"}},
		{name: "priorityclass-value-invalid", before: priorityClass, truth: notValid, edit: []string{"value=2000000001"}},
		{name: "priorityclass-of-default", before: priorityClass + "globalDefault: true\n", truth: replaceWorks, late: true, // there can be only one
			edit: []string{"value=20"}},
		{name: "priorityclass-preemption", before: priorityClass, truth: replaceWorks, edit: []string{"preemptionPolicy=Never"}},
		{name: "priorityclass-preemption-invalid", before: priorityClass, truth: notValid, edit: []string{"preemptionPolicy=Sometimes"}},
		{name: "rolebinding-roleref", before: roleBinding, truth: replaceWorks, edit: []string{"roleRef.name=edit"}},
		{name: "rolebinding-roleref-invalid", before: roleBinding, truth: notValid, edit: []string{"roleRef.kind=Deployment"}},
		{name: "clusterrolebinding-roleref", before: clusterRoleBinding, truth: replaceWorks, edit: []string{"roleRef.name=edit"}},
		{name: "clusterrolebinding-roleref-invalid", before: clusterRoleBinding, truth: notValid, edit: []string{`roleRef.name=""`}},

		{name: "leasecandidate", truth: replaceWorks, edit: []string{"spec.leaseName=b"},
			before: `{apiVersion: coordination.k8s.io/any, kind: LeaseCandidate, spec: {leaseName: a, binaryVersion: 1.36.0, emulationVersion: 1.36.0, strategy: OldestEmulationVersion}}`},
		{name: "leasecandidate-invalid", truth: notValid, edit: []string{`spec.leaseName=""`},
			before: `{apiVersion: coordination.k8s.io/any, kind: LeaseCandidate, spec: {leaseName: a, binaryVersion: 1.36.0, emulationVersion: 1.36.0, strategy: OldestEmulationVersion}}`},
		{name: "resourceclaim", truth: replaceWorks, edit: []string{"spec.devices={requests: [{name: b, exactly: {deviceClassName: c}}]}"}, only: "1.37",
			before: `{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c}}]}}}`},
		{name: "resourceclaim-invalid", truth: notValid, edit: []string{"spec.devices={requests: [{name: Not_A_Name, exactly: {deviceClassName: c}}]}"}, only: "1.37",
			before: `{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c}}]}}}`},
		{name: "resourceclaim", truth: replaceWorks, edit: []string{"spec.devices={requests: [{name: b, deviceClassName: c}]}"}, only: "1.33",
			before: `{apiVersion: resource.k8s.io/v1beta1, kind: ResourceClaim, spec: {devices: {requests: [{name: a, deviceClassName: c}]}}}`},
		{name: "resourceclaim-invalid", truth: notValid, edit: []string{"spec.devices={requests: [{name: Not_A_Name, deviceClassName: c}]}"}, only: "1.33",
			before: `{apiVersion: resource.k8s.io/v1beta1, kind: ResourceClaim, spec: {devices: {requests: [{name: a, deviceClassName: c}]}}}`},
		{name: "resourceclaimtemplate", truth: replaceWorks, edit: []string{"spec.spec.devices={requests: [{name: b, exactly: {deviceClassName: c}}]}"}, only: "1.37",
			before: `{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, spec: {spec: {devices: {requests: [{name: a, exactly: {deviceClassName: c}}]}}}}`},
		{name: "resourceclaimtemplate", truth: replaceWorks, edit: []string{"spec.spec.devices={requests: [{name: b, deviceClassName: c}]}"}, only: "1.33",
			before: `{apiVersion: resource.k8s.io/v1beta1, kind: ResourceClaimTemplate, spec: {spec: {devices: {requests: [{name: a, deviceClassName: c}]}}}}`},
		{name: "resourceslice", truth: replaceWorks, edit: []string{"spec.pool.name=b", "spec.driver=b.example.com", "spec.nodeName=b"}, only: "1.37",
			before: `{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, spec: {driver: a.example.com, nodeName: a, pool: {name: a, generation: 1, resourceSliceCount: 1}}}`},
		{name: "resourceslice", truth: replaceWorks, edit: []string{"spec.pool.name=b", "spec.driver=b.example.com", "spec.nodeName=b"}, only: "1.33",
			before: `{apiVersion: resource.k8s.io/v1beta1, kind: ResourceSlice, spec: {driver: a.example.com, nodeName: a, pool: {name: a, generation: 1, resourceSliceCount: 1}}}`},
		{name: "resourcepoolstatusrequest", truth: replaceWorks, edit: []string{"spec.driver=b.example.com"},
			before: `{apiVersion: resource.k8s.io/any, kind: ResourcePoolStatusRequest, spec: {driver: a.example.com}}`},
		{name: "storageversionmigration", truth: replaceWorks, edit: []string{"spec.resource={group: apps, resource: daemonsets}"}, only: "1.37",
			before: `{apiVersion: storagemigration.k8s.io/any, kind: StorageVersionMigration, spec: {resource: {group: apps, resource: deployments}}}`},
		{name: "storageversionmigration", truth: replaceWorks, edit: []string{"spec.resource={group: batch, version: v2, resource: jobs}"}, only: "1.33",
			before: `{apiVersion: storagemigration.k8s.io/any, kind: StorageVersionMigration, spec: {resource: {group: apps, version: v1, resource: deployments}}}`},
		{name: "clustertrustbundle", truth: notValid, edit: []string{"spec.signerName=example.com/b"},
			before: "{apiVersion: certificates.k8s.io/any, kind: ClusterTrustBundle, metadata: {name: 'example.com:a:b'}, spec: {signerName: example.com/a, trustBundle: " + trustBundle() + "}}"},
		{name: "podcertificaterequest", before: certificateRequest(), truth: replaceWorks, edit: []string{"spec.maxExpirationSeconds=3600"}},
		{name: "podcertificaterequest-invalid", before: certificateRequest(), truth: notValid, edit: []string{"spec.maxExpirationSeconds=1"}},
		{name: "podgroup", before: podGroup, truth: replaceWorks, edit: []string{"spec.schedulingPolicy={basic: {}}"}, only: "1.37"},
		{name: "podgroup-template", before: podGroup, truth: replaceWorks, edit: []string{"spec.workloadRef.templateName=u"}, only: "1.37"},
		{name: "podgroup-disruption", before: podGroup, truth: replaceWorks, edit: []string{"spec.disruptionMode={all: {}}"}, only: "1.37"},
		{name: "podgroup-constraints", before: podGroup, truth: replaceWorks, edit: []string{"spec.schedulingConstraints={topology: [{key: rack}]}"}, only: "1.37"},
		{name: "podgroup-priority", before: podGroup, truth: replaceWorks, edit: []string{"spec.priorityClassName=urgent"}, only: "1.37"},
		{name: "podgroup-invalid", before: podGroup, truth: notValid, edit: []string{"spec.workloadRef.templateName=Not_A_Name"}, only: "1.37"},
		{name: "compositepodgroup", before: compositePodGroup, truth: replaceWorks, edit: []string{"spec.schedulingPolicy={basic: {}}"}, only: "1.37"},
		{name: "compositepodgroup-template", before: compositePodGroup, truth: replaceWorks, edit: []string{"spec.workloadRef.templateName=u"}, only: "1.37"},
		{name: "compositepodgroup-disruption", before: compositePodGroup, truth: replaceWorks, edit: []string{"spec.disruptionMode={all: {}}"}, only: "1.37"},
		{name: "compositepodgroup-constraints", before: compositePodGroup, truth: replaceWorks, edit: []string{"spec.schedulingConstraints={topology: [{key: rack}]}"}, only: "1.37"},
		{name: "compositepodgroup-priority", before: compositePodGroup, truth: replaceWorks, edit: []string{"spec.priorityClassName=urgent"}, only: "1.37"},
		{name: "compositepodgroup-invalid", before: compositePodGroup, truth: notValid, edit: []string{"spec.workloadRef.templateName=Not_A_Name"}, only: "1.37"},
		{name: "workload-controller", before: workload, truth: replaceWorks, edit: []string{"spec.controllerRef={apiGroup: batch, kind: Job, name: b}"}, only: "1.37"},
		{name: "workload", before: workload, truth: replaceWorks, edit: []string{"spec.podGroupTemplates[0].name=u"}, only: "1.37"},
		{name: "workload-policy", before: workload, truth: replaceWorks, edit: []string{"spec.podGroupTemplates[0].schedulingPolicy={basic: {}}"}, only: "1.37"},
		{name: "workload-disruption", before: workload, truth: replaceWorks, edit: []string{"spec.podGroupTemplates[0].disruptionMode={all: {}}"}, only: "1.37"},
		{name: "workload-constraints", before: workload, truth: replaceWorks, edit: []string{"spec.podGroupTemplates[0].schedulingConstraints={topology: [{key: rack}]}"}, only: "1.37"},
		{name: "workload-priority", before: workload, truth: replaceWorks, edit: []string{"spec.podGroupTemplates[0].priorityClassName=urgent"}, only: "1.37"},
		{name: "workload-invalid", before: workload, truth: notValid, edit: []string{"spec.podGroupTemplates[0].name=Not_A_Name"}, only: "1.37"},

		{name: "definition-scope", before: otherDefinition, prepare: awaitEstablished, truth: replaceWorks, edit: []string{"spec.scope=Cluster"}},
		{name: "definition-scope-invalid", before: otherDefinition, prepare: awaitEstablished, truth: notValid, edit: []string{"spec.scope=Galaxy"}},
		{name: "definition-kind", before: otherDefinition, prepare: awaitEstablished, truth: replaceWorks,
			edit: []string{"spec.names.kind=Gizmo", "spec.names.listKind=GizmoList"}},
		{name: "definition-kind-invalid", before: otherDefinition, prepare: awaitEstablished, truth: notValid,
			edit: []string{"spec.names.kind=Not_A_Name"}},
		{name: "definition-group", before: otherDefinition, prepare: awaitEstablished, truth: notValid, // part of the name
			edit: []string{"spec.group=example.net"}},
		{name: "definition-plural", before: otherDefinition, prepare: awaitEstablished, truth: notValid,
			edit: []string{"spec.names.plural=gizmos"}},
		{name: "definition-storedversions", before: otherDefinition, prepare: awaitEstablished, truth: oneWay,
			edit:     []string{"spec.versions=[" + secondVersion + "]"},
			accepted: []string{"spec.versions=[{name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}, " + secondVersion + "]"}},
		{name: "definition-preserveunknown", before: otherDefinition, prepare: awaitEstablished, truth: notValid,
			edit: []string{"spec.preserveUnknownFields=true"}},
	}
}

func services() []pair {
	return []pair{
		{name: "service-clusterip", before: service, truth: replaceWorks, edit: []string{"spec.clusterIP=10.96.7.7"}},
		{name: "service-clusterip-invalid", before: service, truth: notValid, edit: []string{"spec.clusterIP=192.0.2.1"}},       // not in the range
		{name: "service-clusterip-taken-invalid", before: service, truth: notValid, edit: []string{"spec.clusterIP=10.96.0.1"}}, // kubernetes.default
		{name: "service-headless", before: service, truth: replaceWorks, edit: []string{"spec.clusterIP=None"}},
		{name: "service-ipfamilies", before: service, truth: replaceWorks, edit: []string{"spec.ipFamilies=[IPv6]"}},
		{name: "service-ipfamilies-invalid", before: service, truth: notValid, edit: []string{"spec.ipFamilies=[IPv5]"}},
		{name: "service-ipfamilies-swapped", before: dualStack, truth: replaceWorks,
			edit: []string{"spec.ipFamilies=[IPv6, IPv4]", "spec.clusterIPs=['fd00:10:96::77', 10.96.7.77]", "spec.clusterIP='fd00:10:96::77'"}},
		{name: "service-lbclass", before: loadBalancer, truth: replaceWorks, edit: []string{"spec.loadBalancerClass=example.com/b"}},
		{name: "service-lbclass-invalid", before: loadBalancer, truth: notValid, edit: []string{`spec.loadBalancerClass="not a name"`}},
		{name: "service-healthport", before: loadBalancer, truth: replaceWorks, edit: []string{"spec.healthCheckNodePort=31002"}},
		{name: "service-healthport-invalid", before: loadBalancer, truth: notValid, edit: []string{"spec.healthCheckNodePort=99999"}},
		{name: "service-nodeport-and-clusterip", before: loadBalancer, truth: replaceWorks, // the pinned ports are held by the live object
			edit: []string{"spec.clusterIP=10.96.7.8"}},
		{name: "service-port-invalid", before: loadBalancer, truth: notValid, edit: []string{"spec.ports[0].port=0"}},
		{name: "service-nodeport-on-clusterip-invalid", before: service, truth: notValid, edit: []string{"spec.ports[0].nodePort=31003"}},
		{name: "service-held-port-on-clusterip-invalid", before: nodePort, truth: notValid, edit: []string{"spec.type=ClusterIP", "spec.clusterIP=10.96.7.11"}}, // fine for an update of this very object
		{name: "service-held-port-for-two-protocols", before: nodePort, truth: replaceWorks,
			edit: []string{"spec.clusterIP=10.96.7.10", "spec.ports=[{name: a, port: 80, nodePort: 31010}, {name: b, port: 80, protocol: UDP, nodePort: 31010}]"}},
		{name: "service-held-healthport-invalid", before: loadBalancer, truth: notValid, edit: []string{"spec.externalTrafficPolicy=Cluster", "spec.clusterIP=10.96.7.12"}},
		{name: "service-release-secondary", before: dualStack, truth: replaceWorks,
			edit: []string{"spec.ipFamilyPolicy=PreferDualStack", "spec.ipFamilies=[IPv4]", "spec.clusterIPs=[10.96.7.9]", "spec.clusterIP=10.96.7.9"}},
	}
}
