package lab_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/test/lab"
)

func TestObjectsKeepIntegers(t *testing.T) {
	objects := lab.Objects(t, "{kind: A, size: 9007199254740993}\n---\nkind: B\nsize: 1.5\n")
	assert.Len(t, objects, 2)
	assert.Equal(t, map[string]any{"kind": "A", "size": int64(9007199254740993)}, objects[0].Object,
		"a float has no room for it")
	assert.Equal(t, map[string]any{"kind": "B", "size": 1.5}, objects[1].Object)
	assert.Equal(t, map[string]any{"kind": "50%"}, lab.Object(t, "kind: 50%").Object, "no format")
	assert.Equal(t, map[string]any{"kind": "C", "size": int64(3)}, lab.Objectf(t, "{kind: %s, size: %d}", "C", 3).Object)
}

func TestDefinedKindsAreServedInTheirNamespace(t *testing.T) {
	c := lab.New(t)
	c.Define(t, lab.Object(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: benches.lab.example.com}
spec:
  group: lab.example.com
  scope: Namespaced
  names: {plural: benches, singular: bench, kind: Bench, listKind: BenchList}
  versions:
  - &version
    name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - <<: *version
    name: v2
    storage: false
`))
	bench := lab.Object(t, "{apiVersion: lab.example.com/v2, kind: Bench, metadata: {name: a}, spec: {size: 1}}")
	assert.Nil(t, c.Lookup(t, bench))
	c.Apply(t, "first", bench)
	c.Patch(t, "second", bench, `{"spec": {"size": 2}}`)
	c.Apply(t, "third", bench)
	live := c.Get(t, bench)
	assert.Equal(t, c.Namespace, live.GetNamespace())
	assert.EqualValues(t, 1, live.Object["spec"].(map[string]any)["size"], "applied by force")
	assert.Len(t, live.GetManagedFields(), 2, "one writer each, but for the one that lost all it had")
	generation := c.Kubectl(t, "", "get", "benches.v1.lab.example.com", "a", "-o", "jsonpath={.metadata.generation}")
	assert.Equal(t, "3", generation)
	c.Delete(t, bench)
	assert.Nil(t, c.Lookup(t, bench))
}

func TestNamespacesAreTheTestsOwn(t *testing.T) {
	first, second := lab.New(t), lab.New(t)
	assert.NotEqual(t, first.Namespace, second.Namespace)
	assert.Regexp(t, "^testnamespacesarethetestsown-[a-z0-9]+$", first.Namespace)
	settings := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}")
	first.Apply(t, "tester", settings)
	assert.Nil(t, second.Lookup(t, settings))
	assert.NotNil(t, second.In(first.Namespace).Lookup(t, settings))
}

func TestRightsAreThereAfterTheWait(t *testing.T) {
	c := lab.New(t)
	settings := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}")
	for i := range 5 {
		user := fmt.Sprintf("%s-%d", c.Namespace, i)
		c.Apply(t, "admin", lab.Objectf(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: %s},
			rules: [{apiGroups: [""], resources: [configmaps], verbs: [get, create, patch, delete]}]}`, user))
		c.Apply(t, "admin", lab.Objectf(t, `{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: %[1]s},
			roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: %[1]s},
			subjects: [{kind: User, name: %[1]s, apiGroup: rbac.authorization.k8s.io}]}`, user))
		c.WaitAllowed(t, user, "get", "configmaps")
		as := c.As(t, user)
		as.Apply(t, "user", settings)
		as.Delete(t, settings)
		assert.Nil(t, as.Lookup(t, settings))
	}
}
