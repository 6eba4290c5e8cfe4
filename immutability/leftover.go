package immutability

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// leftovers returns the paths of the fields that live has and updated, the same object after an update with the whole
// manifest, has not: those which the apply would have left in place. Only fields beside, at or directly below one of the
// causes are returned, if there are any; an update also drops what has nothing to do with the error.
func leftovers(live, updated *unstructured.Unstructured, causes []cause) []string {
	if live == nil || updated == nil {
		return nil
	}
	var dropped []place
	for _, key := range sortedKeys(live.Object) {
		switch key {
		case "apiVersion", "kind", "metadata", "status":
			continue
		}
		at := place{path: key, pattern: key}
		dropped = append(dropped, at.dropped(live.Object[key], updated.Object, key)...)
	}
	near := slices.DeleteFunc(slices.Clone(dropped), func(p place) bool {
		return !slices.ContainsFunc(causes, func(c cause) bool { return p.near(c.pattern()) })
	})
	if len(near) > 0 {
		dropped = near
	}
	var paths []string
	for _, p := range dropped {
		paths = append(paths, p.path)
	}
	return paths
}

// place is a path in an object, and the same with [*] for every element of a list or key that is no identifier.
type place struct{ path, pattern string }

func (p place) field(key string) place {
	if strings.ContainsAny(key, ".[]/") {
		return place{fmt.Sprintf("%s[%q]", p.path, key), p.pattern + "[*]"}
	}
	return place{p.path + "." + key, p.pattern + "." + key}
}

func (p place) element(i int, name string) place {
	if name != "" {
		return place{fmt.Sprintf("%s[name=%q]", p.path, name), p.pattern + "[*]"}
	}
	return place{fmt.Sprintf("%s[%d]", p.path, i), p.pattern + "[*]"}
}

// near reports whether p lies at the cause's field, directly below it, or beside it.
func (p place) near(cause string) bool {
	return p.pattern == cause || parent(p.pattern) == cause || parent(p.pattern) == parent(cause)
}

func parent(pattern string) string {
	if head, found := strings.CutSuffix(pattern, "[*]"); found {
		return head
	}
	return pattern[:max(strings.LastIndexByte(pattern, '.'), 0)]
}

// dropped returns the places at and below p that are in before and not in after, the parent's value for key.
func (p place) dropped(before any, after map[string]any, key string) []place {
	value, kept := after[key]
	if !kept {
		return []place{p}
	}
	switch b := before.(type) {
	case map[string]any:
		a, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		var found []place
		for _, k := range sortedKeys(b) {
			found = append(found, p.field(k).dropped(b[k], a, k)...)
		}
		return found
	case []any:
		a, ok := value.([]any)
		if !ok {
			return nil
		}
		return p.droppedElements(b, a)
	}
	return nil
}

// droppedElements compares the elements of two lists that belong together: those with the same name, or for want of a
// name at the same position. Elements that aren't maps are compared as wholes, and shown by position, since the value
// may be a secret.
func (p place) droppedElements(before, after []any) []place {
	var found []place
	for i, item := range before {
		b, ok := item.(map[string]any)
		if !ok {
			if !slices.ContainsFunc(after, func(a any) bool { return reflect.DeepEqual(a, item) }) {
				found = append(found, p.element(i, ""))
			}
			continue
		}
		name, _ := b["name"].(string)
		at, a := p.element(i, name), counterpart(after, i, name)
		if a == nil {
			found = append(found, at)
			continue
		}
		for _, k := range sortedKeys(b) {
			found = append(found, at.field(k).dropped(b[k], a, k)...)
		}
	}
	return found
}

func counterpart(list []any, i int, name string) map[string]any {
	if name == "" {
		if i >= len(list) {
			return nil
		}
		m, _ := list[i].(map[string]any)
		return m
	}
	for _, item := range list {
		if m, ok := item.(map[string]any); ok && m["name"] == name {
			return m
		}
	}
	return nil
}

func remedyFor(leftovers []string) string {
	if len(leftovers) == 0 {
		return leftoverRemedy
	}
	return removeByPatch(leftovers) + ", or update the object with the whole manifest (PUT), which also drops what others have set"
}

func removeByPatch(leftovers []string) string {
	return fmt.Sprintf("remove %s by a merge patch that makes the change as well (inside lists a strategic one)", strings.Join(leftovers, " and "))
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
