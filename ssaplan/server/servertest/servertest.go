// Package servertest answers: does an implementation of [server.Server] do what a Planner expects? It needs an API
// server, and the rights to create namespaces, CRDs, ConfigMaps and Deployments there. Use a real one: the server in
// memory of package ssaplantest passes, too, but your type may send what only a real one rejects. It isn't for tests of
// code that uses a Planner: package ssaplantest is.
//
//	servertest.Run(t, func(t *testing.T) server.Server {
//		return dynclient.New(client, mapper, dynclient.Options{})
//	})
package servertest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Run checks a server. It calls connect once for itself and once for each part of the test. It makes namespaces and a
// CRD with random names, and deletes them at the end. It logs which optional interfaces the server has, and checks
// those.
func Run(t *testing.T, connect func(*testing.T) server.Server) {
	t.Helper()
	w := &world{api: connect(t), suffix: random()}
	w.namespace = "servertest-" + w.suffix
	w.apply(t, server.Ref{Kind: w.kind(t, "", "v1", "Namespace"), Name: w.namespace}, nil)
	t.Cleanup(func() {
		_, _ = w.api.Delete(context.Background(), server.Ref{Kind: w.kind(t, "", "v1", "Namespace"), Name: w.namespace},
			metav1.DeleteOptions{})
	})
	for _, part := range []struct {
		name string
		run  func(*testing.T, *world)
	}{
		{"Resolve", resolve}, {"ResolveLater", resolveLater}, {"Get", get}, {"Apply", apply}, {"JSONPatch", jsonPatch},
		{"Subresource", subresource}, {"CreateAndUpdate", createAndUpdate}, {"UnknownDryRun", unknownDryRun},
		{"Delete", remove},
		{"Warnings", warnings}, {"EndedContext", endedContext}, {"Concurrency", concurrency},
	} {
		t.Run(part.name, func(t *testing.T) { part.run(t, &world{connect(t), w.namespace, w.suffix}) })
	}
	lister, lists := w.api.(server.Lister)
	whole, listsWhole := w.api.(server.ObjectLister)
	discoverer, discovers := w.api.(server.Discoverer)
	versioner, versions := w.api.(server.Versioner)
	reader, reads := w.api.(server.SchemaReader)
	for _, part := range []struct {
		name string
		has  bool
		run  func(*testing.T)
	}{
		{"Lister", lists, func(t *testing.T) { list(t, w, lister) }},
		{"ObjectLister", listsWhole, func(t *testing.T) { listObjects(t, w, whole) }},
		{"Discoverer", discovers, func(t *testing.T) { discover(t, discoverer) }},
		{"Versioner", versions, func(t *testing.T) { version(t, versioner) }},
		{"SchemaReader", reads, func(t *testing.T) { schemas(t, reader) }},
	} {
		if part.has {
			t.Log("The server implements", part.name)
			t.Run(part.name, part.run)
		} else {
			t.Log("The server doesn't implement", part.name)
		}
	}
}

// world is a server with a namespace.
type world struct {
	api               server.Server
	namespace, suffix string
}

const manager = "servertest"

func random() string {
	var bytes [4]byte
	_, _ = rand.Read(bytes[:]) // never fails
	return hex.EncodeToString(bytes[:])
}

// must ends the test with an error.
func must(t *testing.T, err error, doing string) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", doing, err)
	}
}

func check(t *testing.T, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		t.Errorf(format, args...)
	}
}

func (w *world) kind(t *testing.T, group, version, kind string) server.Kind {
	t.Helper()
	found, err := w.api.Resolve(context.Background(),
		schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
	must(t, err, "resolve "+kind)
	return found
}

func (w *world) configMap(t *testing.T, name string) server.Ref {
	t.Helper()
	return server.Ref{Kind: w.kind(t, "", "v1", "ConfigMap"), Namespace: w.namespace, Name: name}
}

// manifest returns an object with fields beside its identity.
func manifest(of server.Ref, fields map[string]any) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	for name, value := range fields {
		obj.Object[name] = value
	}
	obj.SetGroupVersionKind(of.Kind.GroupVersionKind)
	obj.SetNamespace(of.Namespace)
	obj.SetName(of.Name)
	return obj
}

