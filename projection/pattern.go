package projection

import (
	"regexp"
	"slices"
	"strings"
)

// Pattern is a path with wildcards. It matches paths, and everything below them. The text is that of a [Path], with
// these additions:
//
//	metadata.annotations.*                          * is any field
//	metadata.annotations[~"example.io/*"]           ~ compares with wildcards; * is any text, also none
//	spec.template.spec.containers[*].image          [*] is any element of a list
//	spec.template.spec.containers[name="app"].env   an element that has the key field, whatever other key fields it has
//	spec.template.spec.containers[name~"istio-*"]   and the same with wildcards
//	metadata.finalizers[~"example.io/*"]            an element of a set, too, if it is a text
//
// A name is matched as a whole: metadata.label does not match metadata.labels. The zero Pattern matches nothing.
//
// Other notations are accepted, too:
//
//	/spec/template/spec/containers/0/image          a JSON pointer; a number is a position or a field that is called so
//	$.spec.containers[?(@.name=='app')].image       JSONPath: a $ or dot in front, conditions of equality (also joined
//	                                                by &&), and names in single quotes
//	metadata.annotations.example.io/owner           below annotations and labels of the metadata, and below
//	                                                matchLabels, the text up to a bracket is one name, dots
//	                                                included; * is any text
//	data.tls.crt                                    the field crt of the map tls, and also the map key tls.crt
type Pattern struct {
	text     string
	segments []segment
}

// segment matches one element of a path.
type segment interface {
	// element reports whether the segment matches an element of a path.
	element(e Element) bool
	// field reports whether it matches a field of a map.
	field(name string) bool
	// item reports whether it matches an item of a list, and how the item is called for that.
	item(v any, position int) (Element, bool)
}

// String returns the text of the pattern.
func (p Pattern) String() string { return p.text }

// MarshalText returns the text of the pattern.
func (p Pattern) MarshalText() ([]byte, error) { return []byte(p.text), nil }

// UnmarshalText sets p to the pattern of the text; see [ParsePattern].
func (p *Pattern) UnmarshalText(text []byte) error {
	parsed, err := ParsePattern(string(text))
	if err == nil {
		*p = parsed
	}
	return err
}

// Match reports whether p matches the path or one above it.
func (p Pattern) Match(path Path) bool {
	if len(p.segments) == 0 {
		return false
	}
	if hasDots(path) {
		done, _ := p.follow(path)
		return done
	}
	if len(path) < len(p.segments) {
		return false
	}
	for i, s := range p.segments {
		if !s.element(path[i]) {
			return false
		}
	}
	return true
}

// hasDots reports whether a name with dots is in the path, which a pattern may have without quotes.
func hasDots(path Path) bool {
	return slices.ContainsFunc(path, func(e Element) bool { return e.kind == FieldKind && strings.Contains(e.text, ".") })
}

// follow reports whether p matches the path or one above it, and whether it does so or may match something below it.
func (p Pattern) follow(path Path) (done, touches bool) {
	pr := progress{p.segments}
	for _, e := range path {
		if pr, done = pr.advance(e.Name(), func(s segment) bool { return s.element(e) }); done || pr == nil {
			return done, done
		}
	}
	return false, true
}

// Patterns are several patterns that are matched at once. A path matches if one of them matches it or a path above it.
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

// Touches reports whether one of the patterns matches p, a path above it, or a path that may be below it.
func (ps Patterns) Touches(p Path) bool {
	return slices.ContainsFunc(ps, func(pattern Pattern) bool {
		if len(pattern.segments) == 0 {
			return false
		}
		if hasDots(p) {
			_, touches := pattern.follow(p)
			return touches
		}
		n := min(len(p), len(pattern.segments))
		return Pattern{segments: pattern.segments[:n]}.Match(p[:n])
	})
}

// WithoutPositions returns those of the patterns that name no list item by its position. A pattern with a position is
// only valid for one version of an object: after an item is removed it would match the next one.
func (ps Patterns) WithoutPositions() Patterns {
	return slices.DeleteFunc(slices.Clone(ps), Pattern.hasPosition)
}

