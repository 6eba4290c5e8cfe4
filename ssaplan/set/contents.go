package set

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
)

// contents are what some objects of a set bring for others, each with the number of the object.
type contents struct {
	namespaces  map[string]int
	definitions map[schema.GroupKind]definition
	admission   map[string][]int // by the names of webhooks and policies, with which servers refuse
}

type definition struct {
	number   int
	versions []string // that it has served
}

const (
	admissionGroup  = "admissionregistration.k8s.io"
	definitionGroup = "apiextensions.k8s.io"
)

func (c *contents) add(i int, obj *unstructured.Unstructured) {
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

func isDefinition(obj *unstructured.Unstructured) bool {
	return groupKind(obj) == schema.GroupKind{Group: definitionGroup, Kind: "CustomResourceDefinition"}
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

// needs returns the numbers of the objects of the set without which an object can't exist: its definition and its namespace.
func (s *Set) needs(i int) (numbers []int) {
	if s.requests[i].Manifest == nil {
		return nil
	}
	if found, ok := s.contents.definitions[groupKind(s.requests[i].Manifest)]; ok {
		numbers = append(numbers, found.number)
	}
	if number, ok := s.contents.namespaces[s.namespaceOf(i)]; ok {
		numbers = append(numbers, number)
	}
	return numbers
}

// namespaceOf returns the namespace of an object, as far as it is known whether it has one.
func (s *Set) namespaceOf(i int) string {
	if item := s.items[i]; item != nil {
		return item.Object.Namespace
	}
	return s.requests[i].Manifest.GetNamespace()
}
