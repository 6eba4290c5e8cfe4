package projection

import (
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/internal/kinds"
)

// Adjustment is one change that [Normalize] made to a manifest.
type Adjustment struct {
	// Path is the field in the original manifest.
	Path Path `json:"path"`
	// To is the field that its value was moved to, nil if the field was dropped.
	To Path `json:"to,omitempty"`
	// Reason says why, for people.
	Reason string `json:"reason"`
}

// String returns one line without any value.
func (a Adjustment) String() string {
	if a.To != nil {
		return fmt.Sprintf("%s: moved to %s: %s", a.Path, a.To, a.Reason)
	}
	return fmt.Sprintf("%s: dropped: %s", a.Path, a.Reason)
}

// Normalize returns a changed copy of the manifest, so that a server tracks each field in it, and the adjustments that
// were made:
//
//   - stringData of a Secret is moved to data, and replaces values with the same key there. A server records stringData
//     as declared, and never the data that it makes from it. So a key that is no longer sent would stay in the object.
//   - Metadata that only the server writes is dropped: creationTimestamp, managedFields and the like. The uid and the
//     resourceVersion stay, since they are preconditions of the apply.
//   - Empty maps and lists are dropped from the metadata, because they would be recorded in managedFields. There is
//     another reason: if a custom resource has an empty map or list there, a server writes the object again at each
//     apply, and no dry run shows that (seen in 1.33 and 1.36). In one case a planner must send the empty map or list
//     after all: the manifest had values there before and drops them, and the object also has values without an owner
//     there. Without the empty map or list, the server would delete the latter, too.
//   - The status of a built-in kind is dropped, since the server would ignore it. The status of a custom resource
//     stays, since it may be an ordinary field. The status of a Node or ServiceCIDR stays, too, since a server stores
//     it when it creates the object; see [ReasonUnrecorded].
//   - The deprecatedTopology of endpoints is dropped: a server ignores it, and yet counts it as a change at each apply.
//   - Null fields are dropped from the metadata and from built-in kinds. There null means that the field is absent, but
//     it would be recorded as declared. If the object has a value there, a null resets this value, so a planner must
//     put such a null back. A null that a server stores isn't dropped: a value in a map such as labels or limits (it
//     becomes an empty string or zero), and a null in a custom resource or in arbitrary JSON of a built-in kind. Some
//     of these nulls are replaced by the empty string that the server would store; otherwise the server would write the
//     object again at each apply. They are the null labels and annotations of a custom resource, and nulls in the data
//     of a Secret or the binaryData of a ConfigMap.
//
// Invalid values, such as a number in stringData, stay, so that the server rejects them. The subresource is the one
// that the manifest is applied to, or "" for the object itself. In an apply to a subresource the status stays.
// Normalize does not modify the manifest, and the result shares no memory with it.
func Normalize(manifest map[string]any, subresource string) (map[string]any, []Adjustment) {
	obj, _ := deepCopy(manifest).(map[string]any)
	n := normalizer{builtin: kinds.IsBuiltin(obj)}
	n.kind, _ = obj["kind"].(string)
	n.metadata(obj)
	apiVersion, _ := obj["apiVersion"].(string)
	if n.builtin && subresource == "" && kinds.AtCreate(apiVersion, n.kind) != "status" {
		n.drop(obj, Path{Field("status")}, "the server ignores it in an apply")
	}
	n.topologies(obj)
	n.nulls(obj)
	n.empties(obj)
	n.stringData(obj)
	return obj, n.adjustments
}

type normalizer struct {
	kind        string
	builtin     bool
	path        Path
	adjustments []Adjustment
}

func (n *normalizer) metadata(obj map[string]any) {
	metadata, _ := obj["metadata"].(map[string]any)
	for _, name := range kinds.ServerMetadata {
		if slices.Contains(kinds.Preconditions, name) {
			continue
		}
		n.drop(metadata, metadataField(name), "only the server writes it")
	}
}

// empties drops the empty maps and lists of the metadata.
func (n *normalizer) empties(obj map[string]any) {
	metadata, _ := obj["metadata"].(map[string]any)
	for _, name := range kinds.MetadataContainers {
		_, isMap := metadata[name].(map[string]any)
		if isEmpty(metadata[name]) && isMap == kinds.IsMetadataMap(name) { // a server refuses what is of another type
			n.drop(metadata, metadataField(name), "nothing is in it")
		}
	}
}

