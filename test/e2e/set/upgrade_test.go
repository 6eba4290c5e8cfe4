package set_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// TestUpgradeInOneRun upgrades sets whose first stage changes how the server answers later requests, or already makes
// some of the later changes. Each object gets the planned changes, so the run succeeds.
func TestUpgradeInOneRun(t *testing.T) {
	const namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: NAME-app, labels: {%s}}}\n---\n" +
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: NAME-app}, spec: {selector: {matchLabels: {a: b}}, " +
		"template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: '%s', securityContext: {privileged: true}}]}}}}"
	gadget := func(version, schema, spec string) string {
		text := strings.Replace(fmt.Sprintf(definition, schema), "served: true\n", "served: true\n    "+version+"\n", 1)
		return text + "\n---\n{apiVersion: NAME.example.com/v1, kind: Gadget, metadata: {name: one, namespace: NAME}, spec: {" + spec + "}}"
	}
	const list = ", parts: {type: array, %s items: {type: object, required: [name], properties: {name: {type: string}, weight: {type: integer}}}}"
	for name, row := range map[string]struct{ before, after string }{
		"a namespace warns": {
			fmt.Sprintf(namespace, "a: b", "c:1"), fmt.Sprintf(namespace, "pod-security.kubernetes.io/warn: restricted", "c:2"),
		},
		"a namespace warns no more": {
			fmt.Sprintf(namespace, "pod-security.kubernetes.io/warn: restricted", "c:1"), fmt.Sprintf(namespace, "a: b", "c:2"),
		},
		"a version is deprecated": {gadget("deprecated: false", "", "size: 1"), gadget("deprecated: true", "", "size: 2")},
		"a list gets keys": {
			gadget("deprecated: false", fmt.Sprintf(list, ""), "parts: [{name: a, weight: 1}, {name: b, weight: 1}]"),
			gadget("deprecated: false", fmt.Sprintf(list, "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name],"), "parts: [{name: a, weight: 1}, {name: b, weight: 2}]"),
		},
		"a field goes with its values": {
			gadget("deprecated: false", ", old: {type: string}", "size: 1, old: x"), gadget("deprecated: false", "", "size: 2"),
		},
		"a value becomes valid, and a field is dropped": {
			gadget("deprecated: false", `, old: {type: string}, mode: {type: string, enum: ["13", "14"]}`, "size: 1, old: x, mode: '14'"),
			gadget("deprecated: false", `, old: {type: string}, mode: {type: string, enum: ["16", "17"]}`, "size: 9, mode: '17'"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(t, c.set(t, set.Options{}, row.before))
			upgrade := c.set(t, set.Options{}, row.after)
			c.plan(t, upgrade)
			for _, line := range c.apply(t, upgrade) {
				require.Contains(t, line, " Done")
				require.NotContains(t, line, ":")
			}
			for _, line := range c.plan(t, c.set(t, set.Options{}, row.after)) {
				require.Contains(t, line, string(ssaplan.ActionNoOp))
			}
		})
	}
}

// TestWhatRefersToItByOthers holds back what refers to an object that is left out, also by way of others, and says so
// in the plan, whatever the order of the stages: no workload is changed to need what the same run has left out. What
// refers by way of an object that doesn't change works as before.
func TestWhatRefersToItByOthers(t *testing.T) {
	const text = `
{apiVersion: v1, kind: Secret, metadata: {name: pull, namespace: NAME}, immutable: true, stringData: {a: "v%[1]d"}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: acc, namespace: NAME, labels: {v: "%[2]d"}}, imagePullSecrets: [{name: pull}]}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: NAME}, spec: {replicas: 0, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}},
  spec: {serviceAccountName: acc, containers: [{name: c, image: "c:%[1]d"}]}}}}`
	for name, row := range map[string]struct {
		account int
		warned  []string
		want    []string // besides the Secret
	}{
		"all change": {2, []string{
			"ServiceAccount: is left out as long as v1/Secret NAME/pull is, which it refers to",
			"Deployment: is left out as long as v1/ServiceAccount NAME/acc is, which it refers to",
		}, []string{
			"ServiceAccount NotSent: v1/ServiceAccount NAME/acc: left out: it refers to v1/Secret NAME/pull, which doesn't match the set",
			"Deployment NotSent: apps/v1/Deployment NAME/web: left out: it refers to v1/ServiceAccount NAME/acc, which doesn't match the set",
		}},
		"what is between stays": {1, nil, []string{"ServiceAccount Done", "Deployment Done"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(t, c.set(t, set.Options{}, fmt.Sprintf(text, 1, 1)))
			now := c.set(t, set.Options{}, fmt.Sprintf(text, 2, row.account))
			var warned []string
			for item := range now.Plan(t.Context()) {
				require.NoError(t, item.Err)
				for _, warning := range item.Plan.Warnings {
					warned = append(warned, item.Object.Kind+": "+strings.ReplaceAll(warning.String(), c.name, "NAME"))
				}
			}
			require.Equal(t, row.warned, warned)
			row.want = append(row.want, "Secret NotSent: v1/Secret NAME/pull: left out: can't change in place: data")
			require.ElementsMatch(t, row.want, c.apply(t, now))
		})
	}
}
