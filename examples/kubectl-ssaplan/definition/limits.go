package definition

import (
	"reflect"
	"slices"
)

// bounds are the names of what limits a value by a number. Upper ones are stricter when they are lower.
var bounds = []struct {
	name  string
	upper bool
}{
	{"maximum", true}, {"maxLength", true}, {"maxItems", true}, {"maxProperties", true},
	{"minimum", false}, {"minLength", false}, {"minItems", false}, {"minProperties", false},
}

// checks are the names of what a value either passes or not, so that another one may refuse any value.
var checks = []string{"pattern", "format", "multipleOf"}

// switches are stricter when they are on.
var switches = []string{"exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "x-kubernetes-embedded-resource"}

// words say nothing to a server.
var words = []string{"description", "title", "example", "externalDocs", "$schema", "id"}

func (c *comparison) required(path string, before, after map[string]any) {
	was, is := asList(before["required"]), asList(after["required"])
	for _, name := range missing(is, was) {
		text, _ := name.(string)
		if _, has := asMap(asMap(after["properties"])[text])["default"]; has {
			c.add(Widens, field(path, text), "required, with a default")
			continue
		}
		c.add(Refuses, field(path, text), "required now")
	}
	for _, name := range missing(was, is) {
		text, _ := name.(string)
		c.add(Widens, field(path, text), "no longer required")
	}
}

func (c *comparison) limits(path string, before, after map[string]any) {
	for _, b := range bounds {
		was, had := number(before[b.name])
		is, has := number(after[b.name])
		switch {
		case has && !had:
			c.add(Refuses, path, "%s %v", b.name, after[b.name])
		case had && has && is != was && (is < was) == b.upper:
			c.add(Refuses, path, "%s %v instead of %v", b.name, after[b.name], before[b.name])
		case had != has || is != was:
			c.add(Widens, path, "%s", b.name)
		}
	}
	for _, name := range checks {
		was, is := before[name], after[name]
		switch {
		case reflect.DeepEqual(was, is):
		case is == nil:
			c.add(Widens, path, "no %s any more", name)
		case was == nil:
			c.add(Refuses, path, "%s %s", name, value(is))
		default:
			c.add(Refuses, path, "%s %s instead of %s", name, value(is), value(was))
		}
	}
	c.switches(path, before, after)
}

func number(v any) (n float64, ok bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

func (c *comparison) switches(path string, before, after map[string]any) {
	for _, name := range switches {
		was, is := before[name] == true, after[name] == true
		switch {
		case is && !was:
			c.add(Refuses, path, "%s", name)
		case was && !is:
			c.add(Widens, path, "no %s any more", name)
		}
	}
	switch was, is := before["nullable"] == true, after["nullable"] == true; {
	case was && !is:
		c.add(Refuses, path, "null is refused now")
	case is && !was:
		c.add(Widens, path, "null is allowed")
	}
}

func (c *comparison) enum(path string, before, after map[string]any) {
	was, is := asList(before["enum"]), asList(after["enum"])
	switch {
	case is == nil && was != nil:
		c.add(Widens, path, "any value")
		return
	case was == nil && is != nil:
		c.add(Refuses, path, "only the values %s", value(is))
		return
	}
	for _, v := range missing(was, is) {
		c.add(Refuses, path, "the value %s is refused now", value(v))
	}
	for _, v := range missing(is, was) {
		c.add(Widens, path, "the value %s is allowed", value(v))
	}
}

// rules compares the rules in CEL, which are what they say and not where they stand.
func (c *comparison) rules(path string, before, after map[string]any) {
	was, is := ruleTexts(before), ruleTexts(after)
	for _, rule := range missing(is, was) {
		c.add(Refuses, path, "rule %s", value(rule))
	}
	for _, rule := range missing(was, is) {
		c.add(Widens, path, "no rule %s any more", value(rule))
	}
	if len(missing(is, was))+len(missing(was, is)) == 0 && !reflect.DeepEqual(before[validations], after[validations]) {
		c.add(Widens, path, "how rules are put")
	}
}

func ruleTexts(schema map[string]any) (out []any) {
	for _, rule := range asList(schema[validations]) {
		out = append(out, asMap(rule)["rule"])
	}
	return out
}

// combinations compares what has to hold besides. What isn't alike counts as stricter, unless there is only more to
// choose from, or less to hold.
func (c *comparison) combinations(path string, before, after map[string]any) {
	for _, name := range []string{"allOf", "anyOf", "oneOf", "not"} {
		was, is := withoutWords(before[name]), withoutWords(after[name])
		old, made := asList(was), asList(is)
		switch {
		case reflect.DeepEqual(was, is):
			if !reflect.DeepEqual(before[name], after[name]) {
				c.add(Widens, path, "the words of %s", name)
			}
		case is == nil, name == "anyOf" && len(old) > 0 && len(missing(old, made)) == 0, name == "allOf" &&
			len(missing(made, old)) == 0:
			c.add(Widens, path, "%s", name)
		case was == nil:
			c.add(Refuses, path, "%s", name)
		default:
			c.add(Refuses, path, "another %s", name)
		}
	}
}

// withoutWords returns v without what says nothing to a server.
func withoutWords(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutWords(item)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, part := range v {
			if _, text := part.(string); !text || !slices.Contains(words, name) {
				out[name] = withoutWords(part)
			}
		}
		return out
	}
	return v
}

// told are the names of which the comparison tells in one of its parts.
var told = slices.Concat(checks, switches, words, []string{
	"type", intOrString, preserves, "x-kubernetes-list-type", "x-kubernetes-map-type", listKeys, "default",
	"properties",
	"additionalProperties", "items", "required", "enum", "nullable", validations, "allOf", "anyOf", "oneOf", "not",
	"maximum", "maxLength", "maxItems", "maxProperties", "minimum", "minLength", "minItems", "minProperties",
})

// others tells of words, and of what this package doesn't know, which may be stricter.
func (c *comparison) others(path string, before, after map[string]any) {
	for _, name := range words {
		if !reflect.DeepEqual(before[name], after[name]) {
			c.add(Widens, path, "%s", name)
		}
	}
	for _, name := range unknown(before, after) {
		if !reflect.DeepEqual(before[name], after[name]) {
			c.add(Refuses, path, "%s differs", name)
		}
	}
}

// unknown returns the names in either schema that aren't told, in order.
func unknown(schemas ...map[string]any) (names []string) {
	for _, schema := range schemas {
		for name := range schema {
			if !slices.Contains(told, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
