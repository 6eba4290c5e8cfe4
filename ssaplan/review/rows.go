package review

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Rows are fields as a host shows and keeps them that knows nothing but tables of texts: a text for each field, by its
// path.
type Rows map[string]string

// RowsOf returns the rows of a projection. A text stands as it is, unless it could be taken for another value; that,
// and all else, stands as JSON. Sensitive values have to be digests already, see [explain.State.Digested].
func RowsOf(p projection.Projection) Rows {
	rows := Rows{}
	for path, value := range p.Leaves() {
		rows[path.String()] = Text(value)
	}
	return rows
}

// Text returns a value as [RowsOf] has it.
func Text(value any) string {
	if text, ok := value.(string); ok && !json.Valid([]byte(text)) {
		return text
	}
	text, _ := json.Marshal(value) // what a server answered can be marshalled
	return string(text)
}

// OwnersOf returns who owns those of the remembered fields that don't belong to their field manager alone.
func OwnersOf(live *unstructured.Unstructured, state *explain.State) (Rows, error) {
	owners, err := fieldowner.Read(live.Object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", state.Identity, err)
	}
	own := fieldowner.Applier{Manager: state.Manager}.Is
	rows := Rows{}
	for path := range state.Applied.Fields.Leaves().All() {
		if of := owners.Of(path); len(of) != 1 || !own(of[0]) {
			rows[path.String()] = ownersText(of)
		}
	}
	return rows, nil
}

// ownersText names owners without quotes, which a table has no need of.
func ownersText(owners []fieldowner.Owner) string {
	if len(owners) == 0 {
		return "nobody"
	}
	names := make([]string, len(owners))
	for i, owner := range owners {
		names[i] = owner.Manager.String() + strings.TrimPrefix(owner.String(), fmt.Sprintf("%q", owner.Manager))
	}
	return strings.Join(names, ", ")
}

// retained returns the paths of the rows that stay although the manifest has them no more, because others own them.
func retained(plan *ssaplan.Plan) (paths []string) {
	for _, path := range plan.Retained() {
		paths = append(paths, path.String())
	}
	return paths
}

// Shown is what a host that keeps rows showed of an object last. The zero Shown is for an object that it hasn't shown
// yet.
type Shown struct {
	// State is what is remembered of the object, nil if there is nothing.
	State *explain.State
	// UID is that of the object as it was found last, if that is another than the one that State remembers.
	UID string
	// Rows are its fields as they were shown.
	Rows Rows
	// Owners are the owners of fields as [OwnersOf] has them, as they were shown. Default: they aren't compared.
	Owners Rows
}

// After returns the rows as they are after a plan is carried out, in the form to show beside those of before. What
// others retain keeps its row.
//
// Open are the paths of those whose text shows only then: digests of a key that isn't made yet or of what was no secret
// before, and values that drifted behind a stale state: the host shows the value that is set again, so that nothing
// else would tell that it changes.
func (s Shown) After(plan *ssaplan.Plan) (rows Rows, open []string) {
	after, base := plan.After, Rows{}
	if s.State != nil {
		after, base = s.State.Digested(after), RowsOf(plan.Baseline)
	}
	rows = RowsOf(after)
	for path := range after.Leaves() {
		row := path.String()
		drifted := s.State != nil && !s.State.Stale.IsZero() && base[row] != s.Rows[row] && s.Rows[row] == rows[row]
		if drifted || s.lacksDigest(plan, path) {
			open = append(open, row)
		}
	}
	for _, row := range retained(plan) {
		if text, shown := s.Rows[row]; shown {
			rows[row] = text
		}
	}
	return rows, open
}

// lacksDigest reports whether a field is shown by a digest before or after the apply, and not both times.
func (s Shown) lacksDigest(plan *ssaplan.Plan, path projection.Path) bool {
	return plan.After.Sensitive.Covers(path) != (s.State != nil && s.State.Applied.Sensitive.Covers(path))
}

// OutdatedError says that an object isn't any more what a reviewed plan started from.
type OutdatedError struct {
	Object identity.Identity
	// What others did: "deleted", "replaced" or "changed".
	What string
	// Rows are the paths of what they changed, with the owners where these did.
	Rows []string
}

func (e *OutdatedError) Error() string {
	text := fmt.Sprintf("%s: the object was %s after the plan was made", e.Object, e.What)
	if len(e.Rows) > 0 {
		text += ": " + foreign.Text(strings.Join(e.Rows, ", ")).String()
	}
	return text + ": plan again, with a refresh"
}

// Check returns an [OutdatedError] if a plan that is made now starts from something else than the one whose rows were
// reviewed. It is for a host that keeps nothing else of a plan; one that keeps plans has [Reviewed.Check]. What the
// plan makes, the host compares itself.
func (s Shown) Check(now *ssaplan.Plan, reviewed Rows) error {
	if now.Action == ssaplan.ActionNoOp {
		return nil // whatever others did, nothing is left to do
	}
	live := now.Live()
	switch {
	case now.Action == ssaplan.ActionCreate:
		return &OutdatedError{Object: now.Object, What: "deleted"}
	case live != nil && s.uid() != "" && string(live.GetUID()) != s.uid():
		return &OutdatedError{Object: now.Object, What: "replaced"}
	case s.State == nil || !s.State.Stale.IsZero():
		return nil // what the plan started from isn't known
	}
	owners, err := s.Owners, error(nil)
	if live != nil && owners != nil {
		owners, err = OwnersOf(live, s.State)
	}
	if err != nil {
		return err
	}
	kept, before := retained(now), RowsOf(s.State.Digested(now.Before))
	var changed []string
	for _, row := range slices.Sorted(maps.Keys(reviewed)) {
		switch old, shown := s.Rows[row]; {
		case !shown || slices.Contains(kept, row):
		case before[row] != old:
			changed = append(changed, row)
		case owners[row] != s.Owners[row]:
			changed = append(changed, fmt.Sprintf("%s is owned by %s", row, cmp.Or(owners[row], s.State.Manager+" alone")))
		}
	}
	if len(changed) > 0 {
		return &OutdatedError{Object: now.Object, What: "changed", Rows: changed}
	}
	return nil
}

func (s Shown) uid() string {
	if s.UID == "" && s.State != nil {
		return s.State.UID
	}
	return s.UID
}
