package explain

import (
	"context"
	"maps"
	"slices"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// Exceptions are fields that aren't applied as the manifest has them.
type Exceptions struct {
	// Ignore are the ignored fields; see [Prepared.For].
	Ignore projection.Patterns
	// GiveUp are fields that are ignored, too, after the applier gave them up.
	GiveUp projection.Patterns
	// Clear are the fields to delete, even if they are ignored.
	Clear projection.Patterns
	// Strip are the fields that are never sent.
	Strip projection.Patterns
	// Unknown are the fields whose values aren't known yet; see [Prepared.For].
	Unknown projection.Patterns
}

// Empty reports whether there are none. Clear doesn't count: by itself it changes nothing in the manifest.
func (e Exceptions) Empty() bool {
	return len(slices.Concat(e.Ignore, e.GiveUp, e.Strip, e.Unknown)) == 0
}

// Prepared is a manifest that is ready to be sent.
type Prepared struct {
	// Manifest is the manifest to create the object with. For an existing object, see [Prepared.For].
	Manifest map[string]any
	// Adjustments are the changes that make the server track all fields; see [projection.Normalize].
	Adjustments []projection.Adjustment
	// Empty are the fields that were dropped because they are null or empty. [Prepared.For] puts back those that change
	// the object.
	Empty []EmptyField
	// Ignored are the ignored fields. Manifest still has them.
	Ignored Ignored
	// Unknown are the fields that were left out because their values aren't known yet.
	Unknown Unknown
}

// ErrTooDeep is the error for a manifest that is nested too deep for any server, or that contains itself.
var ErrTooDeep = fastjson.ErrTooDeep

// Prepare removes the stripped and unknown fields from a manifest, and normalizes the rest for an apply to the
// subresource, or to the object itself for ""; see [projection.Normalize]. A pattern may name a field as in
// the given manifest or as in the normalized one. A position in a pattern is that in the given manifest. The only error
// is [ErrTooDeep].
func Prepare(manifest map[string]any, subresource string, except Exceptions) (Prepared, error) {
	if fastjson.IsTooDeep(manifest) {
		return Prepared{}, ErrTooDeep
	}
	except.Ignore = slices.Concat(except.Ignore, except.GiveUp)
	ignored, unknown := newSelection(manifest, except.Ignore), newSelection(manifest, except.Unknown)
	leaveOut := func(content map[string]any, except Exceptions) map[string]any {
		ignored.find(content, except.Ignore)
		unknown.find(content, except.Unknown)
		remove := except.Unknown.Remove
		if len(except.Strip) > 0 { // in one go, since positions are those of the list with all its items
			remove = slices.Concat(except.Unknown, except.Strip).Strip
		}
		content, _ = remove(content)
		return content
	}
	written := leaveOut(manifest, except)
	content, adjustments := projection.Normalize(written, subresource)
	empty := droppedEmpty(written, adjustments, ignored.paths)
	// By now, other items may be at the positions.
	out := Prepared{Adjustments: adjustments, Empty: empty, Manifest: leaveOut(content, Exceptions{
		Ignore: except.Ignore.WithoutPositions(), Strip: except.Strip.WithoutPositions(),
		Unknown: except.Unknown.WithoutPositions(),
	})}
	unknown.paths = append(unknown.paths, unnamed(except.Unknown, unknown.paths)...)
	out.Ignored = Ignored{selection: ignored.asStored(out.Manifest), givenUp: except.GiveUp, clear: except.Clear}
	out.Unknown = Unknown{unknown.asStored(out.Manifest)}
	return out, nil
}

// unnamed returns the fields that the patterns name without wildcards and that are not among the removed ones. A caller
// that doesn't know a value may have left out the field itself.
func unnamed(patterns projection.Patterns, removed []projection.Path) []projection.Path {
	var out []projection.Path
	for _, pattern := range patterns {
		path, err := projection.ParsePath(pattern.String())
		isRemoved := func(r projection.Path) bool { return pattern.Match(r) || path.HasPrefix(r) }
		if err == nil && len(path) > 0 && !slices.ContainsFunc(removed, isRemoved) {
			out = append(out, path)
		}
	}
	return out
}

// For returns the manifest to send to the live object (nil if there is none).
//
// Ignored fields are left out, so that they don't change. Ignored parts of an atomic list or map are sent with the live
// value, including those that the manifest lacks; see [projection.Patterns.Hold]. So are ignored fields that the
// manifest lacks and only the applier owns: a server would delete them otherwise. A list without an owner is left out
// if it has only ignored items, both in the manifest and in the live object. A field in a list item that the manifest
// drops is deleted with the item, and a field to clear is deleted.
//
// A map or list that becomes empty is left out, with two exceptions. Inside of an atomic list or map, an empty map or
// list stays if the live object has an empty one there. The other exception is a map that only the applier owns, while
// others may own fields in it: it is sent as an empty map. Without this empty map, a server whose schema doesn't name
// the map would delete it with the fields of others in it.
//
// Unknown fields are sent with the live values, so that a dry run shows what the rest of the manifest changes, even if
// the server requires the fields. A field that live lacks stays removed. An atomic list or map gets the live value as a
// whole.
//
// A field that is null in the manifest is sent as null if the object has a value or an atomic list or map there, or if
// the applier owns something there. A server then resets the field, or rejects the null if the field is required.
//
// was is the live object before a handover of fields: the managedFields after a handover may lack the keys of given-up
// list items. If was is nil, live is used. No argument is modified. The errors are those of managedFields that can't be
// read, and of items that can't be distinguished.
func (p Prepared) For(live, was map[string]any, applier fieldowner.Applier) (Outgoing, error) {
	restored, err := restore(p.Manifest, p.Empty, live, applier)
	if err != nil {
		return restored, err
	}
	out, err := p.Ignored.adapt(restored.Manifest, live, was, applier)
	if err != nil {
		return out, err
	}
	out.Restored, out.unowned = restored.Restored, restored.unowned
	out.Manifest, err = p.Unknown.hold(out.Manifest, live)
	return out, err
}

// Settle returns p without the nulls that change nothing, according to the answer to a dry run of outgoing. Such a null
// was sent for a field whose live value has no owner, and the answer has the same value, the default. The null would
// only be recorded in managedFields. ok is false if there is no such null. Otherwise another dry run is needed, since
// [Prepared.For] now returns another manifest.
func (p Prepared) Settle(outgoing Outgoing, answer map[string]any) (settled Prepared, ok bool) {
	before := len(p.Empty)
	p.Empty = withoutIdle(p.Empty, outgoing.unowned, answer)
	return p, len(p.Empty) < before
}

// AdjustmentWarnings returns warnings about fields that were left out of a manifest.
func AdjustmentWarnings(adjustments []projection.Adjustment) (out []foreign.Text) {
	for _, a := range adjustments {
		if a.To == nil {
			out = append(out, foreign.Text(a.String()))
		}
	}
	return out
}

// Declared returns the fields and values that a manifest seems to declare, with lists as a whole. It is for manifests
// for which no dry run is possible.
func Declared(manifest map[string]any) (projection.Projection, error) {
	declared, err := projection.PredictDeclared(context.Background(), manifest, projection.NoSchema{})
	if err != nil {
		return projection.Projection{}, err
	}
	return projection.Project(manifest, declared.Fields), nil
}

// Addressed returns the manifest as it is sent to a subresource, or to the object itself for "". It sets the namespace,
// or removes it if namespace is empty, and sets the kind Scale for the subresource scale. It modifies nothing; the
// result shares memory with the manifest. A manifest without metadata is not given a namespace.
func Addressed(manifest map[string]any, namespace, subresource string) map[string]any {
	if apiVersion, kind, other := kinds.OfSubresource(subresource); other {
		scale := map[string]any{}
		maps.Copy(scale, manifest)
		scale["apiVersion"], scale["kind"] = apiVersion, kind
		manifest = scale
	}
	metadata, _ := manifest["metadata"].(map[string]any)
	if metadata == nil {
		return manifest
	}
	if current, exists := metadata["namespace"]; exists == (namespace != "") && (!exists || current == namespace) {
		return manifest
	}
	manifest, metadata = maps.Clone(manifest), maps.Clone(metadata)
	manifest["metadata"] = metadata
	if metadata["namespace"] = namespace; namespace == "" {
		delete(metadata, "namespace")
	}
	return manifest
}
