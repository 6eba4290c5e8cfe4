package manifest

import (
	"fmt"
	"strconv"

	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// checkKeys returns an error if a map has keys that become one in JSON, such as 1 and "1": the parser keeps both, and
// which of their values is read is left to chance. start is the line of the file at which the document begins. It
// reports whether maps are merged.
func checkKeys(root *goyaml.Node, start int) (merges bool, err error) {
	var merged []*goyaml.Node // the maps that merge others, and those others
	err = eachMap(root, nil, func(m *goyaml.Node, at *place) error {
		seen := map[string]*goyaml.Node{}
		for i := 0; i+1 < len(m.Content); i += 2 {
			key := m.Content[i]
			if isMerge(key) {
				merged = append(append(merged, m), mergedMaps(m.Content[i+1])...)
				continue
			}
			name, _, valid := readKey(key)
			if first := seen[name]; valid && first != nil {
				return fmt.Errorf("line %d: %sthe key %q appears twice%s; keep one of them", start+key.Line-1,
					at.prefix(), shortened(name), spellings(first, key))
			}
			if valid {
				seen[name] = key
			}
		}
		return nil
	})
	if err == nil {
		err = checkMerged(merged, start)
	}
	return len(merged) > 0, err
}

// checkMerged returns an error if two of the maps have keys that are one in JSON, but not to YAML, which merges the
// maps: then neither overrides the other.
func checkMerged(maps []*goyaml.Node, start int) error {
	done, values := map[*goyaml.Node]bool{}, map[string]any{}
	for _, m := range maps {
		if done[m] {
			continue
		}
		done[m] = true
		for i := 0; i+1 < len(m.Content); i += 2 {
			name, value, valid := readKey(m.Content[i])
			if !valid || isMerge(m.Content[i]) {
				continue
			}
			if other, found := values[name]; found && other != value {
				return fmt.Errorf(
					"line %d: the key %q is written in two ways in maps that are merged; put it into quotes in all of them",
					start+m.Content[i].Line-1, shortened(name))
			}
			values[name] = value
		}
	}
	return nil
}

// spellings returns how two keys of one name are written, unless that is the same.
func spellings(a, b *goyaml.Node) string {
	first, second := spelled(a), spelled(b)
	if first == second {
		return ""
	}
	return fmt.Sprintf(", as %s and as %s", first, second)
}

func spelled(key *goyaml.Node) string {
	key = target(key)
	quoted := strconv.Quote(shortened(key.Value))
	if plain := quoted[1 : len(quoted)-1]; key.Style == 0 && plain == key.Value {
		return plain
	}
	return quoted
}
