package secrecy

import (
	"maps"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/projection"
)

// EveryField is the pattern of all fields of an object. It is used for a kind whose schema isn't known: the schema
// marks the sensitive fields.
const EveryField = "*"

// Unmarked are the sensitive fields of a kind whose marks aren't known: all of them.
var Unmarked, _ = projection.ParsePatterns(EveryField) // which is a pattern

// IsUnmarked reports whether all fields are sensitive because the marks of the kind aren't known.
func IsUnmarked(patterns projection.Patterns) bool {
	return slices.ContainsFunc(patterns, func(p projection.Pattern) bool { return p.String() == EveryField })
}

// Annotations are sensitive in an object with sensitive values, where tools keep copies of it.
var Annotations, _ = projection.ParsePatterns("metadata.annotations") // which is a pattern

// Passwords returns patterns of the fields that an OpenAPI schema marks with the format password. It may refer to other
// schemas of its document by their names. All fields are passwords if it can't be said which: if the document lacks
// such a schema, or a schema with passwords contains itself.
func Passwords(schema map[string]any, document map[string]map[string]any) projection.Patterns {
	m := marks{document: document}
	m.of(schema, "")
	if m.isUnknown || m.isEndless && len(m.texts) > 0 {
		return Unmarked
	}
	return parsed(m.texts)
}

// parsed returns the patterns of the texts, sorted and each once.
func parsed(texts []string) projection.Patterns {
	slices.Sort(texts)
	found := projection.Patterns{}
	for _, text := range slices.Compact(texts) {
		if p, err := projection.ParsePattern(text); err == nil { // fails only for "", the object itself
			found = append(found, p)
		}
	}
	return found
}

// marks are the patterns that are found in a schema.
type marks struct {
	document  map[string]map[string]any
	within    []string // the schemas of the document in which the walk is
	texts     []string
	isUnknown bool // a schema is missing
	isEndless bool // a schema contains itself
}

// of walks through a schema and adds a pattern for each password in it. The values with this schema are at the pattern
// at.
func (m *marks) of(schema map[string]any, at string) {
	if schema["format"] == "password" {
		m.texts = append(m.texts, at)
		return
	}
	if ref, isRef := schema["$ref"].(string); isRef {
		m.ofNamed(strings.TrimPrefix(ref, "#/components/schemas/"), at)
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		m.below(properties[name], at, projection.Path{projection.Field(name)}.String())
	}
	m.below(schema["additionalProperties"], at, "*")
	m.below(schema["items"], at, "[*]")
	for _, of := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := schema[of].([]any)
		for _, part := range parts {
			if part, ok := part.(map[string]any); ok {
				m.of(part, at)
			}
		}
	}
}

// ofNamed adds the patterns of a schema of the document.
func (m *marks) ofNamed(name, at string) {
	schema, found := m.document[name]
	switch {
	case !found:
		m.isUnknown = true
	case slices.Contains(m.within, name):
		m.isEndless = true
	default:
		m.within = append(m.within, name)
		m.of(schema, at)
		m.within = m.within[:len(m.within)-1]
	}
}

// below adds the patterns of the schema of a field or of items.
func (m *marks) below(schema any, at, name string) {
	if inner, ok := schema.(map[string]any); ok {
		m.of(inner, joined(at, name))
	}
}

// joined returns the pattern of a field, or of items, at a pattern.
func joined(at, name string) string {
	if at != "" && !strings.HasPrefix(name, "[") {
		at += "."
	}
	return at + name
}
