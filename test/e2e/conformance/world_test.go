package conformance_test

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/dynclient"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/server"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

//go:embed testdata/gadget-crd.yaml
var gadgetCRD string

func realCluster(t *testing.T) *lab.Cluster {
	config := controlplane.Shared(t).Config()
	config.WarningHandlerWithContext = server.WarningHandler{}
	return lab.Connect(t, config)
}

func standIn(t *testing.T) *lab.Cluster {
	server, err := ssaplantest.NewServer(ssaplantest.Options{})
	require.NoError(t, err)
	return &lab.Cluster{Client: server.Client(), Mapper: server.Mapper()}
}

const manager = "conformance"

// world is a cluster with a namespace of the scenario's own. It writes down what is seen, so that two worlds compare.
type world struct {
	*lab.Cluster
	t       *testing.T
	planner *ssaplan.Planner
	polite  *ssaplan.Planner // that plans without force
	apart   bool             // each step is in a second of its own
	lines   []string
	uids    map[types.UID]int
}

func newWorld(t *testing.T, c *lab.Cluster, namespace string) *world {
	w := &world{Cluster: c.In(namespace), t: t, uids: map[types.UID]int{"": 0}}
	options := ssaplan.Options{FieldManager: manager, DefaultNamespace: namespace}
	var err error
	w.planner, err = ssaplan.New(dynclient.New(c.Client, c.Mapper, dynclient.Options{}), options)
	require.NoError(t, err)
	options.RefuseConflicts = true
	w.polite, err = ssaplan.New(dynclient.New(c.Client, c.Mapper, dynclient.Options{}), options)
	require.NoError(t, err)
	return w
}

func (w *world) manifest(text string) *unstructured.Unstructured { return lab.Object(w.t, text) }

var (
	versionText = regexp.MustCompile(`ResourceVersion in record \(\d+\)`)
	uidText     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timeText    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// note writes down a line. UIDs count from 1 in the order in which they appear, and times all look the same.
func (w *world) note(format string, args ...any) {
	line := timeText.ReplaceAllString(fmt.Sprintf(format, args...), "TIME")
	line = versionText.ReplaceAllString(line, "ResourceVersion in record (VERSION)")
	line = uidText.ReplaceAllStringFunc(line, func(uid string) string { return w.uid(types.UID(uid)) })
	w.lines = append(w.lines, line)
	if w.apart && !strings.HasPrefix(line, " ") {
		lab.NextSecond() // the next step's
	}
}

func (w *world) uid(uid types.UID) string {
	if _, ok := w.uids[uid]; !ok {
		w.uids[uid] = len(w.uids)
	}
	return fmt.Sprintf("UID%d", w.uids[uid])
}

// plan plans, writes down what the plan says, and returns it. It is nil if there is none.
func (w *world) plan(request ssaplan.Request) *ssaplan.Plan { return w.planBy(w.planner, request) }

func (w *world) planBy(planner *ssaplan.Planner, request ssaplan.Request) *ssaplan.Plan {
	plan, err := planner.Plan(w.t.Context(), request)
	if err != nil {
		w.failed("plan", err)
		return nil
	}
	w.note("%s %s: %s %s(%d requests)", plan.Action, plan.Object, plan.Reason, plan.Deferral, plan.Requests)
	w.note("  before %s", plan.Before)
	w.note("  after %s", plan.After)
	noteAll(w, "change", plan.Changes)
	noteAll(w, "ownership", plan.Ownership)
	noteAll(w, "conflict", plan.Conflicts)
	noteAll(w, "unkept", plan.Ineffective)
	noteAll(w, "normalized", plan.Adjustments)
	noteAll(w, "warning", plan.Warnings)
	if r := plan.Replacement; r != nil {
		w.note("  replaces %s %s because of %v (%s), hazards %v", r.Old, r.UID, r.Fields, r.Evidence, r.Hazards)
	}
	return plan
}

func noteAll[T any](w *world, what string, values []T) {
	for _, value := range values {
		w.note("  %s %v", what, value)
	}
}

// failed writes down an error: what a program makes of it, and what a user reads.
func (w *world) failed(doing string, err error) {
	w.note("%s failed: class %s, code %d, reason %q: %v", doing, authresilience.Classify(err), code(err), apierrors.ReasonForError(err), err)
}

// refused writes down what a program makes of an error whose text depends on the version of apimachinery.
func (w *world) refused(doing string, err error) {
	var status apierrors.APIStatus
	require.ErrorAs(w.t, err, &status)
	w.note("%s refused: class %s, code %d, reason %q", doing, authresilience.Classify(err), code(err), apierrors.ReasonForError(err))
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			w.note("  %s %s", cause.Type, cause.Field)
		}
	}
}