func body(of server.Ref, fields map[string]any) []byte {
	text, err := json.Marshal(manifest(of, fields).Object)
	if err != nil {
		panic(err) // the fields are those below
	}
	return text
}

func data(value string) map[string]any { return map[string]any{"data": map[string]any{"a": value}} }

func forced(dryRun ...string) metav1.PatchOptions {
	force := true
	return metav1.PatchOptions{FieldManager: manager, Force: &force, DryRun: dryRun}
}

// apply writes an object.
func (w *world) apply(t *testing.T, of server.Ref, fields map[string]any) *unstructured.Unstructured {
	t.Helper()
	answer, err := w.api.Patch(context.Background(), of, types.ApplyPatchType, body(of, fields), forced())
	must(t, err, "apply "+of.Name)
	return answer.Object
}

// version returns the resourceVersion of an object, and nothing if it doesn't exist.
func (w *world) version(t *testing.T, of server.Ref) string {
	t.Helper()
	answer, err := w.api.Get(t.Context(), of)
	if apierrors.IsNotFound(err) {
		return ""
	}
	must(t, err, "get "+of.Name)
	return answer.Object.GetResourceVersion()
}

// eventually waits for what a server does in its own time.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 300 {
		if is() {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatalf("%s: %v", what, t.Context().Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
	t.Errorf("%s: it didn't happen", what)
}

func resolve(t *testing.T, w *world) {
	for _, row := range []struct {
		asked schema.GroupVersionKind
		want  server.Kind // none if the kind isn't served
	}{
		{schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, known("", "v1", "ConfigMap", "configmaps", true)},
		{schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, known("", "v1", "Namespace", "namespaces", false)},
		{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"},
			known("apps", "v1", "Deployment", "deployments", true)},
		{schema.GroupVersionKind{Group: "apps", Kind: "Deployment"},
			known("apps", "v1", "Deployment", "deployments", true)},
		{schema.GroupVersionKind{Kind: "Deployment"}, known("apps", "v1", "Deployment", "deployments", true)},
		{schema.GroupVersionKind{Group: "apps", Version: "v9", Kind: "Deployment"}, server.Kind{}},
		{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ConfigMap"}, server.Kind{}},
		{schema.GroupVersionKind{Group: "apps", Kind: "ConfigMap"}, server.Kind{}},
		{schema.GroupVersionKind{Group: "missing.example.com", Version: "v1", Kind: "ConfigMap"}, server.Kind{}},
		{schema.GroupVersionKind{Kind: "Missing"}, server.Kind{}},
	} {
		for range 2 {
			found, err := w.api.Resolve(t.Context(), row.asked)
			if row.want == (server.Kind{}) {
				check(t, meta.IsNoMatchError(err), "%s: meta.IsNoMatchError must hold for the error: %v", row.asked,
					err)
				continue
			}
			must(t, err, "resolve "+row.asked.String())
			check(t, found == row.want, "%s: %+v, want %+v", row.asked, found, row.want)
		}
	}
}

func known(group, version, kind, resource string, namespaced bool) server.Kind {
	return server.Kind{GroupVersionKind: schema.GroupVersionKind{Group: group, Version: version, Kind: kind},
		Resource: resource, Namespaced: namespaced}
}

// resolveLater checks that a missing kind isn't cached, and that the server notices that a kind is gone.
func resolveLater(t *testing.T, w *world) {
	group := "servertest-" + w.suffix + ".example.com"
	gadget := schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Gadget"}
	_, err := w.api.Resolve(t.Context(), gadget)
	check(t, meta.IsNoMatchError(err), "resolve a missing kind: %v", err)
	definition := server.Ref{Kind: w.kind(t, "apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
		Name: "gadgets." + group}
	crd := w.apply(t, definition, map[string]any{"spec": map[string]any{
		"group": group, "scope": "Namespaced",
		"names": map[string]any{"kind": "Gadget", "plural": "gadgets", "singular": "gadget", "listKind": "GadgetList"},
		"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{
			"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
		}}},
	}})
	var found server.Kind
	eventually(t, "resolve a kind that was installed", func() bool {
		found, err = w.api.Resolve(t.Context(), gadget)
		return err == nil
	})
	check(t, found == server.Kind{GroupVersionKind: gadget, Resource: "gadgets", Namespaced: true}, "%+v", found)
	_, err = w.api.Get(t.Context(), server.Ref{Kind: found, Namespace: w.namespace, Name: "a"})
	check(t, err != nil, "get an object that doesn't exist")
	_, err = w.api.Delete(t.Context(), definition,
		metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(crd.GetUID()))})
	must(t, err, "delete a CRD")
	eventually(t, "a kind that is gone is neither resolved nor answered", func() bool {
		_, resolved := w.api.Resolve(t.Context(), gadget)
		_, answered := w.api.Get(t.Context(), server.Ref{Kind: found, Namespace: w.namespace, Name: "a"})
		return meta.IsNoMatchError(resolved) || authresilience.Classify(answered) == authresilience.ClassTypeNotServed
	})
}

