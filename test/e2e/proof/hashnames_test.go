package proof_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/lab"
)

// TestSetsOfHashNames applies one revision of a set after the other: ConfigMaps and Secrets whose names end in a hash
// of their content, as kustomize makes them, and objects that refer to them. Some revisions have an object that the
// server refuses. What has left the set is pruned. After each write, each object that refers to another finds it on the
// server, and at the end there is nothing else than what the objects of now need.
func TestSetsOfHashNames(t *testing.T) {
	c := newCluster(t, nil)
	c.Apply(t, installer, lab.Objectf(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", setsNamespace))
	seed, cases := setting(t, "SEED", 1), setting(t, "CASES", 20)
	var total figuresOfSets
	sideBySide(t, cases, func(n uint64, _ int) {
		h := &hashedSet{cluster: c, Rand: rand.New(rand.NewPCG(seed, n)), name: fmt.Sprintf("set-%d", n), figures: &total,
			content: map[string]string{}, states: map[string]*explain.State{}, members: map[string]set.Member{}}
		if err := h.run(lab.Context(t)); err != nil {
			t.Errorf("seed %d case %d: %v", seed, n, err)
		}
	})
	fmt.Printf("sets of hash names: %d revisions, %d objects created, %d pruned, %d kept for their users, %d held back\n",
		total.revisions.Load(), total.created.Load(), total.pruned.Load(), total.kept.Load(), total.heldBack.Load())
	if cases >= 20 && os.Getenv("CASE") == "" {
		for _, n := range []*atomic.Uint64{&total.created, &total.pruned, &total.kept, &total.heldBack} {
			require.Positive(t, n.Load())
		}
	}
}

const setsNamespace = "proof-sets"

type figuresOfSets struct{ revisions, created, pruned, kept, heldBack atomic.Uint64 }

// hashedSet is a set of which a host remembers states and members.
type hashedSet struct {
	*rand.Rand
	cluster *cluster
	name    string
	figures *figuresOfSets
	content map[string]string // of the ConfigMaps and Secrets, by their names without hashes
	states  map[string]*explain.State
	members map[string]set.Member
	objects []*unstructured.Unstructured // of the revision
	refused map[string]bool              // those that the server refuses
}

// references are the ways of referring to a ConfigMap or Secret, with the user's kind.
var references = []struct{ user, kind, text string }{
	{"Deployment", "ConfigMap", `{containers: [{name: c, image: c, envFrom: [{configMapRef: {name: %s}}]}]}`},
	{"Deployment", "Secret",
		`{containers: [{name: c, image: c, env: [{name: A, valueFrom: {secretKeyRef: {name: %s, key: k}}}]}]}`},
	{"Deployment", "ConfigMap", `{containers: [{name: c, image: c}], volumes: [{name: v, configMap: {name: %s}}]}`},
	{"Deployment", "Secret",
		`{containers: [{name: c, image: c}], volumes: [{name: v, projected: {sources: [{secret: {name: %s}}]}}]}`},
	{"Deployment", "Secret", `{containers: [{name: c, image: c}], imagePullSecrets: [{name: %s}]}`},
	{"ServiceAccount", "Secret", `[{name: %s}]`},
	{"Ingress", "Secret", `[{secretName: %s}]`},
}

func (h *hashedSet) run(ctx context.Context) error {
	for revision := range 2 + h.IntN(3) {
		h.revise()
		h.figures.revisions.Add(1)
		if err := h.apply(ctx); err != nil {
			return fmt.Errorf("revision %d of %s: %w", revision, shown(h.texts()), err)
		}
	}
	return h.removeAll(ctx)
}

// revise makes the next revision: new content for some, and other users.
func (h *hashedSet) revise() {
	h.objects, h.refused = nil, map[string]bool{}
	for i := range 3 {
		base := fmt.Sprintf("%s-%s-%d", h.name, []string{"config", "secret"}[h.IntN(2)], i)
		if _, exists := h.content[base]; !exists || h.IntN(2) == 0 {
			h.content[base] = fmt.Sprint(h.IntN(5))
		}
		if len(h.content) > 3 { // one leaves
			delete(h.content, slices.Sorted(maps.Keys(h.content))[h.IntN(len(h.content))])
		}
	}
	var named []*unstructured.Unstructured
	for _, base := range slices.Sorted(maps.Keys(h.content)) {
		named = append(named, h.hashed(base))
	}
	var users []*unstructured.Unstructured
	for i := range 1 + h.IntN(3) {
		if user := h.user(i, named); user != nil {
			users = append(users, user)
		}
	}
	h.objects = append(users, named...) // in an order in which it doesn't work
}

// hashed returns a ConfigMap or Secret. One of a few is refused for a key that no server takes.
func (h *hashedSet) hashed(base string) *unstructured.Unstructured {
	kind, value := "ConfigMap", h.content[base]
	if strings.Contains(base, "-secret-") {
		kind, value = "Secret", base64.StdEncoding.EncodeToString([]byte(value))
	}
	data := map[string]any{"k": value}
	isRefused := h.IntN(8) == 0
	if isRefused {
		data["no key!"] = value
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind, "data": data}}
	obj.SetName(fmt.Sprintf("%s-%x", base, sha256.Sum256([]byte(shown(data))))[:len(base)+9])
	obj.SetNamespace(setsNamespace)
	h.refused[obj.GetName()] = isRefused
	return obj
}

// user returns an object that refers to one of the others, nil if there is none of its kind.
func (h *hashedSet) user(i int, named []*unstructured.Unstructured) *unstructured.Unstructured {
	way := references[h.IntN(len(references))]
	fitting := slices.DeleteFunc(slices.Clone(named), func(obj *unstructured.Unstructured) bool {
		return obj.GetKind() != way.kind
	})
	if len(fitting) == 0 {
		return nil
	}
	var part any
	text := fmt.Sprintf(way.text, fitting[h.IntN(len(fitting))].GetName())
	if err := yaml.Unmarshal([]byte(text), &part); err != nil {
		panic(err)
	}
	obj := map[string]any{"apiVersion": "v1", "kind": way.user}
	isRefused := h.IntN(8) == 0
	switch way.user {
	case "Deployment":
		labels := map[string]any{"app": h.name}
		obj["apiVersion"] = "apps/v1"
		spec := map[string]any{"replicas": int64(0), "selector": map[string]any{"matchLabels": labels},
			"template": map[string]any{"metadata": map[string]any{"labels": labels}, "spec": part}}
		if isRefused {
			spec["replicas"] = int64(-1)
		}
		obj["spec"] = spec
	case "ServiceAccount":
		obj["imagePullSecrets"], isRefused = part, false
	case "Ingress":
		obj["apiVersion"] = "networking.k8s.io/v1"
		service := map[string]any{"name": "s", "port": map[string]any{"number": int64(80)}}
		backend := map[string]any{"service": service}
		if isRefused {
			backend = map[string]any{}
		}
		obj["spec"] = map[string]any{"defaultBackend": backend, "tls": part}
	}
	out := &unstructured.Unstructured{Object: obj}
	out.SetName(fmt.Sprintf("%s-%s-%d", h.name, strings.ToLower(way.user), i))
	out.SetNamespace(setsNamespace)
	h.refused[out.GetName()] = isRefused
	return out
}

// apply plans and applies the revision, prunes what has left it, and looks after each write whether all references
// lead somewhere.
func (h *hashedSet) apply(ctx context.Context) error {
	planner := h.cluster.forcing.tested
	var requests []ssaplan.Request
	current := map[string]bool{}
	for _, obj := range h.objects {
		key := keyOf(obj)
		current[key] = true
		requests = append(requests, ssaplan.Request{Manifest: obj, Prior: h.states[key]})
	}
	s := set.New(planner, requests, set.Options{KeepGoing: true})
	for item := range s.Plan(ctx) {
		key := keyOf(h.objects[item.Number])
		if _, known := h.states[key]; !known && item.Err == nil && item.Plan.Action != ssaplan.ActionCreate {
			return fmt.Errorf("%s is new, and planned is %v", key, item.Plan)
		}
	}
	removal := set.NewRemoval(planner, h.left(current), set.RemovalOptions{Set: s})
	for item := range removal.Plan(ctx) {
		if item.Err != nil {
			return item.Err
		}
	}
	for result := range s.Apply(ctx) {
		obj := h.objects[result.Item.Number]
		switch {
		case result.Err != nil:
			isRefused, isHeldBack := h.refused[obj.GetName()], h.needsRefused(obj)
			if !isRefused && !isHeldBack {
				return fmt.Errorf("%s: %w", keyOf(obj), result.Err)
			}
			if !isRefused {
				h.figures.heldBack.Add(1)
			}
		case h.refused[obj.GetName()] || h.needsRefused(obj):
			return fmt.Errorf("%s was applied, and it or what it needs is refused", keyOf(obj))
		default:
			if err := h.remember(obj, result); err != nil {
				return err
			}
		}
		// Accounts come before Secrets, since the Secret of a token needs its account.
		if err := h.look(ctx, "ServiceAccount"); err != nil {
			return fmt.Errorf("after %s: %w", keyOf(obj), err)
		}
	}
	if err := h.look(ctx); err != nil {
		return err
	}
	return h.prune(ctx, removal)
}

// left returns the members that aren't among the current ones.
func (h *hashedSet) left(current map[string]bool) (left []set.Member) {
	for _, key := range slices.Sorted(maps.Keys(h.members)) {
		if !current[key] {
			left = append(left, h.members[key])
		}
	}
	return left
}

// needsRefused reports whether the object refers to one that the server refuses.
func (h *hashedSet) needsRefused(obj *unstructured.Unstructured) bool {
	return slices.ContainsFunc(referred(obj.Object), func(name string) bool { return h.refused[name] })
}

func (h *hashedSet) remember(obj *unstructured.Unstructured, result *set.Result) error {
	made := result.Made
	if made == nil { // nothing was to be done
		return nil
	}
	state, err := result.Item.Plan.State(made)
	if err != nil {
		return err
	}
	key := keyOf(obj)
	if _, known := h.members[key]; !known {
		h.figures.created.Add(1)
	}
	h.states[key] = state
	h.members[key] = set.Member{Object: state.Identity, UID: string(made.GetUID()), State: state}
	return nil
}

// prune removes what has left the set, and looks whether that is what no object refers to.
func (h *hashedSet) prune(ctx context.Context, removal *set.Removal) error {
	for result := range removal.Apply(ctx) {
		if result.Err != nil {
			return result.Err
		}
		key := result.Item.Member.Object.Kind + " " + result.Item.Member.Object.Name
		if result.Gone {
			h.figures.pruned.Add(1)
			delete(h.members, key)
			delete(h.states, key)
		}
		if err := h.look(ctx); err != nil {
			return fmt.Errorf("after the removal of %s: %w", key, err)
		}
		needed, err := h.needed(ctx)
		if err != nil {
			return err
		}
		if !result.Gone {
			h.figures.kept.Add(1)
		}
		if isNeeded := needed[key]; isNeeded == result.Gone {
			return fmt.Errorf("%s: referred to: %t, gone: %t (%v)", key, isNeeded, result.Gone, result.Item)
		}
	}
	return nil
}

// look returns an error if an object on the server refers to a ConfigMap or Secret that doesn't exist. It skips objects
// of the kinds in but.
func (h *hashedSet) look(ctx context.Context, but ...string) error {
	needed, err := h.needed(ctx, but...)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, kind := range []string{"ConfigMap", "Secret"} {
		list, err := h.list(ctx, "v1", kind)
		if err != nil {
			return err
		}
		for i := range list {
			there[keyOf(&list[i])] = true
		}
	}
	for key := range needed {
		if !there[key] {
			return fmt.Errorf("an object refers to %s, which isn't there", key)
		}
	}
	return nil
}

// needed returns the ConfigMaps and Secrets that objects on the server refer to. It skips objects of the kinds in but.
func (h *hashedSet) needed(ctx context.Context, but ...string) (map[string]bool, error) {
	needed := map[string]bool{}
	users := map[string]string{"Deployment": "apps/v1", "ServiceAccount": "v1", "Ingress": "networking.k8s.io/v1"}
	for kind, version := range users {
		if slices.Contains(but, kind) {
			continue
		}
		list, err := h.list(ctx, version, kind)
		if err != nil {
			return nil, err
		}
		for i := range list {
			for _, name := range referred(list[i].Object) {
				kind := "ConfigMap"
				if strings.Contains(name, "-secret-") {
					kind = "Secret"
				}
				needed[kind+" "+name] = true
			}
		}
	}
	return needed, nil
}

// list returns the case's objects of a kind.
func (h *hashedSet) list(ctx context.Context, version, kind string) (items []unstructured.Unstructured, err error) {
	of := &unstructured.Unstructured{Object: map[string]any{"apiVersion": version, "kind": kind}}
	resource, err := h.cluster.Find(of.GroupVersionKind(), setsNamespace)
	if err != nil {
		return nil, err
	}
	list, err := resource.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(obj unstructured.Unstructured) bool {
		return !strings.HasPrefix(obj.GetName(), h.name+"-")
	}), nil
}

