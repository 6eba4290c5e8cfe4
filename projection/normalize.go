package projection

import (
	"encoding/base64"
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/internal/kinds"
)

// Adjustment is something that [Normalize] did to a manifest.
type Adjustment struct {
	// Path is the field that the manifest had.
	Path Path `json:"path"`
	// To is the field that has its value now, and nil if the field was dropped.
	To Path `json:"to,omitempty"`
	// Reason is for people.
	Reason string `json:"reason"`
}

// String returns one line. It never has a value in it.
func (a Adjustment) String() string {
	if a.To != nil {
		return fmt.Sprintf("%s: moved to %s: %s", a.Path, a.To, a.Reason)
	}
	return fmt.Sprintf("%s: dropped: %s", a.Path, a.Reason)
}

// Normalize returns a copy of the manifest that a server tracks faithfully when it is applied, and what had to be done
// for that:
//
//   - stringData of a Secret becomes data, where it replaces what is there under the same key. A server records
//     stringData as declared and never the data that it makes of it, so that a key that is no longer sent would stay.
//   - Metadata that only the server writes is dropped: creationTimestamp, managedFields and the like. The uid and the
//     resourceVersion stay: with them a manifest says which object in which version it is for.
//   - Empty maps and lists are dropped from the metadata. They declare nothing, but stand in the record like everything
//     below them; and a server writes a custom resource with one anew at each apply, which no dry run foretells (seen
//     in 1.33 and 1.36).
//   - The status of a kind that Kubernetes brings is dropped, which the server would ignore. That of a custom resource
//     stays, since it may be an ordinary field; see [Ineffective].
//   - Fields that are null are dropped from metadata and from the kinds that Kubernetes brings, where null means that
//     the field isn't there; sent, it would be recorded as declared. What a server stores stays as it is written: the
//     key of a map, such as a label or a limit, whose null becomes an empty text or zero; and null in a custom resource
//     or where a built-in kind holds arbitrary JSON. Only a null label or annotation of a custom resource, and a null
//     in the data of a Secret or the binaryData of a ConfigMap, is sent as the empty text that it becomes: as with what
//     is empty in the metadata, the server would write the object anew at each apply.
//
// What a server would refuse, such as a number in stringData, is left for it to refuse. Normalize does not modify the
// manifest, and the result shares no memory with it.
func Normalize(manifest map[string]any) (map[string]any, []Adjustment) {
	return NormalizeSubresource(manifest, "")
}

// NormalizeSubresource does what [Normalize] does for a manifest that is applied to a subresource of the object, or to
// the object itself for "". In an apply to a subresource the status stays.
func NormalizeSubresource(manifest map[string]any, subresource string) (map[string]any, []Adjustment) {
	obj, _ := deepCopy(manifest).(map[string]any)
	n := normalizer{builtin: kinds.IsBuiltin(obj)}
	n.kind, _ = obj["kind"].(string)
	n.metadata(obj)
	if n.builtin && subresource == "" {
		n.drop(obj, Path{Field("status")}, "the server ignores it in an apply")
	}
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
		if isEmpty(metadata[name]) {
			n.drop(metadata, metadataField(name), "nothing is in it")
		}
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
	if !kinds.IsSecret(obj) {
		return
	}
	texts, ok := obj["stringData"].(map[string]any)
	data, isMap := obj["data"].(map[string]any)
	if !ok || obj["data"] != nil && !isMap {
		return
	}
	for _, key := range sortedKeys(texts) {
		text, ok := texts[key].(string)
		if !ok && texts[key] != nil { // null is stored as an empty text
			continue
		}
		if data == nil {
			data = map[string]any{}
			obj["data"] = data
		}
		n.adjustments = append(n.adjustments, n.fold(data, key, text))
		delete(texts, key)
	}
	if len(texts) == 0 {
		delete(obj, "stringData")
	}
}

func (n *normalizer) fold(data map[string]any, key, text string) Adjustment {
	reason := "the server doesn't track what it makes of stringData"
	if _, replaced := data[key]; replaced {
		reason += "; it replaces what data has there"
	}
	data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	return Adjustment{Path: Path{Field("stringData"), Field(key)}, To: Path{Field("data"), Field(key)}, Reason: reason}
}

// IsNormal reports whether [Normalize] has nothing to do for a manifest that is made of what JSON decoding makes and in
// which nothing is null. It doesn't walk through the manifest to see whether it is one. It may take a manifest for one
// that isn't normal, such as a custom resource with a status, but never the other way round.
func IsNormal(manifest map[string]any) bool {
	_, hasStatus := manifest["status"]
	_, hasStringData := manifest["stringData"]
	if hasStatus || hasStringData {
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
