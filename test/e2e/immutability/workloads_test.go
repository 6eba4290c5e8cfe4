package immutability_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers: [{name: c, image: nginx}]
`

const daemonSet = `
apiVersion: apps/v1
kind: DaemonSet
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers: [{name: c, image: nginx}]
`

const replicaSet = `
apiVersion: apps/v1
kind: ReplicaSet
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers: [{name: c, image: nginx}]
`

const statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
spec:
  serviceName: a
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers: [{name: c, image: nginx}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 1Gi}}
`

const controllerRevision = `
apiVersion: apps/v1
kind: ControllerRevision
revision: 1
data: {spec: {a: 1}}
`

const job = `
apiVersion: batch/v1
kind: Job
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: busybox}]
`

const indexedJob = `
apiVersion: batch/v1
kind: Job
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: busybox}]
`

const selectingJob = `
apiVersion: batch/v1
kind: Job
spec:
  manualSelector: true
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a, other: b}}
    spec:
      restartPolicy: Never
      containers: [{name: c, image: busybox}]
`

const cronJob = `
apiVersion: batch/v1
kind: CronJob
spec:
  schedule: "@daily"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: c, image: busybox}]
          volumes: [{name: v}]
`

const podTemplate = `
apiVersion: v1
kind: PodTemplate
template:
  spec:
    containers: [{name: c, image: busybox}]
    volumes: [{name: v}]
`

const replicationController = `
apiVersion: v1
kind: ReplicationController
spec:
  selector: {app: a}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers: [{name: c, image: nginx}]
      volumes: [{name: v}]
`

const pod = `
apiVersion: v1
kind: Pod
spec:
  containers: [{name: c, image: nginx}]
`

const gatedPod = `
apiVersion: v1
kind: Pod
spec:
  schedulingGates: [{name: example.com/gate}]
  nodeSelector: {disk: ssd}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: zone, operator: In, values: [a]}]
  containers: [{name: c, image: nginx}]
`

const nodeSelectorTerms = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"

