package planner_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/lab"
)

// A policy that acts only outside of dry runs has the server do something else than it said. The answer of the write is
// compared with the plan, field by field.
func TestAnswerThatIsNotAsPlanned(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	for name, expression := range map[string]string{
		"token":  `Object{data: {"token": "issued"}}`,
		"label":  `Object{metadata: Object.metadata{labels: {"injected": "yes"}}}`,
		"theirs": `"a" in object.data ? Object{data: {"b": "overwritten"}} : Object{}`,
		"fresh":  `oldObject == null ? Object{data: {"token": "issued"}} : Object{}`,
		"undone": `oldObject == null ? Object{} : Object{data: {"a": string(oldObject.data.a)}}`,
	} {
		c.admit(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: %[2]s-%[1]s}, spec: {
			matchConditions: [{name: in-earnest, expression: '!(has(request.dryRun) && request.dryRun)'}],
			matchConstraints: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}},
				resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [configmaps], resourceNames: [%[2]s]}]},
			failurePolicy: Fail, reinvocationPolicy: Never, mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: '%[3]s'}}]}}`,
			c.Namespace, name, expression)
		c.admit(t, `{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: %[2]s-%[1]s}, spec: {policyName: %[2]s-%[1]s}}`, c.Namespace, name)
	}
	round := 0
	// differences applies another value, and returns how the object isn't as planned then.
	differences := func(t *testing.T, text string) (told []string, err error) {
		round++
		plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, text, round)})
		obj, err := c.planner.Apply(lab.Context(t), plan)
		require.Equal(t, write.OutcomeDone, write.OutcomeOf(err))
		all, failed := plan.Differences(obj)
		require.NoError(t, failed)
		for _, d := range all {
			told = append(told, d.String())
		}
		if err == nil { // whatever there is besides, the plan said
			require.Equal(t, fmt.Sprint(round), c.Get(t, plan.Result()).Object["data"].(map[string]any)["a"])
		}
		return told, err
	}
	inForce := func(t *testing.T, text string, want ...string) {
		var told []string
		lab.Eventually(t, "the policy to be in force", func() (done bool) {
			told, _ = differences(t, text)
			return len(told) > 0
		})
		require.Equal(t, want, told)
	}
	inForce(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: token}, data: {a: "%d", token: ""}}`, `data.token: "" -> "issued"`)
	inForce(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: label}, data: {a: "%d"}}`, `metadata.labels.injected: + "yes"`)
	c.Apply(t, "other", manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs}, data: {b: "theirs"}}`))
	inForce(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: theirs}, data: {a: "%d"}}`, `data.b: "theirs" -> "overwritten"`)
	c.apply(t, manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: fresh}, immutable: true, data: {a: "0"}}`))
	lab.Eventually(t, "the policy to be in force", func() bool {
		round++
		plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: fresh}, immutable: true, data: {a: "%d"}}`, round)})
		made, err := c.planner.Replace(lab.Context(t), plan, deletion.Options{})
		require.NoError(t, err)
		told, err := plan.Differences(made)
		require.NoError(t, err)
		if len(told) > 0 {
			require.Len(t, told, 1)
			require.Equal(t, `data.token: + "issued"`, told[0].String(), "a replacement is compared, too")
		}
		return len(told) > 0
	})
	var err error
	lab.Eventually(t, "the policy to be in force", func() bool {
		_, err = differences(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: undone}, data: {a: "%d"}}`)
		return err != nil
	})
	require.ErrorIs(t, err, write.ErrNoEffect)
	require.ErrorContains(t, err, "outside of dry runs")
	require.NotContains(t, err.Error(), "try again")
}
