package set

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan/internal/objectset"
)

// contents are the objects of a set on which other objects may depend, by their numbers.
type contents struct {
	objectset.Created
	admission map[string][]int          // webhooks and policies, by their names in rejections
	referred  map[kinds.Reference][]int // objects to which others may refer, by kind and name
	limits    []int                     // objects that limit namespaces
}

func (c *contents) add(i int, obj *unstructured.Unstructured) {
	reference := kinds.Reference{Kind: groupKind(obj).String(), Name: obj.GetName()}
	if kinds.Referred(reference.Kind) { // most sets have few of these
		c.referred[reference] = append(c.referred[reference], i)
	}
	if kinds.Limits(reference.Kind) {
		c.limits = append(c.limits, i)
	}
	c.Add(i, obj.Object)
	if groupKind(obj).Group == kinds.AdmissionGroup {
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

// named returns the numbers of the webhooks and policies of the set that a rejection names.
func (c *contents) named(refusal string) (numbers []int) {
	for name, of := range c.admission {
		if strings.Contains(refusal, `"`+name+`"`) || strings.Contains(refusal, `'`+name+`'`) {
			numbers = append(numbers, of...)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// needs returns the numbers of the objects of the set without which an object in a namespace can't exist.
func (c *contents) needs(manifest *unstructured.Unstructured, namespace string) []int {
	return c.Needs(identity.Identity{APIVersion: manifest.GetAPIVersion(), Kind: manifest.GetKind(),
		Namespace: namespace})
}
