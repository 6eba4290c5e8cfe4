package review_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/parts"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// filled returns a new plan with a value in every part. It takes the object and the request from the plan of. The
// tests of package explain cover the parts of an explanation.
func filled(of *ssaplan.Plan, action ssaplan.Action) *ssaplan.Plan {
	at := projection.Path{projection.Field("data"), projection.Field("a")}
	p := *of
	p.Subresource, p.Action, p.Reason, p.Deferral, p.Requests = "status", action, "1 edited", ssaplan.DeferralNoDryRun, 2
	p.Explanation = explain.Explanation{Unknown: []projection.Path{at}}
	p.Replacement = &ssaplan.Replacement{
		Evidence: "texts", Old: p.Object, UID: "u1",
		Fields:      []immutability.Field{{Path: at, Text: "data.a", Message: "field is immutable"}},
		Hazards:     []immutability.Hazard{{Kind: immutability.HazardData, Message: "all of it"}},
		Propagation: metav1.DeletePropagationBackground, Refusal: errors.New("no"),
	}
	owner := fieldowner.Owner{Manager: "hpa", Operation: fieldowner.OperationUpdate, Subresource: "scale", APIVersion: "v1", Time: time.Unix(1, 0)}
	p.Conflicts = []fieldowner.Conflict{{Path: at, Owner: owner}}
	p.Adjustments = []projection.Adjustment{{Path: at, To: at, Reason: "that is how a server stores it"}}
	return &p
}

func fingerprint(t *testing.T, plan *ssaplan.Plan) string {
	t.Helper()
	text, err := review.Fingerprint(plan)
	require.NoError(t, err)
	return text
}

// notPrinted are the parts in which plans with the same fingerprint may differ, and why.
var notPrinted = map[string]string{
	".Reason":                    "says in words what the action, the changes and the fields say",
	".Deferral":                  "no plan that is Deferred is carried out",
	".Requests":                  "the number of requests of the planning does nothing",
	".Replacement.Evidence":      "before it deletes, Replace wants proof, no matter what was proof before",
	".Replacement.Fields more":   "it is the same field",
	".Replacement.Fields[].Text": "has positions, and the path is better",
	".Replacement.Refusal":       "quotes values and positions; the fields have what it says",
	".Replacement.unproven":      "Replace asks for it",
	".Conflicts[].Owner.Time":    "an owner's time grows with each of its writes",
	".basis":                     "the test below shows what of it counts",
}

// A plan that differs in any part has another fingerprint, except for the listed parts. A new part of a plan or of its
// replacement is in the fingerprint, or in the list.
func TestFingerprintHasEachPart(t *testing.T) {
	h := newHost(t)
	h.apply(settings)
	plan := h.plan(strings.Replace(settings, "blue", "red", 1))
	require.NotNil(t, plan.Live())
	for action, isPrinted := range map[ssaplan.Action]func(part string) bool{
		ssaplan.ActionUpdate: func(part string) bool {
			for free := range notPrinted {
				if strings.HasPrefix(part, free) {
					return false
				}
			}
			return true
		},
		ssaplan.ActionNoOp: func(part string) bool {
			return strings.HasPrefix(part, ".Object") || slices.Contains([]string{".Subresource", ".Action"}, part)
		},
	} {
		partsOf := func(plan *ssaplan.Plan) []parts.Part {
			found, err := parts.Of(plan, projection.Path{projection.Field("other")}, explain.Explanation{NoOp: true}, errors.New("other"), time.Unix(2, 0))
			require.NoError(t, err)
			return found
		}
		reviewed := fingerprint(t, filled(plan, action))
		require.Equal(t, reviewed, fingerprint(t, filled(plan, action)))
		seen := map[string]bool{}
		for i := range partsOf(filled(plan, action)) {
			changed := filled(plan, action)
			part := partsOf(changed)[i]
			if seen[part.Name] = true; part.Change != nil {
				part.Change()
			}
			require.Equal(t, isPrinted(part.Name), reviewed != fingerprint(t, changed), "%s: is %s in the fingerprint?", action, part.Name)
		}
		for free := range notPrinted {
			require.Contains(t, seen, free, "plans lack a part that is listed")
		}
	}
}

