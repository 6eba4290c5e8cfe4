package set

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

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
	case kind.Group == kinds.AdmissionGroup:
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
