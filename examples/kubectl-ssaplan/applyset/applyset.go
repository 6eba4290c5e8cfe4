// Package applyset answers: which objects belong to an ApplySet, and which tool owns it? It isn't for applying or
// pruning: package ssaplan/set is.
//
// An ApplySet is how kubectl apply --applyset remembers in the cluster what was applied together. Each member has a
// label with the ID of the set. A parent object has the kinds and namespaces of the members:
//
//	member, err := applyset.Mark(manifest, applyset.ID(parent.Object)) // adds the label of the set
//	if err != nil {
//		log.Fatal(err)
//	}
//	id, err := identity.Of(member.Object)
//	if err != nil {
//		log.Fatal(err)
//	}
//	parent = parent.With([]identity.Identity{id}) // apply its Manifest first, then the members
//
// The package knows the labels and annotations as kubectl writes and reads them, and sends nothing.
package applyset

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
)

// The label of the members of an ApplySet.
const (
	// PartOfLabel is the label of members. Its value is the ID of the set.
	PartOfLabel = "applyset.kubernetes.io/part-of"

	idLabel              = "applyset.kubernetes.io/id"
	toolingAnnotation    = "applyset.kubernetes.io/tooling"
	kindsAnnotation      = "applyset.kubernetes.io/contains-group-kinds"
	namespacesAnnotation = "applyset.kubernetes.io/additional-namespaces"
)

// ID returns the ID of the ApplySet with this parent. The version of the parent's kind doesn't matter.
func ID(parent identity.Identity) string {
	sum := sha256.Sum256([]byte(
		strings.Join([]string{parent.Name, parent.Namespace, parent.Kind, parent.Group()}, ".")))
	return "applyset-" + base64.RawURLEncoding.EncodeToString(sum[:]) + "-v1"
}

// Parent is the parent object of an ApplySet.
type Parent struct {
	Object identity.Identity
	// Tooling is the tool that the set belongs to, and its version, with a slash between them.
	Tooling string
	// Kinds are the kinds of the members. Namespaces are the namespaces of the members, except the parent's.
	Kinds      []schema.GroupKind
	Namespaces []string
}

// ParentError says why an object isn't the parent of an ApplySet, or not of one that the tool may change. Nothing was
// written.
type ParentError struct {
	Object  identity.Identity
	Problem string
}

func (e *ParentError) Error() string { return fmt.Sprintf("%s: %s", e.Object, foreign.Text(e.Problem)) }

// Read returns the Parent from a live object. It is a [ParentError] if the object isn't the parent of an ApplySet, or
// is one of another tool.
func Read(live *unstructured.Unstructured, tooling string) (*Parent, error) {
	id, err := identity.Of(live.Object)
	if err != nil {
		return nil, err
	}
	refuse := func(format string, args ...any) error { return &ParentError{id, fmt.Sprintf(format, args...)} }
	labels, annotations := live.GetLabels(), live.GetAnnotations()
	theirs, isParent := annotations[toolingAnnotation]
	kinds, hasKinds := annotations[kindsAnnotation]
	switch {
	case !isParent:
		return nil, refuse("it exists but isn't an ApplySet: it lacks the annotation %s; choose another name",
			toolingAnnotation)
	case toolOf(theirs) != toolOf(tooling):
		return nil, refuse("the ApplySet belongs to %s, and not to %s", toolOf(theirs), toolOf(tooling))
	case labels[idLabel] != ID(id):
		return nil, refuse("its label %s is %q; expected %q", idLabel, labels[idLabel], ID(id))
	case !hasKinds:
		return nil, refuse("it lacks the annotation %s, which lists the kinds of its members", kindsAnnotation)
	}
	parent := &Parent{Object: id, Tooling: tooling, Namespaces: split(annotations[namespacesAnnotation])}
	for _, kind := range split(kinds) {
		parent.Kinds = append(parent.Kinds, schema.ParseGroupKind(kind))
	}
	return parent, nil
}

// toolOf returns the name of a tool, without its version.
func toolOf(tooling string) string {
	if i := strings.LastIndex(tooling, "/"); i >= 0 {
		return tooling[:i]
	}
	return tooling
}

func split(text string) []string {
	return slices.DeleteFunc(strings.Split(text, ","), func(part string) bool { return part == "" })
}

// Of returns the parent with the kinds and namespaces of these members only.
func (p Parent) Of(members []identity.Identity) Parent {
	p.Kinds, p.Namespaces = nil, nil
	return p.With(members)
}

// With returns the parent with the kinds and namespaces of more members.
func (p Parent) With(members []identity.Identity) Parent {
	kinds, namespaces := map[schema.GroupKind]bool{}, map[string]bool{}
	for _, kind := range p.Kinds {
		kinds[kind] = true
	}
	for _, namespace := range p.Namespaces {
		namespaces[namespace] = true
	}
	for _, id := range members {
		kinds[schema.GroupKind{Group: id.Group(), Kind: id.Kind}] = true
		if id.Namespace != "" && id.Namespace != p.Object.Namespace {
			namespaces[id.Namespace] = true
		}
	}
	p.Kinds = slices.SortedFunc(maps.Keys(kinds),
		func(a, b schema.GroupKind) int { return strings.Compare(a.String(), b.String()) })
	p.Namespaces = slices.Sorted(maps.Keys(namespaces))
	return p
}

// Manifest returns the manifest to apply to the parent object.
func (p Parent) Manifest() *unstructured.Unstructured {
	var kinds []string
	for _, kind := range p.Kinds {
		kinds = append(kinds, kind.String())
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": p.Object.APIVersion, "kind": p.Object.Kind}}
	obj.SetName(p.Object.Name)
	obj.SetNamespace(p.Object.Namespace)
	obj.SetLabels(map[string]string{idLabel: ID(p.Object)})
	obj.SetAnnotations(map[string]string{
		toolingAnnotation: p.Tooling, kindsAnnotation: strings.Join(kinds, ","),
		namespacesAnnotation: strings.Join(p.Namespaces, ","),
	})
	return obj
}

// Mark returns a copy of a manifest that makes its object a member of a set. A manifest that already has the label
// [PartOfLabel] is an error.
func Mark(manifest *unstructured.Unstructured, id string) (*unstructured.Unstructured, error) {
	labels := manifest.GetLabels()
	if _, marked := labels[PartOfLabel]; marked {
		return nil, fmt.Errorf("metadata.labels[%q]: set by the manifest itself; leave it out", PartOfLabel)
	}
	marked := manifest.DeepCopy()
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[PartOfLabel] = id
	marked.SetLabels(labels)
	return marked, nil
}
