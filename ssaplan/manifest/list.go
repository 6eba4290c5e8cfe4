package manifest

import (
	"strings"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// list is an object that holds several objects, such as kubectl get prints.
type list struct {
	apiVersion string
	kind       string // that of the items: "ConfigMap" for a ConfigMapList, "" for a List
	items      any
}

// asList reports whether an object is a list: one of kind List, or of a kind whose name ends so and which has items. An
// object with a name is one in its own right, whatever its kind: a list has none.
func asList(obj map[string]any) (list, bool) {
	apiVersion, _ := obj["apiVersion"].(string)
	kind, _ := obj["kind"].(string)
	item, ends := strings.CutSuffix(kind, "List")
	l := list{apiVersion, item, obj["items"]}
	if kind == "List" && apiVersion == "v1" {
		return l, true
	}
	metadata, _ := obj["metadata"].(map[string]any)
	_, hasItems := l.items.([]any)
	return l, ends && hasItems && metadata["name"] == nil
}

// completed gives an item the apiVersion and kind of its list where the server leaves them out: in a list of one kind.
func (l list) completed(item any) any {
	obj, ok := item.(map[string]any)
	if !ok || l.kind == "" || obj["kind"] != nil && obj["kind"] != l.kind {
		return item
	}
	obj["kind"] = l.kind
	if obj["apiVersion"] == nil {
		obj["apiVersion"] = l.apiVersion
	}
	return obj
}

// itemNodes returns how the items of a list are written.
func (e entry) itemNodes(count int) []*goyaml.Node {
	nodes := make([]*goyaml.Node, count)
	if e.node == nil {
		return nodes
	}
	fields := target(e.node).Content
	for i := 0; i+1 < len(fields); i += 2 {
		if items := target(fields[i+1]); fields[i].Value == "items" && len(items.Content) == count {
			copy(nodes, items.Content)
		}
	}
	return nodes
}
