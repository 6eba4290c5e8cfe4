package explain

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
)

// Replace explains what changes when the live object is deleted and a new one is created from the manifest. Answer is
// the object as the server would create it; without an Answer, the explanation has only the declared fields, and
// neither side effects nor defaults. refused are the fields that the server doesn't change in place: changes at, above
// or below them are marked.
//
// The status isn't compared, nor who owns it, since controllers write it again. A field that the server generates for a
// new object is a change without the new value, which is only known afterwards.
func Replace(in Input, refused []projection.Path) (*Explanation, error) {
	answered := in.Answer != nil
	if !answered {
		var err error
		if in.Answer, err = predicted(in); err != nil {
			return nil, err
		}
	}
	c, e, err := begin(in)
	if err != nil {
		return nil, err
	}
	was, is := kindOf(in.Live), kindOf(in.Answer)
	c.declaredOnly, c.madeAnew = !answered || was != is, generated[keyOf(in.Answer)]
	if err := c.update(e); err != nil {
		return nil, err
	}
	if !answered {
		if err := e.keepDeclared(in); err != nil {
			return nil, err
		}
	}
	e.Changes = slices.DeleteFunc(e.Changes, func(change Change) bool {
		return change.Cause == CauseSideEffect && change.Path[0] == projection.Field("status")
	})
	e.Ownership = slices.DeleteFunc(e.Ownership,
		func(t fieldowner.Transfer) bool { return t.Path[0] == projection.Field("status") })
	for i := range e.Changes {
		at := e.Changes[i].Path
		e.Changes[i].Refused = slices.ContainsFunc(refused, func(p projection.Path) bool {
			return at.HasPrefix(p) || p.HasPrefix(at)
		})
		if identityFields.Has(at) {
			e.Changes[i].Cause = CauseEdited // though they have no owner
		}
	}
	if answered {
		if e.Generated, err = generatedIn(in.Answer, e.After.Fields, c.declaration); err != nil {
			return nil, err
		}
		for i := range e.Dropped { // what a server makes up is another value at each dry run
			d := &e.Dropped[i]
			if d.Value, _ = withoutAssigned(d.Value, d.Path, c.madeAnew.Match); c.madeAnew.Match(d.Path) {
				d.Value = nil
			}
		}
	}
	c.finish(e)
	return e, nil
}

// keepDeclared removes fields that the manifest declares from the dropped fields and from the changes of owners. It
// names list items by the keys in the live object's managedFields. Without the server's answer, the keys of lists in
// the manifest aren't known.
func (e *Explanation) keepDeclared(in Input) error {
	owners, err := in.Records.Read(in.Live)
	if err != nil {
		return err
	}
	manifest := projection.NewManifest(in.Manifest, owners.Fields(nil))
	declares := func(p projection.Path) bool {
		_, exists := manifest.Get(p)
		return exists
	}
	e.Dropped = slices.DeleteFunc(e.Dropped, func(d fieldowner.DroppedField) bool { return declares(d.Path) })
	e.Ownership = slices.DeleteFunc(e.Ownership, func(t fieldowner.Transfer) bool { return declares(t.Path) })
	return nil
}

// identityFields are the fields that say which object it is.
var identityFields = func() projection.FieldSet {
	var paths []projection.Path
	for _, names := range kinds.IdentityFields {
		var p projection.Path
		for _, name := range names {
			p = append(p, projection.Field(name))
		}
		paths = append(paths, p)
	}
	return projection.NewFieldSet(paths...)
}()

// kindOf returns the kind with its group.
func kindOf(obj map[string]any) [2]string {
	apiVersion, _ := obj["apiVersion"].(string)
	kind, _ := obj["kind"].(string)
	return [2]string{identity.Identity{APIVersion: apiVersion}.Group(), kind}
}

// predicted returns the manifest with managedFields of the fields that it seems to declare. It is used without a
// server's answer.
func predicted(in Input) (map[string]any, error) {
	sources := []projection.Source{projection.NoSchema{}}
	if learned, err := projection.LearnSchema(in.Live); err == nil {
		sources = slices.Insert(sources, 0, projection.Source(learned))
	}
	declared, err := projection.PredictDeclared(context.Background(), in.Manifest, sources...)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(declared.Fields.FieldsV1(), &fields); err != nil {
		return nil, err
	}
	out, metadata := withKeys(in.Manifest, declared.Fields), map[string]any{}
	had, _ := out["metadata"].(map[string]any)
	maps.Copy(metadata, had)
	metadata["managedFields"] = []any{map[string]any{
		"manager": in.Manager, "operation": string(fieldowner.OperationApply), "fieldsType": "FieldsV1",
		"fieldsV1": fields,
	}}
	out["metadata"] = metadata
	return out, nil
}

// withKeys returns a copy of a manifest with all key fields of list items. If an item lacks a key field, it gets the
// default, which its path in fields has.
func withKeys(manifest map[string]any, fields projection.FieldSet) map[string]any {
	out, _ := projection.Patterns{}.Remove(manifest) // a copy
	obj := projection.NewManifest(out, fields)
	for p := range fields.All() {
		value, _ := obj.Get(p)
		item, isMap := value.(map[string]any)
		for name, key := range p[len(p)-1].KeyFields() {
			if _, exists := item[name]; isMap && !exists {
				item[name] = key
			}
		}
	}
	return out
}
