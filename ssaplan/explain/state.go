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

	sensitive    projection.FieldSet   // the sensitive fields, beside those of every object of the kind
	items        projection.Projection // the applied items of hidden lists, with digests; see masks
	filled       projection.FieldSet   // the maps that were declared with nothing in them, and were filled or null
	ignoredParts projection.FieldSet   // the ignored parts of atomic lists and maps
	ignored      projection.Patterns   // patterns of further parts, which the object may get later
	cleared      projection.Patterns   // the fields to clear of the last apply
	time         time.Time             // the time of the manager's last apply, by managedFields
	record       *appliedRecord        // nil if it isn't known
	salt         []byte
	// digests is the version of the digests of sensitive values: 1 or 2 for an older version, and 0 for the current
	// one.
	digests int
	renamed []projection.Renaming // since the digests were made; see reshaped
	unkept  map[string]string     // digests, by path, of the applied values that the server didn't keep
	rest    map[string]string     // digests, by path, of hidden lists without their ignored parts
}

// appliedRecord describes the managedFields of an object after an apply. It shows whether there was another apply
// within the same second.
//
// A manager that changes the value of a field, or something below it, becomes its only owner. And only an apply adds
// fields to the entry of an apply. While the entries of all others are unchanged, two differences show another apply
// under the manager's name. Either the manager owns a field that it didn't own before, or a field that it still owns
// has another value. A field that is gone shows nothing, since others can remove a field without a trace.
type appliedRecord struct {
	version    string // of the object
	generation int64
	others     string // a digest of the entries of others, except those of subresources
	// unsure are the recorded fields whose values may change without an apply. Their stored value differs from the sent
	// one, is a map that others can fill, or isn't in the state.
	unsure projection.FieldSet
}

// applier returns the applier of the last apply.
func (s *State) applier() fieldowner.Applier {
	return fieldowner.Applier{Manager: s.Manager, Subresource: s.Subresource}
}

// clone returns a copy of s to set fields in. Projections are never changed, so the copy shares them.
func (s *State) clone() *State {
	c := *s
	return &c
}
