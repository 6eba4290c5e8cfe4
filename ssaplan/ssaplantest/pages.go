package ssaplantest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// list returns a page of the objects that are selected, in the order of their namespaces and names. All pages of a list
// are of the same version of the cluster.
func (c *call) list(options metav1.ListOptions,
	selected func(*unstructured.Unstructured) bool) (*unstructured.UnstructuredList, error) {
	at := past{c.cluster.version, c.cluster.objects}
	var after string
	if options.Continue != "" {
		var err error
		if at, after, err = c.cluster.resume(options.Continue); err != nil {
			return nil, err
		}
	}
	var keys []key
	for k := range at.objects {
		if k.resource == c.resource() && (c.Namespace == "" || k.namespace == c.Namespace) && k.path() > after {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, key.compare)
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(c.kind.GroupVersion().WithKind(c.kind.Kind + "List"))
	list.SetResourceVersion(strconv.FormatInt(at.version, 10))
	for i, k := range keys {
		// A server goes on even if nothing in the rest is selected, since it hasn't looked.
		if options.Limit > 0 && len(list.Items) == int(options.Limit) {
			if rest := int64(len(keys) - i); options.LabelSelector == "" && options.FieldSelector == "" {
				list.SetRemainingItemCount(&rest)
			}
			list.SetContinue(c.cluster.stop(at, keys[i-1].path()))
			break
		}
		if obj := at.objects[k]; selected(obj) {
			list.Items = append(list.Items, *c.versioned(obj))
		}
	}
	return list, nil
}

// token says where a list goes on.
type token struct {
	Version int64  `json:"rv"`
	After   string `json:"after"`
}

// mostPast is the number of versions that lists can go on in. A server keeps those of the last minutes.
const mostPast = 16

// stop returns the token for a list that goes on later, and keeps what there is until then.
func (c *cluster) stop(at past, after string) string {
	if !slices.ContainsFunc(c.past, func(p past) bool { return p.version == at.version }) {
		c.past = append(c.past, past{at.version, maps.Clone(at.objects)})
		c.past = c.past[max(0, len(c.past)-mostPast):]
	}
	text, _ := json.Marshal(token{at.version, after}) // a number and a text
	return base64.RawURLEncoding.EncodeToString(text)
}

// resume returns what there was when a list stopped, and the path of its last object.
func (c *cluster) resume(text string) (past, string, error) {
	var t token
	decoded, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(decoded, &t)
	}
	if err != nil {
		return past{}, "", apierrors.NewBadRequest(fmt.Sprintf("continue key is not valid: %v", err))
	}
	i := slices.IndexFunc(c.past, func(p past) bool { return p.version == t.Version })
	if i < 0 {
		return past{}, "", apierrors.NewResourceExpired(
			"The provided continue parameter is too old to display a consistent list result. " +
				"You must start a new list without the continue parameter.")
	}
	return c.past[i], t.After, nil
}
