package projection

import (
	"context"
	"fmt"
	"slices"
)

// Topology is what the managedFields of a live object reveal about the types of its kind: which lists have keys, and
// which ones; which are sets; which lists and maps are atomic; which key fields have a default. It is a [Source] for
// manifests that declare nothing of another structure than somebody declared before.
type Topology struct {
	apiVersion, kind string
	root             shape
	statusReset      bool
	statusKept       bool
}

// LearnTopology returns what the managedFields of obj reveal. Entries of another apiVersion than obj's say nothing. An
// entry that can't be read is an error.
func LearnTopology(obj map[string]any) (*Topology, error) {
	t := &Topology{}
	t.apiVersion, _ = obj["apiVersion"].(string)
	t.kind, _ = obj["kind"].(string)
	obj, _ = deepCopy(obj).(map[string]any)
	metadata, _ := obj["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	for _, item := range entries {
		entry, _ := item.(map[string]any)
		if entry["apiVersion"] != t.apiVersion {
			continue
		}
		set, err := entryFields(entry)
		if err != nil {
			return nil, fmt.Errorf("projection: managedFields of %q: %w", fmt.Sprint(entry["manager"]), err)
		}
		t.learn(set, obj, entry)
	}
	t.learnMetadata()
	return t, nil
}

func (t *Topology) learn(set FieldSet, obj, entry map[string]any) {
	if set.root == nil {
		return
	}
	t.root.learn(set.root, obj, entry["operation"] == "Apply")
	switch sub, _ := entry["subresource"].(string); {
	case sub == "status":
		t.statusReset = true
	case sub == "" && set.root.child(Field("status")) != nil && entry["operation"] == "Apply":
		t.statusKept = true
	}
}

// learnMetadata adds what is so for every kind.
func (t *Topology) learnMetadata() {
	metadata := t.root.known("metadata")
	metadata.known("labels").fields = map[string]*shape{}
	metadata.known("annotations").fields = map[string]*shape{}
	metadata.known("finalizers").set = true
	metadata.known("managedFields").whole = true
	*metadata.known("ownerReferences") = shape{keys: map[string]int{"uid": 1}, keyed: 1, items: &shape{whole: true}}
}

// Declared returns the fields that the manifest declares. The error wraps [ErrNoSchema] if the manifest is of another
// kind, or has a list or map of which the live object's managers revealed no type.
func (t *Topology) Declared(_ context.Context, manifest map[string]any) (FieldSet, error) {
	if manifest["apiVersion"] != t.apiVersion || manifest["kind"] != t.kind {
		return FieldSet{}, fmt.Errorf("projection: %w: learnt from another kind, %s %s", ErrNoSchema, t.apiVersion, t.kind)
	}
	reset, err := t.reset(manifest)
	if err != nil {
		return FieldSet{}, err
	}
	d := declarer{}
	all, err := d.object(manifest, &t.root)
	if err != nil {
		return FieldSet{}, err
	}
	return all.Tracked(reset), nil
}

func (t *Topology) reset(manifest map[string]any) (FieldSet, error) {
	_, hasStatus := manifest["status"]
	switch {
	case isBuiltin(manifest):
		return ResetFields(t.apiVersion, t.kind), nil
	case !hasStatus || t.statusKept:
		return FieldSet{}, nil
	case t.statusReset:
		return ResetFields(t.apiVersion, t.kind), nil
	}
	return FieldSet{}, fmt.Errorf("projection: %w that tells whether the status of %s %s is a subresource", ErrNoSchema, t.apiVersion, t.kind)
}

// NoSchema is the [Source] that knows no types: it takes every list for an atomic one, every map for one with fields of
// their own, and the status for a subresource. Its answer is a guess, for the case that nothing better can be had.
type NoSchema struct{}

// Declared returns the fields that the manifest seems to declare. It gives no error.
func (NoSchema) Declared(_ context.Context, manifest map[string]any) (FieldSet, error) {
	apiVersion, _ := manifest["apiVersion"].(string)
	kind, _ := manifest["kind"].(string)
	d := declarer{guess: true}
	all, err := d.object(manifest, nil)
	if err != nil {
		return FieldSet{}, err
	}
	return all.Tracked(ResetFields(apiVersion, kind)), nil
}

// declarer finds the fields of a manifest as structured-merge-diff does (ToFieldSet), with shapes in place of a schema.
type declarer struct {
	path  Path
	guess bool // take what is unknown for atomic lists and for maps with fields
}

func (d *declarer) object(manifest map[string]any, s *shape) (FieldSet, error) {
	obj, _ := deepCopy(manifest).(map[string]any)
	root, err := d.fields(obj, s, &node{})
	return FieldSet{root}.normal(), err
}

// value returns the fields of v; nil if it has none, such as an associative list without items.
func (d *declarer) value(v any, s *shape) (*node, error) {
	m, isMap := v.(map[string]any)
	list, isList := v.([]any)
	switch {
	case !isMap && !isList, isMap && len(m) == 0, isList && d.guess:
		return leaf, nil
	case s.granular() || isMap && d.guess:
	case s != nil && s.whole:
		return leaf, nil
	default:
		return nil, fmt.Errorf("projection: %w: nobody who owns %s has revealed its type", ErrNoSchema, d.path)
	}
	if isMap {
		return d.fields(m, s, &node{})
	}
	return d.items(list, s)
}

func (d *declarer) fields(m map[string]any, s *shape, n *node) (*node, error) {
	for _, name := range sortedKeys(m) {
		e := Field(name)
		d.path = append(d.path, e)
		fieldShape := s.child(name)
		sub, err := d.value(m[name], fieldShape)
		d.path = d.path[:len(d.path)-1]
		if err != nil {
			return nil, err
		}
		if fieldShape != nil && fieldShape.entry {
			sub = asMember(sub)
		}
		if !sub.empty() {
			n.children = append(n.children, child{e, sub})
		}
	}
	return n, nil
}

func asMember(n *node) *node {
	if n.empty() {
		return leaf
	}
	return &node{member: true, children: n.children}
}

func (d *declarer) items(list []any, s *shape) (*node, error) {
	n := &node{}
	if len(list) == 0 {
		return n, nil
	}
	for i, item := range list {
		e, err := s.element(item)
		if err != nil {
			return nil, fmt.Errorf("projection: item %d of %s: %w", i, d.path, err)
		}
		d.path = append(d.path, e)
		sub := leaf
		if m, isMap := item.(map[string]any); isMap && !(s.items.whole && !s.items.granular()) {
			if sub, err = d.fields(m, s.items, &node{}); err != nil {
				return nil, err
			}
		}
		d.path = d.path[:len(d.path)-1]
		n.children = append(n.children, child{e, asMember(sub)})
	}
	if e, twice := sortUnique(n.children); twice {
		return nil, fmt.Errorf("projection: %s stands twice", append(slices.Clone(d.path), e))
	}
	return n, nil
}
