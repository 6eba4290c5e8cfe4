package manifest

import (
	"fmt"
	"iter"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// objects yields the object of a document, or those of a list, such as a RoleList, whose items may leave out what the list says of them.
// The identity isn't known yet.
func objects(source Source, obj map[string]any) iter.Seq2[Manifest, error] {
	return func(yield func(Manifest, error) bool) {
		kind, _ := obj["kind"].(string)
		if !isList(kind, obj) {
			yield(Manifest{Source: source, Object: &unstructured.Unstructured{Object: obj}}, nil)
			return
		}
		items, isArray := obj["items"].([]any)
		if !isArray || len(items) == 0 {
			yield(Manifest{Source: source}, fmt.Errorf("kind: %q: there are no items; leave it out", kind))
			return
		}
		for i, v := range items {
			source.Item = i + 1
			item, isMap := v.(map[string]any)
			if !isMap {
				if !yield(Manifest{Source: source}, fmt.Errorf("expected an object with apiVersion, kind and metadata, found %s", sortOf(v))) {
					return
				}
				continue
			}
			if of, typed := strings.CutSuffix(kind, "List"); typed && of != "" {
				complete(item, obj["apiVersion"], of)
			}
			if !yield(Manifest{Source: source, Object: &unstructured.Unstructured{Object: item}}, nil) {
				return
			}
		}
	}
}

// complete gives an item the apiVersion and kind of its list.
func complete(item map[string]any, apiVersion any, kind string) {
	if item["apiVersion"] == nil && item["kind"] == nil {
		item["apiVersion"], item["kind"] = apiVersion, kind
	}
}

func isList(kind string, obj map[string]any) bool {
	_, hasItems := obj["items"].([]any)
	return kind == "List" || strings.HasSuffix(kind, "List") && hasItems
}
