package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/test/lab"
)

// TestAdoptWhatToolsWrote adopts objects that other tools wrote, under the field manager that the tool uses today. The
// plan names only the managedFields entries that it takes over. It deletes the leftover fields of their managers, and
// leaves no entries of these managers. The tools themselves take over these entries, in this order:
//
//   - kubectl apply --server-side applies first. It then takes over the entries of managers that updated the annotation
//     of client-side apply, whatever their names, and applies once more. Source: upgradeManagedFields in
//     kubectl/pkg/cmd/apply.
//   - Flux takes over entries before it applies: applies and updates of managers whose names begin with kubectl,
//     updates of before-first-apply, and its own updates. Source: PatchReplaceFieldsManagers in fluxcd/pkg/ssa.
//   - Argo CD takes over, before it applies, the updates of kubectl-client-side-apply, or of one manager that an
//     annotation names. Source: performCSAUpgradeMigration in gitops-engine.
//   - Helm 4 applies under the name of Helm 3. It takes over the updates of Helm 3 before it applies for the first
//     time. Source: upgradeClientSideFieldManager in helm.sh/helm/v4/pkg/kube.
//
// All of them keep the entries of subresources. csaupgrade of client-go, and so kubectl, Argo CD and Helm, drops the
// entries of other versions. The plan takes over these entries, too, so that their leftover fields are deleted.
func TestAdoptWhatToolsWrote(t *testing.T) {
	c := newCluster(t)
	const (
		is  = "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: NAME, labels: {app: web}}, spec: {minReplicas: 2, maxReplicas: 6, scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}}"
		was = "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: NAME, labels: {app: web, old: X}}, spec: {minReplicas: 1, maxReplicas: 5, scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}}"
		v1  = "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: NAME, labels: {app: web, old: X, older: X}}, spec: {minReplicas: 1, maxReplicas: 4, targetCPUUtilizationPercentage: 80, scaleTargetRef: {kind: Deployment, name: web, apiVersion: apps/v1}}}"
	)
	type step func(text func(string) *unstructured.Unstructured)
	clientSide := func(body, manager string) step {
		return func(text func(string) *unstructured.Unstructured) {
			c.Kubectl(t, asJSON(t, text(body)), "apply", "--field-manager", manager, "-f", "-")
		}
	}
	creates := func(name string) step {
		return func(text func(string) *unstructured.Unstructured) { c.createAs(t, name, text(was)) }
	}
	applies := func(name string) step {
		return func(text func(string) *unstructured.Unstructured) { c.Apply(t, name, text(was)) }
	}
	patches := func(name, body, patch string, subresources ...string) step {
		return func(text func(string) *unstructured.Unstructured) {
			c.Patch(t, name, text(body), patch, subresources...)
		}
	}
	forgets := func(text func(string) *unstructured.Unstructured) { // as of an object that is older than records
		_, err := c.Resource(t, text(was)).Patch(t.Context(), text(was).GetName(), types.MergePatchType, []byte(`{"metadata": {"managedFields": [{}]}}`), metav1.PatchOptions{})
		require.NoError(t, err)
	}
	formerly := `"before-first-apply" (Update)`
	for _, row := range []struct {
		tool, today string
		steps       []step
		adopt       []string // beside the tools that are known
		// takes are the entries of the record that the plan takes over, with the tools that they are of, and stays is
		// what of theirs would stay behind. More goes that isn't theirs alone.
		takes, stays, more []string
	}{
		{
			tool: "kubectl", today: "kubectl",
			steps: []step{clientSide(v1, fieldowner.ClientSideApply), clientSide(was, fieldowner.ClientSideApply), patches("kubectl-label", was, `{"metadata": {"labels": {"by": "hand"}}}`)},
			takes: []string{`kubectl apply: "kubectl-client-side-apply" (Update) autoscaling/v1`, `kubectl apply: "kubectl-client-side-apply" (Update) autoscaling/v2`, `kubectl label: "kubectl-label" (Update) autoscaling/v2`},
			stays: []string{"metadata.annotations", "metadata.annotations[\"kubectl.kubernetes.io/last-applied-configuration\"]", "metadata.labels.by", "metadata.labels.old"},
		},
		{
			tool: "kubectl-that-applies", today: "kubectl",
			steps: []step{clientSide(was, fieldowner.ClientSideApply), applies("kubectl")},
			takes: []string{`kubectl apply: "kubectl-client-side-apply" (Update) autoscaling/v2`},
			stays: []string{"metadata.annotations[\"kubectl.kubernetes.io/last-applied-configuration\"]", "metadata.labels.old"},
		},
		{
			tool: "flux", today: "kustomize-controller",
			steps: []step{creates("somebody-else"), forgets, applies("kubectl"), clientSide(was, "kustomize-controller"), patches("kubectl-edit", was, `{"metadata": {"labels": {"by": "hand"}}}`)},
			adopt: []string{fieldowner.BeforeFirstApply},
			takes: []string{`kubectl apply --server-side: "kubectl" (Apply) autoscaling/v2`, `kubectl edit: "kubectl-edit" (Update) autoscaling/v2`, `Flux: "kustomize-controller" (Update) autoscaling/v2`},
			stays: []string{"metadata.annotations[\"kubectl.kubernetes.io/last-applied-configuration\"]", "metadata.labels.by"},
			more:  []string{"metadata.labels.old"},
		},
		{
			tool: "argo-cd", today: "argocd-controller",
			steps: []step{clientSide(was, fieldowner.ClientSideApply), patches("argocd-application-controller", was, `{"metadata": {"labels": {"by": "hand"}}}`), patches("argocd-controller", v1, `{"metadata": {"labels": {"older": "X"}}}`)},
			takes: []string{`Argo CD: "argocd-application-controller" (Update) autoscaling/v2`, `Argo CD: "argocd-controller" (Update) autoscaling/v1`, `kubectl apply: "kubectl-client-side-apply" (Update) autoscaling/v2`},
			stays: []string{"metadata.annotations[\"kubectl.kubernetes.io/last-applied-configuration\"]", "metadata.labels.by", "metadata.labels.old", "metadata.labels.older"},
		},
		{
			tool: "helm", today: "helm",
			steps: []step{creates("helm"), patches("helm", v1, `{"metadata": {"labels": {"older": "X"}}}`)},
			takes: []string{`Helm 3: "helm" (Update) autoscaling/v1`, `Helm 3: "helm" (Update) autoscaling/v2`},
			stays: []string{"metadata.labels.old", "metadata.labels.older"},
		},
		{
			tool: "helm-to-another", today: manager,
			steps: []step{creates("helm"), applies("helm")},
			takes: []string{`Helm 4: "helm" (Apply) autoscaling/v2`, `Helm 3: "helm" (Update) autoscaling/v2`},
			stays: []string{"metadata.labels.old"},
		},
	} {
		t.Run(row.tool, func(t *testing.T) {
			text := func(body string) *unstructured.Unstructured {
				m := lab.Object(t, body)
				m.SetName("tool-" + row.tool)
				return m
			}
			for _, s := range row.steps {
				s(text)
			}
			c.Patch(t, "autoscaler", text(is), `{"spec": {"behavior": {"scaleDown": {"stabilizationWindowSeconds": 7}}}}`)
			c.Patch(t, "controller", text(is), `{"status": {"currentReplicas": 1, "desiredReplicas": 1}}`, "status")
			c.Patch(t, row.today, text(is), `{"status": {"currentReplicas": 2}}`, "status")
			status := statuses(t, c.Get(t, text(is)))

			planner := c.Planner(t, ssaplan.Options{FieldManager: row.today})
			plan := func(request ssaplan.Request) *ssaplan.Plan {
				request.Manifest = text(is)
				made, err := planner.Plan(t.Context(), request)
				require.NoError(t, err)
				return made
			}
			without := plan(ssaplan.Request{})
			var takes, stays []string
			for _, w := range without.Writers {
				takes = append(takes, w.Tool+": "+w.Owner.String()+" "+string(w.APIVersion))
				for _, p := range w.Stays {
					if !slices.Contains(stays, p.String()) {
						stays = append(stays, p.String())
					}
				}
			}
			require.Equal(t, row.takes, takes)
			require.ElementsMatch(t, row.stays, stays)

			with := plan(ssaplan.Request{AdoptTools: true, Adopt: row.adopt})
			require.Empty(t, with.Writers)
			var dropped []string
			for _, change := range with.Changes {
				if change.Cause == explain.CauseDropped {
					dropped = append(dropped, change.Path.String())
					isTaken := func(line string) bool {
						return strings.Contains(line, fmt.Sprintf("%q (%s)", change.Manager, change.Operation))
					}
					require.True(t, slices.ContainsFunc(append(row.takes, formerly), isTaken), change)
				}
			}
			goes := slices.Concat(row.stays, row.more)
			for _, pair := range [][2][]string{{goes, dropped}, {dropped, goes}} {
				for _, text := range pair[0] { // a map that goes, or what is in it
					require.True(t, slices.ContainsFunc(pair[1], func(other string) bool { return strings.HasPrefix(text, other) || strings.HasPrefix(other, text) }), text)
				}
			}
			before := c.Get(t, text(is))
			after, err := planner.Apply(lab.Context(t), with)
			require.NoError(t, err)
			require.Equal(t, alike(t, with.Result()), alike(t, after))
			owners, err := fieldowner.Read(after.Object)
			require.NoError(t, err)
			var left []string
			for _, e := range owners.Entries() {
				if e.Subresource == "" {
					left = append(left, e.Owner.String())
				}
			}
			require.ElementsMatch(t, []string{`"autoscaler" (Update)`, fieldowner.Owner{Manager: foreign.Text(row.today), Operation: fieldowner.OperationApply}.String()}, left)
			require.Equal(t, status, statuses(t, after), "what was written to subresources stays")
			for _, path := range goes {
				p, err := projection.ParsePath(path)
				require.NoError(t, err)
				_, existed := projection.Get(before.Object, p)
				_, exists := projection.Get(after.Object, p)
				require.True(t, existed, path)
				require.False(t, exists, path)
			}
			require.Equal(t, ssaplan.ActionNoOp, plan(ssaplan.Request{AdoptTools: true, Adopt: row.adopt}).Action)
		})
	}
}

// statuses returns what was recorded of subresources.
func statuses(t *testing.T, obj *unstructured.Unstructured) (lines []string) {
	owners, err := fieldowner.Read(obj.Object)
	require.NoError(t, err)
	for _, e := range owners.Entries() {
		if e.Subresource != "" {
			lines = append(lines, e.Owner.String()+" "+e.Fields.String())
		}
	}
	slices.Sort(lines)
	return lines
}
