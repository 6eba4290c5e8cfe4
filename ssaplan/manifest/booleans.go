package manifest

import (
	"fmt"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/ssaplan/primitives/projection"
)

// maxWarnings is the number up to which the words of a document are listed.
const maxWarnings = 20

// booleanWarnings returns a warning for each word of a node that is read as a boolean though it doesn't look like one,
// and none for nil. If there are many, the last warning counts the others. secret says that values of data and
// stringData may not be shown. start is the line of the file at which the text of the node begins.
func booleanWarnings(source Source, node *goyaml.Node, start int, secret bool) []Warning {
	if node == nil {
		return nil
	}
	w := &booleanFinder{source: source, start: start, secret: secret}
	w.visit(node, nil)
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

// visit looks at a node and the nodes in it. The target of an alias is looked at where it is defined.
func (w *booleanFinder) visit(n *goyaml.Node, at *place) {
	if value, found := asBoolean(n); found {
		w.warn(n, func() string { return w.value(n, value, at) })
	}
	eachChild(n, at, func(key, child *goyaml.Node, below *place) error {
		if _, found := asBoolean(key); found {
			name, _, _ := readKey(key)
			w.warn(key, func() string {
				return at.prefix() + fmt.Sprintf("the key %s is read as %q; put it into quotes", key.Value, name)
			})
		}
		w.visit(child, below)
		return nil
	})
}

func (w *booleanFinder) value(n *goyaml.Node, value bool, at *place) string {
	if path := at.path(); w.secret && len(path) > 0 &&
		(path[0] == projection.Field("data") || path[0] == projection.Field("stringData")) {
		return at.prefix() + "is read as a boolean; put it into quotes"
	}
	return at.prefix() + fmt.Sprintf("%s is read as %t; write %t, or put it into quotes", n.Value, value, value)
}

// asBoolean reports how a node, if there is one, is read that has such a word, without quotes and without a tag in
// front of it.
func asBoolean(n *goyaml.Node) (value, found bool) {
	if n == nil || n.Kind != goyaml.ScalarNode || n.Style != 0 {
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
