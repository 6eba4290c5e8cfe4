package manifest

import (
	"bytes"
	"fmt"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// maxExpanded is the size in bytes up to which a document may grow by what its aliases repeat. The server takes objects of
// 3 MiB at most.
const maxExpanded = 16 << 20

// hasAliases reports whether a document may have aliases.
func hasAliases(text []byte) bool {
	return bytes.IndexByte(text, '&') >= 0 && bytes.IndexByte(text, '*') >= 0
}

// mayMerge reports whether a document may merge maps.
func mayMerge(text []byte) bool { return bytes.Contains(text, []byte("<<")) }

// checkExpanded returns an error if a document grows too large by its aliases. It takes time for what is written down only.
func checkExpanded(root *goyaml.Node) error {
	if (expansion{}).size(root) > maxExpanded {
		return fmt.Errorf("its anchors and aliases make more than %d MiB of it; write an object as large as the server takes", maxExpanded>>20)
	}
	return nil
}

// expansion knows the sizes of nodes that aliases refer to.
type expansion map[*goyaml.Node]int

// size returns the size of a node with all that its aliases repeat, at most a little above [maxExpanded] for each of its
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
		size = min(size+e.size(child), maxExpanded+1)
	}
	if n.Anchor != "" {
		e[n] = size
	}
	return size
}

// overridesOnly reports whether a document merges maps with "<<", and has no key that stands twice in one map. The strict
// parser takes a key that overrides a merged one for one that stands twice.
func overridesOnly(root *goyaml.Node) bool {
	merges, twice := false, false
	var visit func(*goyaml.Node)
	visit = func(n *goyaml.Node) {
		seen := map[string]bool{}
		for i, child := range n.Content {
			if n.Kind == goyaml.MappingNode && i%2 == 0 {
				merges = merges || child.Tag == "!!merge"
				twice = twice || seen[keyName(child)]
				seen[keyName(child)] = true
			}
			visit(child)
		}
	}
	visit(root)
	return merges && !twice
}
