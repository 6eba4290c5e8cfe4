package cmd

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// filter says which objects are meant: each of its conditions holds for them.
type filter []condition

// condition is a pattern, as of file names, for a property of an object.
type condition struct {
	of      func(manifest.Manifest) string
	pattern string
}

// properties are those that a filter can be about.
var properties = map[string]func(manifest.Manifest) string{
	"kind":      func(m manifest.Manifest) string { return m.Identity.Kind },
	"name":      func(m manifest.Manifest) string { return m.Identity.Name },
	"namespace": func(m manifest.Manifest) string { return m.Identity.Namespace },
}

func parseFilter(text string) (f filter, err error) {
	for part := range strings.SplitSeq(text, ",") {
		property, pattern, _ := strings.Cut(part, "=")
		of := properties[property]
		if _, malformed := path.Match(pattern, ""); of == nil || pattern == "" || malformed != nil {
			return nil, fmt.Errorf("%q: expected conditions such as kind=Job,name=db-*, joined by commas, about: %s",
				text, strings.Join(slices.Sorted(maps.Keys(properties)), ", "))
		}
		f = append(f, condition{of, pattern})
	}
	return f, nil
}

func (f filter) holds(m manifest.Manifest) bool {
	return !slices.ContainsFunc(f, func(c condition) bool {
		fits, _ := path.Match(c.pattern, c.of(m))
		return !fits
	})
}

// parseFilters reads the flags by which objects are chosen.
func (o *options) parseFilters() (err error) {
	for _, flag := range []struct {
		name  string
		texts []string
		to    *[]filter
	}{{"include", o.include, &o.included}, {"exclude", o.exclude, &o.excluded}} {
		for _, text := range flag.texts {
			f, err := parseFilter(text)
			if err != nil {
				return fmt.Errorf("--%s: %w", flag.name, err)
			}
			*flag.to = append(*flag.to, f)
		}
	}
	if o.labels, err = labels.Parse(o.selector); err != nil {
		return fmt.Errorf("-l: %w", err)
	}
	return nil
}

// chosen returns the manifests that the flags choose.
func (o *options) chosen(manifests []manifest.Manifest) []manifest.Manifest {
	return slices.DeleteFunc(manifests, func(m manifest.Manifest) bool {
		isMeant := func(f filter) bool { return f.holds(m) }
		return !o.labels.Matches(labels.Set(m.Object.GetLabels())) || slices.ContainsFunc(o.excluded, isMeant) ||
			len(o.included) > 0 && !slices.ContainsFunc(o.included, isMeant)
	})
}
