package planner_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// TestWhatToolsLeaveBehind compares what a plan says left over from a tool, which owns all defaults of what it made,
// with what goes once that is adopted. What is called destroyed is gone, and what stays as it was isn't called so.
func TestWhatToolsLeaveBehind(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	const (
		pod      = "{metadata: {labels: {a: b}}, spec: {%s containers: [{name: a, image: 'a:1'%s}]}}"
		workload = "spec: {selector: {matchLabels: {a: b}}, template: " + pod + "}"
	)
	for _, row := range []struct {
		name, created, applied string
		goes                   []string
	}{
		{"namespace", "{apiVersion: v1, kind: Namespace, metadata: {name: NAME}}", "{apiVersion: v1, kind: Namespace, metadata: {name: NAME, labels: {team: a}}}", nil},
		{
			"deployment", fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME}, "+workload+"}", "serviceAccountName: x,",
				", env: [{name: E, value: x}], livenessProbe: {tcpSocket: {port: 80}}, ports: [{containerPort: 80}]"),
			fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME}, "+workload+"}", "", ", ports: [{containerPort: 80}]"),
			[]string{
				`spec.template.spec.containers[name="a"].env[name="E"]`, `spec.template.spec.containers[name="a"].livenessProbe.failureThreshold`,
				`spec.template.spec.containers[name="a"].livenessProbe.periodSeconds`, `spec.template.spec.containers[name="a"].livenessProbe.successThreshold`,
				`spec.template.spec.containers[name="a"].livenessProbe.tcpSocket.port`, `spec.template.spec.containers[name="a"].livenessProbe.timeoutSeconds`,
				"spec.template.spec.serviceAccount", "spec.template.spec.serviceAccountName",
			},
		},
		{
			"probed", fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME}, "+workload+"}", "", ", readinessProbe: {httpGet: {port: 80}, periodSeconds: 7}"),
			fmt.Sprintf("{apiVersion: apps/v1, kind: Deployment, metadata: {name: NAME}, "+workload+"}", "", ", readinessProbe: {httpGet: {port: 80}}"),
			[]string{`spec.template.spec.containers[name="a"].readinessProbe.periodSeconds`},
		},
		{"daemonset", fmt.Sprintf("{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: NAME, labels: {old: x}}, "+workload+"}", "", ""), fmt.Sprintf("{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: NAME}, "+workload+"}", "", ""), []string{"metadata.labels.old"}},
		{"statefulset", fmt.Sprintf("{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: NAME, labels: {old: x}}, "+workload+"}", "", ""), fmt.Sprintf("{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: NAME}, "+workload+"}", "", ""), []string{"metadata.labels.old"}},
		{"replicaset", fmt.Sprintf("{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: NAME, labels: {old: x}}, "+workload+"}", "", ""), fmt.Sprintf("{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: NAME}, "+workload+"}", "", ""), []string{"metadata.labels.old"}},
		{
			"cronjob", fmt.Sprintf("{apiVersion: batch/v1, kind: CronJob, metadata: {name: NAME, labels: {old: x}}, spec: {schedule: '0 0 * * *', jobTemplate: {spec: {template: "+pod+"}}}}", "restartPolicy: Never,", ""),
			fmt.Sprintf("{apiVersion: batch/v1, kind: CronJob, metadata: {name: NAME}, spec: {schedule: '0 0 * * *', jobTemplate: {spec: {template: "+pod+"}}}}", "restartPolicy: Never,", ""), []string{"metadata.labels.old"},
		},
		{
			"headless", "{apiVersion: v1, kind: Service, metadata: {name: NAME}, spec: {clusterIP: None, ports: [{port: 80}], selector: {a: b}}}",
			"{apiVersion: v1, kind: Service, metadata: {name: NAME}, spec: {ports: [{port: 80}]}}", []string{"spec.selector"},
		},
		{
			"claim", "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: NAME, labels: {old: x}}, spec: {accessModes: [ReadWriteOnce], storageClassName: s, resources: {requests: {storage: 1Gi}}}}",
			"{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: NAME}, spec: {accessModes: [ReadWriteOnce], storageClassName: s, resources: {requests: {storage: 1Gi}}}}", []string{"metadata.labels.old"},
		},
		{
			"scaler", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: NAME, labels: {old: x}}, spec: {maxReplicas: 6, scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}}}",
			"{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: NAME}, spec: {maxReplicas: 6, scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}}}", []string{"metadata.labels.old"},
		},
		{"secret", "{apiVersion: v1, kind: Secret, metadata: {name: NAME, labels: {old: x}}}", "{apiVersion: v1, kind: Secret, metadata: {name: NAME}}", []string{"metadata.labels.old"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			created, applied := lab.Object(t, row.created), lab.Object(t, row.applied)
			created.SetName(c.Namespace + "-" + row.name)
			applied.SetName(created.GetName())
			if row.name == "secret" { // shows the name of kubectl's manager
				c.Kubectl(t, asJSON(t, created), "create", "-f", "-")
			} else {
				c.createAs(t, "kubectl-create", created)
			}
			t.Cleanup(func() { c.Delete(t, applied) })

			without := c.plan(t, ssaplan.Request{Manifest: applied})
			require.Len(t, without.Writers, 1)
			stays := texts(without.Writers[0].Stays)
			with := c.plan(t, ssaplan.Request{Manifest: applied, AdoptTools: true})
			isLost := func(p projection.Path) bool {
				was, existed := projection.Get(without.Live().Object, p)
				is, exists := projection.Get(with.Result().Object, p)
				return existed && (!exists || !reflect.DeepEqual(was, is))
			}
			for _, p := range without.Writers[0].Stays {
				require.True(t, isLost(p), "%s stays, also when it is adopted", p)
			}
			for _, transfer := range with.Ownership {
				if transfer.Kind == fieldowner.TransferDestroyed || transfer.Kind == fieldowner.TransferDisowned {
					require.Equal(t, isLost(transfer.Path), transfer.Kind == fieldowner.TransferDestroyed, "%s", transfer)
				}
			}
			slices.Sort(stays)
			require.Equal(t, row.goes, stays)
		})
	}
}