// referred returns the names of the set's ConfigMaps and Secrets in an object. It skips metadata, which has the
// object's own name.
func referred(v any) (names []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if name != "metadata" {
				names = append(names, referred(value)...)
			}
		}
	case []any:
		for _, item := range v {
			names = append(names, referred(item)...)
		}
	case string:
		if strings.HasPrefix(v, "set-") && (strings.Contains(v, "-secret-") || strings.Contains(v, "-config-")) {
			return []string{v}
		}
	}
	return names
}

// removeAll removes the whole set, users before what they refer to.
func (h *hashedSet) removeAll(ctx context.Context) error {
	removal := set.NewRemoval(h.cluster.forcing.tested, h.left(nil), set.RemovalOptions{})
	for range removal.Plan(ctx) { // which Apply does
	}
	for result := range removal.Apply(ctx) {
		if result.Err != nil || !result.Gone {
			return fmt.Errorf("%v: %w", result.Item, result.Err)
		}
		if err := h.look(ctx); err != nil {
			return fmt.Errorf("after the removal of %v: %w", result.Item, err)
		}
	}
	return nil
}

func (h *hashedSet) texts() (texts []any) {
	for _, obj := range h.objects {
		texts = append(texts, obj.Object)
	}
	return texts
}

func keyOf(obj *unstructured.Unstructured) string { return obj.GetKind() + " " + obj.GetName() }
