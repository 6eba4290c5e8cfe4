package manifest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// Parse rejects a map in which two keys of YAML are the same key in JSON. Otherwise it would depend on chance which
// value JSON has.
func TestKeysThatAreOne(t *testing.T) {
	const merging = "\n  more: {<<: *base, x: y}"
	for _, tt := range []struct{ why, spec, want string }{
		{"a text", `a: 1, a: 2`, `the key "a" appears twice; keep one of them`},
		{"in quotes", `a: 1, "a": 2`, `the key "a" appears twice, as a and as "a"; keep one of them`},
		{"an integer", `1: a, "1": b`, `the key "1" appears twice, as 1 and as "1"; keep one of them`},
		{"an octal integer", `1: a, 01: b`, `the key "1" appears twice, as 1 and as 01; keep one of them`},
		{"two spellings of an integer", `1: a, 0x1: b`, `the key "1" appears twice, as 1 and as 0x1; keep one of them`},
		{"an integer and a float", `1: a, 1.0: b`, `the key "1" appears twice, as 1 and as 1.0; keep one of them`},
		{"floats are rounded", `1.00000000001: a, 1.0: b`, `the key "1" appears twice, as 1.00000000001 and as 1.0; keep one of them`},
		{"no end", `.inf: a, 1e300: b`, `the key ".inf" appears twice, as .inf and as 1e300; keep one of them`},
		{"a boolean", `true: a, "true": b`, `the key "true" appears twice, as true and as "true"; keep one of them`},
		{"a boolean of YAML 1.1", `on: a, "true": b`, `the key "true" appears twice, as on and as "true"; keep one of them`},
		{"two of them", `No: a, off: b`, `the key "false" appears twice, as No and as off; keep one of them`},
		{"tags", `!!bool yes: a, !!str true: b`, `the key "true" appears twice, as "yes" and as "true"; keep one of them`},
		{"binary", `!!binary YQ==: a, a: b`, `the key "a" appears twice, as "YQ==" and as a; keep one of them`},
		{"an alias", `&b b: 1, *b : 2`, `the key "b" appears twice; keep one of them`},
		{"a date is a text", `2024-01-02: a, "2024-01-02": b`, `the key "2024-01-02" appears twice, as 2024-01-02 and as "2024-01-02"; keep one of them`},
		{"lines", `"a\nb": 1, "a\nb": 2`, `the key "a\nb" appears twice; keep one of them`},
	} {
		for _, end := range []string{"", merging} {
			failure := refused(t, objectHead+"spec:\n  base: &base {"+tt.spec+"}"+end+"\n", tt.why)
			assert.Equal(t, "app.yaml: document 1 (line 1): line 5: spec.base: "+tt.want, failure.Error(), tt.why+end)
		}
	}
}

// A merged key and the one that overrides it have to be the same to YAML, too, or both are kept.
func TestKeysThatAreOneWhereMapsAreMerged(t *testing.T) {
	for _, tt := range []struct{ why, base, more, key string }{
		{"an integer", "1: a", `<<: *base, "1": b`, "1"},
		{"the other way round", `"1": a`, "<<: *base, 1: b", "1"},
		{"a boolean", "on: a", `<<: *base, "true": b`, "true"},
		{"one of several", "1: a", `<<: [{x: y}, *base], "1": b`, "1"},
		{"two that are merged", "1: a", `<<: [*base, {"1": b}]`, "1"},
		{"further up", "1: a", `<<: {<<: *base}, "1": b`, "1"},
	} {
		failure := refused(t, objectHead+"spec:\n  base: &base {"+tt.base+"}\n  more: {"+tt.more+"}\n", tt.why).Error()
		assert.Regexp(t, `^app.yaml: document 1 \(line 1\): line [56]: the key "`+tt.key+
			`" is written in two ways in maps that are merged; put it into quotes in all of them$`, failure, tt.why)
	}
}

// What is written is read, with the keys that kubectl reads.
func TestKeysThatDiffer(t *testing.T) {
	for _, spec := range []string{
		`{1: a, "01": c, 2.5: d, "2.50": e, 0x10: f}`, `{True: a, "True": b, "on": c}`,
		`{1e300: a, -.inf: b, "1e300": c}`,
		`{a: {1: x}, b: {"1": y}}`, `{a: &a {1: x}, b: {<<: *a, 1: y}}`, `{a: &a {on: x}, b: {<<: *a, yes: y}, c: {"on": z}}`,
		`{<<: {a: 1}, <<: {b: 2}}`, `{"<<": a, b: c}`, `{9223372036854775807: a}`, `{? &k key : a, b: *k}`,
		`{cpu: 1, <<: {cpu: 2, x: 3}}`, `{<<: [{a: 1}, {a: 2}], b: 3}`, `{<<: {}}`, `{<<: {<<: {a: 1}, a: 2}, a: 3}`,
	} {
		var want map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(spec), &want)) // the reader of kubectl and client-go
		expected, err := json.Marshal(want)
		require.NoError(t, err)
		got, err := json.Marshal(parseOne(t, objectHead+"spec: "+spec).Object.Object["spec"])
		require.NoError(t, err)
		assert.JSONEq(t, string(expected), string(got), spec)
	}
}