func get(t *testing.T, w *world) {
	of := w.configMap(t, "get")
	answer, err := w.api.Get(t.Context(), of)
	var status apierrors.APIStatus
	if check(t, errors.As(err, &status), "the error must have the status of the server: %v", err); status != nil {
		check(t, apierrors.IsNotFound(err), "apierrors.IsNotFound must hold for the error: %v", err)
		check(t, status.Status().Details != nil && status.Status().Details.Name == "get",
			"the status has no details: %+v", status.Status())
	}
	check(t, answer.Object == nil, "there is an object beside the error")
	written := w.apply(t, of, data("1"))
	answer, err = w.api.Get(t.Context(), of)
	must(t, err, "get")
	check(t, reflect.DeepEqual(written.Object, answer.Object.Object), "the object isn't as it was written:\n%v\n%v",
		written.Object, answer.Object.Object)
	check(t, len(answer.Object.GetManagedFields()) == 1, "managedFields are missing")
	check(t, answer.Object.GroupVersionKind() == of.Kind.GroupVersionKind, "apiVersion and kind are missing")
	for i := range 5 { // no read is older than a write
		version := w.apply(t, of, data(fmt.Sprint(i, "th"))).GetResourceVersion()
		check(t, w.version(t, of) == version, "the read is older than the write")
	}
	_, err = w.api.Get(t.Context(), server.Ref{Kind: w.kind(t, "", "v1", "Namespace"), Name: w.namespace})
	must(t, err, "get a Namespace")
}

func apply(t *testing.T, w *world) {
	of := w.configMap(t, "apply")
	answer, err := w.api.Patch(t.Context(), of, types.ApplyPatchType, body(of, data("1")), forced(metav1.DryRunAll))
	must(t, err, "dry run of an apply")
	check(t, answer.Object.GetName() == "apply", "the answer is %v", answer.Object)
	check(t, w.version(t, of) == "", "the dry run wrote")
	live := w.apply(t, of, data("1"))
	check(t, w.version(t, of) == live.GetResourceVersion(), "the apply didn't write")
	entries := live.GetManagedFields()
	check(t, len(entries) == 1 && entries[0].Manager == manager &&
		entries[0].Operation == metav1.ManagedFieldsOperationApply, "%v", entries)
	answer, err = w.api.Patch(t.Context(), of, types.ApplyPatchType, body(of, data("2")), forced(metav1.DryRunAll))
	must(t, err, "dry run of an apply")
	check(t, answer.Object.GetResourceVersion() == live.GetResourceVersion(), "the dry run is of another version")
	check(t, !reflect.DeepEqual(answer.Object.Object["data"], live.Object["data"]), "the dry run changed nothing")

	_, err = w.api.Patch(t.Context(), of, types.ApplyPatchType, body(of, data("3")),
		metav1.PatchOptions{FieldManager: "other"})
	check(t, apierrors.IsConflict(err), "without force: %v", err)
	strict := forced(metav1.DryRunAll)
	strict.FieldValidation = metav1.FieldValidationStrict
	twice := strings.Replace(string(body(of, data("3"))), `"data":`, `"data":{"b":"1"},"data":`, 1)
	_, err = w.api.Patch(t.Context(), of, types.ApplyPatchType, []byte(twice), strict)
	check(t, apierrors.IsBadRequest(err), "a field twice in the body, with strict validation: %v", err)
	stale := manifest(of, data("3"))
	stale.SetResourceVersion("1")
	text, _ := json.Marshal(stale.Object)
	_, err = w.api.Patch(t.Context(), of, types.ApplyPatchType, text, forced())
	check(t, apierrors.IsConflict(err), "of another version: %v", err)
	check(t, w.version(t, of) == live.GetResourceVersion(), "something was written")
}

