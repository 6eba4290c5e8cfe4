package proof_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// structural is the schema of a value in a definition, as far as values can be made from it. Rules in CEL and what
// webhooks want are left to the server.
type structural struct {
	Type, Format, Pattern string
	Nullable              bool
	Enum                  []exact
	Default               *exact

	Minimum, Maximum, MultipleOf       *float64
	ExclusiveMinimum, ExclusiveMaximum bool
	MinLength, MaxLength               *int
	MinItems, MaxItems                 *int
	MinProperties, MaxProperties       *int

	Required             []string
	Properties           map[string]*structural
	AdditionalProperties *structural
	Items                *structural

	AllOf, AnyOf, OneOf []*structural
	Not                 *structural

	IntOrString bool     `json:"x-kubernetes-int-or-string"`
	Preserves   bool     `json:"x-kubernetes-preserve-unknown-fields"`
	Embedded    bool     `json:"x-kubernetes-embedded-resource"`
	ListType    string   `json:"x-kubernetes-list-type"`
	ListMapKeys []string `json:"x-kubernetes-list-map-keys"`

	forbidden []string // fields that another branch of a oneOf has
}

// UnmarshalJSON also takes a boolean, for additionalProperties: any value, or none.
func (s *structural) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true":
		*s = structural{Preserves: true}
		return nil
	case "false":
		return nil
	}
	type plain structural
	return json.Unmarshal(data, (*plain)(s))
}

// exact is a value whose integers are integers.
type exact struct{ value any }

// UnmarshalJSON keeps integers exact.
func (e *exact) UnmarshalJSON(data []byte) error { return utiljson.Unmarshal(data, &e.value) }

// at returns the schema of the value at a place, or nil if the schema has none.
func (s *structural) at(p place) *structural {
	for _, step := range p {
		if s == nil {
			return nil
		}
		name, isName := step.(string)
		switch {
		case !isName:
			s = s.Items
		case s.Properties[name] != nil:
			s = s.Properties[name]
		default:
			s = s.AdditionalProperties
		}
	}
	return s
}

// with returns the schema with the restrictions of a member of allOf, anyOf or oneOf.
func (s *structural) with(more *structural) *structural {
	out := *s
	out.Required = slices.Concat(s.Required, more.Required)
	out.Properties = maps.Clone(s.Properties)
	for name, property := range more.Properties {
		if known := out.Properties[name]; known != nil {
			out.Properties[name] = known.with(property)
		}
	}
	if len(more.Enum) > 0 {
		out.Enum = more.Enum
	}
	if more.Not != nil {
		out.Not = more.Not
	}
	out.Pattern, out.Format = or(more.Pattern, s.Pattern), or(more.Format, s.Format)
	out.Minimum, out.Maximum = or(more.Minimum, s.Minimum), or(more.Maximum, s.Maximum)
	out.MinLength, out.MaxLength = or(more.MinLength, s.MinLength), or(more.MaxLength, s.MaxLength)
	out.MinItems, out.MaxItems = or(more.MinItems, s.MinItems), or(more.MaxItems, s.MaxItems)
	out.AnyOf, out.OneOf = slices.Concat(s.AnyOf, more.AnyOf), slices.Concat(s.OneOf, more.OneOf)
	return &out
}

func or[T comparable](a, b T) T {
	var zero T
	if a != zero {
		return a
	}
	return b
}

// restricted returns the schema with one choice made of each that it leaves.
func (g *generator) restricted(s *structural) *structural {
	out := s
	for _, part := range s.AllOf {
		out = out.with(g.restricted(part))
	}
	if s.IntOrString {
		return out // says what anyOf says
	}
	if len(s.AnyOf) > 0 {
		out = out.with(g.restricted(pick(g, s.AnyOf...)))
	}
	if len(s.OneOf) > 0 {
		chosen := pick(g, s.OneOf...)
		out = out.with(g.restricted(chosen))
		for _, other := range s.OneOf {
			out.forbidden = slices.Concat(out.forbidden, slices.DeleteFunc(slices.Clone(other.Required), func(name string) bool {
				return slices.Contains(out.Required, name)
			}))
		}
	}
	if out.Not != nil && len(out.Not.Required) > 0 {
		restricted := *out
		restricted.forbidden = append(slices.Clip(out.forbidden), pick(g, out.Not.Required...))
		out = &restricted
	}
	return out
}

