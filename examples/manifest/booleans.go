package manifest

import (
	"fmt"
	"slices"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/ssaplan/primitives/projection"
)

// Warning says what in a document could be read otherwise than it was meant.
type Warning struct {
	// Source is that of the document, with the line of the place that the warning is about.
	Source Source
	// Text is one line.
	Text string
}

func (w Warning) String() string { return fmt.Sprintf("%s: %s", w.Source, w.Text) }

// InDocument returns the warning where the document has been named already.
func (w Warning) InDocument() string {
	if w.Source.Line == 0 {
		return w.Text
	}
	return fmt.Sprintf("line %d: %s", w.Source.Line, w.Text)
}

// booleans are the words that YAML 1.1 reads as booleans and YAML 1.2 as texts. Kubernetes reads YAML 1.1.
var booleans = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

// place is a path with a node at its end. It is put together only where it is needed.
type place struct {
	parent  *place
	element projection.Element
}

// prefix returns what stands before a text about the place: its path, without the middle if it is long.
func (p *place) prefix() string {
	if p == nil {
		return ""
	}
	return shortened(p.path().String()) + ": "
}

func (p *place) path() projection.Path {
	var path projection.Path
	for ; p != nil; p = p.parent {
		path = append(path, p.element)
	}
	slices.Reverse(path)
	return path
}

// maxWarnings is the number up to which the words of a document are listed.
const maxWarnings = 20

// booleanWarnings returns a warning for each word of a document that is read as a boolean though it doesn't look like one.
// Where there are many, the last warning counts the others.
func booleanWarnings(source Source, start int, root *goyaml.Node) []Warning {
	w := &booleanFinder{source: source, start: start, secret: isSecret(root)}
	w.visit(root, nil)
	if w.more > 0 {
		w.warnings = append(w.warnings, Warning{w.moreFrom, fmt.Sprintf("and %d more such words from here on", w.more)})
	}
	return w.warnings
}

type booleanFinder struct {
	source   Source
	start    int  // the line of the file at which the document's text begins
	secret   bool // whether the values of data and stringData may not be shown
	warnings []Warning
	more     int    // the number of words that aren't listed
	moreFrom Source // the place of the first of them
}

// visit looks at a node and what is in it. What an alias refers to is looked at where it stands.
func (w *booleanFinder) visit(n *goyaml.Node, at *place) {
	switch n.Kind {
	case goyaml.DocumentNode:
		for _, child := range n.Content {
			w.visit(child, at)
		}
	case goyaml.SequenceNode:
		for i, child := range n.Content {
			w.visit(child, &place{at, projection.Index(i)})
		}
	case goyaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			w.entry(n.Content[i], n.Content[i+1], at)
		}
	case goyaml.ScalarNode:
		if value, found := asBoolean(n); found {
			w.warn(n, func() string { return w.value(n, value, at) })
		}
	}
}

func (w *booleanFinder) value(n *goyaml.Node, value bool, at *place) string {
	if path := at.path(); w.secret && len(path) > 0 && (path[0] == projection.Field("data") || path[0] == projection.Field("stringData")) {
		return at.prefix() + "is read as a boolean; put it into quotes"
	}
	return at.prefix() + fmt.Sprintf("%s is read as %t; write %t, or put it into quotes", n.Value, value, value)
}

func isSecret(root *goyaml.Node) bool {
	if len(root.Content) == 0 {
		return false
	}
	fields := root.Content[0].Content
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i].Value == "kind" && fields[i+1].Value == "Secret" {
			return true
		}
	}
	return false
}

func (w *booleanFinder) entry(key, value *goyaml.Node, at *place) {
	name, _, _ := readKey(key)
	if _, found := asBoolean(key); found {
		w.warn(key, func() string {
			return at.prefix() + fmt.Sprintf("the key %s is read as %q; put it into quotes", key.Value, name)
		})
	}
	if !isMerge(key) {
		at = &place{at, projection.Field(name)}
	}
	w.visit(value, at)
}

// asBoolean reports how a node is read that has such a word, without quotes and without a tag in front of it.
func asBoolean(n *goyaml.Node) (value, found bool) {
	if n.Kind != goyaml.ScalarNode || n.Style != 0 {
		return false, false
	}
	value, found = booleans[n.Value]
	return value, found
}

// warn adds a warning, whose text is made only if it is listed: that of a place deep down is long.
func (w *booleanFinder) warn(n *goyaml.Node, text func() string) {
	source := w.source
	source.Line = w.start + n.Line - 1
	if len(w.warnings) < maxWarnings {
		w.warnings = append(w.warnings, Warning{source, text()})
		return
	}
	if w.more == 0 {
		w.moreFrom = source
	}
	w.more++
}
