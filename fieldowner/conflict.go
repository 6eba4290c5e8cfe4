package fieldowner

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Conflict is a field that an apply would change and that another owner has. A field with several owners makes several
// conflicts.
type Conflict struct {
	Path projection.Path `json:"path"`
	// Owner is the owner of the field.
	Owner
}

// String returns one line: the path and its owner.
func (c Conflict) String() string { return fmt.Sprintf("%s: owned by %s", c.Path, c.Owner) }

// compare orders conflicts by path, then by owner.
func (c Conflict) compare(other Conflict) int {
	if n := c.Path.Compare(other.Path); n != 0 {
		return n
	}
	return c.Owner.Compare(other.Owner)
}

// ConflictsFromError returns the conflicts in the error of a rejected apply, in the order of their paths. It looks at
// every API status in err, wherever it is wrapped or joined. For nil, and for an error without conflicts, it returns
// nil.
//
// In the server's message, the field "a.b" reads like the field b in a. Therefore paths are looked up in the
// managedFields of live, the object that the apply was for; the time of the owner's last change is from there, too. A
// path that isn't found there is looked up among the fields of live. If that fails as well, because live is nil or
// another version of the object, the path is read as if no name contained a dot.
//
// If the message can mean several fields of one owner, [ConflictsOfApply] finds out which of them conflict.
func ConflictsFromError(err error, live map[string]any) []Conflict {
	return ConflictsOfApply(err, live, nil)
}

// ConflictsOfApply does what [ConflictsFromError] does, and uses the rejected manifest: if the message can mean several
// fields of an owner, it returns those that the manifest would change.
func ConflictsOfApply(err error, live, manifest map[string]any) []Conflict {
	causes := conflictCauses(err)
	if len(causes) == 0 {
		return nil
	}
	// A record that can't be read only makes the paths less certain; the conflicts are those of the error.
	ownership, _ := Read(live)
	reader := newPathReader(ownership, live, manifest)
	conflicts := make([]Conflict, 0, len(causes))
	repeated := map[metav1.StatusCause]int{}
	for _, cause := range causes {
		owner := ownership.known(ownerOf(cause.Message))
		paths := reader.paths(cause.Field, owner)
		conflicts = append(conflicts, Conflict{paths[min(repeated[cause], len(paths)-1)], owner})
		repeated[cause]++
	}
	slices.SortFunc(conflicts, Conflict.compare)
	return slices.CompactFunc(conflicts, func(a, b Conflict) bool { return a.compare(b) == 0 })
}

// conflictCauses returns the causes in err that name a field manager.
func conflictCauses(err error) []metav1.StatusCause {
	var causes []metav1.StatusCause
	for _, status := range answer.Statuses(err) {
		causes = append(causes, answer.Conflicts(status)...)
	}
	return causes
}

// known returns owner with what the record knows in addition: the version of an apply, and the time.
func (o Ownership) known(owner Owner) Owner {
	for _, e := range o.entries {
		if e.Is(owner) {
			return e.Owner
		}
	}
	return owner
}

// ownerOf returns the owner that the message of a cause names; see [answer.ParseConflict].
func ownerOf(message string) Owner {
	m := answer.ParseConflict(message)
	owner := Owner{
		Manager: foreign.Text(m.Name), Operation: OperationApply, Subresource: foreign.Text(m.Subresource),
		APIVersion: foreign.Text(m.APIVersion), Time: m.Time,
	}
	if m.Update {
		owner.Operation = OperationUpdate
	}
	return owner
}