func code(err error) int32 {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code
	}
	return 0
}

// done writes down the outcome of a request: the object that the server made, or its refusal.
func (w *world) done(doing string, obj *unstructured.Unstructured, err error) *unstructured.Unstructured {
	if err != nil {
		w.failed(doing, err)
		return nil
	}
	if obj != nil {
		w.note("%s: %s", doing, w.identity(obj))
		w.content(obj)
		w.owners(obj)
	}
	return obj
}

// identity returns the identity of an object, and whether it is being deleted.
func (w *world) identity(obj *unstructured.Unstructured) string {
	return fmt.Sprintf("%s/%s %s/%s %s, deleting %t, finalizers %q, labels %v", obj.GetAPIVersion(), obj.GetKind(), obj.GetNamespace(),
		obj.GetName(), w.uid(obj.GetUID()), obj.GetDeletionTimestamp() != nil, obj.GetFinalizers(), obj.GetLabels())
}

// content writes down all but the metadata.
func (w *world) content(obj *unstructured.Unstructured) {
	content := obj.DeepCopy().Object
	delete(content, "metadata")
	text, err := json.Marshal(content)
	require.NoError(w.t, err)
	w.note("  %s", text)
}

// owners writes down who owns what.
func (w *world) owners(obj *unstructured.Unstructured) {
	owners, err := fieldowner.Read(obj.Object)
	require.NoError(w.t, err)
	var lines []string
	for _, entry := range owners.Entries() {
		entry.Owner.Time = time.Time{}
		lines = append(lines, fmt.Sprintf("  %s owns %s", entry.Owner, entry.Fields))
	}
	// A server sorts entries of the same second by manager, and others by time. Sort them, since seconds vary.
	for _, line := range sorted(lines) {
		w.note("%s", line)
	}
}

// apply plans and applies a manifest, and returns what a host would remember of it.
func (w *world) apply(text string) *explain.State {
	return w.send(w.plan(ssaplan.Request{Manifest: w.manifest(text)}))
}

// send applies a plan, if there is one, and writes down whether anything was written.
func (w *world) send(plan *ssaplan.Plan) *explain.State {
	if plan == nil {
		return nil
	}
	id := plan.Object
	object := lab.Objectf(w.t, "{apiVersion: %q, kind: %q, metadata: {namespace: %q, name: %q}}", id.APIVersion, id.Kind, id.Namespace, id.Name)
	before, _ := w.Resource(w.t, object).Get(w.t.Context(), id.Name, metav1.GetOptions{})
	obj, err := w.planner.Apply(w.t.Context(), plan)
	w.done("apply", obj, err)
	if err != nil {
		return nil
	}
	w.note("  written %t", before == nil || before.GetResourceVersion() != obj.GetResourceVersion())
	state, err := plan.State(obj)
	require.NoError(w.t, err)
	return state
}

// applyAs applies as another manager, without a plan.
func (w *world) applyAs(manager, text string, force bool) {
	got, err := w.TryApply(w.t, w.manifest(text), metav1.PatchOptions{FieldManager: manager, Force: &force})
	w.done("apply as "+manager, got, err)
}

// patchAs patches the object that text names as another manager.
func (w *world) patchAs(manager, text string, form types.PatchType, patch string, subresources ...string) {
	obj := w.manifest(text)
	got, err := w.Resource(w.t, obj).Patch(w.t.Context(), obj.GetName(), form, []byte(patch), metav1.PatchOptions{FieldManager: manager}, subresources...)
	w.done("patch as "+manager, got, err)
}

func (w *world) mergeAs(manager, text, patch string) {
	w.patchAs(manager, text, types.MergePatchType, patch)
}

func (w *world) create(text string) *unstructured.Unstructured {
	obj := w.manifest(text)
	got, err := w.Resource(w.t, obj).Create(w.t.Context(), obj, metav1.CreateOptions{FieldManager: "creator"})
	return w.done("create", got, err)
}