// topologies drops from the endpoints of an EndpointSlice what its API version can't write. A server counts it as a
// change before it throws it away, and writes the object anew (seen in 1.37). Source: the comment of
// Endpoint.DeprecatedTopology in k8s.io/api/discovery/v1.
func (n *normalizer) topologies(obj map[string]any) {
	endpoints, _ := obj["endpoints"].([]any)
	if obj["apiVersion"] != "discovery.k8s.io/v1" || n.kind != "EndpointSlice" {
		return
	}
	for i, item := range endpoints {
		endpoint, _ := item.(map[string]any)
		n.drop(endpoint, Path{Field("endpoints"), Index(i), Field("deprecatedTopology")}, "the server ignores it")
	}
}

// drop removes the last field of the path from m, which is the map there.
func (n *normalizer) drop(m map[string]any, p Path, reason string) {
	name := p[len(p)-1].text
	if _, exists := m[name]; exists {
		delete(m, name)
		n.adjustments = append(n.adjustments, Adjustment{Path: p, Reason: reason})
	}
}

func (n *normalizer) nulls(obj map[string]any) {
	for _, name := range sortedKeys(obj) {
		if n.builtin || name == "metadata" {
			n.nullField(obj, name, obj)
		}
	}
}

// nullField drops a field of m if it is null, and otherwise the null fields below it.
func (n *normalizer) nullField(m map[string]any, name string, obj map[string]any) {
	n.path = append(n.path, Field(name))
	defer func() { n.path = n.path[:len(n.path)-1] }()
	if m[name] == nil {
		switch {
		case n.isItemName():
		case !n.isMapKey():
			n.drop(m, slices.Clone(n.path), "null means that the field isn't there")
		case !n.builtin || kinds.IsBytesField(n.kind, n.path[len(n.path)-2].Name()):
			m[name] = ""
		}
		return
	}
	if !kinds.HoldsAnyJSON(obj, name, len(n.path)) {
		n.nullsBelow(m[name], obj)
	}
}

// isMapKey reports whether the path ends in the key of a map of texts or quantities, whose value can't be absent: a
// server stores null as an empty text or zero.
func (n *normalizer) isMapKey() bool {
	return len(n.path) > 1 && kinds.IsMapField(n.kind, n.path[len(n.path)-2].Name())
}

// isItemName reports whether the path ends in the name of a list item that may be null.
func (n *normalizer) isItemName() bool {
	l := len(n.path)
	return n.builtin && l > 2 && kinds.IsNullKey(n.kind, n.path[l-3].Name(), n.path[l-1].Name())
}

func (n *normalizer) nullsBelow(v any, obj map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedKeys(v) {
			n.nullField(v, name, obj)
		}
	case []any:
		for i, item := range v {
			n.path = append(n.path, Index(i))
			n.nullsBelow(item, obj)
			n.path = n.path[:len(n.path)-1]
		}
	}
}

func (n *normalizer) stringData(obj map[string]any) {
	from, to, moves := kinds.MovedField(obj)
	if !moves {
		return
	}
	texts, ok := obj[from].(map[string]any)
	data, isMap := obj[to].(map[string]any)
	if !ok || obj[to] != nil && !isMap {
		return
	}
	for _, key := range sortedKeys(texts) {
		text, ok := texts[key].(string)
		if !ok && texts[key] != nil { // null is stored as an empty text
			continue
		}
		if data == nil {
			data = map[string]any{}
			obj[to] = data
		}
		adjustment := Adjustment{Path: Path{Field(from), Field(key)}, To: Path{Field(to), Field(key)},
			Reason: fold(data, key, text)}
		n.adjustments = append(n.adjustments, adjustment)
		delete(texts, key)
	}
	if len(texts) == 0 {
		delete(obj, from)
	}
}

// fold puts a text of stringData into data, and returns why.
func fold(data map[string]any, key, text string) (reason string) {
	reason = "the server doesn't track what it makes of stringData"
	if _, replaced := data[key]; replaced {
		reason += "; it replaces what data has there"
	}
	data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	return reason
}

// IsNormal reports whether [Normalize] wouldn't change a manifest. The manifest must consist of the types that JSON
// decoding makes, without null; IsNormal doesn't check that. It may return false for a manifest that Normalize wouldn't
// change, such as a custom resource with a status. It never returns true for a manifest that Normalize would change.
func IsNormal(manifest map[string]any) bool {
	_, hasStatus := manifest["status"]
	from, _, moves := kinds.MovedField(manifest)
	_, hasMoved := manifest[from]
	if hasStatus || moves && hasMoved || manifest["kind"] == "EndpointSlice" {
		return false
	}
	metadata, _ := manifest["metadata"].(map[string]any)
	for _, name := range kinds.ServerMetadata {
		if _, exists := metadata[name]; exists {
			return false
		}
	}
	for _, name := range kinds.MetadataContainers {
		if isEmpty(metadata[name]) {
			return false
		}
	}
	return true
}
