package objectset

import (
	"slices"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Created are the namespaces and the definitions of a set, which other objects of it need. The zero value is empty. The
// number of an object is its index in the set.
type Created struct {
	namespaces  map[string]int
	definitions map[groupKind]definition
}

// definition is a definition of a set.
type definition struct {
	number int
	name   string   // "" if it isn't known yet
	served []string // versions
}

// groupKind is a kind in any version: versions of a group are ways to write down the same object.
type groupKind struct{ group, kind string }

func groupKindOf(id identity.Identity) groupKind { return groupKind{id.Group(), id.Kind} }

// Add adds object i of the set. It skips other kinds.
func (c *Created) Add(i int, manifest map[string]any) {
	switch {
	case kinds.IsNamespace(manifest):
		if c.namespaces == nil {
			c.namespaces = map[string]int{}
		}
		c.namespaces[nameOf(manifest)] = i
	case kinds.IsDefinition(manifest):
		if c.definitions == nil {
			c.definitions = map[groupKind]definition{}
		}
		d := kinds.DefinitionOf(manifest)
		c.definitions[groupKind{d.Group, d.Kind}] = definition{i, nameOf(manifest), d.Served()}
	}
}

func nameOf(manifest map[string]any) string {
	metadata, _ := manifest["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	return name
}

// Namespace returns the number of a namespace.
func (c *Created) Namespace(name string) (number int, ok bool) {
	number, ok = c.namespaces[name]
	return number, ok
}

// Serves returns the number of the definition of an object's kind if it serves the version of the object.
func (c *Created) Serves(of identity.Identity) (number int, ok bool) {
	found, ok := c.definitions[groupKindOf(of)]
	return found.number, ok && slices.Contains(found.served, of.Version())
}

// Needs returns the numbers of the objects of the set that must exist before the given object: its namespace, and the
// definition of its kind, even if that doesn't serve the version.
func (c *Created) Needs(of identity.Identity) (numbers []int) {
	if found, ok := c.definitions[groupKindOf(of)]; ok {
		numbers = append(numbers, found.number)
	}
	if number, ok := c.namespaces[of.Namespace]; ok {
		numbers = append(numbers, number)
	}
	return numbers
}

// Namespaces returns the names of the namespaces, in any order.
func (c *Created) Namespaces() (names []string) {
	for name := range c.namespaces {
		names = append(names, name)
	}
	return names
}

// Kinds returns the kinds that the definitions serve, each as its apiVersion and kind with a blank between them, in any
// order.
func (c *Created) Kinds() (names []string) {
	for kind, found := range c.definitions {
		for _, version := range found.served {
			names = append(names, kind.group+"/"+version+" "+kind.kind)
		}
	}
	return names
}

// Creates returns the end of a message: "; the same set creates it". It is empty if the set doesn't create the
// namespace of the object.
func (c *Created) Creates(of identity.Identity) string {
	if _, ok := c.namespaces[of.Namespace]; ok {
		return "; the same set creates it"
	}
	return ""
}

// Defines returns the end of a message: a semicolon, and which definition of the set defines the kind of the object in
// any version. It is empty if the set has no such definition, or if the name of the definition isn't known.
func (c *Created) Defines(of identity.Identity) string {
	if found := c.definitions[groupKindOf(of)]; found.name != "" {
		return "; CustomResourceDefinition " + foreign.Text(found.name).String() + " of the same set defines it"
	}
	return ""
}
