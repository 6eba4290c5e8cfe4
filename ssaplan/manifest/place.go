package manifest

import (
	"slices"
	"strings"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/ssaplan/primitives/projection"
)

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

// eachChild visits what is in a node at a place, with the key of each that has one, as it is written: aliases aren't
// followed.
func eachChild(n *goyaml.Node, at *place, do func(key, child *goyaml.Node, at *place) error) error {
	if n.Kind != goyaml.MappingNode {
		for i, child := range n.Content {
			if err := do(nil, child, &place{at, projection.Index(i)}); err != nil {
				return err
			}
		}
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, below := n.Content[i], at
		if !isMerge(key) {
			name, _, _ := readKey(key)
			below = &place{at, projection.Field(name)}
		}
		if err := do(key, n.Content[i+1], below); err != nil {
			return err
		}
	}
	return nil
}

// target returns what an alias refers to.
func target(n *goyaml.Node) *goyaml.Node {
	if n.Kind == goyaml.AliasNode {
		return n.Alias
	}
	return n
}

// maxShown is the number of bytes up to which a key or a path is shown in full.
const maxShown = 200

// shortened cuts the middle out of a long text.
func shortened(text string) string {
	if len(text) <= maxShown {
		return text
	}
	head, tail := text[:maxShown/2], text[len(text)-maxShown/2:]
	return strings.ToValidUTF8(head, "") + "…" + strings.ToValidUTF8(tail, "")
}