func (w *world) update(obj *unstructured.Unstructured) *unstructured.Unstructured {
	got, err := w.Resource(w.t, obj).Update(w.t.Context(), obj, metav1.UpdateOptions{FieldManager: "updater"})
	return w.done("update", got, err)
}

// validated tries a write with a fieldValidation.
func (w *world) validated(verb string, i int, validation string, obj *unstructured.Unstructured) {
	ctx, warnings := server.CollectWarnings(w.t.Context())
	var got *unstructured.Unstructured
	var err error
	if verb == "create" {
		obj.SetName("other")
		got, err = w.Resource(w.t, obj).Create(ctx, obj, metav1.CreateOptions{
			FieldManager: "creator", FieldValidation: validation, DryRun: []string{metav1.DryRunAll}})
	} else {
		got, err = w.Resource(w.t, obj).Update(ctx, obj, metav1.UpdateOptions{FieldManager: "updater", FieldValidation: validation})
	}
	w.done(fmt.Sprintf("%s %d, validation %q", verb, i, validation), got, err)
	noteAll(w, "warning", warnings())
}

// validatedPatch does the same for a patch. The server's text of a refusal depends on its version, and may have the
// whole object in it.
func (w *world) validatedPatch(text, validation string, form types.PatchType, patch string) {
	obj := w.manifest(text)
	ctx, warnings := server.CollectWarnings(w.t.Context())
	got, err := w.Resource(w.t, obj).Patch(ctx, obj.GetName(), form, []byte(patch), metav1.PatchOptions{FieldManager: "patcher", FieldValidation: validation})
	doing := fmt.Sprintf("%s, validation %q", form, validation)
	if validation == metav1.FieldValidationStrict && err != nil {
		w.refused(doing, err)
	} else {
		w.done(doing, got, err)
	}
	noteAll(w, "warning", warnings())
}

// pages lists ConfigMaps page by page, and does something after the first page.
func (w *world) pages(options metav1.ListOptions, between func()) {
	first := true
	for {
		page, err := w.Resource(w.t, w.manifest(configMap(""))).List(w.t.Context(), options)
		if err != nil {
			w.failed("list", err)
			return
		}
		rest := "unknown"
		if n := page.GetRemainingItemCount(); n != nil {
			rest = fmt.Sprint(*n)
		}
		w.note("page %v, the rest: %s, goes on: %t", names(page), rest, page.GetContinue() != "")
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return
		}
		if first {
			between()
		}
		first = false
	}
}

func (w *world) get(text string) *unstructured.Unstructured {
	obj := w.manifest(text)
	got, err := w.Resource(w.t, obj).Get(w.t.Context(), obj.GetName(), metav1.GetOptions{})
	return w.done("get", got, err)
}

func (w *world) delete(text string, options metav1.DeleteOptions) {
	obj := w.manifest(text)
	if err := w.Resource(w.t, obj).Delete(w.t.Context(), obj.GetName(), options); err != nil {
		w.failed("delete", err)
		return
	}
	w.note("deleted")
}

// read refreshes a state that went through its persistent form.
func (w *world) read(state *explain.State) *explain.State {
	text, err := json.Marshal(state)
	require.NoError(w.t, err)
	var restored explain.State
	require.NoError(w.t, json.Unmarshal(text, &restored))
	reading, err := w.planner.Read(w.t.Context(), &restored)
	if err != nil {
		w.failed("read", err)
		return nil
	}
	w.note("read: %s (%d requests), observed %s", reading.Presence, reading.Requests, reading.State.Observed)
	noteAll(w, "drift", reading.Drift)
	return reading.State
}

// replace carries out a plan, and gives up when it has to wait for finalizers.
func (w *world) replace(plan *ssaplan.Plan) {
	if plan == nil {
		return
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	giveUp := func(identity.Identity, []string) { cancel() }
	obj, err := w.planner.Replace(ctx, plan, deletion.Options{PollInterval: time.Minute, Progress: giveUp})
	var stopped *write.ReplaceError
	if errors.As(err, &stopped) {
		w.note("stopped while %s, finalizers %q", stopped.Stage, stopped.Finalizers)
	}
	w.done("replace", obj, err)
}

func patterns(w *world, texts ...string) projection.Patterns {
	ps, err := projection.ParsePatterns(texts...)
	require.NoError(w.t, err)
	return ps
}

func (w *world) transcript() string { return strings.Join(w.lines, "\n") }