// OfEveryItem returns the patterns with every position replaced by [*]. Use it for sensitive values, since items can
// move to another position.
func (ps Patterns) OfEveryItem() Patterns {
	out := slices.Clone(ps)
	for i, p := range out {
		for j, s := range p.segments {
			e, isExact := s.(exact)
			token, isPointed := s.(pointed)
			_, isPosition := token.position()
			switch {
			case isExact && e.kind == IndexKind:
				s = anyItem{}
			case isPointed && isPosition:
				s = fieldOrItem(token)
			default:
				continue
			}
			out[i].segments = slices.Clone(out[i].segments)
			out[i].segments[j] = s
		}
	}
	return out
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

// hasPosition reports whether p may name an item of a list by its position.
func (p Pattern) hasPosition() bool {
	return slices.ContainsFunc(p.segments, func(s segment) bool {
		if e, isExact := s.(exact); isExact {
			return e.kind == IndexKind
		}
		token, isPointed := s.(pointed)
		_, isPosition := token.position()
		return isPointed && isPosition
	})
}

// Split returns the paths of the set that no pattern matches, and those that a pattern matches. A pattern for a part of
// an atomic list or map, which the set has only as a whole, matches no path.
func (ps Patterns) Split(set FieldSet) (kept, matched FieldSet) {
	if set.root == nil {
		return set, FieldSet{}
	}
	k, m := split(set.root, ps.start())
	return FieldSet{k}.normal(), FieldSet{m}.normal()
}

// progress are the segments of each pattern that are still to be matched.
type progress [][]segment

func (ps Patterns) start() progress {
	var out progress
	for _, p := range ps {
		if len(p.segments) > 0 {
			out = append(out, p.segments)
		}
	}
	return out
}

// advance returns the patterns that go on below a place that their first segments matched, and whether one has matched
// altogether. Name is that of the place, if it is a field.
func (pr progress) advance(name string, matches func(segment) bool) (next progress, done bool) {
	for _, segments := range pr {
		n := spelled(segments, name)
		if n == 0 && matches(segments[0]) {
			n = 1
		}
		switch {
		case n == len(segments):
			return nil, true
		case n > 0:
			next = append(next, segments[n:])
		}
	}
	return next, false
}

// spelled returns how many of the first segments are names that make up, with dots between them, that of a field; 0 if
// they don't.
func spelled(segments []segment, name string) int {
	if !strings.Contains(name, ".") {
		return 0
	}
	for i, s := range segments {
		e, isExact := s.(exact)
		if !isExact || !e.isBare {
			return 0
		}
		rest, isPrefix := strings.CutPrefix(name, e.text)
		switch {
		case !isPrefix:
			return 0
		case rest == "":
			return i + 1
		case rest[0] != '.':
			return 0
		}
		name = rest[1:]
	}
	return 0
}

func split(n *node, pr progress) (kept, matched *node) {
	kept, matched = &node{member: n.member}, &node{}
	for _, c := range n.children {
		next, done := pr.advance(c.element.Name(), func(s segment) bool { return s.element(c.element) })
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

func (ps Patterns) remove(obj map[string]any, r remover) (rest map[string]any, removed []Path) {
	rest, _ = deepCopy(obj).(map[string]any)
	r.fields(rest, ps.start())
	return rest, r.removed
}

type remover struct {
	whole   bool  // leaves no map or list behind that becomes empty
	named   bool  // items are matched, and called, as the fields name them
	at      *node // what the fields have at the path
	path    Path
	removed []Path
}

// into goes on with do at a place below.
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
		// Of the metadata, all else is removed.
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
	names := r.names(list)
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

// names returns how the fields name the items of a list, nil unless that matters.
func (r *remover) names(list []any) *listIndex {
	if !r.named || r.at == nil {
		return nil
	}
	return newListIndex(list, r.at, true)
}

// exact matches the element that is named, and fields and items that are called so.
type exact struct {
	Element
	isBare bool // a name without quotes, which may be a part of one with dots
}

func (s exact) element(e Element) bool { return e == s.Element }

func (s exact) field(name string) bool { return s.kind == FieldKind && s.text == name }

func (s exact) item(v any, position int) (Element, bool) {
	switch s.kind {
	case ValueKind:
		e, err := Value(v)
		return s.Element, err == nil && e == s.Element
	case IndexKind:
		return s.Element, Index(position) == s.Element
	}
	return Element{}, false
}

// anyField matches every field.
type anyField struct{}

func (anyField) element(e Element) bool { return e.kind == FieldKind }

func (anyField) field(string) bool { return true }

func (anyField) item(any, int) (Element, bool) { return Element{}, false }

// anyItem matches every element of a list.
type anyItem struct{}

func (anyItem) element(e Element) bool { return e.kind != FieldKind }

func (anyItem) field(string) bool { return false }

func (anyItem) item(_ any, position int) (Element, bool) { return Index(position), true }

// globbed matches fields by name, and elements of sets that are texts.
type globbed struct{ glob *regexp.Regexp }

func (s globbed) element(e Element) bool {
	if e.kind == FieldKind {
		return s.field(e.text)
	}
	text, ok := e.Value().(string)
	return ok && s.glob.MatchString(text)
}

func (s globbed) field(name string) bool { return s.glob.MatchString(name) }

func (s globbed) item(v any, _ int) (Element, bool) {
	text, ok := v.(string)
	if !ok || !s.glob.MatchString(text) {
		return Element{}, false
	}
	e, err := Value(text)
	return e, err == nil
}

// keyed matches elements that have the key fields, and items of lists that have the fields.
type keyed []predicate

// predicate compares one key field, with glob if there is one, and else with value.
type predicate struct {
	name  string
	value Element
	glob  *regexp.Regexp
}

// equalTo returns the predicates of the fields of a key.
func equalTo(fields map[string]any) keyed {
	var out keyed
	for _, name := range sortedKeys(fields) {
		if v, err := Value(fields[name]); err == nil {
			out = append(out, predicate{name: name, value: v})
		}
	}
	return out
}

func (s keyed) element(e Element) bool {
	if e.kind != KeyKind {
		return false
	}
	_, ok := s.match(e.KeyFields())
	return ok
}

func (keyed) field(string) bool { return false }

func (s keyed) item(v any, _ int) (Element, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return Element{}, false
	}
	key, ok := s.match(m)
	if !ok {
		return Element{}, false
	}
	e, err := Key(key)
	return e, err == nil
}

// match reports whether all predicates hold, and returns the values that they were about.
func (s keyed) match(fields map[string]any) (map[string]any, bool) {
	key := map[string]any{}
	for _, p := range s {
		v, exists := fields[p.name]
		if !exists || !p.holds(v) {
			return nil, false
		}
		key[p.name] = v
	}
	return key, true
}

func (p predicate) holds(v any) bool {
	if p.glob != nil {
		text, ok := v.(string)
		return ok && p.glob.MatchString(text)
	}
	e, err := Value(v)
	return err == nil && e == p.value
}