func workloads() []pair {
	return []pair{
		{name: "deployment-selector", before: deployment, truth: replaceWorks,
			edit: []string{"spec.selector.matchLabels.app=b", "spec.template.metadata.labels.app=b"}},
		{name: "deployment-selector-invalid", before: deployment, truth: notValid, // selects other pods
			edit: []string{"spec.selector.matchLabels.app=b"}},
		{name: "deployment-selector-and-replicas-invalid", before: deployment, truth: notValid,
			edit: []string{"spec.selector.matchLabels.app=b", "spec.template.metadata.labels.app=b", "spec.replicas=-1"}},
		{name: "deployment-replicas-invalid", before: deployment, truth: notValid,
			edit: []string{"spec.replicas=-1"}},
		{name: "daemonset-selector", before: daemonSet, truth: replaceWorks,
			edit: []string{"spec.selector.matchLabels.app=b", "spec.template.metadata.labels.app=b"}},
		{name: "daemonset-selector-invalid", before: daemonSet, truth: notValid,
			edit: []string{"spec.selector.matchLabels.app=b"}},
		{name: "replicaset-selector", before: replicaSet, truth: replaceWorks,
			edit: []string{"spec.selector.matchLabels.app=b", "spec.template.metadata.labels.app=b"}},
		{name: "replicaset-selector-invalid", before: replicaSet, truth: notValid,
			edit: []string{"spec.selector.matchLabels.app=b"}},
		{name: "controllerrevision-data", before: controllerRevision, truth: replaceWorks,
			edit: []string{"data={spec: {a: 2}}"}},
		{name: "controllerrevision-data-invalid", before: controllerRevision, truth: notValid,
			edit: []string{"data={spec: {a: 2}}", "revision=-1"}},

		{name: "statefulset-servicename", before: statefulSet, truth: replaceWorks,
			edit: []string{"spec.serviceName=b"}},
		{name: "statefulset-servicename-invalid", before: statefulSet, truth: notValid, only: "1.37",
			edit: []string{"spec.serviceName=Not_A_Name"}},
		{name: "statefulset-claims", before: statefulSet, truth: replaceWorks,
			edit: []string{"spec.volumeClaimTemplates[0].spec.resources.requests.storage=2Gi"}},
		{name: "statefulset-claims-invalid", before: statefulSet, truth: notValid, only: "1.37",
			edit: []string{"spec.volumeClaimTemplates[0].spec.accessModes=[]"}},
		{name: "statefulset-selector", before: statefulSet, truth: replaceWorks,
			edit: []string{"spec.selector.matchLabels.app=b", "spec.template.metadata.labels.app=b"}},
		{name: "statefulset-selector-invalid", before: statefulSet, truth: notValid,
			edit: []string{"spec.selector.matchLabels.app=b"}},
		{name: "statefulset-podmanagement", before: statefulSet, truth: replaceWorks,
			edit: []string{"spec.podManagementPolicy=Parallel"}},
		{name: "statefulset-podmanagement-invalid", before: statefulSet, truth: notValid,
			edit: []string{"spec.podManagementPolicy=Sometimes"}},

		{name: "job-template", before: job, truth: replaceWorks,
			edit: []string{"spec.template.spec.containers[0].image=alpine"}},
		{name: "job-template-invalid", before: job, truth: notValid,
			edit: []string{"spec.template.spec.restartPolicy=Always"}},
		{name: "job-template-generated-labels", before: job, truth: notValid, // as exported from a cluster
			edit: []string{"spec.template.metadata.labels={controller-uid: 0b7c, batch.kubernetes.io/controller-uid: 0b7c}",
				"spec.selector={matchLabels: {batch.kubernetes.io/controller-uid: 0b7c}}"}},
		{name: "job-suspended-template", before: job + "  suspend: true\n", truth: replaceWorks,
			edit: []string{"spec.template.spec.containers[0].image=alpine"}},
		{name: "job-completions", before: job, truth: replaceWorks,
			edit: []string{"spec.completions=3"}},
		{name: "job-completions-invalid", before: job, truth: notValid,
			edit: []string{"spec.completions=-3"}},
		{name: "job-completions-in-tandem", before: indexedJob, truth: replaceWorks,
			edit: []string{"spec.completions=3"}},
		{name: "job-completionmode", before: job, truth: replaceWorks,
			edit: []string{"spec.completionMode=Indexed", "spec.completions=1"}},
		{name: "job-completionmode-invalid", before: job, truth: notValid,
			edit: []string{"spec.completionMode=Sorted"}},
		{name: "job-podfailurepolicy", before: job, truth: replaceWorks,
			edit: []string{"spec.podFailurePolicy={rules: [{action: Ignore, onExitCodes: {operator: In, values: [1]}}]}"}},
		{name: "job-podfailurepolicy-invalid", before: job, truth: notValid,
			edit: []string{"spec.podFailurePolicy={rules: [{action: Ignore, onExitCodes: {operator: In, values: []}}]}"}},
		{name: "job-backofflimitperindex", before: indexedJob, truth: replaceWorks,
			edit: []string{"spec.backoffLimitPerIndex=1"}},
		{name: "job-backofflimitperindex-invalid", before: job, truth: notValid,
			edit: []string{"spec.backoffLimitPerIndex=1"}}, // for indexed jobs only
		{name: "job-managedby", before: job, truth: replaceWorks,
			edit: []string{"spec.managedBy=example.com/controller"}},
		{name: "job-managedby-invalid", before: job, truth: notValid,
			edit: []string{"spec.managedBy=nobody"}},
		{name: "job-successpolicy", before: indexedJob, truth: replaceWorks,
			edit: []string{"spec.successPolicy={rules: [{succeededIndexes: '0'}]}"}},
		{name: "job-successpolicy-invalid", before: indexedJob, truth: notValid,
			edit: []string{"spec.successPolicy={rules: [{succeededIndexes: '9'}]}"}},
		{name: "job-selector", before: selectingJob, truth: replaceWorks,
			edit: []string{"spec.selector.matchLabels={other: b}"}},
		{name: "job-selector-invalid", before: selectingJob, truth: notValid,
			edit: []string{"spec.selector.matchLabels={other: c}"}},

		{name: "pod-spec", before: pod, truth: replaceWorks,
			edit: []string{"spec.hostname=other"}},
		{name: "pod-spec-invalid", before: pod, truth: notValid,
			edit: []string{"spec.hostname=Not_A_Name"}},
		{name: "pod-spec-only-invalid-at-create", before: pod, truth: notValid, // ephemeral containers can't be set on create
			edit: []string{"spec.hostname=other", "spec.ephemeralContainers=[{name: debug, image: busybox, terminationMessagePolicy: File}]"}},
		{name: "pod-containers", before: pod, truth: replaceWorks,
			edit: []string{"spec.containers=[{name: c, image: nginx}, {name: d, image: nginx}]"}},
		{name: "pod-containers-invalid", before: pod, truth: notValid,
			edit: []string{"spec.containers=[{name: c, image: nginx}, {name: d}]"}},
		{name: "pod-initcontainers", before: pod, truth: replaceWorks,
			edit: []string{"spec.initContainers=[{name: i, image: nginx}]"}},
		{name: "pod-tolerations", before: pod + "  tolerations: [{key: a, operator: Exists}]\n", truth: replaceWorks,
			edit: []string{"spec.tolerations=[{key: b, operator: Exists}]"}},
		{name: "pod-tolerations-invalid", before: pod + "  tolerations: [{key: a, operator: Exists}]\n", truth: notValid,
			edit: []string{"spec.tolerations=[{key: b, operator: Exists, value: c}]"}},
		{name: "pod-schedulinggates", before: gatedPod, truth: replaceWorks,
			edit: []string{"spec.schedulingGates=[{name: example.com/other}]"}},
		{name: "pod-deadline", before: pod + "  activeDeadlineSeconds: 60\n", truth: replaceWorks,
			edit: []string{"spec.activeDeadlineSeconds=120"}},
		{name: "pod-deadline-invalid", before: pod + "  activeDeadlineSeconds: 60\n", truth: notValid,
			edit: []string{"spec.activeDeadlineSeconds=-1"}},
		{name: "pod-deadline-unset", before: pod + "  activeDeadlineSeconds: 60\n", truth: replaceWorks,
			edit: []string{"-spec.activeDeadlineSeconds"}},
		{name: "pod-nodeselector", before: gatedPod, truth: replaceWorks,
			edit: []string{"spec.nodeSelector.disk=hdd"}},
		{name: "pod-nodeselector-invalid", before: gatedPod, truth: notValid,
			edit: []string{`spec.nodeSelector.disk="not a value"`}},
		{name: "pod-nodeaffinity-terms", before: gatedPod, truth: replaceWorks,
			edit: []string{nodeSelectorTerms + "=[{matchExpressions: [{key: zone, operator: In, values: [a]}]}, {matchExpressions: [{key: zone, operator: In, values: [b]}]}]"}},
		{name: "pod-nodeaffinity-term", before: gatedPod, truth: replaceWorks,
			edit: []string{nodeSelectorTerms + "=[{matchExpressions: [{key: zone, operator: In, values: [b]}]}]"}},
		{name: "pod-apparmor-added", before: pod, truth: replaceWorks,
			edit: []string{`metadata.annotations["container.apparmor.security.beta.kubernetes.io/c"]=runtime/default`}},
		{name: "pod-apparmor-added-invalid", before: pod, truth: notValid,
			edit: []string{`metadata.annotations["container.apparmor.security.beta.kubernetes.io/c"]=nonsense`}},
		{name: "pod-apparmor-changed", truth: replaceWorks,
			before: pod + `metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/c: runtime/default}}`,
			edit:   []string{`metadata.annotations["container.apparmor.security.beta.kubernetes.io/c"]=unconfined`}},
		{name: "pod-mirror-added", before: pod + "  nodeName: node-a\n", truth: replaceWorks,
			edit: []string{`metadata.annotations["kubernetes.io/config.mirror"]=a`}},
		{name: "pod-mirror-changed", before: pod + "  nodeName: node-a\nmetadata: {annotations: {kubernetes.io/config.mirror: a}}\n", truth: replaceWorks,
			edit: []string{`metadata.annotations["kubernetes.io/config.mirror"]=b`}},
	}
}

