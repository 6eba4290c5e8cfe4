package definition

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Compare returns in what the versions of a definition (its spec.versions) differ, the worst first. The order of
// versions, and of what is a set in a schema, is no difference.
func Compare(before, after []any) []Finding {
	old, made := byName(before), byName(after)
	c := &comparison{}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		c.version = foreign.Text(name)
		if made[name] == nil {
			c.add(Loses, "",
				"the version is removed: requests for it fail, and nothing can be applied to objects whose "+
					"managedFields name it")
			continue
		}
		c.versions(old[name], made[name])
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		if c.version = foreign.Text(name); old[name] == nil {
			c.add(Widens, "", "a new version")
		}
	}
	c.stored(old, made)
	return byClass(append(c.findings, c.defaults...))
}

// IsVersions reports whether v looks like a list of versions, each with a schema.
func IsVersions(v any) bool {
	list, ok := v.([]any)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(item any) bool {
		version, _ := item.(map[string]any)
		name, _ := version["name"].(string)
		_, served := version["served"].(bool)
		return name == "" || !served
	})
}

func byName(versions []any) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, item := range versions {
		version := asMap(item)
		name, _ := version["name"].(string)
		out[name] = version
	}
	return out
}

// comparison collects what is found of one version after the other.
type comparison struct {
	version  foreign.Text
	findings []Finding
	defaults []Finding // the last of their class, since there are many, of which few do harm
}

func (c *comparison) add(class Class, path, format string, args ...any) {
	c.findings = append(c.findings,
		Finding{class, c.version, foreign.Text(path), foreign.Text(fmt.Sprintf(format, args...))})
}

// versions compares what two versions of one name have beside their schema, and the schemas.
func (c *comparison) versions(before, after map[string]any) {
	if before["served"] == true && after["served"] != true {
		c.add(Loses, "", "no longer served: requests for this version fail")
	}
	if before["served"] != true && after["served"] == true {
		c.add(Widens, "", "served now")
	}
	c.subresources(asMap(before["subresources"]), asMap(after["subresources"]))
	c.selectable(before["selectableFields"], after["selectableFields"])
	for _, name := range []string{"additionalPrinterColumns", "deprecated", "deprecationWarning"} {
		if !reflect.DeepEqual(before[name], after[name]) {
			c.add(Widens, "", "%s", name)
		}
	}
	c.schema("", schemaOf(before), schemaOf(after))
}

func schemaOf(version map[string]any) map[string]any {
	return asMap(asMap(version["schema"])["openAPIV3Schema"])
}

func (c *comparison) subresources(before, after map[string]any) {
	for _, name := range []string{"scale", "status"} {
		_, had := before[name]
		_, has := after[name]
		switch {
		case had && !has:
			c.add(Refuses, "", "no subresource %s any more: requests for it fail", name)
		case !had && has && name == "status":
			c.add(Loses, "", "the status becomes a subresource: writes of the object no longer change its status")
		case !had && has:
			c.add(Widens, "", "a new subresource %s", name)
		case !reflect.DeepEqual(before[name], after[name]):
			c.add(Refuses, "", "the subresource %s maps to other fields", name)
		}
	}
}

func (c *comparison) selectable(before, after any) {
	was, is := asList(before), asList(after)
	for _, field := range missing(was, is) {
		c.add(Refuses, "", "can't be selected by %v any more", asMap(field)["jsonPath"])
	}
	for _, field := range missing(is, was) {
		c.add(Widens, "", "can be selected by %v", asMap(field)["jsonPath"])
	}
}

// stored tells when objects are going to be stored in another version.
func (c *comparison) stored(before, after map[string]map[string]any) {
	was, is := storage(before), storage(after)
	if was != is && was != "" && is != "" {
		c.version = foreign.Text(is)
		c.add(Loses, "",
			"objects are stored in this version instead of %s: fields that its schema lacks are removed when they "+
				"are written", was)
	}
}

func storage(versions map[string]map[string]any) string {
	for name, version := range versions {
		if version["storage"] == true {
			return name
		}
	}
	return ""
}

// missing returns the items of a list that another doesn't have.
func missing(list, other []any) (out []any) {
	for _, item := range list {
		if !slices.ContainsFunc(other, func(o any) bool { return reflect.DeepEqual(o, item) }) {
			out = append(out, item)
		}
	}
	return out
}

func asMap(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}
