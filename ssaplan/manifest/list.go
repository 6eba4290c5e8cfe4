package manifest

import (
	"errors"
	"fmt"
	"strings"
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

var errNoItems = errors.New("items: expected a list of objects")

// list takes the items of a list as if each stood alone.
func (p *parser) list(source Source, e entry, l list) {
	items, ok := l.items.([]any)
	if !ok && l.items != nil {
		p.fail(source, errNoItems)
		return
	}
	nodes := e.itemNodes(len(items))
	for i, item := range items {
		if p.isFull() {
			p.fail(source, errTooMany)
			return
		}
		at := source
		at.Item = strings.TrimPrefix(fmt.Sprintf("%s.items[%d]", source.Item, i), ".")
		if nodes[i] != nil && at.Line > 0 {
			at.Line = e.start + nodes[i].Line - 1
		}
		p.entry(at, entry{l.completed(item), nodes[i], e.start})
	}
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
