package review_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/review"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// host keeps rows of an object on a server in memory.
type host struct {
	*testing.T
	server *ssaplantest.Server
	seen   review.Shown
}

func newHost(t *testing.T) *host {
	t.Helper()
	server, err := ssaplantest.NewServer(ssaplantest.Options{})
	require.NoError(t, err)
	return &host{T: t, server: server}
}

const settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {color: blue, size: '5'}}"

func (h *host) planner(sensitive ...string) *ssaplan.Planner {
	h.Helper()
	patterns, err := projection.ParsePatterns(sensitive...)
	require.NoError(h, err)
	planner, err := ssaplan.New(h.server.API(), ssaplan.Options{FieldManager: "host", Sensitive: patterns})
	require.NoError(h, err)
	return planner
}

func (h *host) plan(text string, sensitive ...string) *ssaplan.Plan {
	h.Helper()
	manifest := &unstructured.Unstructured{}
	require.NoError(h, yaml.Unmarshal([]byte(text), &manifest.Object))
	plan, err := h.planner(sensitive...).Plan(h.Context(), ssaplan.Request{Manifest: manifest, Prior: h.seen.State})
	require.NoError(h, err)
	return plan
}

// apply applies a manifest, and shows the object as it is then.
func (h *host) apply(text string, sensitive ...string) (made *unstructured.Unstructured) {
	h.Helper()
	plan := h.plan(text, sensitive...)
	rows, open := h.seen.After(plan)
	made, err := h.planner(sensitive...).Apply(h.Context(), plan)
	require.NoError(h, err)
	h.seen.State, err = plan.State(made)
	require.NoError(h, err)
	h.seen.Rows = review.RowsOf(h.seen.State.Digested(projection.Project(made.Object, h.seen.State.Applied.Fields)))
	for _, path := range open {
		rows[path] = h.seen.Rows[path]
	}
	require.Equal(h, h.seen.Rows, rows, "what was foretold is what is shown then")
	return made
}

// write applies something as another field manager.
func (h *host) write(text string) {
	h.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(h, yaml.Unmarshal([]byte(text), &object.Object))
	_, err := h.configMaps().Apply(h.Context(), object.GetName(), object, metav1.ApplyOptions{FieldManager: "other", Force: true})
	require.NoError(h, err)
}

func (h *host) configMaps() dynamic.ResourceInterface {
	return h.server.Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace("default")
}

// Text returns a string unchanged, unless it looks like a value of another type. Then the string gets quotes.
func TestText(t *testing.T) {
	for want, value := range map[string]any{
		"blue": "blue", `"5"`: "5", "5": int64(5), `"true"`: "true", "true": true, "": "", `"null"`: "null", "null": nil, `{"a":1}`: map[string]any{"a": int64(1)},
	} {
		require.Equal(t, want, review.Text(value))
	}
}

// After predicts the rows that the object has after the apply; host.apply compares them with the actual rows. A row is
// open if its field becomes sensitive or stops being sensitive. A field that other managers retain keeps its row.
func TestRowsAfter(t *testing.T) {
	h := newHost(t)
	h.apply(settings)
	require.Equal(t, review.Rows{"data.color": "blue", "data.size": `"5"`}, h.seen.Rows)
	h.apply(strings.Replace(settings, "blue", "red", 1))

	rows, open := h.seen.After(h.plan(settings, "data.color"))
	require.Equal(t, []string{"data.color"}, open, "a value that is a secret from now on")
	require.Contains(t, rows["data.color"], "pbkdf2-sha256:")
	h.apply(settings, "data.color")
	_, open = h.seen.After(h.plan(strings.Replace(settings, "blue", "red", 1), "data.color"))
	require.Empty(t, open, "its digest can be made before")
	_, open = h.seen.After(h.plan(settings))
	require.Equal(t, []string{"data.color"}, open, "and one that isn't any more")
	h.apply(settings)

	h.write("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {size: '5'}}")
	rows, open = h.seen.After(h.plan(strings.Replace(settings, ", size: '5'", "", 1)))
	require.Empty(t, open)
	require.Equal(t, h.seen.Rows, rows, "what others retain keeps its row")
}

// The first apply of a Secret creates the key of its digests. Before that apply, the rows of its values are open.
func TestRowsOfASecretThatIsMade(t *testing.T) {
	h := newHost(t)
	rows, open := h.seen.After(h.plan("{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: default}, data: {password: aHVudGVyMg==}, type: Opaque}"))
	require.Equal(t, []string{"data.password"}, open)
	require.Equal(t, "Opaque", rows["type"])
}

