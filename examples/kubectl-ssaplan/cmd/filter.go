package cmd

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// filter says which objects are meant: each of its conditions holds for them.
type filter []condition

// condition is a pattern, as of file names, for a property of an object.
type condition struct {
	of      func(identity.Identity) string
	pattern string
}

// properties are those that a filter can be about. The names of kinds are compared without regard to case.
var properties = map[string]func(identity.Identity) string{
	"kind":      func(id identity.Identity) string { return strings.ToLower(id.Kind) },
	"name":      func(id identity.Identity) string { return id.Name },
	"namespace": func(id identity.Identity) string { return id.Namespace },
}

func parseFilter(text string) (f filter, err error) {
	for part := range strings.SplitSeq(text, ",") {
		property, pattern, _ := strings.Cut(part, "=")
		of := properties[property]
		if _, malformed := path.Match(pattern, ""); of == nil || pattern == "" || malformed != nil {
			return nil, fmt.Errorf("%q: expected conditions such as kind=Job,name=db-*, joined by commas, about: %s",
				text, strings.Join(slices.Sorted(maps.Keys(properties)), ", "))
		}
		if property == "kind" {
			pattern = strings.ToLower(pattern)
		}
		f = append(f, condition{of, pattern})
	}
	return f, nil
}

func (f filter) holds(id identity.Identity) bool {
	return !slices.ContainsFunc(f, func(c condition) bool {
		fits, _ := path.Match(c.pattern, c.of(id))
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

// chosen returns the manifests that the flags choose. One without a namespace is in that of the cluster's context, if
// its kind has namespaces.
func (p *planning) chosen(ctx context.Context, manifests []manifest.Manifest) []manifest.Manifest {
	if len(p.included)+len(p.excluded) == 0 && p.labels.Empty() {
		return manifests
	}
	return slices.DeleteFunc(manifests, func(m manifest.Manifest) bool {
		id, err := p.cluster.planner.Resolve(ctx, m.Identity)
		if err != nil { // a kind that isn't served yet
			id.Namespace = cmp.Or(id.Namespace, p.cluster.namespace)
		}
		isMeant := func(f filter) bool { return f.holds(id) }
		return !p.labels.Matches(labels.Set(m.Object.GetLabels())) || slices.ContainsFunc(p.excluded, isMeant) ||
			len(p.included) > 0 && !slices.ContainsFunc(p.included, isMeant)
	})
}
