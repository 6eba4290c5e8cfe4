package immutability_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const claim = `
apiVersion: v1
kind: PersistentVolumeClaim
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: expandable
  resources: {requests: {storage: 5Gi}}
`

const classlessClaim = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {annotations: {volume.beta.kubernetes.io/storage-class: a}}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 5Gi}}
`

const volume = `
apiVersion: v1
kind: PersistentVolume
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 5Gi}
  csi: {driver: example.com, volumeHandle: a}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}}
`

const storageClass = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
provisioner: example.com/a
parameters: {type: fast}
reclaimPolicy: Delete
volumeBindingMode: Immediate
`

const attributesClass = `
apiVersion: storage.k8s.io/any
kind: VolumeAttributesClass
driverName: example.com
parameters: {iops: "100"}
`

const volumeAttachment = `
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
spec: {attacher: example.com, nodeName: node-a, source: {persistentVolumeName: a}}
`

const csiDriver = `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
spec: {attachRequired: true, volumeLifecycleModes: [Persistent]}
`

const csiNode = `
apiVersion: storage.k8s.io/v1
kind: CSINode
spec: {drivers: [{name: example.com, nodeID: a, topologyKeys: [zone]}]}
`

const csiCapacity = `
apiVersion: storage.k8s.io/v1
kind: CSIStorageCapacity
storageClassName: a
nodeTopology: {matchLabels: {zone: a}}
capacity: 1Gi
`

// bind does what the binder and a provisioner do.
func bind(t *testing.T, c *cluster, claim *unstructured.Unstructured) {
	c.patch(t, claim, `{"spec":{"volumeName":"bound"}}`)
	c.patch(t, claim, `{"status":{"phase":"Bound","accessModes":["ReadWriteOnce"],"capacity":{"storage":"5Gi"}}}`, "status")
}

func bindWithClass(t *testing.T, c *cluster, claim *unstructured.Unstructured) {
	bind(t, c, claim)
	c.patch(t, claim, `{"status":{"currentVolumeAttributesClassName":"a"}}`, "status")
}

