package render

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Unchanged are the names of objects of which there is nothing to say but that they stay as they are, by namespace and
// by apiVersion and kind.
type Unchanged map[string]map[string][]string

// Add adds an object.
func (u Unchanged) Add(id identity.Identity) {
	if u[id.Namespace] == nil {
		u[id.Namespace] = map[string][]string{}
	}
	kind := id.APIVersion + "/" + id.Kind
	u[id.Namespace][kind] = append(u[id.Namespace][kind], id.Name)
}

// Objects returns the objects.
func (u Unchanged) Objects() (ids []identity.Identity) {
	for _, namespace := range slices.Sorted(maps.Keys(u)) {
		for _, kind := range slices.Sorted(maps.Keys(u[namespace])) {
			at := strings.LastIndex(kind, "/")
			for _, name := range u[namespace][kind] {
				ids = append(ids, identity.Identity{APIVersion: kind[:max(at, 0)], Kind: kind[at+1:],
					Namespace: namespace, Name: name})
			}
		}
	}
	return ids
}

// isPlainNoOp reports whether a plan says nothing but that its object stays as it is.
func isPlainNoOp(plan *ssaplan.Plan) bool {
	if plan.Action != ssaplan.ActionNoOp {
		return false
	}
	plain := &ssaplan.Plan{
		Object: plan.Object, Action: plan.Action, Reason: plan.Reason, Requests: plan.Requests,
		Explanation: explain.Explanation{NoOp: true},
	}
	said, _ := json.Marshal(plan) // what can't be encoded has more to say
	least, _ := json.Marshal(plain)
	return bytes.Equal(said, least)
}