// Behind a stale state nothing else would show that a value is set again.
func TestRowsOfAStaleState(t *testing.T) {
	h := newHost(t)
	h.apply(settings)
	h.seen.State.Stale = authresilience.Stale{Reason: authresilience.ClassAuthentication}
	h.write("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {color: red}}")
	rows, open := h.seen.After(h.plan(settings))
	require.Equal(t, "blue", rows["data.color"])
	require.Equal(t, []string{"data.color"}, open)
}

// A plan that starts from something else than the reviewed one did isn't carried out, whatever it makes.
func TestRowsAreChecked(t *testing.T) {
	for _, row := range []struct {
		why, want string
		happens   func(*host)
	}{
		{"nothing happened", "", func(*host) {}},
		{"what isn't in the manifest doesn't matter", "", func(h *host) {
			h.write("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {taste: sweet}}")
		}},
		{"somebody did what was to be done", "", func(h *host) {
			h.write("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {color: red}}")
			h.apply(strings.Replace(settings, "blue", "red", 1))
		}},
		{"another value", "the object was changed after the plan was made: data.color: plan", func(h *host) {
			h.write("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {color: green}}")
		}},
		{"it is gone", "the object was deleted", func(h *host) {
			require.NoError(h, h.configMaps().Delete(h.Context(), "a", metav1.DeleteOptions{}))
		}},
		{"it is another object with the same values", "the object was replaced", func(h *host) {
			require.NoError(h, h.configMaps().Delete(h.Context(), "a", metav1.DeleteOptions{}))
			h.write(settings)
		}},
	} {
		h := newHost(t)
		h.apply(settings)
		edited := strings.Replace(settings, "blue", "red", 1)
		reviewed, _ := h.seen.After(h.plan(edited))
		seen := h.seen
		row.happens(h)
		h.seen = seen
		now := h.plan(edited)
		err := seen.Check(now, reviewed)
		if row.want == "" {
			require.NoError(t, err, row.why)
			continue
		}
		outdated := (*review.OutdatedError)(nil)
		require.ErrorAs(t, err, &outdated, row.why)
		require.ErrorContains(t, err, row.want, row.why)
		seen.UID = string(h.uid())
		if outdated.What == "replaced" {
			require.NoError(t, seen.Check(now, reviewed), "the other object was found and shown before")
		}
		seen.State.Stale = authresilience.Stale{Reason: authresilience.ClassAuthentication}
		if outdated.What == "changed" {
			require.NoError(t, seen.Check(now, reviewed), "what it started from isn't known")
		}
	}
}

// Who owns the fields is compared for a host that showed it.
func TestOwnersAreChecked(t *testing.T) {
	h := newHost(t)
	h.apply(settings)
	edited := strings.Replace(settings, "blue", "red", 1)
	reviewed, _ := h.seen.After(h.plan(edited))
	h.write("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {size: '5'}}")
	now := h.plan(edited)
	require.NoError(t, h.seen.Check(now, reviewed), "it showed none")
	h.seen.Owners = review.Rows{}
	require.ErrorContains(t, h.seen.Check(now, reviewed), "data.size is owned by host (Apply), other (Apply): plan again")
	h.seen.Owners = review.Rows{"data.size": "host (Apply), other (Apply)"}
	require.NoError(t, h.seen.Check(now, reviewed))
	h.seen.Owners = review.Rows{"data.size": "host (Apply), other (Apply)", "data.color": "other (Apply)"}
	require.ErrorContains(t, h.seen.Check(now, reviewed), "data.color is owned by host alone")
}

func (h *host) uid() (uid string) {
	if live, err := h.configMaps().Get(h.Context(), "a", metav1.GetOptions{}); err == nil {
		uid = string(live.GetUID())
	}
	return uid
}

func TestOwnersOf(t *testing.T) {
	h := newHost(t)
	h.apply(settings)
	h.write("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {color: blue}}")
	live, err := h.configMaps().Get(t.Context(), "a", metav1.GetOptions{})
	require.NoError(t, err)
	owners, err := review.OwnersOf(live, h.seen.State)
	require.NoError(t, err)
	require.Equal(t, review.Rows{"data.color": "host (Apply), other (Apply)"}, owners)
	live.SetManagedFields(nil)
	owners, err = review.OwnersOf(live, h.seen.State)
	require.NoError(t, err)
	require.Equal(t, review.Rows{"data.color": "no manager", "data.size": "no manager"}, owners)
}
