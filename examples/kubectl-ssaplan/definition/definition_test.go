package definition_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/definition"
)

// versions returns one served and stored version with a schema in YAML.
func versions(t *testing.T, schema string) []any {
	t.Helper()
	return []any{map[string]any{
		"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": parsed(t, schema)},
	}}
}

func parsed(t *testing.T, text string) (v any) {
	t.Helper()
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &v))
	return v
}

func texts(findings []definition.Finding) (out []string) {
	for _, f := range findings {
		out = append(out, fmt.Sprintf("%d %s", f.Class, f))
	}
	return out
}

const (
	loses   = "0 v1"
	refuses = "1 v1"
	widens  = "2 v1"
)

func TestCompareSchemas(t *testing.T) {
	tests := []struct {
		why, before, after string
		want               []string
	}{
		{"a field that goes takes its values along, and is one finding with all that is in it",
			`{type: object, properties: {a: {type: object, properties: {b: {type: string}, c: {type: string}}}}}`, `{type: object}`,
			[]string{loses + " a: the field is removed, and its values are lost"}},
		{"what is preserved stays",
			`{type: object, properties: {a: {type: string}}}`, `{type: object, x-kubernetes-preserve-unknown-fields: true}`,
			[]string{widens + ": fields that the schema doesn't name are kept", widens + " a: not named any more, and kept"}},
		{"a map of strings still takes a string field",
			`{type: object, properties: {a: {type: string}}}`, `{type: object, additionalProperties: {type: string}}`,
			[]string{widens + ": other keys are kept"}},
		{"what was kept without being named is dropped",
			`{type: object, x-kubernetes-preserve-unknown-fields: true}`, `{type: object}`,
			[]string{loses + ": fields that the schema doesn't name are dropped now"}},
		{"and so it is in a field that gets named",
			`{type: object, x-kubernetes-preserve-unknown-fields: true}`,
			`{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: object}}}`,
			[]string{loses + " a: any field was kept; now fields that the schema lacks are dropped"}},
		{"in lists of objects, too", `{type: object, properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}`,
			`{type: object, properties: {a: {type: array, items: {type: object, properties: {b: {type: string}}}}}}`,
			[]string{loses + " a: any field was kept; now fields that the schema lacks are dropped"}},
		{"what gets a type loses nothing", `{type: object, x-kubernetes-preserve-unknown-fields: true}`,
			`{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}, b: {type: object, additionalProperties: {type: string}}}}`,
			[]string{refuses + " a: only values of type string", refuses + " b: only values of type object"}},
		{"keys of a map that closes", `{type: object, additionalProperties: {type: string}}`, `{type: object, properties: {a: {type: string}}}`,
			[]string{loses + ": keys that the schema doesn't name are dropped now"}},
		{"values of a map are compared, and names hold dots",
			`{type: object, properties: {a.b: {type: object, additionalProperties: {type: string}}}}`,
			`{type: object, properties: {a.b: {type: object, additionalProperties: {type: string, maxLength: 3}}}}`,
			[]string{refuses + ` ["a.b"].*: maxLength 3`}},
		{"another type", `{type: string}`, `{type: integer}`, []string{loses + ": type integer instead of string: stored values don't fit"}},
		{"integers are numbers", `{type: integer}`, `{type: number}`, []string{widens + ": type number instead of integer"}},
		{"numbers aren't integers", `{type: number}`, `{type: integer}`, []string{loses + ": type integer instead of number: stored values don't fit"}},
		{"int-or-string takes integers", `{type: integer}`, `{x-kubernetes-int-or-string: true}`, []string{widens + ": type int-or-string instead of integer"}},
		{"keys of a list break applies",
			`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: object}}`,
			`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b], items: {type: object}}`,
			[]string{loses + `: the items have the keys [a b] instead of [a]: applies of stored objects may fail`}},
		{"a list is atomic unless it says otherwise",
			`{type: array, items: {type: string}}`, `{type: array, x-kubernetes-list-type: atomic, items: {type: string}}`, nil},
		{"a list that becomes a set", `{type: array, items: {type: string}}`, `{type: array, x-kubernetes-list-type: set, items: {type: string}}`,
			[]string{loses + ": x-kubernetes-list-type set instead of atomic: the ownership of fields in stored objects changes, and applies may fail"}},
		{"a default is what stored objects without the field read", `{type: integer}`, `{type: integer, default: 3}`,
			[]string{loses + ": a default, 3: stored objects without the field read otherwise"}},
		{"an empty text stands for none", `{type: object, properties: {a: {type: string}, b: {type: string, default: ""}}}`,
			`{type: object, properties: {a: {type: string, default: ""}, b: {type: string}}}`,
			[]string{widens + ` a: a default, "": an empty string, which means none`, widens + ` b: no default any more, it was "": an empty string, which means none`}},
		{"another text doesn't", `{type: string, default: ""}`, `{type: string, default: x}`,
			[]string{loses + `: the default is "x" instead of "": stored objects without the field read otherwise`}},
		{"nor do false and 0", `{type: object, properties: {a: {type: boolean}}}`, `{type: object, properties: {a: {type: boolean, default: false}}}`,
			[]string{loses + " a: a default, false: stored objects without the field read otherwise"}},
		{"defaults stand last in their class", `{type: object, properties: {a: {type: integer}, b: {type: string}}}`,
			`{type: object, properties: {a: {type: integer, default: 3}}}`,
			[]string{loses + " b: the field is removed, and its values are lost", loses + " a: a default, 3: stored objects without the field read otherwise"}},
		{"required", `{type: object, properties: {a: {type: string}}}`, `{type: object, properties: {a: {type: string}}, required: [a]}`,
			[]string{refuses + " a: required now"}},
		{"required with a default refuses nothing", `{type: object}`, `{type: object, properties: {a: {type: string, default: x}}, required: [a]}`,
			[]string{widens + " a: a new field", widens + " a: required, with a default"}},
		{"sets in another order are the same",
			`{type: object, required: [a, b], properties: {a: {type: string, enum: [x, y]}, b: {type: string}}}`,
			`{type: object, required: [b, a], properties: {a: {type: string, enum: [y, x]}, b: {type: string}}}`, nil},
		{"a value of an enum", `{type: string, enum: [x, y]}`, `{type: string, enum: [y, z]}`,
			[]string{refuses + `: the value "x" is refused now`, widens + `: the value "z" is allowed`}},
		{"an enum that goes widens", `{type: string, enum: [x]}`, `{type: string}`, []string{widens + ": any value"}},
		{"an enum that comes", `{type: string}`, `{type: string, enum: [x]}`, []string{refuses + `: only the values ["x"]`}},
		{"upper bounds are stricter when lower, lower ones when higher", `{type: string, maxLength: 5, minLength: 1}`, `{type: string, maxLength: 4, minLength: 2}`,
			[]string{refuses + ": maxLength 4 instead of 5", refuses + ": minLength 2 instead of 1"}},
		{"and else they widen", `{type: string, maxLength: 4, minLength: 2, maxItems: 1}`, `{type: string, maxLength: 5, minLength: 1}`,
			[]string{widens + ": maxLength", widens + ": maxItems", widens + ": minLength"}},
		{"a pattern", `{type: string, format: uuid}`, `{type: string, pattern: "^a"}`,
			[]string{refuses + `: pattern "^a"`, widens + ": no format any more"}},
		{"null", `{type: string, nullable: true}`, `{type: string}`, []string{refuses + ": null is refused now"}},
		{"exclusive bounds", `{type: integer, maximum: 3}`, `{type: integer, maximum: 3, exclusiveMaximum: true}`, []string{refuses + ": exclusiveMaximum"}},
		{"rules are what they say", `{type: object, x-kubernetes-validations: [{rule: "a"}, {rule: "b"}]}`,
			`{type: object, x-kubernetes-validations: [{rule: "b", message: new}, {rule: "c"}]}`,
			[]string{refuses + `: rule "c"`, widens + `: no rule "a" any more`}},
		{"more to choose from widens", `{anyOf: [{type: integer}]}`, `{anyOf: [{type: integer}, {type: string}]}`, []string{widens + ": anyOf"}},
		{"less to choose from doesn't", `{anyOf: [{type: integer}, {type: string}]}`, `{anyOf: [{type: integer}]}`, []string{refuses + ": another anyOf"}},
		{"more that has to hold refuses", `{allOf: [{minimum: 1}]}`, `{allOf: [{minimum: 1}, {maximum: 5}]}`, []string{refuses + ": another allOf"}},
		{"words in them are words", `{not: {minimum: 1, description: a}}`, `{not: {minimum: 1, description: b}}`, []string{widens + ": the words of not"}},
		{"a field may be called like a word", `{type: object, properties: {description: {type: string}}}`, `{type: object, properties: {description: {type: integer}}}`,
			[]string{loses + " description: type integer instead of string: stored values don't fit"}},
		{"items", `{type: array, items: {type: object, properties: {a: {type: string}}}}`, `{type: array, items: {type: object}}`,
			[]string{loses + " [*].a: the field is removed, and its values are lost"}},
		{"words are counted", `{type: string, description: a, example: x}`, `{type: string, description: b, example: y}`,
			[]string{widens + ": description", widens + ": example"}},
		{"a server knows apiVersion, kind and metadata, whatever the schema says",
			`{type: object, x-kubernetes-preserve-unknown-fields: true}`,
			`{type: object, x-kubernetes-preserve-unknown-fields: true, required: [apiVersion, kind, metadata, spec],
				properties: {apiVersion: {type: string}, kind: {type: string}, metadata: {type: object}, spec: {type: string}}}`,
			[]string{refuses + " spec: only values of type string", refuses + " spec: required now"}},
		{"and they aren't gone where it says nothing", `{type: object, properties: {apiVersion: {type: string}, kind: {type: string}, metadata: {type: object}}}`,
			`{type: object}`, nil},
		{"the names of objects are limited in their metadata", `{type: object, properties: {metadata: {type: object}}}`,
			`{type: object, properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 8}}}}}`,
			[]string{refuses + " metadata.name: maxLength 8"}},
		{"so it is with objects in objects", `{type: object, properties: {a: {type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object}, b: {type: string}}}}}`,
			`{type: object, properties: {a: {type: object, x-kubernetes-embedded-resource: true}}}`,
			[]string{loses + " a.b: the field is removed, and its values are lost"}},
		{"what isn't known may be stricter", `{type: string}`, `{type: string, x-new: 1}`, []string{refuses + ": x-new differs"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			assert.Equal(t, tt.want, texts(definition.Compare(versions(t, tt.before), versions(t, tt.after))))
			assert.Empty(t, definition.Compare(versions(t, tt.before), versions(t, tt.before)), "nothing differs from itself")
		})
	}
}

