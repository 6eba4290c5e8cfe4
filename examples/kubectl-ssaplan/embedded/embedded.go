// Package embedded compares data that stands in a single value: JSON or YAML in a text of a ConfigMap, a dashboard, an
// annotation; and maps and lists that are a whole for the server.
//
// It is for display. What the order of names, indents or quotes change isn't a difference of the data.
package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	yaml "sigs.k8s.io/yaml/goyaml.v3"
	"znkr.io/diff"

	"github.com/ssaplan/primitives/projection"
)

// maxSize is the number of bytes up to which a text is parsed, which takes some fifty times as much memory. Few objects
// are larger.
const maxSize = 1 << 20

// Compare returns in what the data of two texts differ, in order of their names; items of lists are named by their
// positions after the change, removed ones by those before. Numbers are [json.Number], as they were written.
//
// It reports false unless both texts are one document of JSON or YAML with a map or a list, and what differs is in the
// data: texts that differ in comments, or in nothing but how the data is written, have to be compared as texts. So have
// documents with names that stand twice, with references, and of more than a megabyte.
func Compare(before, after string) (differences []projection.Difference, ok bool) {
	a, errBefore := parse(before)
	b, errAfter := parse(after)
	const mark = "\ufeff" // a byte order mark, which is no data
	isMarked := strings.HasPrefix(before, mark) != strings.HasPrefix(after, mark)
	if errBefore != nil || errAfter != nil || isMarked || !slices.Equal(a.comments, b.comments) {
		return nil, false
	}
	compare(nil, a.value, b.value, &differences)
	return differences, len(differences) > 0
}

// Values returns in what two values differ that are made of maps, lists and scalars, as [Compare] does of what texts
// hold. Together with the value before, the differences say all of the value after.
func Values(before, after any) (differences []projection.Difference) {
	compare(nil, before, after, &differences)
	return differences
}

// errNotData is of texts that hold no data, or none that can be compared by values only.
var errNotData = errors.New("not one document with a map or a list")

// document is what a text holds.
type document struct {
	value    any
	comments []string
}

func parse(text string) (d document, err error) {
	if len(text) > maxSize || !strings.ContainsAny(text, ":[{-") {
		return d, errNotData
	}
	var root, more yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(text))
	if err := decoder.Decode(&root); err != nil {
		return d, err
	}
	if len(root.Content) != 1 ||
		!slices.Contains([]yaml.Kind{yaml.MappingNode, yaml.SequenceNode}, root.Content[0].Kind) {
		return d, errNotData
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return d, errNotData // several documents, or something else behind the first
	}
	d.comment(&root)
	d.value, err = d.node(root.Content[0])
	return d, err
}

func (d *document) comment(n *yaml.Node) {
	for _, text := range []string{n.HeadComment, n.LineComment, n.FootComment} {
		if text != "" {
			d.comments = append(d.comments, text)
		}
	}
}

func (d *document) node(n *yaml.Node) (any, error) {
	d.comment(n)
	switch n.Kind {
	case yaml.MappingNode:
		return d.mapping(n)
	case yaml.SequenceNode:
		out := []any{}
		for _, item := range n.Content {
			v, err := d.node(item)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
		}
		return out, nil
	case yaml.ScalarNode:
		return scalar(n), nil
	}
	return nil, errNotData // a reference
}

func (d *document) mapping(n *yaml.Node) (any, error) {
	out := map[string]any{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i]
		d.comment(name)
		if _, twice := out[name.Value]; twice || name.Kind != yaml.ScalarNode || name.ShortTag() == "!!merge" {
			return nil, errNotData
		}
		v, err := d.node(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		out[name.Value] = v
	}
	return out, nil
}

func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		return json.Number(n.Value)
	}
	return n.Value
}

func compare(at projection.Path, before, after any, out *[]projection.Difference) {
	x, isMap := before.(map[string]any)
	y, both := after.(map[string]any)
	if isMap && both {
		compareMaps(at, x, y, out)
		return
	}
	a, isList := before.([]any)
	b, both := after.([]any)
	if isList && both {
		compareLists(at, a, b, out)
		return
	}
	if !reflect.DeepEqual(before, after) {
		*out = append(*out, projection.Difference{Path: at, Op: projection.OpChange, Before: before, After: after})
	}
}

