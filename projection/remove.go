package projection

import "slices"

// Remove returns a copy of the object without the values that the patterns match, and the paths of the removed values.
// A server deletes a field that is no longer sent, or sets it to its default, unless another manager owns it.
//
// An object alone doesn't show which fields of an item are its keys. So a key field in a pattern is compared with the
// field of that name, whether or not it is a key. The path of a removed item has the fields in the pattern as its key.
// A list or map that is left empty stays. The fields that identify the object (apiVersion, kind, and the name and
// namespace in its metadata) stay too.
func (ps Patterns) Remove(obj map[string]any) (rest map[string]any, removed []Path) {
	return ps.remove(obj, remover{})
}

// Strip does what [Patterns.Remove] does, and also removes lists and maps that become empty. An applied empty map would
// be owned by the applier.
func (ps Patterns) Strip(obj map[string]any) (rest map[string]any, removed []Path) {
	return ps.remove(obj, remover{whole: true})
}

// Find returns the paths in a manifest that the patterns match, with list items keyed as in fields. So a pattern also
// finds an item by key fields that the manifest leaves out because they have defaults, and the path of each matched
// item has the complete key. Otherwise the paths are those that [Patterns.Remove] removes.
func (ps Patterns) Find(manifest map[string]any, fields FieldSet) []Path {
	_, found := ps.remove(manifest, remover{named: true, at: fields.root})
	return found
}

// Named returns the patterns with positions in the manifest replaced by keys as in fields. Such patterns match the same
// items in another object or in a field set.
func (ps Patterns) Named(manifest map[string]any, fields FieldSet) Patterns {
	named := ps.WithoutPositions()
	if len(named) == len(ps) {
		return ps
	}
	sent := NewManifest(manifest, fields)
	positioned := slices.DeleteFunc(slices.Clone(ps), func(p Pattern) bool { return !p.hasPosition() })
	for _, p := range positioned.Find(manifest, fields) {
		named = append(named, PatternOf(sent.Resolve(p)))
	}
	return named
}

func (ps Patterns) remove(obj map[string]any, r remover) (rest map[string]any, removed []Path) {
	rest, _ = deepCopy(obj).(map[string]any)
	r.fields(rest, ps.start())
	return rest, r.removed
}

type remover struct {
	whole   bool  // leaves no map or list behind that becomes empty
	named   bool  // items are matched by their names in the fields, too, and have these names in the paths
	at      *node // what the fields have at the path
	path    Path
	removed []Path
}

// into calls do for a place below.
func (r *remover) into(e Element, at *node, do func()) {
	around := r.at
	r.path, r.at = append(r.path, e), at
	do()
	r.path, r.at = r.path[:len(r.path)-1], around
}

func (r *remover) fields(m map[string]any, pr progress) {
	for _, name := range sortedKeys(m) {
		r.into(Field(name), r.at.child(Field(name)), func() { r.field(m, name, pr) })
	}
}

func (r *remover) field(m map[string]any, name string, pr progress) {
	next, done := pr.advance(name, func(s segment) bool { return s.field(name) })
	if done && identity.Has(r.path) {
		// The fields that identify the object stay. Of the metadata, everything else is removed.
		if below, isMap := m[name].(map[string]any); isMap {
			r.fields(below, progress{{anyField{}}})
		}
	} else if done {
		delete(m, name)
		r.removed = append(r.removed, slices.Clone(r.path))
	} else if next != nil {
		found := len(r.removed)
		if m[name] = r.below(m[name], next); r.whole && len(r.removed) > found && isEmpty(m[name]) {
			delete(m, name)
		}
	}
}

func (r *remover) below(v any, pr progress) any {
	switch v := v.(type) {
	case map[string]any:
		r.fields(v, pr)
	case []any:
		return r.items(v, pr)
	}
	return v
}

func (r *remover) items(list []any, pr progress) []any {
	out := make([]any, 0, len(list))
	var names *listIndex // how the fields name the items, if that matters
	if r.named && r.at != nil {
		names = newListIndex(list, r.at, true)
	}
	for i, item := range list {
		name, at := Index(i), (*node)(nil)
		if names != nil {
			name, at = names.name(i, name), names.node(i)
		}
		called := name
		next, done := pr.advance("", func(s segment) bool {
			e, ok := s.item(item, i)
			if ok && name.kind == IndexKind {
				called = e
			}
			return ok || r.named && s.element(name)
		})
		r.into(called, at, func() {
			switch {
			case done:
				r.removed = append(r.removed, slices.Clone(r.path))
			case next == nil:
				out = append(out, item)
			default:
				out = append(out, r.below(item, next))
			}
		})
	}
	return out
}