// valueOf returns a value that a schema allows, as large as size says, more or less: the size is shared out among the
// fields and items, and where it is used up only what is required is made.
func (g *generator) valueOf(s *structural, size int) any {
	if s == nil {
		return g.free(size)
	}
	s = g.restricted(s)
	switch {
	case s.Nullable && g.chance(5):
		return nil
	case len(s.Enum) > 0:
		return g.anEnum(s)
	case s.Default != nil && g.chance(10):
		return copyOf(s.Default.value)
	case s.IntOrString:
		if s.Pattern == "" && g.chance(50) || g.chance(20) {
			return g.integer(s)
		}
		return pick(g, g.text(s), "80", "25%")
	}
	switch {
	case s.Embedded:
		return g.embedded(s, size)
	case s.Type == "object" || s.Properties != nil || s.AdditionalProperties != nil:
		return g.objectOf(s, size)
	}
	switch s.Type {
	case "array":
		return g.listOf(s, size)
	case "string":
		return g.text(s)
	case "integer":
		return g.integer(s)
	case "number":
		return g.number(s)
	case "boolean":
		return g.chance(50)
	}
	return g.free(size)
}

// anEnum picks one of the values. It avoids values that a not excludes.
func (g *generator) anEnum(s *structural) any {
	value := pick(g, s.Enum...).value
	for range 10 {
		if s.Not == nil || !slices.ContainsFunc(s.Not.Enum, func(e exact) bool { return e.value == value }) {
			break
		}
		value = pick(g, s.Enum...).value
	}
	return value
}

// objectOf makes a map of fields with names of their own, of others, or of both.
func (g *generator) objectOf(s *structural, size int) map[string]any {
	out := map[string]any{}
	names := g.fieldsOf(s, size)
	others := 0
	if s.AdditionalProperties != nil || s.Preserves && g.chance(50) {
		others = g.within(s.MinProperties, s.MaxProperties, min(size, 3))
	}
	share := (size - len(names) - others) / max(len(names)+others, 1)
	for _, name := range names {
		out[name] = g.valueOf(s.Properties[name], share)
	}
	for i := 0; i < 20 && others > 0; i++ {
		if name := pick(g, "a", "b.c/d", "key", "x-y", "A_B", "e.example.com/f"); out[name] == nil {
			out[name] = g.valueOf(s.AdditionalProperties, share)
			others--
		}
	}
	return out
}

// fieldsOf returns the fields that an object gets: those that it must have, and some others as long as there is room.
func (g *generator) fieldsOf(s *structural, size int) []string {
	var names, optional []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		switch {
		case slices.Contains(s.Required, name):
			names = append(names, name)
		case !slices.Contains(s.forbidden, name):
			optional = append(optional, name)
		}
	}
	g.Shuffle(len(optional), func(i, j int) { optional[i], optional[j] = optional[j], optional[i] })
	more := 0
	if size > 0 {
		more = 1 + g.IntN(min(size, 5))
	}
	if s.MinProperties != nil && s.AdditionalProperties == nil {
		more = max(more, *s.MinProperties-len(names))
	}
	return append(names, optional[:min(more, len(optional))]...)
}

// within returns a number that lies between two bounds, if there are any, and is small.
func (g *generator) within(least, most *int, about int) int {
	n := g.IntN(max(about, 0) + 1)
	if least != nil {
		n = max(n, *least)
	}
	if most != nil {
		n = min(n, *most)
	}
	return n
}

// listOf makes a list whose items differ if they have to.
func (g *generator) listOf(s *structural, size int) []any {
	list := []any{}
	n := g.within(s.MinItems, s.MaxItems, min(size, 3))
	seen := map[string]bool{}
	for i := 0; i < 10*n && len(list) < n; i++ {
		item := g.valueOf(s.Items, (size-n)/max(n, 1))
		name := s.nameOf(item)
		if name != "" && seen[name] {
			continue
		}
		seen[name] = true
		list = append(list, item)
	}
	return list
}

// nameOf returns what no two items of a list may have in common; empty if they may be alike.
func (s *structural) nameOf(item any) string {
	switch s.ListType {
	case "set":
		return shown(item)
	case "map":
		fields, _ := item.(map[string]any)
		key := map[string]any{}
		for _, name := range s.ListMapKeys {
			key[name] = fields[name]
			if property := s.Items.Properties[name]; key[name] == nil && property != nil && property.Default != nil {
				key[name] = property.Default.value
			}
		}
		return shown(key)
	}
	return ""
}

