package immutability

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/internal/managedfields"
	"github.com/ssaplan/primitives/projection"
)

// Locate returns v with the paths of its fields, so that they can be compared with those of a plan's changes. A server
// prints list items by position, and keys of maps without quotes:
//
//	spec.containers[0].image            spec.containers[name="app"].image
//	metadata.annotations[example.com/x] metadata.annotations["example.com/x"]
//	spec.args[2]                        spec.args[2], if the list is known to be atomic
//
// manifest is the rejected manifest, and live the object that it was applied to, nil if there is none. The keys of
// lists are read from live's managedFields and from declared, the fields of a plan or state for the same kind, which
// may be empty.
//
// The positions are those in the object that the server made by merging both. So an item gets a key only if its
// position is certain: all items of live are in the manifest, or both lists begin with the same items up to this one. A
// field that can't be found keeps its Text, and Path stays nil.
func (v Verdict) Locate(manifest, live *unstructured.Unstructured, declared projection.FieldSet) Verdict {
	l := newLocator(contentOf(manifest), contentOf(live), recordOf(contentOf(live)).Union(declared))
	v.Fields = l.locate(v.Fields)
	return v
}

// OfCreate returns the verdict for a refused create of the manifest. No field can be immutable then, and a replacement
// doesn't help. A denial by a policy stays [RefusalAdmissionDenied]. For an error about a field that doesn't fit the
// schema, Classify returns [RefusalNone]; OfCreate adds this field to Fields.
func (v Verdict) OfCreate(manifest *unstructured.Unstructured) Verdict {
	if v.Refusal == RefusalAdmissionDenied {
		return v
	}
	v.Refusal, v.Certainty, v.Uncertain = RefusalInvalid, CertaintyProven, ""
	v.Fields = slices.Concat(v.Fields, v.misfits)
	return v.Locate(manifest, nil, projection.FieldSet{})
}

func contentOf(obj *unstructured.Unstructured) map[string]any {
	if obj == nil {
		return nil
	}
	return obj.Object
}

// recordOf returns all fields that obj's managedFields record. Entries of other versions, which may have other
// fields, and what can't be read are left out.
func recordOf(obj map[string]any) projection.FieldSet {
	var all projection.FieldSet
	for entry := range managedfields.InVersion(obj) {
		if fields, err := projection.DecodeFieldsV1(entry.FieldsV1); err == nil {
			all = all.Union(fields)
		}
	}
	return all
}

// locator finds the fields that a server prints in the objects that it speaks of.
type locator struct {
	kind           string
	manifest, live *projection.Object
	record         projection.FieldSet
	lists          map[string][]projection.Element // what items has found
}

func newLocator(manifest, live map[string]any, record projection.FieldSet) *locator {
	kind, _ := manifest["kind"].(string)
	return &locator{
		kind, projection.NewManifest(manifest, record), projection.NewObject(live, record), record,
		map[string][]projection.Element{},
	}
}

func (l *locator) locate(fields []Field) []Field {
	located := slices.Clone(fields)
	for i, f := range located {
		if path, found := l.path(string(f.Text)); f.Path == nil && found {
			located[i].Path = path
		}
	}
	return located
}

// spot is a path with the values that the manifest and the live object have there, nil if they have none.
type spot struct {
	kind           string // of the object
	path           projection.Path
	manifest, live any
}

// at returns the spot at p.
func (l *locator) at(p projection.Path) spot {
	mine, _ := l.manifest.Get(p)
	theirs, _ := l.live.Get(p)
	return spot{l.kind, p, mine, theirs}
}

func (s spot) field(name string) spot {
	m, _ := s.manifest.(map[string]any)
	l, _ := s.live.(map[string]any)
	return spot{s.kind, s.path.Child(projection.Field(name)), m[name], l[name]}
}

// has reports whether one of the values is a map with this field.
func (s spot) has(name string) bool {
	m, _ := s.manifest.(map[string]any)
	l, _ := s.live.(map[string]any)
	_, inManifest := m[name]
	_, inLive := l[name]
	return inManifest || inLive
}

func (l *locator) path(text string) (path projection.Path, found bool) {
	if text == "" {
		return nil, false
	}
	at, rest, ok := l.at(projection.Path{}), "."+text, true
	for rest != "" && ok {
		if position, after, isItem := cutPosition(rest); isItem && !at.isMap() {
			at, ok = l.item(at, position)
			rest = after
			continue
		}
		at, rest, ok = at.next(rest)
	}
	return at.path, ok
}

func (s spot) isMap() bool {
	_, inManifest := s.manifest.(map[string]any)
	_, inLive := s.live.(map[string]any)
	return inManifest || inLive
}

func (s spot) isList() bool {
	_, inManifest := s.manifest.([]any)
	_, inLive := s.live.([]any)
	return inManifest || inLive
}