func jsonPatch(t *testing.T, w *world) {
	of := w.configMap(t, "json")
	live := w.apply(t, of, data("1"))
	patch := func(uid, value string, dryRun ...string) (server.Response, error) {
		text := fmt.Sprintf(
			`[{"op":"test","path":"/metadata/uid","value":%q},{"op":"replace","path":"/data/a","value":%q}]`, uid,
			value)
		return w.api.Patch(t.Context(), of, types.JSONPatchType, []byte(text),
			metav1.PatchOptions{FieldManager: manager, DryRun: dryRun})
	}
	answer, err := patch(string(live.GetUID()), "2", metav1.DryRunAll)
	must(t, err, "dry run of a JSON patch")
	check(t, reflect.DeepEqual(answer.Object.Object["data"], map[string]any{"a": "2"}), "the answer is %v",
		answer.Object)
	_, err = patch("00000000-0000-0000-0000-000000000000", "2")
	check(t, apierrors.IsInvalid(err), "a test that fails: %v", err)
	check(t, w.version(t, of) == live.GetResourceVersion(), "something was written")
	answer, err = patch(string(live.GetUID()), "3")
	must(t, err, "JSON patch")
	check(t, w.version(t, of) == answer.Object.GetResourceVersion(), "the answer is of another version")
}

func subresource(t *testing.T, w *world) {
	of := server.Ref{Kind: w.kind(t, "apps", "v1", "Deployment"), Namespace: w.namespace, Name: "sub"}
	pod := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"app": "a"}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "a", "image": "a"}}},
	}
	w.apply(t, of, map[string]any{"spec": map[string]any{
		"replicas": int64(1), "selector": map[string]any{"matchLabels": map[string]any{"app": "a"}}, "template": pod,
	}})
	scale := of
	scale.Subresource = "scale"
	for _, replicas := range []int64{2, 3} {
		dryRun := []string{metav1.DryRunAll}
		if replicas == 3 {
			dryRun = nil
		}
		text := fmt.Sprintf(`[{"op":"replace","path":"/spec/replicas","value":%d}]`, replicas)
		answer, err := w.api.Patch(t.Context(), scale, types.JSONPatchType, []byte(text),
			metav1.PatchOptions{FieldManager: manager, DryRun: dryRun})
		must(t, err, "patch the scale")
		check(t, answer.Object.GetKind() == "Scale" && answer.Object.GetAPIVersion() == "autoscaling/v1",
			"the answer is a %s", answer.Object.GroupVersionKind())
		got, _, _ := unstructured.NestedInt64(answer.Object.Object, "spec", "replicas")
		check(t, got == replicas, "%d replicas, want %d", got, replicas)
	}
	status := of
	status.Subresource = "status"
	answer, err := w.api.Patch(t.Context(), status, types.ApplyPatchType,
		body(of, map[string]any{"status": map[string]any{"replicas": int64(7)}}), forced())
	must(t, err, "apply the status")
	entries := answer.Object.GetManagedFields()
	isStatus := func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" && e.Manager == manager }
	check(t, slices.ContainsFunc(entries, isStatus), "%v", entries)
}