func TestCompareVersions(t *testing.T) {
	tests := []struct {
		why, before, after string
		want               []string
	}{
		{"a version that goes", `[{name: v1, served: true, storage: true}, {name: v0, served: true, storage: false}]`, `[{name: v1, served: true, storage: true}]`,
			[]string{"0 v0: the version is removed: requests for it fail, and nothing can be applied to objects whose managedFields name it"}},
		{"a version that nobody serves", `[{name: v1, served: true}]`, `[{name: v1, served: false}]`,
			[]string{"0 v1: no longer served: requests for this version fail"}},
		{"another one is stored", `[{name: v1, served: true, storage: true}]`, `[{name: v2, served: true, storage: true}, {name: v1, served: true, storage: false}]`,
			[]string{"0 v2: objects are stored in this version instead of v1: fields that its schema lacks are removed when they are written", "2 v2: a new version"}},
		{"order", `[{name: a, served: true}, {name: b, served: true}]`, `[{name: b, served: true}, {name: a, served: true}]`, nil},
		{"subresources", `[{name: v1, served: true, subresources: {scale: {specReplicasPath: .spec.a}}}]`, `[{name: v1, served: true, subresources: {status: {}}}]`,
			[]string{"0 v1: the status becomes a subresource: writes of the object no longer change its status",
				"1 v1: no subresource scale any more: requests for it fail"}},
		{"selectable fields", `[{name: v1, served: true, selectableFields: [{jsonPath: .spec.a}]}]`, `[{name: v1, served: true, additionalPrinterColumns: []}]`,
			[]string{"1 v1: can't be selected by .spec.a any more", "2 v1: additionalPrinterColumns"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			before, after := parsed(t, tt.before).([]any), parsed(t, tt.after).([]any)
			assert.Equal(t, tt.want, texts(definition.Compare(before, after)))
			assert.True(t, definition.IsVersions(before))
		})
	}
	assert.False(t, definition.IsVersions([]any{map[string]any{"name": "a"}}))
	assert.False(t, definition.IsVersions([]any{}))
}
