package manifest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/ssaplan/primitives/projection"
)

// place is a path with a node at its end. It is put together only where it is needed.
type place struct {
	parent  *place
	element projection.Element
}

// prefix returns the beginning of a text about the place: its path, shortened in the middle if it is long; "" for nil.
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

// eachMap visits the maps of a node at a place, as they are written.
func eachMap(n *goyaml.Node, at *place, do func(*goyaml.Node, *place) error) error {
	if n.Kind == goyaml.MappingNode {
		if err := do(n, at); err != nil {
			return err
		}
	}
	return eachChild(n, at, func(_, child *goyaml.Node, at *place) error { return eachMap(child, at, do) })
}

// target returns what an alias refers to.
func target(n *goyaml.Node) *goyaml.Node {
	if n.Kind == goyaml.AliasNode {
		return n.Alias
	}
	return n
}

func isMerge(key *goyaml.Node) bool { return key.Tag == "!!merge" && key.Value == "<<" }

// mergedMaps returns the maps that the value of a merge key names. The parser refuses what is no map.
func mergedMaps(n *goyaml.Node) []*goyaml.Node {
	n = target(n)
	if n.Kind != goyaml.SequenceNode {
		return []*goyaml.Node{n}
	}
	var maps []*goyaml.Node
	for _, item := range n.Content {
		maps = append(maps, target(item))
	}
	return maps
}

// booleans are the words that YAML 1.1 reads as booleans and YAML 1.2 as texts. Kubernetes reads YAML 1.1.
var booleans = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

// infinities are written by Go and YAML in different ways.
var infinities = strings.NewReplacer("+Inf", ".inf", "-Inf", "-.inf", "NaN", ".nan")

// readKey returns the name that a key gets in JSON, and the value that it is to YAML. What can't be a key isn't valid,
// or any name: the parser refuses it.
func readKey(n *goyaml.Node) (name string, value any, valid bool) {
	n = target(n)
	if n.Kind != goyaml.ScalarNode {
		return "", nil, false
	}
	if word, found := booleans[n.Value]; found && (n.Style == 0 || n.Tag == "!!bool") {
		return strconv.FormatBool(word), word, true
	}
	if n.Tag == "!!str" {
		return n.Value, n.Value, true
	}
	if n.Decode(&value) != nil {
		return "", nil, false
	}
	switch v := value.(type) {
	case float64:
		return infinities.Replace(strconv.FormatFloat(v, 'g', -1, 32)), v, true // as sigs.k8s.io/yaml does
	case int, bool, string:
		return fmt.Sprint(v), v, true
	}
	return n.Value, n.Value, true // dates are texts
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