func createAndUpdate(t *testing.T, w *world) {
	of := w.configMap(t, "create")
	in := manifest(of, data("1"))
	before := in.DeepCopy()
	create := metav1.CreateOptions{FieldManager: manager, DryRun: []string{metav1.DryRunAll}}
	answer, err := w.api.Create(t.Context(), of, in, create)
	must(t, err, "dry run of a create")
	check(t, answer.Object.GetUID() != "", "the answer is %v", answer.Object)
	check(t, reflect.DeepEqual(before, in), "the object to create was modified")
	check(t, w.version(t, of) == "", "the dry run wrote")

	live := w.apply(t, of, data("1"))
	_, err = w.api.Create(t.Context(), of, in, create)
	check(t, apierrors.IsAlreadyExists(err), "create what exists: %v", err)
	changed := live.DeepCopy()
	changed.Object["data"] = map[string]any{"a": "2"}
	before = changed.DeepCopy()
	update := metav1.UpdateOptions{FieldManager: manager, DryRun: []string{metav1.DryRunAll}}
	answer, err = w.api.Update(t.Context(), of, changed, update)
	must(t, err, "dry run of an update")
	check(t, reflect.DeepEqual(answer.Object.Object["data"], changed.Object["data"]), "the answer is %v", answer.Object)
	check(t, reflect.DeepEqual(before, changed), "the object to update was modified")
	check(t, w.version(t, of) == live.GetResourceVersion(), "the dry run wrote")
	changed.SetResourceVersion("1")
	_, err = w.api.Update(t.Context(), of, changed, update)
	check(t, apierrors.IsConflict(err), "update another version: %v", err)
}

// unknownDryRun checks that a dryRun arrives that no server knows. This is how the Planner finds out whether a dryRun
// arrives.
func unknownDryRun(t *testing.T, w *world) {
	of := w.configMap(t, "unknown")
	live := w.apply(t, of, data("1"))
	unknown := []string{metav1.DryRunAll, "Unknown"}
	refused := func(err error, doing string) {
		t.Helper()
		check(t, apierrors.IsInvalid(err) && strings.Contains(err.Error(), "dryRun"),
			"%s: the server must reject the dryRun: %v", doing, err)
	}
	_, err := w.api.Patch(t.Context(), of, types.ApplyPatchType, body(of, data("2")), forced(unknown...))
	refused(err, "apply")
	_, err = w.api.Patch(t.Context(), of, types.JSONPatchType, []byte(`[{"op":"remove","path":"/data"}]`),
		metav1.PatchOptions{DryRun: unknown})
	refused(err, "JSON patch")
	_, err = w.api.Delete(t.Context(), of, metav1.DeleteOptions{DryRun: unknown})
	refused(err, "delete")
	check(t, w.version(t, of) == live.GetResourceVersion(), "something was written")
}

func remove(t *testing.T, w *world) {
	of := w.configMap(t, "delete")
	live := w.apply(t, of, data("1"))
	options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("00000000-0000-0000-0000-000000000000")}
	_, err := w.api.Delete(t.Context(), of, options)
	check(t, apierrors.IsConflict(err), "delete another object: %v", err)
	options.Preconditions = metav1.NewUIDPreconditions(string(live.GetUID()))
	options.DryRun = []string{metav1.DryRunAll}
	_, err = w.api.Delete(t.Context(), of, options)
	must(t, err, "dry run of a delete")
	check(t, w.version(t, of) == live.GetResourceVersion(), "something was deleted")
	foreground := metav1.DeletePropagationForeground
	options.DryRun, options.PropagationPolicy = nil, &foreground
	w.apply(t, of, map[string]any{"metadata": map[string]any{"finalizers": []any{"example.com/hold"}}})
	answer, err := w.api.Delete(t.Context(), of, options)
	must(t, err, "delete")
	check(t, answer.Object == nil, "the answer to a delete has an object")
	held, err := w.api.Get(t.Context(), of)
	must(t, err, "get what is being deleted")
	check(t, slices.Contains(held.Object.GetFinalizers(), metav1.FinalizerDeleteDependents),
		"the propagation didn't arrive: %v", held.Object.GetFinalizers())
	_, err = w.api.Patch(t.Context(), of, types.JSONPatchType,
		[]byte(`[{"op":"remove","path":"/metadata/finalizers"}]`), metav1.PatchOptions{})
	must(t, err, "remove the finalizers")
	check(t, w.version(t, of) == "", "the object is still there")
	_, err = w.api.Delete(t.Context(), of, metav1.DeleteOptions{})
	check(t, apierrors.IsNotFound(err), "delete what doesn't exist: %v", err)
}

