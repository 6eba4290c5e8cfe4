package projection

import (
	"context"
	"fmt"

	"github.com/ssaplan/primitives/internal/kinds"
)

// LearnedSchema is what the managedFields of a live object reveal about the types of its kind: which lists have keys, and
// which ones; which are sets; which lists and maps are atomic; which key fields have a default. It is a [Source] for
// manifests that declare nothing of another structure than somebody declared before.
type LearnedSchema struct {
	apiVersion, kind string
	root             shape
	statusReset      bool
	statusKept       bool
}

// LearnSchema returns what the managedFields of obj reveal. Entries of another apiVersion than obj's say nothing. An
// entry that can't be read is an error, and then there is no Topology.
func LearnSchema(obj map[string]any) (*LearnedSchema, error) {
	t := &LearnedSchema{}
	t.apiVersion, _ = obj["apiVersion"].(string)
	t.kind, _ = obj["kind"].(string)
	t.learnMetadata()
	if err := t.learn(obj); err != nil {
		return nil, err
	}
	return t, nil
}

// learn adds what the managedFields of obj reveal.
func (t *LearnedSchema) learn(obj map[string]any) error {
	metadata, _ := plain(obj["metadata"]).(map[string]any)
	entries, _ := plain(metadata["managedFields"]).([]any)
	for _, item := range entries {
		entry, _ := plain(item).(map[string]any)
		if entry["apiVersion"] != obj["apiVersion"] {
			continue
		}
		set, err := DecodeFieldsV1(entry["fieldsV1"])
		if err != nil {
			return fmt.Errorf("projection: managedFields of %q: %w", fmt.Sprint(entry["manager"]), err)
		}
		t.learnEntry(set, obj, entry)
	}
	return nil
}

func (t *LearnedSchema) learnEntry(set FieldSet, obj, entry map[string]any) {
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
func (t *LearnedSchema) learnMetadata() {
	metadata := t.root.known("metadata")
	metadata.known("labels").fields = map[string]*shape{}
	metadata.known("annotations").fields = map[string]*shape{}
	metadata.known("finalizers").set = true
	metadata.known("managedFields").whole = true
	*metadata.known("ownerReferences") = shape{keys: map[string]int{"uid": 1}, keyed: 1, items: &shape{whole: true}}
}

// PredictDeclared returns the fields that the manifest declares. The error wraps [ErrNoSchema] if the manifest is of another
// kind, or has a list or map of which the live object's managers revealed no type.
func (t *LearnedSchema) Declared(_ context.Context, manifest map[string]any) (FieldSet, error) {
	if manifest["apiVersion"] != t.apiVersion || manifest["kind"] != t.kind {
		return FieldSet{}, fmt.Errorf("projection: %w: learnt from another kind, %s %s", ErrNoSchema, t.apiVersion, t.kind)
	}
	reset, err := t.reset(manifest)
	if err != nil {
		return FieldSet{}, err
	}
	all, err := (&declarer{}).object(manifest, &t.root)
	return all.Tracked(reset), err
}

func (t *LearnedSchema) reset(manifest map[string]any) (FieldSet, error) {
	_, hasStatus := manifest["status"]
	switch {
	case kinds.IsBuiltin(manifest):
		return ResetFields(t.apiVersion, t.kind), nil
	case !hasStatus || t.statusKept:
		return FieldSet{}, nil
	case t.statusReset:
		return ResetFields(t.apiVersion, t.kind), nil
	}
	return FieldSet{}, fmt.Errorf("projection: %w that tells whether the status of %s %s is a subresource", ErrNoSchema, t.apiVersion, t.kind)
}
