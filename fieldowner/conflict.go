package fieldowner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/internal/apistatus"
	"github.com/ssaplan/primitives/projection"
)

// Conflict is a field that an apply would change and that somebody else owns. A field with several owners is several
// conflicts.
type Conflict struct {
	Path projection.Path `json:"path"`
	// Owner is who owns the field.
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

// ConflictsFromError returns the conflicts for which a server refused an apply, in the order of their paths. It looks
// at every API status in err, wherever it is wrapped or joined, and returns nil for an error that has no conflict, and
// for nil.
//
// A server names paths in a text in which the field "a.b" reads like b in a. They are therefore looked up in the
// managedFields of live, the object that the apply was for; the time of the owner's last change is from there too.
// A path that isn't found there is looked up among the names that live has, and what isn't found either, because live is
// nil or of another moment, is read as if no name contained a dot.
func ConflictsFromError(err error, live map[string]any) []Conflict {
	causes := conflictCauses(err)
	if len(causes) == 0 {
		return nil
	}
	// A record that can't be read only makes the paths less certain; the conflicts are those of the error.
	ownership, _ := Read(live)
	names := newPathNames(ownership, live)
	conflicts := make([]Conflict, 0, len(causes))
	for _, cause := range causes {
		owner := ownership.known(parseOwner(cause.Message))
		conflicts = append(conflicts, Conflict{names.resolve(cause.Field, owner), owner})
	}
	slices.SortFunc(conflicts, Conflict.compare)
	return slices.CompactFunc(conflicts, func(a, b Conflict) bool { return a.compare(b) == 0 })
}

// conflictCauses returns the causes in err that name a field manager.
func conflictCauses(err error) []metav1.StatusCause {
	var causes []metav1.StatusCause
	for _, status := range apistatus.All(err) {
		if status.Details == nil {
			continue
		}
		for _, c := range status.Details.Causes {
			if c.Type == metav1.CauseTypeFieldManagerConflict {
				causes = append(causes, c)
			}
		}
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

// parseOwner reads the message of a cause:
//
//	conflict with "m"
//	conflict with "m" using apps/v1
//	conflict with "m" with subresource "scale" using apps/v1
//	conflict with "m" using apps/v1 at 2020-01-02T03:04:05Z
//
// "using" tells an update from an apply. Only servers before 1.22 write the time. A message of another form gives an
// owner with the whole message as its name.
//
// Source: k8s.io/apimachinery, pkg/util/managedfields/internal, printManager.
func parseOwner(message string) Owner {
	rest, ok := strings.CutPrefix(message, "conflict with ")
	if !ok {
		return Owner{Manager: message, Operation: OperationApply}
	}
	owner := Owner{Operation: OperationApply}
	if owner.Manager, rest, ok = cutQuoted(rest); !ok {
		return Owner{Manager: rest, Operation: OperationApply}
	}
	if sub, found := strings.CutPrefix(rest, " with subresource "); found {
		if name, after, ok := cutQuoted(sub); ok {
			owner.Subresource, rest = name, after
		}
	}
	if using, found := strings.CutPrefix(rest, " using "); found {
		version, at, _ := strings.Cut(using, " at ")
		owner.Operation, owner.APIVersion = OperationUpdate, version
		if t, err := time.Parse(time.RFC3339, at); err == nil {
			owner.Time = t.UTC()
		}
	}
	return owner
}

// cutQuoted cuts a Go string literal off the front of text.
func cutQuoted(text string) (value, rest string, ok bool) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", text, false
	}
	value, err = strconv.Unquote(quoted)
	return value, text[len(quoted):], err == nil
}
