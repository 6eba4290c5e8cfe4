package secrecy

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// Carried returns the kinds of the objects inside of an object, such as the manifest in an Object of Crossplane. A map
// is an object if it has apiVersion, kind and metadata or content; what has only scalars is a reference. The kinds are
// sorted: a plan warns of them in this order, and equal plans are to say the same.
func Carried(obj map[string]any) []schema.GroupVersionKind {
	if !mayCarry(obj) {
		return nil // the walk below would allocate memory
	}
	return carried(obj)
}

func carried(obj map[string]any) (found []schema.GroupVersionKind) {
	c := carrier{object: func(_ string, inner map[string]any) {
		if kind := kindOf(inner); kind.Version != "" && isObject(inner) && !slices.Contains(found, kind) {
			found = append(found, kind)
		}
	}}
	c.root(obj)
	slices.SortFunc(found, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return found
}

// Inside returns the fields of an object that are secret because it carries them: data, stringData and annotations of
// a Secret inside of it, the passwords of other objects, and texts that are the manifest of a Secret. If it isn't known
// which fields of an object inside are passwords, all are, except those that identify it.
func Inside(obj map[string]any, passwords func(schema.GroupVersionKind) projection.Patterns) projection.Patterns {
	if !mayCarry(obj) {
		return nil
	}
	var texts []string
	c := carrier{
		object: func(at string, inner map[string]any) {
			for _, name := range secretIn(inner, passwords) {
				texts = append(texts, joined(at, name))
			}
		},
		text: func(at, text string) {
			if isSecretManifest(text) {
				texts = append(texts, at)
			}
		},
	}
	if c.root(obj); c.isTooDeep {
		texts = []string{EveryField}
	}
	return parsed(texts)
}

// secretIn returns the patterns of the secret fields of an object inside of another one.
func secretIn(inner map[string]any, passwords func(schema.GroupVersionKind) projection.Patterns) (texts []string) {
	kind := kindOf(inner)
	marks := passwords(kind)
	if isSecretKind(kind.Kind) && (kinds.IsBuiltinGroup(kind.Group) || IsUnmarked(marks)) {
		_, isList := inner["items"].([]any)
		for _, path := range kinds.SensitiveFields {
			field := strings.Join(path, ".")
			if _, exists, err := unstructured.NestedFieldNoCopy(inner, path...); exists || err != nil {
				texts = append(texts, field)
			}
			if isList {
				texts = append(texts, joined("items[*]", field))
			}
		}
		return texts
	}
	if len(marks) == 0 || !isObject(inner) {
		return nil
	}
	texts = append(texts, Annotations[0].String())
	for _, p := range marks {
		if p.String() != EveryField {
			texts = append(texts, p.String())
			continue
		}
		for name := range inner {
			if !slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
				texts = append(texts, projection.Path{projection.Field(name)}.String())
			}
		}
	}
	return texts
}

// isObject reports whether a map has what objects have and references lack. Templates of objects need no metadata, such
// as those of a Composition of Crossplane.
func isObject(obj map[string]any) bool {
	return slices.ContainsFunc([]string{"metadata", "spec", "data", "stringData"}, func(name string) bool {
		_, isMap := obj[name].(map[string]any)
		return isMap
	})
}

// isSecretKind reports whether a kind is Secret or a list of Secrets, in any case of letters and also as "secrets". A
// manifest with such a mistake in its kind still holds a secret.
func isSecretKind(kind string) bool {
	return slices.Contains([]string{"secret", "secrets", "secretlist"}, strings.ToLower(kind))
}

func kindOf(obj map[string]any) schema.GroupVersionKind {
	apiVersion, _ := obj["apiVersion"].(string)
	kind, _ := obj["kind"].(string)
	return schema.FromAPIVersionAndKind(apiVersion, kind)
}

// secretKind and secretData find the manifest of a Secret in a text, as YAML or as JSON, also if the text was quoted
// once more.
var (
	secretKind = regexp.MustCompile(`\bkind[\\"']*\s*:\s*[\\"']*[Ss]ecret(?:s|List)?\b`)
	secretData = regexp.MustCompile(`\b(?:d|stringD)ata[\\"']*\s*:`)
)

func isSecretManifest(text string) bool {
	return secretKind.MatchString(text) && secretData.MatchString(text)
}

// carrier walks through an object.
type carrier struct {
	object func(at string, inner map[string]any) // with the pattern of its place
	text   func(at, text string)                 // nil if texts don't matter
	path   []segment
	// isTooDeep says that the walk stopped, in an object that no server reads, or that contains itself.
	isTooDeep bool
}

// segment is the name of a field, or any item of a list.
type segment struct {
	name   string
	isItem bool
}

// root walks through an object except for most of its metadata, which have no values.
func (c *carrier) root(obj map[string]any) {
	for name, v := range obj {
		if metadata, isMap := v.(map[string]any); isMap && name == "metadata" {
			v = map[string]any{"annotations": metadata["annotations"]}
		}
		c.into(segment{name: name}, v)
	}
}

// mayCarry reports whether the walk finds anything, without what the walk allocates: most objects carry nothing.
func mayCarry(obj map[string]any) bool {
	for name, v := range obj {
		if metadata, isMap := v.(map[string]any); isMap && name == "metadata" {
			v = metadata["annotations"]
		}
		if mayBeIn(v, fastjson.Deepest) {
			return true
		}
	}
	return false
}

func mayBeIn(v any, levels int) bool {
	switch v := v.(type) {
	case map[string]any:
		if levels < 0 {
			return true
		}
		for name, inner := range v {
			if name == "kind" && isNamed(v) || mayBeIn(inner, levels-1) {
				return true
			}
		}
	case []any:
		for _, item := range v {
			if levels < 0 || mayBeIn(item, levels-1) {
				return true
			}
		}
	case string:
		return mentionsSecret(v)
	}
	return false
}

// isNamed reports whether a map is an object or a reference to one. It must have a kind and an apiVersion. A map with
// the kind of a Secret needs no apiVersion, since a manifest with mistakes may lack it.
func isNamed(m map[string]any) bool {
	kind, _ := m["kind"].(string)
	version, _ := m["apiVersion"].(string)
	return kind != "" && (version != "" || isSecretKind(kind))
}

// mentionsSecret reports whether a text may be a Secret's manifest. It is a cheap test that rules out most texts.
func mentionsSecret(text string) bool {
	return len(text) >= len("kind: Secret") && strings.Contains(text, "ecret") && strings.Contains(text, "kind")
}

func (c *carrier) into(s segment, v any) {
	if c.isTooDeep = c.isTooDeep || len(c.path) > fastjson.Deepest; c.isTooDeep {
		return
	}
	c.path = append(c.path, s)
	c.value(v)
	c.path = c.path[:len(c.path)-1]
}

func (c *carrier) value(v any) {
	switch v := v.(type) {
	case map[string]any:
		if isNamed(v) {
			c.object(c.at(), v)
		}
		for name, inner := range v {
			c.into(segment{name: name}, inner)
		}
	case []any:
		for _, item := range v {
			c.into(segment{isItem: true}, item)
		}
	case string:
		if c.text != nil && mentionsSecret(v) {
			c.text(c.at(), v)
		}
	}
}

// at returns the pattern of the place.
func (c *carrier) at() (text string) {
	for _, s := range c.path {
		if s.isItem {
			text = joined(text, "[*]")
		} else {
			text = joined(text, projection.Path{projection.Field(s.name)}.String())
		}
	}
	return text
}