// A server can name the fields in another order each time.
func TestFingerprintOfFieldsInAnotherOrder(t *testing.T) {
	of := func(fields ...immutability.Field) string {
		p := plan("ConfigMap")
		p.Action, p.Replacement = ssaplan.ActionReplace, &ssaplan.Replacement{Fields: fields}
		return fingerprint(t, p)
	}
	a, b := immutability.Field{Text: "a", Message: "field is immutable"}, immutability.Field{Text: "b", Message: "field is immutable"}
	require.Equal(t, of(a, b), of(b, a, b))
	require.NotEqual(t, of(a, b), of(a))
	require.NotEqual(t, of(a), of(b))
}

// Of the live object, the fingerprint has which one it is and whether it is being deleted, and of the request all that
// is sent.
func TestFingerprintOfWhatIsThereAndSent(t *testing.T) {
	wanted := strings.Replace(settings, "blue", "red", 1)
	const kept, free = `{"metadata":{"finalizers":["example.com/keep"]}}`, `{"metadata":{"finalizers":null}}`
	patch := func(h *host, text string) {
		_, err := h.configMaps().Patch(h.Context(), "a", types.MergePatchType, []byte(text), metav1.PatchOptions{FieldManager: "other"})
		require.NoError(h, err)
	}
	remove := func(h *host) { require.NoError(h, h.configMaps().Delete(h.Context(), "a", metav1.DeleteOptions{})) }
	for _, row := range []struct {
		why     string
		change  func(*host)
		text    string
		options ssaplan.Options
		same    bool
	}{
		{why: "the same plan", change: func(*host) {}, text: wanted, same: true},
		{why: "others change another field", change: func(h *host) { patch(h, `{"data":{"x":"X"}}`) }, text: wanted, same: true},
		{why: "another manager applies", change: func(*host) {}, text: wanted, options: ssaplan.Options{FieldManager: "second"}},
		{why: "without force", change: func(*host) {}, text: wanted, options: ssaplan.Options{RefuseConflicts: true}},
		{why: "another value is sent", change: func(*host) {}, text: strings.Replace(settings, "blue", "green", 1)},
		{why: "the object was created again", text: wanted, change: func(h *host) {
			patch(h, free)
			remove(h)
			h.seen.State = nil
			h.apply(settings)
		}},
		{why: "the object is being deleted", change: remove, text: wanted},
	} {
		h := newHost(t)
		h.apply(settings)
		patch(h, kept)
		plan := func(text string, options ssaplan.Options) *ssaplan.Plan {
			options.FieldManager = cmp.Or(options.FieldManager, "host")
			planner, err := ssaplan.New(h.server.API(), options)
			require.NoError(t, err)
			manifest := &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal([]byte(text), &manifest.Object))
			plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest})
			require.NoError(t, err)
			plan.Explanation, plan.Conflicts = explain.Explanation{}, nil // that show some of it, too
			return plan
		}
		reviewed := plan(wanted, ssaplan.Options{})
		row.change(h)
		require.Equal(t, row.same, fingerprint(t, reviewed) == fingerprint(t, plan(row.text, row.options)), row.why)
	}
}

func plan(kind string) *ssaplan.Plan {
	object := map[string]any{
		"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "a"}, "data": map[string]any{"n": int64(1<<62 + 1)},
	}
	after := projection.Project(object, projection.NewFieldSet(projection.Path{projection.Field("data")}))
	id := identity.Identity{APIVersion: "v1", Kind: kind, Name: "a"}
	return &ssaplan.Plan{Object: id, Action: ssaplan.ActionCreate, Reason: "does not exist", Explanation: explain.Explanation{After: after}}
}
