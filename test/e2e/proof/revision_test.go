package proof_test

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/projection"
)

//go:embed testdata/revisions.yaml
var revisionsYAML []byte

// revisedKind is the kind whose definition changes between the steps of a case.
const revisedKind = "Draft"

// slotGroup is how manifests write the group of that kind. There is a definition for each of the cases that run at the
// same time.
const slotGroup = "$slot.proof.example.com"

// formerVersion is one that others write in, as long as the definition has it.
const formerVersion = slotGroup + "/v1beta1"

// revision is what a definition says of the field spec in both versions, and whether it has dropped the former one.
type revision struct {
	Why     string         `json:"why"`
	Dropped bool           `json:"dropped"`
	Spec    map[string]any `json:"spec"`
}

var revisions = func() []revision {
	text, err := yaml.YAMLToJSON(revisionsYAML)
	if err != nil {
		panic(err)
	}
	var doc struct {
		Revisions []revision `json:"revisions"`
	}
	if err := utiljson.Unmarshal(text, &doc); err != nil {
		panic(err)
	}
	return doc.Revisions
}()

// definition returns the definition in a revision. Its group is that of a slot.
func (o *object) definition(n int) *unstructured.Unstructured {
	group, _ := o.fill(slotGroup).(string)
	spec := copyOf(revisions[n].Spec)
	properties, _ := spec["properties"].(map[string]any)
	for name, schema := range properties {
		if schema == nil {
			delete(properties, name)
		}
	}
	properties["revision"] = map[string]any{"type": "integer", "default": int64(n)}
	var versions []any
	for _, name := range servedIn(n) {
		versions = append(versions, map[string]any{"name": name, "served": true, "storage": name == "v1", "schema": map[string]any{
			"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{"spec": copyOf(spec)}}}})
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "drafts." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "versions": versions,
			"names": map[string]any{"kind": revisedKind, "plural": "drafts", "singular": "draft", "listKind": "DraftList"},
		},
	}}
}

// servedIn returns the versions that a revision has.
func servedIn(n int) []string {
	if revisions[n].Dropped {
		return []string{"v1"}
	}
	return []string{"v1", "v1beta1"}
}

// define makes a revision of the definition the one that is in force.
func (o *object) define(ctx context.Context, n int) error {
	if o.inForce(ctx, n) {
		return nil
	}
	definition := o.definition(n)
	resource, err := o.cluster.Find(definition.GroupVersionKind(), "")
	if err != nil {
		return err
	}
	_, err = resource.Apply(ctx, definition.GetName(), definition, metav1.ApplyOptions{FieldManager: installer, Force: true})
	if err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, 10*time.Minute, true, func(ctx context.Context) (bool, error) {
		return o.inForce(ctx, n), nil
	})
}

// inForce reports whether the server makes objects as the revision says, in each version.
func (o *object) inForce(ctx context.Context, n int) bool {
	for _, version := range servedIn(0) {
		if o.makes(ctx, version, n) != slices.Contains(servedIn(n), version) {
			return false
		}
	}
	return true
}

// makes reports whether the server makes objects in a version, as the revision says.
func (o *object) makes(ctx context.Context, version string, n int) bool {
	group, _ := o.fill(slotGroup).(string)
	marker := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + version, "kind": revisedKind, "metadata": map[string]any{"name": "marker"},
		"spec": map[string]any{"size": int64(1)},
	}}
	resource, err := o.cluster.resource(marker.GroupVersionKind())
	if err != nil {
		return false
	}
	made, err := resource.Create(ctx, marker, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: installer})
	if err != nil {
		return false
	}
	found, _ := lookup(made.Object, place{"spec", "revision"})
	return found == int64(n)
}

// revised puts changes of the definition between steps, if the kind has such a definition.
func (g *generator) revised(steps []Step) (out []Step) {
	for i, step := range steps {
		if g.kind.Revised && i > 0 && g.chance(50) {
			out = append(out, Step{By: installer, Write: "define", Body: map[string]any{"revision": int64(g.IntN(len(revisions)))}})
		}
		out = append(out, step)
	}
	return out
}

// isRevised reports whether the definition of the object's kind changes between steps.
func (o *object) isRevised() bool { return o.gvk.Kind == revisedKind }

// revised makes the definition the one of a step.
func (o *object) revised(ctx context.Context, s Step) error {
	n, ok := lookup(s.Body, place{"revision"})
	if i, isInt := n.(int64); ok && isInt && i >= 0 && int(i) < len(revisions) {
		if err := o.define(ctx, int(i)); err != nil {
			return err
		}
		o.redefined = append(o.redefined, redefined(o.revision, int(i))...)
		o.revision = int(i)
		return nil
	}
	return fmt.Errorf("no revision %v", n)
}

// redefined returns the fields of which one revision says that they have one owner each, and another that they have one
// for each field or item, and the lists whose items have other keys in one than in the other.
func redefined(before, after int) (found []projection.Path) {
	of := func(n int, name string) (out [3]string) {
		for i, kind := range []string{"x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-list-map-keys"} {
			v, _ := lookup(revisions[n].Spec, place{"properties", name, kind})
			out[i] = fmt.Sprint(v)
		}
		return out
	}
	properties, _ := revisions[0].Spec["properties"].(map[string]any)
	for name := range properties {
		if of(before, name) != of(after, name) {
			found = append(found, projection.Path{projection.Field("spec"), projection.Field(name)})
		}
	}
	return found
}

// isRedefined reports whether a path leads to such a field, or into it, and no apply has recorded its owners since.
// managedFields describe the field as the definition did at the last write, so neither a refresh nor an import knows
// the new definition.
func (o *object) isRedefined(p projection.Path) bool {
	return slices.ContainsFunc(o.redefined, p.HasPrefix)
}

// TestVersionsComeBack checks that the cases find a version of the definition that is served again after a planner has
// reset the mapper while it wasn't.
func TestVersionsComeBack(t *testing.T) {
	kinds, err := readKinds()
	require.NoError(t, err)
	c := newCluster(t, slices.DeleteFunc(kinds, func(k kind) bool { return !k.Revised }))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	draft := &object{cluster: c}
	without := slices.IndexFunc(revisions, func(r revision) bool { return r.Dropped })
	require.NoError(t, draft.define(ctx, without))
	meta.MaybeResetRESTMapper(c.Mapper)
	_, err = c.Mapper.RESTMapping(draft.definition(0).GroupVersionKind().GroupKind()) // it asks the server which versions there are
	require.NoError(t, err)
	require.NoError(t, draft.define(ctx, 0))
}
