package projection

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ssaplan/primitives/internal/kinds"
)

// Source finds the fields that a manifest declares: those that a server would record in managedFields after an apply.
// The sources, the best one first:
//
//   - the schemas that a server publishes: package projection/openapi
//   - the schemas of the built-in kinds, without a server: package projection/builtin
//   - what the managedFields of a live object reveal: [LearnedSchema]
//   - nothing: [NoSchema], which takes every list for an atomic one
//
// All except NoSchema give the same fields for the same manifest; NoSchema guesses. A server's answer to a dry run is
// better than any Source and needs no schema.
type Source interface {
	// Declared returns the fields that the manifest declares. An error that wraps [ErrNoSchema] says that the source
	// has no schema; any other error says that the manifest is wrong.
	Declared(ctx context.Context, manifest map[string]any) (FieldSet, error)
}

// Prediction has the fields that a manifest declares, and the source that knew them.
type Prediction struct {
	Fields FieldSet
	// Source is the source of the answer.
	Source Source
	// Skipped are the errors of the sources before it.
	Skipped []error
}

// PredictDeclared asks the sources in turn until one knows the fields that the manifest declares. If none does, the
// error wraps [ErrNoSchema] and has the reason of each source. An error that doesn't wrap ErrNoSchema is returned at
// once, as is the error of ctx.
func PredictDeclared(ctx context.Context, manifest map[string]any, sources ...Source) (Prediction, error) {
	var skipped []error
	for _, source := range sources {
		fields, err := source.Declared(ctx, manifest)
		switch {
		case err == nil:
			return Prediction{fields, source, skipped}, nil
		case !errors.Is(err, ErrNoSchema) || ctx.Err() != nil:
			return Prediction{}, err
		}
		skipped = append(skipped, err)
	}
	if len(skipped) == 0 {
		return Prediction{}, fmt.Errorf("projection: %w: no source to ask", ErrNoSchema)
	}
	return Prediction{}, errors.Join(skipped...)
}

// NoSchema is the [Source] without types. It assumes that every list is atomic, that no map is atomic, and that the
// status is a subresource. Its answer is a guess; use it if there is no other source.
type NoSchema struct{}

// Declared returns the fields that the manifest seems to declare. It gives no error.
func (NoSchema) Declared(_ context.Context, manifest map[string]any) (FieldSet, error) {
	apiVersion, _ := manifest["apiVersion"].(string)
	kind, _ := manifest["kind"].(string)
	all, err := (&declarer{guess: true}).object(manifest, nil)
	return all.Tracked(ResetFields(apiVersion, kind)), err
}

// Declared returns the fields that the manifest declares. The error wraps [ErrNoSchema] if the manifest is of another
// kind, or has a list or map whose type the object's managedFields don't show.
func (l *LearnedSchema) Declared(_ context.Context, manifest map[string]any) (FieldSet, error) {
	if manifest["apiVersion"] != l.apiVersion || manifest["kind"] != l.kind {
		return FieldSet{}, fmt.Errorf("projection: %w: learnt from another kind, %s %s", ErrNoSchema, l.apiVersion,
			l.kind)
	}
	reset, err := l.reset(manifest)
	if err != nil {
		return FieldSet{}, err
	}
	all, err := (&declarer{}).object(manifest, &l.root)
	return all.Tracked(reset), err
}

func (l *LearnedSchema) reset(manifest map[string]any) (FieldSet, error) {
	_, hasStatus := manifest["status"]
	switch {
	case kinds.IsBuiltin(manifest):
		return ResetFields(l.apiVersion, l.kind), nil
	case !hasStatus || l.statusKept:
		return FieldSet{}, nil
	case l.statusReset:
		return ResetFields(l.apiVersion, l.kind), nil
	}
	return FieldSet{}, fmt.Errorf("projection: %w that shows whether the status of %s %s is a subresource",
		ErrNoSchema, l.apiVersion, l.kind)
}

// declarer finds the fields of a manifest as structured-merge-diff does (ToFieldSet), with shapes in place of a schema.
type declarer struct {
	path Path
	// guess takes a list or map of unknown type for an atomic list or a structure, where it would be an error
	// otherwise. It finds what there is and not what would be recorded, in which items and entries are owned beside
	// what is in them.
	guess bool
}

// object returns all fields of obj. If it guesses it gives no error.
func (d *declarer) object(obj map[string]any, s *shape) (FieldSet, error) {
	root, err := d.fields(obj, s)
	if err != nil {
		return FieldSet{}, err
	}
	return FieldSet{root}.normal(), nil
}

// value returns the fields of v, which are none if it is an associative list without items.
func (d *declarer) value(v any, s *shape) (*node, error) {
	v = plain(v)
	m, isMap := v.(map[string]any)
	list, isList := v.([]any)
	switch {
	case !isMap && !isList, isMap && len(m) == 0, s.atomic():
		return leaf, nil
	case isMap && (d.guess || s.granular()):
		return d.fields(m, s)
	case isList && s.granular():
		return d.list(list, s)
	case d.guess:
		return leaf, nil
	}
	return nil, fmt.Errorf("projection: %w: no owner of %s has revealed its type", ErrNoSchema, d.path)
}

func (d *declarer) fields(m map[string]any, s *shape) (*node, error) {
	n := &node{}
	for _, name := range sortedKeys(m) {
		e, below := Field(name), s.child(name)
		d.path = append(d.path, e)
		sub, err := d.value(m[name], below)
		if err != nil {
			return nil, err
		}
		d.path = d.path[:len(d.path)-1]
		if below != nil && below.entry && !d.guess {
			sub = asMember(sub)
		}
		if !sub.empty() {
			n.children = append(n.children, child{e, sub})
		}
	}
	return n, nil
}

// asMember returns n with its path itself in the set.
func asMember(n *node) *node {
	if n.empty() {
		return leaf
	}
	return &node{member: true, children: n.children}
}

// list returns the items of a list that has keys or is a set; when guessing, the whole list if it can't be such a list.
func (d *declarer) list(list []any, s *shape) (*node, error) {
	n, err := d.items(list, s)
	if d.guess && (err != nil || n.empty()) {
		return leaf, nil
	}
	return n, err
}

func (d *declarer) items(list []any, s *shape) (*node, error) {
	n := &node{}
	for i, item := range list {
		item = plain(item)
		e, err := s.element(item)
		if err != nil {
			return nil, fmt.Errorf("projection: item %d of %s: %w", i, d.path, err)
		}
		d.path = append(d.path, e)
		sub, err := d.item(item, s.items)
		if err != nil {
			return nil, err
		}
		d.path = d.path[:len(d.path)-1]
		if !d.guess || sub.empty() {
			sub = asMember(sub)
		}
		n.children = append(n.children, child{e, sub})
	}
	e, twice := sortUnique(n.children)
	if twice && !d.guess {
		return nil, fmt.Errorf("projection: %s appears twice", append(slices.Clone(d.path), e))
	}
	n.children = slices.CompactFunc(n.children, func(a, b child) bool { return a.element == b.element })
	return n, nil
}

// item returns the fields of an item; one that is a map has fields even if none of them has an owner.
func (d *declarer) item(item any, s *shape) (*node, error) {
	m, isMap := item.(map[string]any)
	if !isMap || s.atomic() {
		return leaf, nil
	}
	return d.fields(m, s)
}
