package fieldowner

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ssaplan/primitives/projection"
)

// wideObject is a Deployment with n variables in each of three containers, which "a" applied and "b" scaled.
func wideObject(n int) map[string]any {
	var containers []any
	fields := map[string]any{}
	for c := range 3 {
		var env []any
		variables := map[string]any{}
		for i := range n {
			env = append(env, map[string]any{"name": fmt.Sprint("E", i), "value": "x"})
			variables[fmt.Sprintf(`k:{"name":"E%d"}`, i)] = map[string]any{".": map[string]any{}, "f:name": map[string]any{}, "f:value": map[string]any{}}
		}
		containers = append(containers, map[string]any{"name": fmt.Sprint("c", c), "env": env})
		fields[fmt.Sprintf(`k:{"name":"c%d"}`, c)] = map[string]any{".": map[string]any{}, "f:name": map[string]any{}, "f:env": variables}
	}
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"spec": map[string]any{"containers": containers, "replicas": int64(1)},
		"metadata": map[string]any{"name": "web", "resourceVersion": "7", "managedFields": []any{
			map[string]any{"manager": "a", "operation": "Apply", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:containers": fields}}},
			map[string]any{"manager": "b", "operation": "Update", "subresource": "scale",
				"fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}}},
		}},
	}
}

// BenchmarkWide shows that the cost of everything grows with the size of the object and not with its square.
func BenchmarkWide(b *testing.B) {
	for _, n := range []int{50, 500} {
		obj := wideObject(n)
		o, err := Read(obj)
		if err != nil {
			b.Fatal(err)
		}
		declared := o.Fields(Applier{Manager: "a"}.Is)
		for name, run := range map[string]func() error{
			"Read":             func() error { _, err := Read(obj); return err },
			"All":              func() error { return drain(o) },
			"Compare":          func() error { _ = Compare(o, Ownership{}, Applier{Manager: "a"}); return nil },
			"PredictConflicts": func() error { _, err := PredictConflicts(obj, obj, declared, Applier{Manager: "c"}); return err },
			"Dropped":          func() error { _ = o.Dropped(Ownership{}, nil, map[string]any{}, Applier{Manager: "a"}); return nil },
			"ManagerManifest":  func() error { _, err := NewManifest(obj, Selection{Strategy: ManagerFields, Manager: "a"}); return err },
			"UnownedManifest":  func() error { _, err := NewManifest(obj, Selection{Strategy: UnownedFields}); return err },
			"AllManifest":      func() error { _, err := NewManifest(obj, Selection{}); return err },
			"Migrate":          func() error { _, err := Migrate(obj, "c", "a"); return err },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					if err := run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func drain(o Ownership) error {
	var paths []projection.Path
	for p := range o.All() {
		paths = append(paths, p)
	}
	_, err := json.Marshal(len(paths))
	return err
}
