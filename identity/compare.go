package identity

import (
	"fmt"
	"strings"
)

// Ref is an identity together with the UID that the server showed for it.
type Ref struct {
	Identity
	// UID is metadata.uid of the live object. It is "" if it isn't known, as for a manifest.
	UID string
}

// Options holds what the caller knows about the objects that [Compare] compares. The zero value is the strict
// comparison of what is written.
type Options struct {
	// Scope is the scope of the new object's kind. Default: ScopeUnknown, namespaces are compared as written.
	Scope Scope
	// DefaultNamespace is the namespace that an empty one means if Scope is [ScopeNamespaced]. Default: none, an empty
	// namespace differs from every other.
	DefaultNamespace string
	// AllowVersionChange lets [Result.Same] be true for a version-only change, provided that both refs have the same
	// UID: the caller has read the object under both versions and the server showed one object. Default: false, another
	// version is another object.
	AllowVersionChange bool
}

// Relation describes how the new object relates to the old one.
type Relation string

// The relations. The zero value means that nothing was compared.
const (
	// RelationSame: one object under the same identity.
	RelationSame Relation = "same object"
	// RelationVersionChanged: the same group, kind, namespace and name under another version of the group. The server
	// stores one object for all versions that it converts between, but only equal UIDs prove that it does so here.
	RelationVersionChanged Relation = "version changed"
	// RelationDifferent: another group, kind, namespace or name. The old object stays where it is unless it is deleted.
	RelationDifferent Relation = "different object"
	// RelationRecreated: the same group, kind, namespace and name, but another UID. The old object was deleted and a
	// new one was created. The new one must not be deleted instead of the old one.
	RelationRecreated Relation = "re-created object"
)

// Result is the answer of [Compare]. The zero value is harmless: neither the same object nor one to replace.
type Result struct {
	// Relation is the short answer.
	Relation Relation
	// Old and New are the identities that were compared, after the scope was taken into account.
	Old, New Identity
	// Changes lists the differences: the fields in which Old and New differ, in the
	// order apiVersion, kind, namespace, name, and metadata.uid when both UIDs are known and differ.
	Changes []Mismatch
	// Warnings are sentences for the user about what was dropped from the identities.
	Warnings []string

	verification verification
}

// verification tells whether a version change was shown to be one stored object.
type verification int

const (
	notAsked verification = iota
	uidMissing
	uidEqual
)

// Compare returns how new relates to old. It compares group, kind, namespace and name first, then UIDs where both are
// known, then the version. The UIDs of different objects are not compared.
//
// The scope belongs to a kind. So the namespace of old is resolved only if both have the same group and kind; otherwise
// it is shown as written.
func Compare(old, new Ref, opts Options) Result {
	r := Result{Old: old.Identity, New: new.Identity}
	if old.Group() == new.Group() && old.Kind == new.Kind {
		r.Old = r.resolve(old.Identity, opts)
	}
	r.New = r.resolve(new.Identity, opts)
	r.Changes = diff(r.Old, r.New)

	switch {
	case r.Old.Unversioned() != r.New.Unversioned():
		r.Relation = RelationDifferent
	case old.UID != "" && new.UID != "" && old.UID != new.UID:
		r.Relation = RelationRecreated
		r.Changes = append(r.Changes, mismatch(old.UID, new.UID, "metadata", "uid"))
	case r.Old.APIVersion != r.New.APIVersion:
		r.Relation = RelationVersionChanged
		r.verification = verify(old.UID, new.UID, opts)
	default:
		r.Relation = RelationSame
	}
	return r
}

func verify(oldUID, newUID string, opts Options) verification {
	switch {
	case !opts.AllowVersionChange:
		return notAsked
	case oldUID != "" && oldUID == newUID:
		return uidEqual
	default:
		return uidMissing
	}
}

func (r *Result) resolve(id Identity, opts Options) Identity {
	resolved, warning := id.Resolve(opts.Scope, opts.DefaultNamespace)
	if warning != "" && (len(r.Warnings) == 0 || r.Warnings[0] != warning) {
		r.Warnings = append(r.Warnings, warning)
	}
	return resolved
}

// Same reports whether old and new are one object, so that new can be applied over old. A version-only change counts
// when [Options.AllowVersionChange] is set and both UIDs are known and equal.
func (r Result) Same() bool {
	return r.Relation == RelationSame || r.Relation == RelationVersionChanged && r.verification == uidEqual
}

// Replace reports whether old has to be deleted and new created, to get from one to the other. It is true for a
// different object and for a version change that wasn't verified. It is false for a re-created object: the old object
// is gone already, and the caller has to decide whether the new one may be touched.
func (r Result) Replace() bool {
	return r.Relation == RelationDifferent || r.Relation == RelationVersionChanged && r.verification != uidEqual
}

// Reason returns one line that names the relation, old and new, and every changed field with both values:
//
//	different object: v1/ConfigMap default/a -> v1/ConfigMap default/b: metadata.name "a" -> "b"
//
// It is empty for the zero Result.
func (r Result) Reason() string {
	if r.Relation == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.Relation, r.Old)
	if r.Old != r.New {
		fmt.Fprintf(&b, " -> %s", r.New)
	}
	for i, c := range r.Changes {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		fmt.Fprintf(&b, "%s%s %q -> %q", separator, c.Field, c.Old, c.New)
	}
	switch r.verification {
	case uidEqual:
		b.WriteString(" (one stored object: same UID under both versions)")
	case uidMissing:
		b.WriteString(" (not known to be one stored object: the UIDs under both versions are needed)")
	}
	return b.String()
}