func leftBehind() []pair {
	return []pair{
		{name: "deployment-recreate", before: deployment, truth: updateWorks, // rollingUpdate was defaulted
			leftovers: []string{"spec.strategy.rollingUpdate"},
			edit:      []string{"spec.strategy={type: Recreate}"}},
		{name: "deployment-recreate-invalid", before: deployment, truth: notValid,
			edit: []string{"spec.strategy={type: Recreate, rollingUpdate: {maxSurge: 1}}"}},
		{name: "deployment-recreate-and-selector", before: deployment, truth: replaceWorks,
			edit: []string{"spec.strategy={type: Recreate}", "spec.selector.matchLabels.app=b", "spec.template.metadata.labels.app=b"}},
		{name: "statefulset-ondelete", before: statefulSet, truth: updateWorks,
			leftovers: []string{"spec.updateStrategy.rollingUpdate"},
			edit:      []string{"spec.updateStrategy={type: OnDelete}"}},
		{name: "statefulset-ondelete-invalid", before: statefulSet, truth: notValid,
			edit: []string{"spec.updateStrategy={type: OnDelete, rollingUpdate: {partition: 1}}"}},
		{name: "deployment-volume", before: deployment + "      volumes: [{name: v}]\n", truth: updateWorks, // emptyDir was defaulted
			leftovers: []string{`spec.template.spec.volumes[name="v"].emptyDir`},
			edit:      []string{"spec.template.spec.volumes=[{name: v, secret: {secretName: s}}]"}},
		{name: "deployment-volume-invalid", before: deployment + "      volumes: [{name: v}]\n", truth: notValid,
			edit: []string{"spec.template.spec.volumes=[{name: v, secret: {}}]"}},
		{name: "deployment-volume-two-sources-invalid", before: deployment + "      volumes: [{name: v}]\n", truth: notValid,
			edit: []string{"spec.template.spec.volumes=[{name: v, emptyDir: {}, secret: {secretName: s}}]"}},
		{name: "daemonset-volume-downward", before: daemonSet + "      volumes: [{name: v}]\n", truth: updateWorks, // printed as downwarAPI
			leftovers: []string{`spec.template.spec.volumes[name="v"].emptyDir`},
			edit:      []string{"spec.template.spec.volumes=[{name: v, downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}]}}]"}},
		{name: "statefulset-volume", only: "1.37", before: strings.Replace(statefulSet, "  volumeClaimTemplates", "      volumes: [{name: v}]\n  volumeClaimTemplates", 1), truth: updateWorks,
			leftovers: []string{`spec.template.spec.volumes[name="v"].emptyDir`},
			edit:      []string{"spec.template.spec.volumes=[{name: v, configMap: {name: s}}]"}},
		{name: "replicaset-volume", before: replicaSet + "      volumes: [{name: v}]\n", truth: updateWorks,
			leftovers: []string{`spec.template.spec.volumes[name="v"].emptyDir`},
			edit:      []string{"spec.template.spec.volumes=[{name: v, configMap: {name: s}}]"}},
		{name: "cronjob-volume", before: cronJob, truth: updateWorks,
			leftovers: []string{`spec.jobTemplate.spec.template.spec.volumes[name="v"].emptyDir`},
			edit:      []string{"spec.jobTemplate.spec.template.spec.volumes=[{name: v, hostPath: {path: /a}}]"}},
		{name: "cronjob-volume-invalid", before: cronJob, truth: notValid,
			edit: []string{"spec.jobTemplate.spec.template.spec.volumes=[{name: v, hostPath: {path: ''}}]"}},
		{name: "podtemplate-volume", before: podTemplate, truth: updateWorks,
			leftovers: []string{`template.spec.volumes[name="v"].emptyDir`},
			edit:      []string{"template.spec.volumes=[{name: v, hostPath: {path: /a}}]"}},
		{name: "replicationcontroller-volume", before: replicationController, truth: updateWorks,
			leftovers: []string{`spec.template.spec.volumes[name="v"].emptyDir`},
			edit:      []string{"spec.template.spec.volumes=[{name: v, hostPath: {path: /a}}]"}},
		{name: "widget-union", before: widget, truth: updateWorks, // set by another manager
			prepare: func(t *testing.T, c *cluster, live *unstructured.Unstructured) {
				c.patch(t, live, `{"spec":{"this":"a"}}`)
			},
			leftovers: []string{"spec.this"},
			edit:      []string{"spec.that=b"}},
		{name: "widget-union-invalid", before: widget, truth: notValid,
			edit: []string{"spec.this=a", "spec.that=b"}},
	}
}
