package manifest

import (
	"fmt"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// maxSize is the size in bytes up to which a document is read, and up to which it may grow by what its aliases repeat. The
// server takes objects of 3 MiB at most.
const maxSize = 16 << 20

var (
	errTooLarge = fmt.Errorf("is larger than %d MiB; write an object as large as the server takes", maxSize>>20)
	errExpanded = fmt.Errorf("its anchors and aliases make more than %d MiB of it; write an object as large as the server takes", maxSize>>20)
)

// checkExpanded returns an error if a document grows too large by its aliases. It takes time for what is written down only.
func checkExpanded(root *goyaml.Node) error {
	e := expansion{}
	if size := e.size(root); size > maxSize && len(e) > 0 {
		return errExpanded
	}
	return nil
}

// expansion knows the sizes of nodes that aliases refer to.
type expansion map[*goyaml.Node]int

// size returns the size of a node with all that its aliases repeat, at most a little above [maxSize] for each of its
// parts. A node that contains itself counts once; the parser refuses it.
func (e expansion) size(n *goyaml.Node) int {
	if n.Kind == goyaml.AliasNode {
		return e.size(n.Alias)
	}
	if known, ok := e[n]; ok {
		return known
	}
	if n.Anchor != "" {
		e[n] = 0 // until it is known
	}
	size := len(n.Value) + 1
	for _, child := range n.Content {
		size = min(size+e.size(child), maxSize+1)
	}
	if n.Anchor != "" {
		e[n] = size
	}
	return size
}