func storage() []pair {
	return []pair{
		{name: "claim-class", before: claim, truth: replaceWorks, prepare: bind,
			edit: []string{"spec.storageClassName=other"}},
		{name: "claim-class-invalid", before: claim, truth: notValid, prepare: bind,
			edit: []string{"spec.storageClassName=Not_A_Name"}},
		{name: "claim-accessmodes", before: claim, truth: replaceWorks, prepare: bind,
			edit: []string{"spec.accessModes=[ReadWriteMany]"}},
		{name: "claim-accessmodes-invalid", before: claim, truth: notValid, prepare: bind,
			edit: []string{"spec.accessModes=[Sometimes]"}},
		{name: "claim-volumemode", before: claim, truth: replaceWorks, prepare: bind,
			edit: []string{"spec.volumeMode=Block"}},
		{name: "claim-volumemode-invalid", before: claim, truth: notValid, prepare: bind,
			edit: []string{"spec.volumeMode=Tape"}},
		{name: "claim-annotation", before: classlessClaim, truth: replaceWorks,
			edit: []string{`metadata.annotations["volume.beta.kubernetes.io/storage-class"]=b`}},
		{name: "claim-unbound-grow", before: claim, truth: replaceWorks,
			edit: []string{"spec.resources.requests.storage=6Gi"}},
		{name: "claim-shrink", before: claim, truth: oneWay, prepare: bind,
			edit: []string{"spec.resources.requests.storage=4Gi"}, accepted: []string{"spec.resources.requests.storage=6Gi"}},
		{name: "claim-shrink-and-class", before: claim, truth: oneWay, prepare: bind,
			edit:     []string{"spec.resources.requests.storage=4Gi", "spec.storageClassName=other"},
			accepted: []string{"spec.resources.requests.storage=6Gi"}},
		{name: "claim-shrink-invalid", before: claim, truth: notValid, prepare: bind,
			edit: []string{"spec.resources.requests.storage=-4Gi"}},
		{name: "claim-attributes-unset", before: claim + "  volumeAttributesClassName: a\n", truth: oneWay, prepare: bindWithClass,
			edit: []string{"-spec.volumeAttributesClassName"}, accepted: []string{"spec.volumeAttributesClassName=b"}},
		{name: "claim-attributes-empty", before: claim + "  volumeAttributesClassName: a\n", truth: oneWay, prepare: bindWithClass,
			edit: []string{`spec.volumeAttributesClassName=""`}, accepted: []string{"spec.volumeAttributesClassName=b"}},

		{name: "volume-source", before: volume, truth: replaceWorks,
			edit: []string{"spec.csi.volumeHandle=b"}},
		{name: "volume-source-invalid", before: volume, truth: notValid,
			edit: []string{`spec.csi.volumeHandle=""`}},
		{name: "volume-mode", before: volume, truth: replaceWorks,
			edit: []string{"spec.volumeMode=Block"}},
		{name: "volume-mode-invalid", before: volume, truth: notValid,
			edit: []string{"spec.volumeMode=Tape"}},
		{name: "volume-nodeaffinity", before: volume, truth: replaceWorks,
			edit: []string{"spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values=[b]"}},
		{name: "volume-nodeaffinity-invalid", before: volume, truth: notValid,
			edit: []string{"spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].operator=Near"}},
		{name: "volume-attributes-unset", before: volume + "  volumeAttributesClassName: a\n", truth: oneWay,
			edit: []string{"-spec.volumeAttributesClassName"}, accepted: []string{"spec.volumeAttributesClassName=b"}},

		{name: "storageclass-parameters", before: storageClass, truth: replaceWorks, edit: []string{"parameters.type=slow"}},
		{name: "storageclass-parameters-invalid", before: storageClass, truth: notValid, edit: []string{`parameters={"": slow}`}},
		{name: "storageclass-provisioner", before: storageClass, truth: replaceWorks, edit: []string{"provisioner=example.com/b"}},
		{name: "storageclass-provisioner-invalid", before: storageClass, truth: notValid, edit: []string{`provisioner="not a name"`}},
		{name: "storageclass-reclaimpolicy", before: storageClass, truth: replaceWorks, edit: []string{"reclaimPolicy=Retain"}},
		{name: "storageclass-reclaimpolicy-invalid", before: storageClass, truth: notValid, edit: []string{"reclaimPolicy=Forget"}},
		{name: "storageclass-bindingmode", before: storageClass, truth: replaceWorks, edit: []string{"volumeBindingMode=WaitForFirstConsumer"}},
		{name: "storageclass-bindingmode-invalid", before: storageClass, truth: notValid, edit: []string{"volumeBindingMode=Later"}},

		{name: "attributesclass-driver", before: attributesClass, truth: replaceWorks, edit: []string{"driverName=other.example.com"}},
		{name: "attributesclass-driver-invalid", before: attributesClass, truth: notValid, edit: []string{`driverName="not a name"`}},
		{name: "attributesclass-parameters", before: attributesClass, truth: replaceWorks, edit: []string{`parameters.iops="200"`}},
		{name: "attributesclass-parameters-invalid", before: attributesClass, truth: notValid, edit: []string{`parameters={"": "200"}`}},

		{name: "volumeattachment", before: volumeAttachment, truth: replaceWorks, edit: []string{"spec.nodeName=node-b"}},
		{name: "volumeattachment-invalid", before: volumeAttachment, truth: notValid, edit: []string{"spec.nodeName=Not_A_Name"}},
		{name: "csidriver-attach", before: csiDriver, truth: replaceWorks, edit: []string{"spec.attachRequired=false"}},
		{name: "csidriver-modes", before: csiDriver, truth: replaceWorks, edit: []string{"spec.volumeLifecycleModes=[Ephemeral]"}},
		{name: "csidriver-modes-invalid", before: csiDriver, truth: notValid, edit: []string{"spec.volumeLifecycleModes=[Eternal]"}},
		{name: "csinode-driver", before: csiNode, truth: replaceWorks, edit: []string{"spec.drivers[0].nodeID=b"}},
		{name: "csinode-driver-invalid", before: csiNode, truth: notValid, edit: []string{`spec.drivers[0].nodeID=""`}},
		{name: "csicapacity-topology", before: csiCapacity, truth: replaceWorks, edit: []string{"nodeTopology.matchLabels.zone=b"}},
		{name: "csicapacity-topology-invalid", before: csiCapacity, truth: notValid, edit: []string{`nodeTopology.matchLabels.zone="not a value"`}},
		{name: "csicapacity-class", before: csiCapacity, truth: replaceWorks, edit: []string{"storageClassName=b"}},
		{name: "csicapacity-class-invalid", before: csiCapacity, truth: notValid, edit: []string{"storageClassName=Not_A_Name"}},
	}
}
