package fieldowner_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

const oddDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: odds.odd.example.com}
spec:
  group: odd.example.com
  scope: Namespaced
  names: {plural: odds, singular: odd, kind: Odd, listKind: OddList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              struct: {type: object, x-kubernetes-map-type: granular, properties: {a: {type: integer}, b: {type: integer}}}
              list:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [a, b]
                items: {type: object, properties: {a: {type: string, default: A}, b: {type: integer, default: 1}, value: {type: integer}}}
              flat: {type: object, additionalProperties: {type: string}}
              none: {type: object, nullable: true, properties: {a: {type: integer}}}
              noneWhole: {type: object, nullable: true, x-kubernetes-map-type: atomic, properties: {a: {type: integer}}}
              noList: {type: array, nullable: true, items: {type: integer}}
              noSet: {type: array, nullable: true, x-kubernetes-list-type: set, items: {type: integer}}
`

const (
	oddHead = "apiVersion: odd.example.com/v1\nkind: Odd\nmetadata: {name: odd}\nspec: "
	webHead = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: odd}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
`
)

// TestOddConflicts compares predicted conflicts with those of the server where a list has an item several times, where
// a value becomes one of another type, where the schema changes, and where maps are empty.
func TestOddConflicts(t *testing.T) {
	c := lab.New(t)
	c.Define(t, lab.Object(t, oddDefinition))
	web := func(env string) string {
		return webHead + "      containers: [{name: c, image: i, env: " + env + "}]"
	}
	twice := web("[{name: PATH, value: /a}, {name: X, value: x}, {name: PATH, value: /b}]")
	tests := []struct{ name, by, live, manifest, schema, why string }{
		{"one of two", "Update", twice, web("[{name: PATH, value: /new}]"), "", "the other one would go"},
		{"the first of two", "Update", twice, web("[{name: PATH, value: /a}]"), "", "even if it stays as it is"},
		{"the last of two", "Update", twice, web("[{name: PATH, value: /b}]"), "", "the same"},
		{"beside two", "Update", twice, web("[{name: X, value: x}]"), "", "they stay"},
		{"another beside two", "Update", twice, web("[{name: X, value: z}]"), "", "only that one is in conflict"},
		{"a map becomes a list", "Apply", oddHead + "{free: {f: {a: 1}}}", oddHead + "{free: {f: [1]}}", "", "it isn't merged"},
		{"a list becomes a map", "Apply", oddHead + "{free: {f: [1]}}", oddHead + "{free: {f: {a: 1}}}", "", "nor this"},
		{"a value becomes a map", "Apply", oddHead + "{free: {f: 1}}", oddHead + "{free: {f: {a: 1}}}", "", "nor this"},
		{"a map grows", "Apply", oddHead + "{free: {f: {a: 1}}}", oddHead + "{free: {f: {b: 1}}}", "", "it is merged"},
		{"empty in a map", "Apply", oddHead + "{free: {f: {a: 1}}}", oddHead + "{free: {f: {}}}", "", "nothing of it changes"},
		{"empty where a list is", "Apply", oddHead + "{free: {f: [1]}}", oddHead + "{free: {f: {}}}", "", "another type"},
		{"a schema that becomes atomic", "Apply", oddHead + "{struct: {a: 1}}", oddHead + "{struct: {b: 2}}", "atomic", "the whole is owned"},
		{"a schema that becomes atomic, after an update", "Update", oddHead + "{struct: {a: 1}}", oddHead + "{struct: {b: 2}}", "atomic", "the same"},
		{"the same under a schema that becomes atomic", "Apply", oddHead + "{struct: {a: 1}}", oddHead + "{struct: {a: 1}}", "atomic", "nothing changes"},
		{"an empty spec", "Apply", "{apiVersion: v1, kind: Namespace, metadata: {name: odd-empty}, spec: {}}",
			"{apiVersion: v1, kind: Namespace, metadata: {name: odd-empty}, spec: {}}", "", "the server filled it"},
		{"an empty strategy", "Apply", webHead + "      containers: [{name: c, image: i}]\n  strategy: {}",
			webHead + "      containers: [{name: c, image: i}]\n  strategy: {}", "", "the server filled it"},
	}
	type test = struct{ name, by, live, manifest, schema, why string }
	for _, by := range []string{"Apply", "Update", "nobody"} {
		for _, was := range []string{"null", "{}", "{a: 1}"} {
			for _, is := range []string{"null", "{}", "{a: 1}"} {
				for _, name := range []string{"none", "noneWhole"} {
					if name == "noneWhole" && by == "nobody" && was == "{a: 1}" && is != was {
						continue // whether an empty map replaces one of which nothing is recorded is up to the schema
					}
					tests = append(tests, test{fmt.Sprintf("%s by %s from %s to %s", name, by, was, is), by, oddHead + "{" + name + ": " + was + "}",
						oddHead + "{" + name + ": " + is + "}", "", "null is a value of a custom resource"})
				}
			}
		}
		for _, was := range []string{"null", "[]", "[1]"} {
			for _, is := range []string{"null", "[]", "[1]"} {
				for _, name := range []string{"noList", "noSet"} {
					if name == "noSet" && by == "nobody" && was == "[1]" && is == "null" {
						continue // the same
					}
					tests = append(tests, test{fmt.Sprintf("%s by %s from %s to %s", name, by, was, is), by, oddHead + "{" + name + ": " + was + "}",
						oddHead + "{" + name + ": " + is + "}", "", "null is a value of a custom resource"})
				}
			}
		}
		for _, was := range []string{"null", "[]"} {
			role := "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: odd}, rules: "
			tests = append(tests, test{fmt.Sprintf("rules by %s from %s", by, was), by, role + was + "}", role + "[]}", "", "a null of a built-in kind"})
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			obj, mine := lab.Object(t, tt.live), lab.Object(t, tt.manifest)
			if tt.by == "Apply" {
				c.Apply(t, "other", obj)
			} else {
				_, err := c.Resource(t, obj).Create(context.Background(), obj, metav1.CreateOptions{FieldManager: "other"})
				require.NoError(t, err)
			}
			defer c.Delete(t, obj)
			if tt.by == "nobody" {
				c.Patch(t, "other", obj, `{"metadata": {"managedFields": [{}]}}`)
				require.Empty(t, c.Get(t, obj).GetManagedFields())
			}
			live := c.Get(t, obj)
			if tt.schema != "" {
				c.Define(t, lab.Object(t, strings.Replace(oddDefinition, "map-type: granular", "map-type: "+tt.schema, 1)))
				defer c.Define(t, lab.Object(t, oddDefinition))
				lab.Eventually(t, "the schema is in use", func() bool {
					set, err := managedFields(dryRun(t, c, mine).Object, "me")
					return err == nil && !strings.Contains(set.String(), "struct.")
				})
			}
			declared, err := managedFields(dryRun(t, c, mine).Object, "me")
			require.NoError(t, err)
			predicted, err := fieldowner.PredictConflicts(live.Object, mine.Object, declared, fieldowner.Applier{Manager: "me"})
			require.NoError(t, err)
			_, refused := c.TryApply(t, mine, metav1.PatchOptions{FieldManager: "me", DryRun: []string{metav1.DryRunAll}})
			assert.Equal(t, conflictLines(fieldowner.ConflictsFromError(refused, live.Object)), conflictLines(predicted), "%s; the server: %v", tt.why, refused)
		})
	}
}

