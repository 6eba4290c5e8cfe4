package projection

import (
	"fmt"
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

// ParsePattern reads a pattern. The error quotes the text and names the byte at which it becomes invalid.
func ParsePattern(text string) (Pattern, error) {
	segments, err := parseSegments(text)
	if err != nil {
		return Pattern{}, fmt.Errorf("projection: pattern %q: %w", text, err)
	}
	return Pattern{text, segments}, nil
}

// PatternOf returns the pattern without wildcards that matches the path.
func PatternOf(path Path) Pattern {
	p := Pattern{text: path.String()}
	for _, e := range path {
		p.segments = append(p.segments, segmentOf(e))
	}
	return p
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
	return slices.ContainsFunc(path,
		func(e Element) bool { return e.kind == FieldKind && strings.Contains(e.text, ".") })
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
			if isPosition(s) {
				out[i].segments = slices.Clone(out[i].segments)
				out[i].segments[j] = everyItem(s)
			}
		}
	}
	return out
}

// hasPosition reports whether p may name an item of a list by its position.
func (p Pattern) hasPosition() bool {
	return slices.ContainsFunc(p.segments, isPosition)
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

func (ps Patterns) start() progress {
	var out progress
	for _, p := range ps {
		if len(p.segments) > 0 {
			out = append(out, p.segments)
		}
	}
	return out
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
