package precondition

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// Guarded adds the uid and the resourceVersion of the live object to the body of an apply. If live is nil, it adds
// [AbsentVersion], so that the apply only creates the object. Server-side apply never owns these two fields, so they
// don't change what is applied, unless the body is [Copied]: then it is returned as it is. If there is a live object, a
// uid or resourceVersion in the manifest stays. A live object without them is an error.
func Guarded(body []byte, live *unstructured.Unstructured, manager string) ([]byte, error) {
	if live != nil {
		if err := Complete(live); err != nil {
			return nil, err
		}
	}
	if Copied(body, live, manager) {
		return body, nil
	}
	guards := map[string]string{"resourceVersion": AbsentVersion}
	if live != nil {
		guards = map[string]string{"resourceVersion": live.GetResourceVersion(), "uid": string(live.GetUID())}
	}
	return withGuards(body, guards, live != nil)
}

// GuardedByUID adds the uid of the live object to the body of an apply, for any version of the object. A body that is
// [Copied] is returned as it is.
func GuardedByUID(body []byte, live *unstructured.Unstructured, manager string) ([]byte, error) {
	if err := Complete(live); err != nil {
		return nil, err
	}
	if Copied(body, live, manager) {
		return body, nil
	}
	return withGuards(body, map[string]string{"uid": string(live.GetUID())}, true)
}

// Copied reports whether the server copies the body of an apply into an annotation of the object, guards included: an
// apply of the field manager kubectl brings the annotation of client-side apply up to date if there is one. Source:
// lastAppliedUpdater in k8s.io/apimachinery/pkg/util/managedfields/internal.
func Copied(body []byte, live *unstructured.Unstructured, manager string) bool {
	if manager != "kubectl" {
		return false
	}
	isThere := live != nil && live.GetAnnotations()[kinds.LastApplied] != ""
	return isThere || bytes.Contains(body, []byte(kinds.LastApplied))
}

// withGuards returns the body of an apply with the guards in its metadata. If keep is set, a uid or resourceVersion in
// the manifest stays.
func withGuards(body []byte, guards map[string]string, keep bool) ([]byte, error) {
	hasMetadata := false
	guarded, ok := withFields(body, func(name string, value []byte) []byte {
		if name != "metadata" {
			return value
		}
		value, hasMetadata = guardedMetadata(value, guards, keep)
		return value
	})
	switch {
	case !ok:
		return nil, errors.New("the plan's patch is not an object")
	case !hasMetadata:
		return nil, errors.New("the manifest has no metadata")
	}
	return guarded, nil
}

// guardedMetadata returns the metadata of a manifest with the guards. If keep is set, a uid or resourceVersion in the
// manifest stays in place of the guard, and the server refuses one that doesn't fit. It reports false if the metadata
// isn't a map.
func guardedMetadata(metadata []byte, guards map[string]string, keep bool) ([]byte, bool) {
	kept := map[string]bool{}
	guarded, ok := withFields(metadata, func(name string, value []byte) []byte {
		if _, isGuard := guards[name]; !isGuard {
			return value
		}
		set := string(value)
		if kept[name] = keep && set != "null" && set != `""`; !kept[name] {
			return nil
		}
		return value
	})
	for _, name := range slices.Sorted(maps.Keys(guards)) {
		if quoted, err := json.Marshal(guards[name]); ok && !kept[name] && err == nil {
			guarded = appendField(guarded[:len(guarded)-1], []byte(name), quoted)
		}
	}
	return guarded, ok
}

// withFields calls with for each field of a JSON object, and returns the object with the values that with returned. A
// field is removed if with returns nil. The values aren't decoded, to save time: withFields runs for each dry run of a
// set. It reports false if the text isn't a JSON object.
func withFields(text []byte, with func(name string, value []byte) []byte) ([]byte, bool) {
	out := append(make([]byte, 0, len(text)+128), "{}"...)
	ok := fastjson.Fields(text, func(quoted, value []byte) bool {
		name := string(quoted)
		if strings.Contains(name, `\`) && json.Unmarshal([]byte(`"`+name+`"`), &name) != nil {
			return false
		}
		if value = with(name, value); value != nil {
			out = appendField(out[:len(out)-1], quoted, value)
		}
		return true
	})
	return out, ok
}

// appendField appends a field and the end to an object without its end.
func appendField(object, name, value []byte) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	object = append(append(append(object, '"'), name...), '"', ':')
	return append(append(object, value...), '}')
}
