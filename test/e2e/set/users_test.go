package set_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/lab"
)

// removals returns a line for each member of which a removal says what happens: its kind and name, and why it is kept.
func (c *cluster) removals(t *testing.T, r *set.Removal) (lines []string) {
	t.Helper()
	for item := range r.Plan(t.Context()) {
		require.NoError(t, item.Err)
		lines = append(lines, c.tidyText(item))
	}
	return lines
}

func (c *cluster) tidyText(item fmt.Stringer) string {
	return strings.ReplaceAll(item.String(), c.name, "NAME")
}

// TestPruneOfWhatIsUsed deletes an object that left a set when no object of the set refers to it any more, and keeps
// it as long as one does.
func TestPruneOfWhatIsUsed(t *testing.T) {
	const text = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: NAME}, spec: {replicas: %d, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}},
  spec: {containers: [{name: c, image: c, envFrom: [{configMapRef: {name: %s}}]}]}}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: NAME}, %s}`
	old := fmt.Sprintf(text, 0, "old", "old", "data: {a: b}")
	const kept, deleted = "v1/ConfigMap NAME/old: kept: still used by apps/v1/Deployment NAME/web", "v1/ConfigMap NAME/old: Delete"
	for name, row := range map[string]struct {
		now          string
		meanwhile    string // a change of the Deployment by another client between plan and apply
		plan, result string
	}{
		"the user changes": {now: fmt.Sprintf(text, 0, "new", "new", "data: {a: c}"), plan: deleted, result: "Done"},
		"the new manifest refers to it": {
			now: fmt.Sprintf(text, 0, "old", "new", "data: {a: c}"), plan: kept, result: "NotSent",
		},
		"the user is refused": {now: fmt.Sprintf(text, -1, "new", "new", "data: {a: c}"), plan: kept, result: "NotSent"},
		"what the user needs is left out": {
			now: fmt.Sprintf(text, 0, "fixed", "fixed", "data: {a: c}"), plan: kept, result: "NotSent",
		},
		"somebody changes the user": {
			now: fmt.Sprintf(text, 0, "new", "new", "data: {a: c}"), meanwhile: `{"spec":{"replicas":3}}`, plan: deleted, result: "NotSent",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.Apply(t, manager, lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: fixed, namespace: %s}, immutable: true, data: {a: b}}", c.name))
			members := c.install(t, old)
			now := c.set(t, set.Options{KeepGoing: true}, row.now)
			c.plan(t, now)
			removal := set.NewRemoval(c.planner, members[:1], set.RemovalOptions{Set: now})
			require.Equal(t, []string{row.plan}, c.removals(t, removal))
			if row.meanwhile != "" {
				c.Patch(t, "somebody", lab.Objectf(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: %s}}", c.name), row.meanwhile)
			}
			c.apply(t, now)
			for result := range removal.Apply(t.Context()) {
				require.NoError(t, result.Err)
				require.Equal(t, row.result, string(result.Outcome))
				if row.result == "NotSent" {
					require.Equal(t, kept, c.tidyText(&result.Item))
				}
			}
		})
	}
}

// TestRemovalOfUsers removes objects before those to which they refer, whatever their stages, and keeps these as long
// as those stay.
func TestRemovalOfUsers(t *testing.T) {
	c := newCluster(t)
	members := c.install(t, `
{apiVersion: v1, kind: Service, metadata: {name: db, namespace: NAME}, spec: {clusterIP: None, selector: {a: b}}}
---
{apiVersion: v1, kind: Secret, metadata: {name: pull, namespace: NAME}}
---
{apiVersion: v1, kind: Secret, metadata: {name: other, namespace: NAME}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: db, namespace: NAME}, imagePullSecrets: [{name: pull}]}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db, namespace: NAME}, spec: {replicas: 0, serviceName: db, selector: {matchLabels: {a: b}},
  template: {metadata: {labels: {a: b}}, spec: {serviceAccountName: db, containers: [{name: c, image: c}]}}}}`)
	adopted := make([]set.Member, len(members))
	for i, member := range members {
		adopted[i] = member
		adopted[i].Adopted = member.Object.Kind == "StatefulSet"
	}
	require.Equal(t, []string{
		"apps/v1/StatefulSet NAME/db: kept: it existed before the set",
		"v1/Service NAME/db: kept: still used by apps/v1/StatefulSet NAME/db",
		"v1/ServiceAccount NAME/db: kept: still used by apps/v1/StatefulSet NAME/db",
		"v1/Secret NAME/pull: kept: still used by v1/ServiceAccount NAME/db",
		"v1/Secret NAME/other: Delete",
	}, c.removals(t, set.NewRemoval(c.planner, adopted, set.RemovalOptions{})))
	require.Equal(t, []string{"StatefulSet Done", "Service Done", "ServiceAccount Done", "Secret Done", "Secret Done"},
		c.remove(t, set.NewRemoval(c.planner, members, set.RemovalOptions{})))
}
