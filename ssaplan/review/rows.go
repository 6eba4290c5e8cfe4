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

// Rows are fields as a table of strings: a string for each field, by its path. They are for a caller that can only show
// and store such tables, such as a Terraform provider.
type Rows map[string]string

// RowsOf returns the rows of a projection. A string that isn't valid JSON is returned unchanged. All other strings,
// such as "5", and all other values are returned as JSON. Sensitive values must be digests already; see
// [explain.State.Digested].
func RowsOf(p projection.Projection) Rows {
	rows := Rows{}
	for path, value := range p.Leaves() {
		rows[path.String()] = Text(value)
	}
	return rows
}

// Text returns the text of a value as [RowsOf] has it in a row.
func Text(value any) string {
	if text, ok := value.(string); ok && !json.Valid([]byte(text)) {
		return text
	}
	text, _ := json.Marshal(value) // what a server answered can be marshalled
	return string(text)
}

// OwnersOf returns a row with the owners for each field of the state, except for fields that only the state's field
// manager owns.
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
		return "no manager"
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

// Shown has the rows that a caller has last shown for an object. It is for callers that store [Rows]. The zero Shown is
// for an object that the caller hasn't shown yet.
type Shown struct {
	// State is the stored state of the object, nil if there is none.
	State *explain.State
	// UID is the UID of the object at the last read, if it differs from the UID in State.
	UID string
	// Rows are the fields that were shown.
	Rows Rows
	// Owners are the owners that were shown, from [OwnersOf]. Default: owners aren't compared.
	Owners Rows
}

// After returns the rows after a plan is carried out, to compare with s.Rows. Fields that others retain keep their row.
//
// open are the paths of rows that a caller must show as unknown until the apply. There are two reasons. First, the row
// is a digest only before or only after the apply: the field becomes sensitive or stops being so, or there is no state
// yet, so that the salt of the digest is new. Second, the value drifted while the state was stale, and the apply sets
// it back: the row is the same before and after, so without open the change wouldn't be visible.
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

// OutdatedError says that an object has changed since the plan was reviewed.
type OutdatedError struct {
	Object identity.Identity
	// What is what happened to the object: "deleted", "replaced" or "changed".
	What string
	// Rows are the paths of the changed fields, each with its owners if they changed.
	Rows []string
}

func (e *OutdatedError) Error() string {
	text := fmt.Sprintf("%s: the object was %s after the plan was made", e.Object, e.What)
	if len(e.Rows) > 0 {
		text += ": " + foreign.Text(strings.Join(e.Rows, ", ")).String()
	}
	return text + ": plan again, with a refresh"
}

// Check returns an [OutdatedError] if now, a new plan, starts from another object than the plan whose rows were
// reviewed. It is for a caller that stores only rows; use [Fingerprint] if the plan is stored. It doesn't compare
// the results of the plans: the caller compares their rows. Of reviewed it uses only the paths, as the fields to
// compare, so sensitive values needn't be digests there.
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
			changed = append(changed,
				fmt.Sprintf("%s is owned by %s", row, cmp.Or(owners[row], s.State.Manager+" alone")))
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
