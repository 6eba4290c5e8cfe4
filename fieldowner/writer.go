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
	// client-side apply they are the fields in its annotation. Other tools may also own fields that they didn't write:
	// those that a server or a webhook filled in at their write. A server sets or keeps some of these when they are
	// left out. So only the answer to an apply without the fields shows which fields such an apply removes.
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
// in the order of the owners. o is the ownership of obj after an apply, or its dry run. There are none for the applier
// of a subresource, since it takes nothing over.
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

func has(obj *projection.Object, p projection.Path) bool {
	_, exists := obj.Get(p)
	return exists
}

// lastApplied returns the manifest in the annotation of client-side apply, nil if the entry isn't that of who keeps it
// there.
func (o Ownership) lastApplied(obj map[string]any, e Entry) *projection.Object {
	text, _ := projection.Get(obj, lastApplied)
	annotation, isText := text.(string)
	var manifest map[string]any
	if !isText || e.Operation != OperationUpdate || !e.Fields.Has(lastApplied) || json.Unmarshal([]byte(annotation), &manifest) != nil {
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
