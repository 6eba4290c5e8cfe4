package manifest

import (
	"fmt"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// maxSize is the size in bytes up to which a document is read, and up to which it may grow by what its aliases repeat.
// The server takes objects of 3 MiB at most.
const maxSize = 16 << 20

var (
	errTooLarge = fmt.Errorf("is larger than %d MiB; API servers accept objects up to 3 MiB", maxSize>>20)
	errExpanded = fmt.Errorf(
		"its anchors and aliases expand it to more than %d MiB; API servers accept objects up to 3 MiB", maxSize>>20)
	errTooDeep = fmt.Errorf("its anchors and aliases expand it to more than %d levels; write it without them",
		fastjson.Deepest)
)

// checkExpanded returns an error if a document grows too large or too deep by its aliases. The parsers don't count how
// deep these get. It takes time for what is written down only.
func checkExpanded(root *goyaml.Node) error {
	e := expansion{}
	grown := e.of(root)
	switch {
	case len(e) == 0:
		return nil
	case grown.size > maxSize:
		return errExpanded
	case grown.depth > fastjson.Deepest:
		return errTooDeep
	}
	return nil
}

// extent is the size and the depth of a node with all that its aliases repeat.
type extent struct{ size, depth int }

// expansion knows the extents of nodes that aliases refer to.
type expansion map[*goyaml.Node]extent

// of returns the extent of a node, whose size is at most a little above [maxSize] for each of its parts. A node that
// contains itself counts once; the parser refuses it.
func (e expansion) of(n *goyaml.Node) extent {
	if n.Kind == goyaml.AliasNode {
		return e.of(n.Alias)
	}
	if known, ok := e[n]; ok {
		return known
	}
	if n.Anchor != "" {
		e[n] = extent{} // until it is known
	}
	grown := extent{size: len(n.Value) + 1}
	for _, child := range n.Content {
		c := e.of(child)
		grown.size = min(grown.size+c.size, maxSize+1)
		grown.depth = max(grown.depth, c.depth+1)
	}
	if n.Anchor != "" {
		e[n] = grown
	}
	return grown
}