// warnings checks that the warnings of a request are in its response, and in no other one.
func warnings(t *testing.T, w *world) {
	of := w.configMap(t, "warned")
	options := metav1.CreateOptions{FieldManager: manager, DryRun: []string{metav1.DryRunAll},
		FieldValidation: metav1.FieldValidationWarn}
	fields := data("1")
	fields["unknownField"] = "x"
	answer, err := w.api.Create(t.Context(), of, manifest(of, fields), options)
	must(t, err, "dry run of a create")
	isAbout := func(text string) bool { return strings.Contains(text, "unknownField") }
	check(t, slices.ContainsFunc(answer.Warnings, isAbout), "the warning of the server is missing: %q", answer.Warnings)
	answer, err = w.api.Create(t.Context(), of, manifest(of, data("1")), options)
	must(t, err, "dry run of a create")
	check(t, len(answer.Warnings) == 0, "%q", answer.Warnings)
}

func endedContext(t *testing.T, w *world) {
	of := w.configMap(t, "ended")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.api.Get(ctx, of)
	check(t, errors.Is(err, context.Canceled), "get: %v", err)
	_, err = w.api.Patch(ctx, of, types.ApplyPatchType, body(of, data("1")), forced())
	check(t, errors.Is(err, context.Canceled), "patch: %v", err)
	check(t, w.version(t, of) == "", "something was written")
}

func concurrency(t *testing.T, w *world) {
	of := w.configMap(t, "many")
	live := w.apply(t, of, data("1"))
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			found, err := w.api.Resolve(t.Context(), of.Kind.GroupVersionKind)
			check(t, err == nil && found == of.Kind, "resolve: %v", err)
			answer, err := w.api.Get(t.Context(), of)
			check(t, err == nil && answer.Object.GetUID() == live.GetUID(), "get: %v", err)
		}()
	}
	all.Wait()
}

// pages reads a list of one object a page, and returns the names.
func pages(t *testing.T, kind server.Kind, namespace string,
	page func(context.Context, server.Kind, string, metav1.ListOptions) (names []string, next string,
		err error)) (names []string) {
	t.Helper()
	options := metav1.ListOptions{Limit: 1}
	for range 20 {
		found, next, err := page(t.Context(), kind, namespace, options)
		must(t, err, "list")
		check(t, len(found) <= 1, "the page has %d objects, the limit is 1", len(found))
		names = append(names, found...)
		if options.Continue = next; next == "" {
			return names
		}
	}
	t.Errorf("the list has no end")
	return names
}

// shelf makes some objects in a namespace of their own.
func (w *world) shelf(t *testing.T, name string) (server.Kind, string) {
	t.Helper()
	namespace := w.namespace + "-" + name
	ref := server.Ref{Kind: w.kind(t, "", "v1", "Namespace"), Name: namespace}
	w.apply(t, ref, nil)
	t.Cleanup(func() { _, _ = w.api.Delete(context.Background(), ref, metav1.DeleteOptions{}) })
	kind := w.kind(t, "", "v1", "ConfigMap")
	for _, name := range []string{"a", "b", "c"} {
		w.apply(t, server.Ref{Kind: kind, Namespace: namespace, Name: name}, data(name))
	}
	return kind, namespace
}

