package definition

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Names of what a schema says that JSON Schema doesn't.
const (
	preserves   = "x-kubernetes-preserve-unknown-fields"
	intOrString = "x-kubernetes-int-or-string"
	listKeys    = "x-kubernetes-list-map-keys"
	validations = "x-kubernetes-validations"
	embedded    = "x-kubernetes-embedded-resource"
)

// resource is what a server knows of every object, whatever the schema says: texts that are there, and metadata, of
// which a schema may only say what the names are like.
var resource = map[string]any{"properties": map[string]any{
	"apiVersion": anyText, "kind": anyText, "metadata": map[string]any{
		"type": "object", preserves: true, "properties": map[string]any{"name": anyText, "generateName": anyText},
	},
}}

var anyText = map[string]any{"type": "string"}

// asResource returns the schema of an object with what is known of every object.
func asResource(schema map[string]any) map[string]any {
	out := with(schema, resource)
	if list, ok := schema["required"].([]any); ok {
		out["required"] = slices.DeleteFunc(slices.Clone(list), func(name any) bool {
			return name == "apiVersion" || name == "kind" || name == "metadata"
		})
	}
	return out
}

// with returns schema with all that known says.
func with(schema, known map[string]any) map[string]any {
	out := map[string]any{}
	maps.Copy(out, schema)
	for name, value := range known {
		if inner := asMap(value); inner != nil {
			value = with(asMap(out[name]), inner)
		}
		out[name] = value
	}
	return out
}

// schema compares two schemas of one place.
func (c *comparison) schema(path string, before, after map[string]any) {
	if !c.types(path, before, after) {
		return // nothing of the one is left to be compared with the other
	}
	if path == "" || before[embedded] == true && after[embedded] == true {
		before, after = asResource(before), asResource(after)
	}
	c.pruning(path, before, after)
	c.merging(path, before, after)
	c.byDefault(path, before, after)
	c.properties(path, before, after)
	c.values(path, before, after)
	c.items(path, before, after)
	c.required(path, before, after)
	c.limits(path, before, after)
	c.enum(path, before, after)
	c.rules(path, before, after)
	c.combinations(path, before, after)
	c.others(path, before, after)
}

// types reports whether what the one schema takes is of a type that the other takes, too.
func (c *comparison) types(path string, before, after map[string]any) bool {
	was, is := typeOf(before), typeOf(after)
	switch {
	case was == is:
	case was == "":
		c.checked(path, after)
		return false
	case is == "", was == "integer" && is == "number", is == "int-or-string" && (was == "integer" || was == "string"):
		c.add(Widens, path, "type %s instead of %s", named(is), named(was))
	default:
		c.add(Loses, path, "type %s instead of %s: stored values don't fit", named(is), named(was))
		return false
	}
	return true
}

func typeOf(schema map[string]any) string {
	if schema[intOrString] == true {
		return "int-or-string"
	}
	name, _ := schema["type"].(string)
	return name
}

func named(kind string) string {
	if kind == "" {
		return "any"
	}
	return kind
}

// keeps reports whether fields that the schema doesn't name are kept.
func keeps(schema map[string]any) bool { return schema[preserves] == true }

func (c *comparison) pruning(path string, before, after map[string]any) {
	if keeps(before) == keeps(after) {
		return
	}
	_, open := after["additionalProperties"]
	switch {
	case keeps(after):
		c.add(Widens, path, "fields that the schema doesn't name are kept")
	case !open && (typeOf(after) == "object" || typeOf(after) == ""):
		c.add(Loses, path, "fields that the schema doesn't name are dropped now")
	default:
		c.add(Widens, path, "%s, which changes nothing here", preserves)
	}
}

// merging compares by what the parts of lists and maps are told apart. An apply of an object in which they aren't
// unique, or that others own as a whole, fails or takes over what it didn't.
func (c *comparison) merging(path string, before, after map[string]any) {
	for _, m := range []struct{ name, standard string }{
		{"x-kubernetes-list-type", "atomic"}, {"x-kubernetes-map-type", "granular"},
	} {
		was, is := stringOr(before[m.name], m.standard), stringOr(after[m.name], m.standard)
		if was != is {
			c.add(Loses, path,
				"%s %s instead of %s: the ownership of fields in stored objects changes, and applies may fail", m.name,
				is, was)
		}
	}
	const listType = "x-kubernetes-list-type"
	was, is := asList(before[listKeys]), asList(after[listKeys])
	if before[listType] == after[listType] && len(missing(was, is))+len(missing(is, was)) > 0 {
		c.add(Loses, path, "the items have the keys %v instead of %v: applies of stored objects may fail", is, was)
	}
}