// cutPosition cuts "[0]" off the front of text.
func cutPosition(text string) (position int, rest string, ok bool) {
	inner, ok := strings.CutPrefix(text, "[")
	digits, rest, closed := strings.Cut(inner, "]")
	position, err := strconv.Atoi(digits)
	return position, rest, ok && closed && err == nil && position >= 0
}

// next reads the field at the front of text. A name can have dots and brackets in it, which the server doesn't mark:
// of the readings, the shortest counts that one of the objects has. Where none has it, only a name without dots is
// certain.
func (s spot) next(text string) (next spot, rest string, ok bool) {
	if s.isList() {
		return s, text, false
	}
	names := readings(text)
	for _, r := range names {
		if s.has(r.name) {
			return s.field(r.name), r.rest, true
		}
	}
	if len(names) == 0 || names[0].name == "" || len(names) > 1 && s.isAmbiguous(names[0].name) {
		return s, text, false
	}
	return s.field(names[0].name), names[0].rest, true
}

// isAmbiguous reports whether a name that goes on is as likely as this one: where the names in a map are free, and
// where it is no name of a field.
func (s spot) isAmbiguous(name string) bool {
	isFree := len(s.path) > 0 && kinds.IsMapField(s.kind, s.path[len(s.path)-1].Name())
	return isFree || strings.ContainsAny(name, `/[]"`)
}

// reading is a field that a text may begin with, and what follows it.
type reading struct{ name, rest string }

// readings returns the fields that text may begin with, the shortest first.
func readings(text string) []reading {
	const most = 32 // bounds the work on a text that has dots only
	if text[0] != '.' && text[0] != '[' {
		return nil
	}
	if quoted, err := strconv.QuotedPrefix(text[1:]); err == nil && text[0] == '[' {
		if rest, closed := strings.CutPrefix(text[1+len(quoted):], "]"); closed {
			name, _ := strconv.Unquote(quoted) // which is quoted as it should be
			return []reading{{name, rest}}
		}
	}
	ends, skip := ".[", 0
	if text[0] == '[' {
		ends, skip = "]", 1
	}
	var found []reading
	for i, c := range text[1:] {
		if len(found) == most {
			return found
		}
		if strings.ContainsRune(ends, c) {
			found = append(found, reading{text[1 : 1+i], text[1+i+skip:]})
		}
	}
	if skip == 0 {
		found = append(found, reading{text[1:], ""})
	}
	return found
}

// item returns the item at a position of the list at s.
func (l *locator) item(s spot, position int) (item spot, ok bool) {
	if l.record.Covers(s.path) && l.record.Under(s.path).Len() <= 1 { // the list is atomic
		return l.at(s.path.Child(projection.Index(position))), true
	}
	items := l.items(s)
	if position >= len(items) {
		return s, false
	}
	return l.at(s.path.Child(items[position])), true
}

// items returns the names of the items in the list that a server made of those at s, as far as there is no doubt.
func (l *locator) items(s spot) []projection.Element {
	id := s.path.String()
	known, found := l.lists[id]
	if !found {
		theirs, _ := s.live.([]any)
		known = merged(l.declared(s), names(l.live, s.path, len(theirs)))
		l.lists[id] = known
	}
	return known
}

// names returns the names of the first items of a list; of those that have none, their positions.
func names(obj *projection.Object, list projection.Path, n int) []projection.Element {
	names := make([]projection.Element, n)
	for i := range names {
		item := obj.Resolve(list.Child(projection.Index(i)))
		names[i] = item[len(item)-1]
	}
	return names
}

// declared returns the names of the manifest's items. It looks for them in a list that has every item twice: an item
// that leaves out key fields and may be one of several recorded items has another name at the second time, and is in
// doubt.
func (l *locator) declared(s spot) []projection.Element {
	list, _ := s.manifest.([]any)
	twice := projection.NewManifest(map[string]any{}, l.record)
	if twice.Set(s.path, slices.Concat(list, list)) != nil {
		return nil
	}
	all := names(twice, s.path, 2*len(list))
	declared, again := all[:len(list)], all[len(list):]
	for i, e := range again {
		if !isPosition(e) {
			declared[i] = projection.Index(i)
		}
	}
	return declared
}

func isPosition(e projection.Element) bool { return e.Kind() == projection.IndexKind }

// merged returns the names of the items that begin the list that a server made of both.
func merged(mine, theirs []projection.Element) []projection.Element {
	isMine := map[projection.Element]bool{}
	for _, e := range mine {
		isMine[e] = true
	}
	if slices.ContainsFunc(mine, isPosition) || slices.ContainsFunc(theirs, isPosition) {
		return nil
	}
	if !slices.ContainsFunc(theirs, func(e projection.Element) bool { return !isMine[e] }) {
		return mine
	}
	same := 0
	for same < min(len(mine), len(theirs)) && mine[same] == theirs[same] {
		same++
	}
	return mine[:same]
}
