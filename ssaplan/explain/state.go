package explain

import (
	"time"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
)

// State is the stored result of an apply: the identity of the object, the declared fields, and the values that the
// server had there afterwards. Its size is bounded by the size of the manifest; a value that others made much larger is
// kept as a digest.
//
// A State holds no secret value. Sensitive values are kept as salted digests (PBKDF2 of 5,000 rounds of HMAC-SHA-256),
// which still show that a value changed. The salt is part of the state. So a reader of the state can find a short
// secret by trying, at about 1 ms for each attempt on one core. A plan or refresh takes the same time for each
// sensitive value.
//
// A list whose item keys are sensitive values is in Applied and Observed as a whole, with the items of others. For such
// a list the state also keeps a digest of each applied item, to compare them one by one, and a plan takes 1 ms for each
// item.
//
// A State is made by [NewState] and marshals to versioned JSON. The zero State is empty.
type State struct {
	Identity identity.Identity
	UID      string
	// Manager is the field manager that applied, and Subresource the subresource: "status", "scale" and the like, and
	// "" for the object itself.
	Manager, Subresource string
	// Applied are the declared fields with the values that the object had after the apply.
	Applied projection.Projection
	// Observed are the same fields with the values that the object had when it was last read.
	Observed projection.Projection
	// Adopted reports whether the object existed before the manager applied to it. A caller may release such an object
	// instead of deleting it. See [IsAdopted].
	Adopted bool
	// Stale marks a state that could not be refreshed. See [authresilience.Degrade].
	Stale authresilience.Stale

	sensitive projection.FieldSet   // beside what is so in every object of the kind
	items     projection.Projection // what was applied in hidden lists, with digests; see masks
	filled    projection.FieldSet   // the maps that were declared with nothing in them, and were filled or null
	left      projection.FieldSet   // the parts of lists and maps with one owner that are left to others
	ignored   projection.Patterns   // what else of such lists and maps is left to others as soon as it is there
	cleared   projection.Patterns   // the fields to clear of the last apply
	time      time.Time             // when the manager applied last, by the object's record
	record    *appliedRecord        // nil if nothing is known of it
	salt      []byte
	// digests is 1 or 2 if the sensitive values are digests of that version, and 0 if they are those of this one.
	digests int
	renamed []projection.Renaming // since the digests were made; see reshaped
	unkept  map[string]string     // digests, by path, of what was applied and the server didn't keep
	rest    map[string]string     // and of hidden lists without the parts of them that are left to others
}

// appliedRecord is what is remembered of an object's record as it was after an apply, so that another apply within the
// same second shows.
//
// Who changes the value of a field, or what is in it, owns it then, and takes it from all others; and an apply is all
// that adds to the record of an apply. So while the records of all others are as they were, a field that the manager
// owns and didn't, or one that it still owns with another value, was applied under its name. What others remove leaves
// no trace, so a field that is gone tells nothing.
type appliedRecord struct {
	version    string // of the object
	generation int64
	others     string // a digest of the records of others, but for those of subresources
	// unsure are the recorded fields whose values may change in other ways: what the server stores isn't what was sent,
	// is a map that can be filled, or isn't remembered.
	unsure projection.FieldSet
}

// applier returns who applied.
func (s *State) applier() fieldowner.Applier {
	return fieldowner.Applier{Manager: s.Manager, Subresource: s.Subresource}
}

// clone returns a copy of s to set fields in. Projections are never changed, so the copy shares them.
func (s *State) clone() *State {
	c := *s
	return &c
}