func stringOr(v any, standard string) string {
	if text, ok := v.(string); ok {
		return text
	}
	return standard
}

func (c *comparison) byDefault(path string, before, after map[string]any) {
	was, had := before["default"]
	is, has := after["default"]
	text := ""
	switch {
	case had && !has:
		text = "no default any more, it was " + value(was)
	case !had && has:
		text = "a default, " + value(is)
	case !reflect.DeepEqual(was, is):
		text = "the default is " + value(is) + " instead of " + value(was)
	default:
		return
	}
	class, what := Loses, ": stored objects without the field read otherwise"
	if isEmptyText(was) && isEmptyText(is) {
		class, what = Widens, ": an empty string, which means none"
	}
	c.defaults = append(c.defaults, Finding{class, c.version, foreign.Text(path), foreign.Text(text + what)})
}

// isEmptyText reports whether a default is "", or there is none: who reads an object takes one for the other. That
// isn't so of false and 0, which often mean the opposite of what is meant by default.
func isEmptyText(standard any) bool { return standard == nil || standard == "" }

func (c *comparison) properties(path string, before, after map[string]any) {
	was, is := asMap(before["properties"]), asMap(after["properties"])
	for _, name := range slices.Sorted(maps.Keys(was)) {
		at := field(path, name)
		switch into, rest := is[name], asMap(after["additionalProperties"]); {
		case into != nil:
			c.schema(at, asMap(was[name]), asMap(into))
		case rest != nil:
			c.schema(at, asMap(was[name]), rest)
		case keeps(after) || after["additionalProperties"] == true:
			c.add(Widens, at, "not named any more, and kept")
		default:
			c.add(Loses, at, "the field is removed, and its values are lost")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if was[name] == nil {
			c.property(field(path, name), before, asMap(is[name]))
		}
	}
}

// property tells of a field that is new in a schema: what it says now holds for values that were kept before.
func (c *comparison) property(path string, before, added map[string]any) {
	rest := asMap(before["additionalProperties"])
	switch {
	case rest != nil:
		c.schema(path, rest, added)
	case keeps(before):
		c.checked(path, added)
	default:
		c.add(Widens, path, "a new field")
	}
}

// checked tells of a place where the schema said nothing before, so that any value was kept as it is.
func (c *comparison) checked(path string, schema map[string]any) {
	switch {
	case prunes(schema):
		c.add(Loses, path, "any field was kept; now fields that the schema lacks are dropped")
	case typeOf(schema) == "":
		c.add(Widens, path, "named now")
	default:
		c.add(Refuses, path, "only values of type %s", typeOf(schema))
	}
}

// prunes reports whether fields are dropped of a value of the schema, or somewhere in it.
func prunes(schema map[string]any) bool {
	if schema == nil || keeps(schema) {
		return false
	}
	rest, open := schema["additionalProperties"]
	if typeOf(schema) == "object" && !open || prunes(asMap(rest)) || prunes(asMap(schema["items"])) {
		return true
	}
	for _, property := range asMap(schema["properties"]) {
		if prunes(asMap(property)) {
			return true
		}
	}
	return false
}

// values compares the values of maps. Where only properties follow, these tell.
func (c *comparison) values(path string, before, after map[string]any) {
	const name = "additionalProperties"
	was, had := before[name]
	is, has := after[name]
	switch {
	case had && has && asMap(was) != nil && asMap(is) != nil:
		c.schema(path+".*", asMap(was), asMap(is))
	case !had && has && keeps(before) && asMap(is) != nil:
		c.checked(path+".*", asMap(is))
	case !has && had && was != false && !keeps(after):
		c.add(Loses, path, "keys that the schema doesn't name are dropped now")
	case had && was != false && is == false:
		c.add(Refuses, path, "keys that the schema doesn't name are refused now")
	case !reflect.DeepEqual(was, is):
		c.add(Widens, path, "other keys are kept")
	}
}

func (c *comparison) items(path string, before, after map[string]any) {
	was, is := asMap(before["items"]), asMap(after["items"])
	switch {
	case was == nil && is != nil:
		c.checked(path+"[*]", is)
	case was != nil && is == nil:
		c.add(Widens, path+"[*]", "the items have no schema any more")
	case was != nil:
		c.schema(path+"[*]", was, is)
	}
}

// field returns the place of a property.
func field(path, name string) string {
	text := projection.Path{projection.Field(name)}.String()
	if path == "" || text[0] == '[' {
		return path + text
	}
	return path + "." + text
}

// value returns a value in short, as JSON.
func value(v any) string {
	const most = 60
	text, err := json.Marshal(v)
	if err != nil {
		return "?" // not a value of JSON, so not one of an object
	}
	if r := []rune(string(text)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return string(text)
}
