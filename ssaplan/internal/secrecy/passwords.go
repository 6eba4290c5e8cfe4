package secrecy

import (
	"maps"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/projection"
)

// EveryField is the pattern of all fields of an object whose marks aren't known.
const EveryField = "*"

// Unmarked are the sensitive fields of a kind whose marks aren't known: all of them.
var Unmarked, _ = projection.ParsePatterns(EveryField) // which is a pattern

// IsUnmarked reports whether all fields are sensitive because the marks of the kind aren't known.
func IsUnmarked(patterns projection.Patterns) bool {
	return slices.ContainsFunc(patterns, func(p projection.Pattern) bool { return p.String() == EveryField })
}

// Annotations are sensitive in an object with sensitive values, where tools keep copies of it.
var Annotations, _ = projection.ParsePatterns("metadata.annotations") // which is a pattern

// Passwords returns patterns of the fields that an OpenAPI schema marks with the format password. Types that it only
// refers to, which are those of Kubernetes itself, have none.
func Passwords(schema map[string]any) projection.Patterns {
	var texts []string
	passwords(schema, "", &texts)
	return parsed(texts)
}

// parsed returns the patterns of the texts, sorted and each once.
func parsed(texts []string) projection.Patterns {
	slices.Sort(texts)
	found := projection.Patterns{}
	for _, text := range slices.Compact(texts) {
		if p, err := projection.ParsePattern(text); err == nil { // all are, but the object itself, which is no text
			found = append(found, p)
		}
	}
	return found
}

// passwords adds the patterns of a schema for what lies at a pattern.
func passwords(schema map[string]any, at string, found *[]string) {
	if schema["format"] == "password" {
		*found = append(*found, at)
		return
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		below(properties[name], at, projection.Path{projection.Field(name)}.String(), found)
	}
	below(schema["additionalProperties"], at, "*", found)
	below(schema["items"], at, "[*]", found)
	for _, of := range []string{"allOf", "anyOf", "oneOf"} {
		parts, _ := schema[of].([]any)
		for _, part := range parts {
			if part, ok := part.(map[string]any); ok {
				passwords(part, at, found)
			}
		}
	}
}

// below adds the patterns of the schema of a field or of items.
func below(schema any, at, name string, found *[]string) {
	inner, ok := schema.(map[string]any)
	if !ok {
		return
	}
	passwords(inner, joined(at, name), found)
}

// joined returns the pattern of a field, or of items, at a pattern.
func joined(at, name string) string {
	if at != "" && !strings.HasPrefix(name, "[") {
		at += "."
	}
	return at + name
}
