package projection

import "slices"

// Patterns are several patterns that are matched at once. A place matches if one of them matches it or one above it.
type Patterns []Pattern

// ParsePatterns reads patterns; see [ParsePattern].
func ParsePatterns(texts ...string) (Patterns, error) {
	var out Patterns
	for _, text := range texts {
		p, err := ParsePattern(text)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Match reports whether one of the patterns matches the path or one above it.
func (ps Patterns) Match(p Path) bool {
	return slices.ContainsFunc(ps, func(pattern Pattern) bool { return pattern.Match(p) })
}

// Split returns the paths of the set that no pattern matches, and those that one does. A pattern that reaches into a
// list or map of which the set has only the whole, since it is atomic, matches nothing.
func (ps Patterns) Split(set FieldSet) (kept, matched FieldSet) {
	if set.root == nil || len(ps) == 0 {
		return set, FieldSet{}
	}
	k, m := split(set.root, ps.start())
	return FieldSet{k}.normal(), FieldSet{m}.normal()
}

// progress is where a pattern stands: the steps that are still to be matched.
type progress [][]step

func (ps Patterns) start() progress {
	var out progress
	for _, p := range ps {
		if len(p.steps) > 0 {
			out = append(out, p.steps)
		}
	}
	return out
}

// advance returns the patterns that go on below a place that their first steps matched, and whether one has matched
// altogether.
func (pr progress) advance(matches func(step) bool) (next progress, done bool) {
	for _, steps := range pr {
		if !matches(steps[0]) {
			continue
		}
		if len(steps) == 1 {
			return nil, true
		}
		next = append(next, steps[1:])
	}
	return next, false
}

func split(n *node, pr progress) (kept, matched *node) {
	kept, matched = &node{member: n.member}, &node{}
	for _, c := range n.children {
		next, done := pr.advance(func(s step) bool { return s.element(c.element) })
		switch {
		case done:
			matched.children = append(matched.children, c)
		case next == nil:
			kept.children = append(kept.children, c)
		default:
			k, m := split(c.node, next)
			kept.addFilled(c.element, k)
			matched.addFilled(c.element, m)
		}
	}
	return kept, matched
}

func (n *node) addFilled(e Element, sub *node) {
	if !sub.empty() {
		n.children = append(n.children, child{e, sub})
	}
}

// Remove returns a copy of the object without what the patterns match, and the paths of what was removed. A field that
// is no longer sent isn't left alone by the server: if nobody else owns it, it is deleted or set to its default.
//
// In an object nothing tells which fields of an item are its keys, so that a key field in a pattern matches whatever
// field has that name, and a removed item is called by those fields. A list or map that is left empty stays. The fields
// that identify the object (apiVersion, kind, and the name and namespace in its metadata) stay too.
func (ps Patterns) Remove(obj map[string]any) (rest map[string]any, removed []Path) {
	rest, _ = deepCopy(obj).(map[string]any)
	r := remover{}
	r.fields(rest, ps.start())
	return rest, r.removed
}

var identity = NewFieldSet(
	Path{Field("apiVersion")}, Path{Field("kind")}, metadataField(), metadataField("name"), metadataField("namespace"),
)

type remover struct {
	path    Path
	removed []Path
}

func (r *remover) fields(m map[string]any, pr progress) {
	for _, name := range sortedKeys(m) {
		next, done := pr.advance(func(s step) bool { return s.field(name) })
		r.path = append(r.path, Field(name))
		if done && identity.Has(r.path) {
			// Of the metadata, all else is removed.
			if below, isMap := m[name].(map[string]any); isMap {
				r.fields(below, progress{{anyField{}}})
			}
		} else if done {
			delete(m, name)
			r.removed = append(r.removed, slices.Clone(r.path))
		} else if next != nil {
			m[name] = r.below(m[name], next)
		}
		r.path = r.path[:len(r.path)-1]
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
	for i, item := range list {
		name := Index(i)
		next, done := pr.advance(func(s step) bool {
			e, ok := s.item(item, i)
			if ok {
				name = e
			}
			return ok
		})
		r.path = append(r.path, name)
		switch {
		case done:
			r.removed = append(r.removed, slices.Clone(r.path))
		case next == nil:
			out = append(out, item)
		default:
			out = append(out, r.below(item, next))
		}
		r.path = r.path[:len(r.path)-1]
	}
	return out
}