func compareMaps(at projection.Path, before, after map[string]any, out *[]projection.Difference) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		a, had := before[name]
		b, has := after[name]
		place := at.Child(projection.Field(name))
		switch {
		case had && has:
			compare(place, a, b, out)
		case had:
			*out = append(*out, projection.Difference{Path: place, Op: projection.OpRemove, Before: a})
		default:
			*out = append(*out, projection.Difference{Path: place, Op: projection.OpAdd, After: b})
		}
	}
}

// compareLists looks for the items that are alike, and compares what stands between them one by one.
func compareLists(at projection.Path, before, after []any, out *[]projection.Difference) {
	x, y := keys(before), keys(after)
	i, j := 0, 0
	for _, edit := range append(diff.Edits(x, y), diff.Edit[string]{Op: diff.Match}) {
		switch edit.Op {
		case diff.Delete:
			i++
		case diff.Insert:
			j++
		default:
			compareRuns(at, run{before, len(before) - len(x), i}, run{after, len(after) - len(y), j}, out)
			x, y = x[min(i+1, len(x)):], y[min(j+1, len(y)):]
			i, j = 0, 0
		}
	}
}

// run is a part of a list, of n items from a position on.
type run struct {
	list    []any
	from, n int
}

// compareRuns compares items that stand in the same place. Those of one name belong together as long as none overtakes
// another, because the order is part of the data; or those of one position if they have no names.
func compareRuns(at projection.Path, before, after run, out *[]projection.Difference) {
	partners := partners(before, after)
	for j := after.from; j < after.from+after.n; j++ {
		place := at.Child(projection.Index(j))
		if i, found := partners[j]; found {
			compare(place, before.list[i], after.list[j], out)
			continue
		}
		*out = append(*out, projection.Difference{Path: place, Op: projection.OpAdd, After: after.list[j], Position: j})
	}
	stay := map[int]bool{}
	for _, i := range partners {
		stay[i] = true
	}
	for i := before.from; i < before.from+before.n; i++ {
		if !stay[i] {
			*out = append(*out, projection.Difference{
				Path: at.Child(projection.Index(i)), Op: projection.OpRemove, Before: before.list[i], Position: i,
			})
		}
	}
}

// partners returns for the positions after the change those that the items had before it; new items have none.
func partners(before, after run) map[int]int {
	named := map[any][]int{}
	for i := before.from; i < before.from+before.n; i++ {
		if name := nameOf(before.list[i]); name != nil {
			named[name] = append(named[name], i)
		}
	}
	out := map[int]int{}
	next := before.from // those before it have their partners, or have none
	for j := after.from; j < after.from+after.n; j++ {
		name, same := nameOf(after.list[j]), before.from+j-after.from
		switch {
		case name != nil:
			for len(named[name]) > 0 && named[name][0] < next {
				named[name] = named[name][1:]
			}
			if len(named[name]) == 0 {
				continue
			}
			same = named[name][0]
		case same < next || same >= before.from+before.n || nameOf(before.list[same]) != nil:
			continue
		}
		out[j], next = same, same+1
	}
	return out
}

// nameOf returns what an item is called, nil if it has no name.
func nameOf(item any) any {
	fields, _ := item.(map[string]any)
	for _, name := range []string{"name", "id", "uid", "key", "alert", "record", "title"} {
		switch v := fields[name].(type) {
		case string, json.Number, int64:
			return v
		}
	}
	return nil
}

// keys returns a text for each item that only those have that are alike.
func keys(list []any) []string {
	out := make([]string, len(list))
	for i, item := range list {
		text, err := json.Marshal(item)
		if err != nil { // a number that isn't one of JSON
			text = fmt.Appendf(nil, "%#v", item)
		}
		out[i] = string(text)
	}
	return out
}