func list(t *testing.T, w *world, lister server.Lister) {
	kind, namespace := w.shelf(t, "list")
	names := pages(t, kind, namespace,
		func(ctx context.Context, kind server.Kind, namespace string, options metav1.ListOptions) (names []string,
			next string, err error) {
			page, err := lister.List(ctx, kind, namespace, options)
			if err != nil {
				return nil, "", err
			}
			for _, item := range page.Items {
				names = append(names, item.Name)
				check(t, item.UID != "" && item.ResourceVersion != "" && len(item.ManagedFields) == 1, "%+v",
					item.ObjectMeta)
			}
			return names, page.Continue, nil
		})
	check(t, slices.Equal(names, []string{"a", "b", "c"}), "%v", names)
	page, err := lister.List(t.Context(), kind, "", metav1.ListOptions{Limit: 500})
	must(t, err, "list all namespaces")
	n := 0
	for _, item := range page.Items {
		if item.Namespace == namespace {
			n++
		}
	}
	check(t, n == 3 || page.Continue != "", "%d objects of the namespace are among those of all namespaces", n)
	_, err = lister.List(t.Context(), server.Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: "apps", Version: "v9", Kind: "Deployment"},
		Resource:         "deployments", Namespaced: true,
	}, "", metav1.ListOptions{})
	check(t, authresilience.Classify(err) == authresilience.ClassTypeNotServed, "list a kind that isn't served: %v",
		err)
}

func listObjects(t *testing.T, w *world, lister server.ObjectLister) {
	kind, namespace := w.shelf(t, "objects")
	names := pages(t, kind, namespace,
		func(ctx context.Context, kind server.Kind, namespace string, options metav1.ListOptions) (names []string,
			next string, err error) {
			page, err := lister.ListObjects(ctx, kind, namespace, options)
			if err != nil {
				return nil, "", err
			}
			for i := range page.Items {
				item := &page.Items[i]
				names = append(names, item.GetName())
				answer, err := w.api.Get(ctx, server.Ref{Kind: kind, Namespace: namespace, Name: item.GetName()})
				must(t, err, "get")
				check(t, reflect.DeepEqual(item.Object, answer.Object.Object),
					"the object of the list isn't the one that is read:\n%v\n%v", item, answer.Object)
			}
			return names, page.GetContinue(), nil
		})
	check(t, slices.Equal(names, []string{"a", "b", "c"}), "%v", names)
}

func discover(t *testing.T, discoverer server.Discoverer) {
	kinds, unanswered, err := discoverer.Kinds(t.Context())
	must(t, err, "kinds")
	t.Log(len(kinds), "kinds; unanswered:", unanswered)
	for _, want := range []server.Kind{
		known("", "v1", "ConfigMap", "configmaps", true), known("apps", "v1", "Deployment", "deployments", true),
		known("", "v1", "Namespace", "namespaces", false),
	} {
		check(t, slices.Contains(kinds, want), "%+v is missing", want)
	}
	seen := map[schema.GroupKind]bool{}
	for _, kind := range kinds {
		check(t, !seen[kind.GroupKind()], "%s is there in two versions", kind.GroupKind())
		check(t, !strings.Contains(kind.Resource, "/"), "%s is a subresource", kind.Resource)
		seen[kind.GroupKind()] = true
	}
	check(t, !seen[schema.GroupKind{Group: "authentication.k8s.io", Kind: "TokenReview"}],
		"a TokenReview can't be listed")
}

func version(t *testing.T, versioner server.Versioner) {
	text, schemas, err := versioner.Versions(t.Context())
	must(t, err, "versions")
	check(t, text != "", "the version of the server is empty")
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	check(t, schemas[schema.GroupVersion{Version: "v1"}] != "" && schemas[apps] != "",
		"versions of schemas are missing: %v", schemas)
	again, others, err := versioner.Versions(t.Context())
	must(t, err, "versions")
	check(t, text == again && others[apps] == schemas[apps], "the versions differ without a change")
}

func schemas(t *testing.T, reader server.SchemaReader) {
	text, err := reader.Schemas(t.Context(), schema.GroupVersion{Group: "apps", Version: "v1"})
	must(t, err, "schemas")
	var document struct {
		Components struct{ Schemas map[string]any }
	}
	must(t, json.Unmarshal(text, &document), "schemas")
	check(t, document.Components.Schemas["io.k8s.api.apps.v1.Deployment"] != nil,
		"the schema of a Deployment is missing")
	text, err = reader.Schemas(t.Context(), schema.GroupVersion{Group: "missing.example.com", Version: "v1"})
	check(t, err == nil && text == nil, "of a group that isn't served: %d bytes, %v", len(text), err)
}
