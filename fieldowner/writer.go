package fieldowner

import (
	"encoding/json"
	"fmt"

	"github.com/ssaplan/primitives/projection"
)

// Writer is a tool, other than the current applier, that wrote to an object.
type Writer struct {
	Owner
	// Tool is the name of the tool; see [Tool].
	Tool string `json:"tool"`
	// Stays are the fields and list items that the tool owns and the manifest lacks. They stay in the object until the
	// applier takes them over ([HandOver]) and applies without them, since only this tool or other tools own them. For
	// client-side apply they are the fields in its annotation. Any other tool may also own fields that it didn't send:
	// a server or a webhook filled them in when the tool wrote. If an apply leaves such a field out, a server may keep
	// it or set it again. So only the answer to an apply without the fields shows which of them it removes.
	Stays []projection.Path `json:"stays,omitempty"`
}

// String returns one line: the tool, and the fields that stay behind.
func (w Writer) String() string {
	who := fmt.Sprintf("%s: %s", w.Tool, w.Owner)
	if len(w.Stays) == 0 {
		return who + ", no fields left over"
	}
	return fmt.Sprintf("%s, left over: %s", who, projection.JoinPaths(w.Stays))
}

// Writers returns the tools that wrote to the object besides the applier, and which of their fields would stay behind,
// in the order of the owners. o is the ownership of obj after an apply, or its dry run. For an applier of a subresource
// it returns nil, since such an applier doesn't take over the fields of tools.
func (o Ownership) Writers(obj map[string]any, applier Applier, tools []Tool) []Writer {
	var writers []Writer
	var theirs []Entry
	for _, e := range o.entries {
		if tool, is := ToolOf(e.Owner, tools); is && applier.Subresource == "" && !applier.Is(e.Owner) {
			writers, theirs = append(writers, Writer{Owner: e.Owner, Tool: tool.Name}), append(theirs, e)
		}
	}
	if len(writers) == 0 {
		return nil
	}
	kept := o.Fields(func(owner Owner) bool {
		_, is := ToolOf(owner, tools)
		return !is || applier.Is(owner)
	})
	content := projection.NewObject(obj, o.all)
	for i, e := range theirs {
		applied := o.lastApplied(obj, e)
		writers[i].Stays = staying(e.Fields, kept, func(p projection.Path) bool {
			return has(content, p) && (applied == nil || p.Equal(lastApplied) || has(applied, p))
		})
	}
	return writers
}

// lastApplied returns the manifest in the annotation of client-side apply, nil if the entry isn't that of who keeps it
// there.
func (o Ownership) lastApplied(obj map[string]any, e Entry) *projection.Object {
	text, _ := projection.Get(obj, lastApplied)
	annotation, isText := text.(string)
	var manifest map[string]any
	if !isText || e.Operation != OperationUpdate || !e.Fields.Has(lastApplied) ||
		json.Unmarshal([]byte(annotation), &manifest) != nil {
		return nil
	}
	return projection.NewManifest(manifest, o.all)
}

// staying returns what of the fields there is and isn't among those that are kept. Of maps it returns the fields in
// them, and of an item of a list that itself, which goes although others own something in it.
func staying(fields, kept projection.FieldSet, has func(projection.Path) bool) (out []projection.Path) {
	var item projection.Path
	for p := range fields.All() {
		if item != nil && p.HasPrefix(item) {
			continue
		}
		isItem := p[len(p)-1].Kind() != projection.FieldKind
		if p.IsKey() && kept.Has(p[:len(p)-1]) { // goes only with its item
			continue
		}
		if isItem && kept.Has(p) || !isItem && (!kept.Under(p).Empty() || hasBelow(fields, p)) {
			continue
		}
		if !has(p) {
			continue
		}
		if out = append(out, p); isItem {
			item = p
		}
	}
	return out
}
