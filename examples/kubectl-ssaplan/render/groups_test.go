package render_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// upgraded returns n plans that change the same label, of which the last changes something else, too.
func upgraded(t *testing.T, n int) (plans []*ssaplan.Plan) {
	for i := range n {
		plans = append(plans, &ssaplan.Plan{
			Object: object("v1", "ConfigMap", "shop", fmt.Sprintf("c%03d", i)), Action: ssaplan.ActionUpdate,
			Explanation: explain.Explanation{Changes: []explain.Change{change(t, "metadata.labels.version", projection.OpChange, "1", "2")}},
		})
	}
	plans[n-1].Changes = append(plans[n-1].Changes, change(t, "data.a", projection.OpChange, "x", "y"))
	return plans
}

func TestWhatManyObjectsHaveInCommonIsSaidOnce(t *testing.T) {
	assert.Equal(t, `~ 101 objects  the same change
  ~ metadata.labels.version: "1" -> "2"
    in v1/ConfigMap shop/c000, v1/ConfigMap shop/c001, v1/ConfigMap shop/c002, and 98 more; -v names all

~ v1/ConfigMap shop/c100  update: 2 edited
  ~ data.a: "x" -> "y"
    and 1 change shared by many objects, see above
`, render.Text{}.Plans(upgraded(t, 101)))

	verbose := render.Text{Verbose: true}.Plans(upgraded(t, 101))
	assert.Equal(t, 102, strings.Count(verbose, `metadata.labels.version: "1" -> "2"`), "unfolded, each has its own")
	assert.Equal(t, 2, strings.Count(verbose, "v1/ConfigMap shop/c055"), "and all are named")

	assert.NotContains(t, render.Text{}.Plans(upgraded(t, 2)), "objects", "two aren't many")
}

// Redacted values look the same and needn't be.
func TestSensitiveChangesHaveNothingInCommon(t *testing.T) {
	plans := upgraded(t, 5)
	for i, plan := range plans {
		plan.Changes[0].Sensitive, plan.Changes[0].After = true, fmt.Sprint("c4n4ry", i)
	}
	out := render.Text{}.Plans(plans)
	assert.Equal(t, 5, strings.Count(out, "metadata.labels.version: <redacted: changed>"))
	assert.NotContains(t, out, "c4n4ry")
}

func TestUnchangedObjectsWithTheSameWarningAreOneLine(t *testing.T) {
	var plans []*ssaplan.Plan
	for i := range 12 {
		plans = append(plans, &ssaplan.Plan{
			Object: object("policy/v1", "PodSecurityPolicy", "", fmt.Sprint("p", i)), Action: ssaplan.ActionNoOp,
			Explanation: explain.Explanation{Warnings: []foreign.Text{"it's \x1bdeprecated"}},
		})
	}
	plans[3].Warnings = []foreign.Text{"another one"}
	assert.Equal(t, `= 11 objects unchanged: policy/v1/PodSecurityPolicy p0, policy/v1/PodSecurityPolicy p1, policy/v1/PodSecurityPolicy p2, and 8 more; -v names all
  ▲ warning: it's \x1bdeprecated

= policy/v1/PodSecurityPolicy p3
  ▲ warning: another one
`, render.Text{}.Plans(plans))
}

func TestFailuresOfOneCauseAreOneLine(t *testing.T) {
	var failures []render.Failure
	for i := range 200 {
		name := fmt.Sprint("w", i)
		failures = append(failures, render.Failure{
			Object: object("apps/v1", "Deployment", "shop", name), Class: "Authorization",
			Message: fmt.Sprintf(`app.yaml: document %d (line %d): apps/v1/Deployment shop/%s: deployments.apps %q is forbidden; ask`, i, 7*i, name, name),
		})
	}
	failures = append(failures, render.Failure{Class: "Input", Message: "app.yaml: no \x1bkind"}, render.Failure{
		Object: object("apps/v1", "Deployment", "shop", "z"), Class: "Authorization", Message: "app.yaml: document 9 (line 9): apps/v1/Deployment shop/z: else",
	})
	assert.Equal(t, []string{
		`app.yaml: document 0 (line 0): apps/v1/Deployment shop/w0: deployments.apps "w0" is forbidden; ask (the same of 199 others: ` +
			`apps/v1/Deployment shop/w1, apps/v1/Deployment shop/w2, apps/v1/Deployment shop/w3, and 196 more; -v shows all)`,
		`app.yaml: no \x1bkind`,
		`app.yaml: document 9 (line 9): apps/v1/Deployment shop/z: else`,
	}, render.Text{}.Failures(failures))
	assert.Len(t, render.Text{Verbose: true}.Failures(failures), 202)
}

// The text begins with deleted data, replaced objects and widened permissions. Objects with the same finding share a
// line.
func TestWhatIsToBeSeenFirst(t *testing.T) {
	plans := upgraded(t, 2)
	for i := range 2 {
		plans = append(plans, &ssaplan.Plan{
			Object: object("apps/v1", "DaemonSet", "shop", fmt.Sprint("agent", i)), Action: ssaplan.ActionCreate,
			Explanation: explain.Explanation{After: projection.Projection{Object: map[string]any{"spec": map[string]any{"template": map[string]any{
				"spec": map[string]any{"hostNetwork": true, "containers": []any{}},
			}}}}},
		})
	}
	plans = append(plans, immutable())
	out := render.Text{}.Plans(plans)
	assert.True(t, strings.HasPrefix(out, `Look at this first
  ▲ destroyed: v1/PersistentVolumeClaim shop/data: the data in the volume is lost
  ± replaced: v1/PersistentVolumeClaim shop/data: can't change in place: spec.storageClassName
  ▲ widens permissions: apps/v1/DaemonSet shop/agent0, apps/v1/DaemonSet shop/agent1: pods with hostNetwork

`), out)
	assert.Contains(t, out, "+ apps/v1/DaemonSet shop/agent0  create\n  ▲ widens permissions: pods with hostNetwork\n")
}