// dryRun returns the object as a forced apply as "me" would leave it.
func dryRun(t *testing.T, c *lab.Cluster, manifest *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	force := true
	obj, err := c.TryApply(t, manifest, metav1.PatchOptions{FieldManager: "me", Force: &force, DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	return obj
}

// TestOddImports applies the manifest of what a manager applied as that manager, where it left something empty.
func TestOddImports(t *testing.T) {
	c := lab.New(t)
	c.Define(t, lab.Object(t, oddDefinition))
	container := webHead + "      containers: [{name: c, image: i}]\n"
	tests := []struct{ name, manifest, why string }{
		{"namespace", "{apiVersion: v1, kind: Namespace, metadata: {name: odd-import}, spec: {}, status: {}}", "finalizers"},
		{"strategy", container + "  strategy: {}", "type and rollingUpdate"},
		{"rolling update", container + "  strategy: {rollingUpdate: {}}", "its fields"},
		{"security context", container + "      securityContext: {}", "stays empty"},
		{"resources", webHead + "      containers: [{name: c, image: i, resources: {}, securityContext: {}}]", "stays empty"},
		{"limits", webHead + "      containers: [{name: c, image: i, resources: {limits: {cpu: 1}}}]", "requests are limits"},
		{"volumes", container + "      volumes: [{name: a, emptyDir: {}}, {name: b, downwardAPI: {}}]", "a default mode"},
		{"default keys", oddHead + "{list: [{value: 1}]}", "all keys are defaulted"},
		{"a default key", oddHead + "{list: [{value: 1}, {b: 2, value: 2}, {a: B, value: 3}, {a: C, b: 3, value: 4}]}", "some are"},
		{"empty maps", oddHead + "{struct: {}, flat: {}, list: []}", "of a custom resource"},
		{"service", "{apiVersion: v1, kind: Service, metadata: {name: odd}, spec: {ports: [{port: 80}], sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {}}}}",
			"a timeout"},
		{"autoscaler", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: odd}, spec: {maxReplicas: 3, " +
			"scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, behavior: {scaleUp: {}, scaleDown: {stabilizationWindowSeconds: 5}}}}", "policies"},
		{"network policy", "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: odd}, spec: {podSelector: {}, ingress: [{}]}}",
			"an atomic map that is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			live := c.Apply(t, "me", lab.Object(t, tt.manifest))
			defer c.Delete(t, live)
			m, err := fieldowner.NewManifest(live.Object, fieldowner.Selection{Strategy: fieldowner.ManagerFields, Manager: "me", Operation: fieldowner.OperationApply})
			require.NoError(t, err)
			assert.Equal(t, live.Object, dryRun(t, c, &unstructured.Unstructured{Object: m.Object}).Object, "%s; applied %v", tt.why, m.Object)
		})
	}
}

// TestImportOfFieldsThatAreNotStored applies an import with empty maps, which a built-in kind doesn't store: values and
// owners stay the same.
func TestImportOfFieldsThatAreNotStored(t *testing.T) {
	c := lab.New(t)
	live := c.Apply(t, "me", lab.Object(t,
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: odd, labels: {}}, data: {}}"))
	m, err := fieldowner.NewManifest(live.Object, fieldowner.Selection{
		Strategy: fieldowner.ManagerFields, Manager: "me", Operation: fieldowner.OperationApply})
	require.NoError(t, err)
	require.NotEmpty(t, m.Missing)
	made := dryRun(t, c, &unstructured.Unstructured{Object: m.Object})
	assertValues(t, live.Object, made.Object, m.Object)
	assert.True(t, read(t, live.Object).Equal(read(t, made.Object)), "%v", m.Object)
}

// TestConflictNames changes one of two fields that a server prints alike, and both. Each conflict names the field that
// would change.
func TestConflictNames(t *testing.T) {
	c := lab.New(t)
	c.Define(t, lab.Object(t, oddDefinition))
	live := c.Apply(t, "other", lab.Object(t, oddHead+`{free: {"a.b": 1, a: {b: 1}}}`))
	for free, want := range map[string][]string{
		`{"a.b": 2, a: {b: 1}}`: {`spec.free["a.b"]: owned by "other" (Apply)`},
		`{"a.b": 1, a: {b: 2}}`: {`spec.free.a.b: owned by "other" (Apply)`},
		`{"a.b": 2, a: {b: 2}}`: {`spec.free.a.b: owned by "other" (Apply)`, `spec.free["a.b"]: owned by "other" (Apply)`},
		`{"a.b": 2}`:            {`spec.free["a.b"]: owned by "other" (Apply)`},
	} {
		mine := lab.Object(t, oddHead+"{free: "+free+"}")
		plan, err := c.Planner(t, ssaplan.Options{FieldManager: "me", RefuseConflicts: true}).Plan(t.Context(), ssaplan.Request{Manifest: mine})
		require.NoError(t, err)
		require.Equal(t, ssaplan.ActionConflict, plan.Action)
		assert.Equal(t, want, conflictLines(plan.Conflicts), free)
		declared, err := managedFields(dryRun(t, c, mine).Object, "me")
		require.NoError(t, err)
		predicted, err := fieldowner.PredictConflicts(live.Object, mine.Object, declared, fieldowner.Applier{Manager: "me"})
		require.NoError(t, err)
		assert.Equal(t, want, conflictLines(predicted), free)
	}
}
