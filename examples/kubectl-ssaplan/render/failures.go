package render

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Failures returns a line for each failure. Those of one cause are one line, with the objects that it is said of.
func (t Text) Failures(failures []Failure) []string { return t.failures(failures) }

func (t Text) failures(failures []Failure) (lines []string) {
	var order []string
	alike := map[string][]Failure{}
	for _, f := range failures {
		key := f.cause()
		if alike[key] == nil {
			order = append(order, key)
		}
		alike[key] = append(alike[key], f)
	}
	for _, key := range order {
		lines = append(lines, t.failuresOf(alike[key])...)
	}
	return lines
}

// failuresOf returns the lines of failures with one cause.
func (t Text) failuresOf(alike []Failure) (lines []string) {
	if len(alike) < many || t.Verbose {
		for _, f := range alike {
			lines = append(lines, foreign.Visible(f.Message))
		}
		return lines
	}
	var names []string
	for i, f := range alike[1:] {
		if i == maxNames {
			names = append(names, fmt.Sprintf("and %d more; -v shows all", len(alike)-1-i))
			break
		}
		names = append(names, foreign.Visible(f.Object.String()))
	}
	return []string{foreign.Visible(alike[0].Message) + fmt.Sprintf(" (the same of %d others: %s)", len(alike)-1,
		strings.Join(names, ", "))}
}

// place is where a manifest stands: "app.yaml: document 4 (line 50): ".
var place = regexp.MustCompile(`^.*?: document \d+ \(line \d+\): `)

// word is a name, a resource or a number in a message.
var word = regexp.MustCompile(`[A-Za-z0-9_](?:[A-Za-z0-9_.:-]*[A-Za-z0-9_])?`)

// cause returns the message without what is of one object only.
func (f Failure) cause() string {
	id := f.Object
	if id == (identity.Identity{}) {
		return f.Message // of no object
	}
	kind := schema.FromAPIVersionAndKind(id.APIVersion, id.Kind)
	resource, _ := meta.UnsafeGuessKindToResource(kind) // a wrong guess leaves a message on its own
	own := map[string]string{
		kind.Version: "VERSION", kind.Group: "GROUP", kind.Kind: "KIND", resource.Resource: "RESOURCE",
		resource.GroupResource().String(): "RESOURCE", id.Namespace: "NAMESPACE", id.Name: "NAME",
	}
	return f.Class + "\x00" + word.ReplaceAllStringFunc(place.ReplaceAllString(f.Message, ""),
		func(found string) string {
			return cmp.Or(own[found], found)
		})
}
