package set

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/kinds"
)

// contents are what some objects of a set bring for others, each with the number of the object.
type contents struct {
	namespaces  map[string]int
	definitions map[schema.GroupKind]definition
	admission   map[string][]int          // by the names of webhooks and policies, with which servers refuse
	referred    map[kinds.Reference][]int // by kind and name
	limits      []int                     // of namespaces
}

type definition struct {
	number   int
	versions []string // that it has served
}

func (c *contents) add(i int, obj *unstructured.Unstructured) {
	reference := kinds.Reference{Kind: groupKind(obj).String(), Name: obj.GetName()}
	if kinds.Referred(reference.Kind) { // of most sets few are
		c.referred[reference] = append(c.referred[reference], i)
	}
	if kinds.Limits(reference.Kind) {
		c.limits = append(c.limits, i)
	}
	switch kind := groupKind(obj); {
	case kind == schema.GroupKind{Kind: "Namespace"}:
		c.namespaces[obj.GetName()] = i
	case isDefinition(obj):
		c.addDefinition(i, obj)
	case kind.Group == admissionGroup:
		c.admission[obj.GetName()] = append(c.admission[obj.GetName()], i)
		webhooks, _, _ := unstructured.NestedSlice(obj.Object, "webhooks")
		for _, webhook := range webhooks {
			if content, isMap := webhook.(map[string]any); isMap {
				name := fmt.Sprint(content["name"])
				c.admission[name] = append(c.admission[name], i)
			}
		}
	}
}

func (c *contents) addDefinition(i int, obj *unstructured.Unstructured) {
	group, _, _ := unstructured.NestedString(obj.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(obj.Object, "spec", "names", "kind")
	found := definition{number: i}
	versions, _, _ := unstructured.NestedSlice(obj.Object, "spec", "versions")
	for _, version := range versions {
		if content, isMap := version.(map[string]any); isMap && content["served"] == true {
			found.versions = append(found.versions, fmt.Sprint(content["name"]))
		}
	}
	c.definitions[schema.GroupKind{Group: group, Kind: kind}] = found
}

// serves reports whether the set defines a kind in a version.
func (c *contents) serves(id identity.Identity) (number int, ok bool) {
	found, ok := c.definitions[schema.GroupKind{Group: id.Group(), Kind: id.Kind}]
	return found.number, ok && slices.Contains(found.versions, id.Version())
}

// named returns the numbers of the webhooks and policies of the set that a refusal names.
func (c *contents) named(refusal string) (numbers []int) {
	for name, of := range c.admission {
		if strings.Contains(refusal, `"`+name+`"`) || strings.Contains(refusal, `'`+name+`'`) {
			numbers = append(numbers, of...)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// needs returns the numbers of the objects of the set without which an object in a namespace can't exist: its CRD and
// its namespace.
func (c *contents) needs(manifest *unstructured.Unstructured, namespace string) (numbers []int) {
	if found, ok := c.definitions[groupKind(manifest)]; ok {
		numbers = append(numbers, found.number)
	}
	if number, ok := c.namespaces[namespace]; ok {
		numbers = append(numbers, number)
	}
	return numbers
}

// regarded returns the numbers of the objects of the set that a server looks at before it admits an object into its
// namespace, by what it refused it for.
func (s *Set) regarded(ctx context.Context, item *Item) (numbers []int) {
	manifest := s.requests[item.Number].Manifest
	if manifest == nil {
		return nil
	}
	namespace := s.resolve(ctx, item.Number).Namespace
	class := authresilience.Classify(item.Err)
	switch class {
	case authresilience.ClassQuota, authresilience.ClassLimitRange, authresilience.ClassAdmission: // which one isn't told of a Secret
		numbers = s.in(ctx, namespace, s.contents.limits)
	}
	switch class {
	case authresilience.ClassAdmission, authresilience.ClassNotFound:
		for _, reference := range kinds.EnforcedReferences(groupKind(manifest).String(), manifest.Object) {
			numbers = append(numbers, s.in(ctx, namespace, s.contents.referred[reference])...)
		}
	}
	switch class {
	case authresilience.ClassAdmission, authresilience.ClassPodSecurity:
		if number, ok := s.contents.namespaces[namespace]; ok {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// uses returns the numbers of the objects of the set that an object refers to, without which it doesn't work.
func (s *Set) uses(ctx context.Context, i int) (numbers []int) {
	manifest := s.requests[i].Manifest
	if manifest == nil || len(s.contents.referred) == 0 {
		return nil
	}
	for _, reference := range kinds.References(groupKind(manifest).String(), manifest.Object) {
		namespace := reference.Namespace
		reference.Namespace = ""
		candidates := s.contents.referred[reference]
		if len(candidates) > 0 && namespace == "" {
			namespace = s.resolve(ctx, i).Namespace
		}
		numbers = append(numbers, s.in(ctx, namespace, candidates)...)
	}
	return numbers
}

// in returns the numbers of those objects that are in a namespace, or in none.
func (s *Set) in(ctx context.Context, namespace string, numbers []int) (found []int) {
	for _, i := range numbers {
		if of := s.resolve(ctx, i).Namespace; of == namespace || of == "" {
			found = append(found, i)
		}
	}
	return found
}

// resolve names an object with the namespace that it is in, as far as the server tells.
func (s *Set) resolve(ctx context.Context, i int) identity.Identity {
	id := s.objectOf(i)
	if resolved, err := s.planner.Resolve(ctx, id); err == nil {
		return resolved
	}
	return id
}