// embedded makes a whole object of another kind.
func (g *generator) embedded(s *structural, size int) any {
	out := g.objectOf(s, size)
	out["apiVersion"], out["kind"] = pick(g, "v1", "example.com/v1"), pick(g, "ConfigMap", "Thing")
	out["metadata"] = map[string]any{"name": pick(g, "inner", "other")}
	if g.chance(50) {
		out["metadata"] = map[string]any{"name": "inner", "namespace": "x", "labels": map[string]any{"a": pick(g, "b", "c")}}
	}
	return out
}

// free makes a value where any is allowed.
func (g *generator) free(size int) any {
	if size <= 0 || g.chance(50) {
		return pick[any](g, "text", "", int64(7), 1.5, true)
	}
	if g.chance(40) {
		return []any{g.free(size / 2), g.free(size / 2)}
	}
	return map[string]any{pick(g, "a", "b.c"): g.free(size / 2), "d": g.free(size / 2)}
}

func (g *generator) integer(s *structural) any {
	low, high := int64(0), int64(0)
	n := pick[int64](g, 1, 2, 3, 5, 10, 80, 600, 8080)
	if s.Minimum != nil {
		if low = int64(*s.Minimum); s.ExclusiveMinimum {
			low++
		}
		n = max(n, low)
	}
	if s.Maximum != nil {
		if high = int64(*s.Maximum); s.ExclusiveMaximum {
			high--
		}
		if n > high {
			n = low + g.Int64N(max(high-low+1, 1))
			n = min(n, high)
		}
	}
	if s.MultipleOf != nil && *s.MultipleOf >= 1 {
		if n = n / int64(*s.MultipleOf) * int64(*s.MultipleOf); n < low {
			n += int64(*s.MultipleOf)
		}
	}
	return n
}

func (g *generator) number(s *structural) any {
	if s.Minimum == nil && s.Maximum == nil && s.MultipleOf == nil {
		return pick[any](g, 0.5, int64(2), 1e9, -1.25)
	}
	n, _ := g.integer(s).(int64)
	if half := float64(n) + 0.5; s.MultipleOf == nil && (s.Maximum == nil || half < *s.Maximum) && g.chance(50) {
		return half
	}
	return n
}

// formats are values of the formats that a server knows.
var formats = map[string][]string{
	"date-time": {"2026-01-02T03:04:05Z", "2026-01-02T04:04:05+01:00", "2026-01-02T03:04:05.5Z"},
	"date":      {"2026-01-02", "2024-02-29"}, "datetime": {"2026-01-02T03:04:05Z"},
	"duration": {"1h", "60m", "10s", "1h0m0s"}, "byte": {"AAEC", "YQ==", ""},
	"uri": {"https://example.com/a", "http://b.example.com:80/?c=d"}, "email": {"jo@example.com"},
	"hostname": {"example.com", "a"}, "ipv4": {"192.0.2.1", "192.0.2.2"}, "ipv6": {"2001:db8::1"},
	"cidr": {"192.0.2.0/24", "2001:db8::/32"}, "mac": {"00:00:5e:00:53:01"},
	"uuid": {"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"}, "uuid3": {"bcd02e22-68f0-3046-a512-327cca9def8f"},
	"uuid4": {"57b73598-8764-4ad0-a76a-679bb6640eb1"}, "uuid5": {"987fbc97-4bed-5078-af07-9141ba07c9f3"},
	"hexcolor": {"#ff0000"}, "rgbcolor": {"rgb(1,2,3)"}, "isbn": {"0306406152"}, "isbn10": {"0306406152"},
	"isbn13": {"9780306406157"}, "creditcard": {"4111111111111111"}, "ssn": {"123-45-6789"},
	"bsonobjectid": {"507f1f77bcf86cd799439011"}, "password": {"p"},
}

func (g *generator) text(s *structural) string {
	if s.Pattern != "" {
		return g.matchingText(s.Pattern, s.MinLength, s.MaxLength)
	}
	text := pick(g, "a", "web", "x.y", "example.com", "10s", "5", "1Gi", "some text", "a/b")
	if known := formats[s.Format]; len(known) > 0 {
		text = pick(g, known...)
	} else if g.chance(50) {
		text = pick(g, "a", "web", "other") // which most rules like
	}
	if s.MinLength != nil && len(text) < *s.MinLength {
		text += strings.Repeat("x", *s.MinLength-len(text))
	}
	if s.MaxLength != nil && len(text) > *s.MaxLength {
		text = text[:*s.MaxLength]
	}
	return text
}
