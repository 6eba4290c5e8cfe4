package explain

import (
	"slices"
	"strings"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Input is the input of [Apply], [Known] and [Replace]. It isn't modified.
type Input struct {
	// Manifest is the manifest that was sent; see [Prepare]. Required.
	Manifest map[string]any
	// Live is the object that the apply was for, with its managedFields; nil if it doesn't exist.
	Live map[string]any
	// Was is the live object before a handover of fields for this apply. It shows whether there was an apply that isn't
	// in Prior; see [Rival]. Default: Live.
	Was map[string]any
	// Answer is the object in the server's answer to the apply, or to its dry run. Required.
	Answer map[string]any
	// Manager is the field manager that applies. Required.
	Manager string
	// Subresource is the subresource that is applied: "status", "scale" and the like, and "" for the object itself.
	Subresource string
	// Sensitive are more fields whose values must not be shown, in addition to those that are sensitive in every object
	// of the kind. Optional.
	Sensitive projection.Patterns
	// Prior is the stored state of the last apply. With it, edits are distinguished from drift with certainty.
	// Optional.
	Prior *State
	// Unknown are the fields whose values aren't known yet, as [Prepare] returns them. They were left out of the
	// manifest, or sent with the live values ([Prepared.For]). The explanation leaves out these fields, and changes
	// that come only from their absence. If one of them wasn't sent, it leaves out all side effects. Optional.
	Unknown Unknown
	// Ignored are the ignored fields, as [Prepared.For] returns them. Optional.
	Ignored []IgnoredField
	// Tools are recognised in addition to [fieldowner.Tools]. Optional.
	Tools []fieldowner.Tool
	// Records is a cache of decoded managedFields of Live and Answer. Optional.
	Records fieldowner.Records

	revealed *State // Prior with hidden lists in clear text, for comparisons; see [State.revealed]; set by begin
}

// applier returns the applier.
func (in Input) applier() fieldowner.Applier {
	return fieldowner.Applier{Manager: in.Manager, Subresource: in.Subresource}
}

// tools returns the tools that are recognised.
func (in Input) tools() []fieldowner.Tool { return slices.Concat(fieldowner.Tools(), in.Tools) }

// rival returns an apply of the same manager that isn't in Prior; nil if there is none.
func (in Input) rival() *Rival {
	live := in.Live
	if in.Was != nil {
		live = in.Was
	}
	if in.Prior == nil || in.Prior.applier() != in.applier() {
		return nil
	}
	return rivalOf(live, in.Prior, in.Records, in.Sensitive)
}

// Explanation is everything that the server's answer shows about an apply. Formatting any part of it shows no sensitive
// value.
type Explanation struct {
	// NoOp reports whether the server would write nothing: the answer is equal to the live object, including
	// resourceVersion and managedFields. There is no other reason for a no-op.
	NoOp bool
	// Before and After are the declared fields of the live object, and of the object as the server would make it. A map
	// that is declared as empty is empty in them, even if others or the server fill it.
	Before, After projection.Projection
	// Baseline is what a caller compares After with: the values that Prior observed last, or Before if Prior is stale
	// or nil. With a Prior, sensitive values are digests; see [State.Digested]. For a no-op it equals After. It lacks
	// the Assigned fields and the Dropped fields whose values stay. Baseline also lacks
	// the maps and list items around such a field, if they aren't declared themselves. They stay as well, but would
	// look removed in a comparison with After.
	Baseline projection.Projection
	// Changes are the values that change, the declared ones first.
	Changes []Change
	// Ownership lists the fields whose owners change, with or without a change of the value.
	Ownership []fieldowner.Transfer
	// Dropped are the fields that the manager declared before, by managedFields or by Prior, and that the manifest no
	// longer declares. Each is deleted, reset by the server, kept without an owner, or retained by other owners; see
	// [fieldowner.Fate].
	Dropped []fieldowner.DroppedField
	// Assigned are the declared fields that the manifest leaves empty for the server to pick a value: a cluster IP, a
	// node port. The value isn't known before the apply, so Before and After lack them.
	Assigned []projection.Path
	// Generated are the fields of a new object that the manifest lacks and for which the server generates a value: uid,
	// time of creation, cluster IPs, node ports, generated labels and names. The values in the dry run differ from
	// those in the apply.
	Generated []projection.Path
	// Ineffective are the fields of the manifest that have no effect, because the server doesn't keep them.
	Ineffective []projection.Ineffective
	// Unknown are the fields whose values aren't known yet, with the list keys of After.
	Unknown []projection.Path
	// Ignored are the ignored fields, and whether they are sent. Before, After and Baseline lack them. Other parts of
	// the explanation have them only if they are sent, if the server changes their values, or if the applier stops
	// owning them.
	Ignored []IgnoredField
	// Writers are other tools that wrote to the live object, with the fields of theirs that stay behind.
	Writers []fieldowner.Writer
	// Rival is an apply of the same manager that isn't in Prior; nil if there is none.
	Rival *Rival
	// Warnings are for people: about an object that was re-created or is being deleted, a rival, and fields without
	// effect.
	Warnings []foreign.Text

	ignoredPaths projection.FieldSet // the ignored fields, not redacted: list keys in them may be sensitive values
	sameOwners   bool                // an update changes no owners
	// fields that are empty in the manifest and that the server leaves out; set with sameOwners
	omitted []projection.Path
	nulls   []projection.Path // null fields that the server stores as an empty string or zero
}

// Retained returns the dropped fields that stay because others own them.
func (e *Explanation) Retained() (paths []projection.Path) {
	for _, d := range e.Dropped {
		if d.Fate == fieldowner.FateRetained {
			paths = append(paths, d.Path)
		}
	}
	return paths
}

// LeftFields returns the ignored fields for [State.Without]. Unlike Ignored, it isn't redacted: list keys may be
// sensitive values.
func (e *Explanation) LeftFields() projection.FieldSet {
	if e.ignoredPaths.Empty() {
		return IgnoredPaths(e.Ignored)
	}
	return e.ignoredPaths
}

// HasSensitive reports whether the explanation has a value that must not be shown.
func (e *Explanation) HasSensitive() bool {
	return e.Before.Sensitive.Len() > 0 || e.After.Sensitive.Len() > 0 ||
		slices.ContainsFunc(e.Changes, func(c Change) bool { return c.Sensitive }) ||
		slices.ContainsFunc(e.Dropped, func(d fieldowner.DroppedField) bool { return d.Sensitive })
}

// Unread returns the explanation for a live object that couldn't be read: with the values after the apply, and without
// changes.
func (e *Explanation) Unread() Explanation {
	return Explanation{After: e.After, Assigned: e.Assigned, Ineffective: e.Ineffective, Unknown: e.Unknown,
		Warnings: e.Warnings}
}

// Summary returns one line about the changes, by cause: "1 edited, 2 drifted". If neither values nor owners change, it
// names the fields that are null or empty in the manifest. If a server doesn't store such a field, or stores null as
// another value, it writes some objects again at each apply: a NetworkPolicy, a webhook configuration, an embedded
// object.
func (e *Explanation) Summary() string {
	switch {
	case len(e.Changes) > 0:
		return countCauses(e.Changes)
	case !e.sameOwners:
		return "no value changes, only who owns the fields"
	}
	var help []string
	if len(e.omitted) > 0 {
		help = append(help, "leave out "+projection.JoinPaths(e.omitted))
	}
	if len(e.nulls) > 0 {
		help = append(help, "replace null by the value that is stored in "+projection.JoinPaths(e.nulls))
	}
	const rewritten = "no value and no owner changes, but the server writes the object again"
	if len(help) == 0 {
		return rewritten
	}
	return rewritten + ", as it may do at each apply of empty fields: " + strings.Join(help, ", and ")
}

// OnlyRewrites reports whether the server writes the object again although neither values nor owners change. That
// happens if the server doesn't store an applied empty field, or if admission undoes an applied value. In both cases
// the applier's entry gets a new time, which changes the order of managedFields. Source:
// IgnoreManagedFieldsTimestampsTransformer in k8s.io/apiserver/pkg/endpoints/handlers/fieldmanager, which compares the
// entries by position.
func (e *Explanation) OnlyRewrites() bool { return !e.NoOp && len(e.Changes) == 0 && e.sameOwners }
