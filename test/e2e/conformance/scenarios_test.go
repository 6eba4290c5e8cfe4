package conformance_test

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// scenario is a series of requests to a real server and to the in-memory server.
type scenario struct {
	why string
	run func(w *world)
	// differs is the reason why the in-memory server behaves differently; empty if it doesn't.
	differs string
}

// applies runs one manifest after the other.
func applies(texts ...string) func(*world) {
	return func(w *world) {
		for _, text := range texts {
			w.apply(text)
		}
	}
}

// edit applies a gadget with one spec, and then with another one.
func edit(before, after string) func(*world) { return applies(gadget(before), gadget(after)) }

// drift applies a gadget, has another manager apply something else, and plans and applies the same again, with what was
// remembered and without.
func drift(ours, theirs string) func(*world) {
	return func(w *world) {
		state := w.apply(gadget(ours))
		w.applyAs("other", gadget(theirs), true)
		w.plan(ssaplan.Request{Manifest: w.manifest(gadget(ours))})
		w.send(w.plan(ssaplan.Request{Manifest: w.manifest(gadget(ours)), Prior: state}))
	}
}

// shared has another manager apply to the same gadget, and plans our next manifest with force and without.
func shared(ours, theirs, next string) func(*world) {
	return func(w *world) {
		w.apply(gadget(ours))
		w.applyAs("other", gadget(theirs), false)
		w.planBy(w.polite, ssaplan.Request{Manifest: w.manifest(gadget(next))})
		w.apply(gadget(next))
	}
}

// scales changes the scale of an object in each way.
func scales(identity, content string) func(*world) {
	return func(w *world) {
		w.applyAs("other", identity+content, false)
		w.lines = nil // the server sets defaults
		object := w.manifest(identity + "}")
		of := w.Resource(w.t, object)
		scale, err := of.Get(w.t.Context(), object.GetName(), metav1.GetOptions{}, "scale")
		w.done("get", scale, err)
		own := func() {
			live, err := of.Get(w.t.Context(), object.GetName(), metav1.GetOptions{})
			if err != nil {
				w.failed("get", err)
				return
			}
			w.owners(live)
			w.note("  generation %d, the scale's version is the object's: %t", live.GetGeneration(), scale.GetResourceVersion() == live.GetResourceVersion())
		}
		own()
		for _, patch := range []string{`{"spec": {"replicas": 2}}`, `{"spec": {"replicas": 2}}`, `{"status": {"replicas": 9}, "metadata": {"labels": {"a": "A"}}}`,
			`{"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 3}}`, `{"metadata": {"uid": "other"}, "spec": {"replicas": 3}}`} {
			w.patchAs("scaler", identity+"}", types.MergePatchType, patch, "scale")
		}
		own()
		dry := metav1.PatchOptions{FieldManager: "scaler", DryRun: []string{metav1.DryRunAll}}
		got, err := of.Patch(w.t.Context(), object.GetName(), types.JSONPatchType, []byte(`[{"op": "replace", "path": "/spec/replicas", "value": 7}]`), dry, "scale")
		w.done("try patch", got, err)
		scale, err = of.Get(w.t.Context(), object.GetName(), metav1.GetOptions{}, "scale")
		if w.done("get", scale, err) == nil {
			return
		}
		scale.Object["spec"] = map[string]any{"replicas": int64(5)}
		scale, err = of.Update(w.t.Context(), scale, metav1.UpdateOptions{FieldManager: "updater"}, "scale")
		w.done("update", scale, err)
		own()
		for _, force := range []bool{false, true} {
			text := `{"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "` + object.GetName() + `"}, "spec": {"replicas": 6}}`
			options := metav1.PatchOptions{FieldManager: "applier", Force: &force}
			got, err := of.Patch(w.t.Context(), object.GetName(), types.ApplyPatchType, []byte(text), options, "scale")
			w.done("apply", got, err)
		}
		own()
		w.patchAs("scaler", identity+"}", types.MergePatchType, `{"spec": {"replicas": 0}}`, "scale")
		w.patchAs("scaler", identity+"}", types.JSONPatchType, `[{"op": "test", "path": "/spec/replicas", "value": 0}]`, "scale")
		own()
	}
}

func gadget(spec string) string {
	return "{apiVersion: conformance.example.com/v1, kind: Gadget, metadata: {name: g}, spec: {color: red, " + spec + "}}"
}

func configMap(data string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {" + data + "}}"
}

func held(data string) string {
	return "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, finalizers: [example.com/held]}, data: {" + data + "}}"
}

func podTemplate(containers string) string {
	return "{apiVersion: v1, kind: PodTemplate, metadata: {name: p}, template: {metadata: {labels: {a: b}}, spec: {containers: [" + containers + "]}}}"
}

func grant(name, subjects string) string {
	return "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: " + name + "}, " +
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}, subjects: [" + subjects + "]}"
}

const (
	alice = "{apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}"
	bob   = "{apiGroup: rbac.authorization.k8s.io, kind: User, name: bob}"
)

var scenarios = []scenario{
	// Objects of built-in kinds.
	{why: "create", run: applies(configMap("a: A"))},
	{why: "create with labels, annotations with dots, finalizers", run: applies(`{apiVersion: v1, kind: ConfigMap,
		metadata: {name: c, labels: {a.b/c: d}, annotations: {a.b/c: "x", e: f}, finalizers: [example.com/x, example.com/y]}}`)},
	{why: "create of nothing but a name", run: applies("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}")},
	{why: "no-op", run: applies(configMap("a: A"), configMap("a: A"))},
	{why: "edit", run: applies(configMap("a: A, b: B"), configMap("a: A, b: C"))},
	{why: "added and dropped keys", run: applies(configMap("a: A, b: B"), configMap("b: B, c: C"))},
	{why: "everything dropped", run: applies(configMap("a: A"), "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}")},
	{why: "a cluster-scoped kind, with a namespace too much", run: func(w *world) {
		role := func(metadata, verbs string) string {
			return "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " + w.Namespace + metadata + "}, " +
				"rules: [{apiGroups: [''], resources: [pods], verbs: [" + verbs + "]}]}"
		}
		w.apply(role(", namespace: x", "get"))
		w.apply(role("", "get, list"))
	}},
	{why: "an atomic list of a built-in kind", run: applies(grant("r", alice), grant("r", alice+", "+bob), grant("r", bob+", "+alice))},
	{why: "a secret's values are shown nowhere", run: applies(
		"{apiVersion: v1, kind: Secret, metadata: {name: s}, type: Opaque, data: {a: aGVsbG8=}}",
		"{apiVersion: v1, kind: Secret, metadata: {name: s}, type: Opaque, data: {a: d29ybGQ=}}")},
	{why: "stringData, which the planner folds into data", run: applies(
		"{apiVersion: v1, kind: Secret, metadata: {name: s}, type: Opaque, stringData: {a: hello}}",
		"{apiVersion: v1, kind: Secret, metadata: {name: s}, type: Opaque, stringData: {a: world}}")},
	{why: "drift by a merge patch", run: func(w *world) {
		state := w.apply(configMap("a: A, b: B"))
		w.mergeAs("other", configMap(""), `{"data": {"a": "theirs", "b": null, "c": "new"}}`)
		w.plan(ssaplan.Request{Manifest: w.manifest(configMap("a: A, b: B")), Prior: state})
		w.apply(configMap("a: A, b: B"))
	}},
	{why: "drift by an update", run: func(w *world) {
		state := w.apply(configMap("a: A, b: B"))
		if obj := w.get(configMap("")); obj != nil {
			obj.Object["data"] = map[string]any{"a": "theirs"}
			w.update(obj)
		}
		w.plan(ssaplan.Request{Manifest: w.manifest(configMap("a: A, b: B")), Prior: state})
		w.apply(configMap("a: A, b: B"))
	}},
	{why: "drift by a strategic merge patch", run: func(w *world) {
		w.apply(configMap("a: A, b: B"))
		w.patchAs("other", configMap(""), types.StrategicMergePatchType, `{"data": {"a": "theirs", "b": null}}`)
		w.apply(configMap("a: A, b: B"))
	}},
	{why: "drift by a JSON patch", run: func(w *world) {
		w.apply(configMap("a: A, b: B"))
		for _, patch := range []string{
			`[{"op": "replace", "path": "/data/a", "value": "theirs"}, {"op": "add", "path": "/metadata/labels", "value": {}}, {"op": "add", "path": "/metadata/labels/c~1d", "value": "C"}, {"op": "remove", "path": "/data/b"}]`,
			`[{"op": "replace", "path": "/data/none", "value": "x"}]`, `[{"op": "remove", "path": "/data/none"}]`,
			`[{"op": "add", "path": "/none/none", "value": "x"}]`, `[{"op": "test", "path": "/data/a", "value": "x"}]`,
			`[{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}, {"op": "replace", "path": "/data/a", "value": "x"}]`,
		} {
			w.patchAs("other", configMap(""), types.JSONPatchType, patch)
		}
		w.apply(configMap("a: A, b: B"))
	}},
	{why: "what another manager wrote is adopted", run: func(w *world) {
		w.apply(configMap("a: A"))
		w.mergeAs("other", configMap(""), `{"data": {"b": "B", "c": "C", "d": "D"}}`)
		w.mergeAs("third", configMap(""), `{"data": {"d": "E"}}`)
		w.send(w.plan(ssaplan.Request{Manifest: w.manifest(configMap("a: X, c: C")), Adopt: []string{"other"}}))
		w.send(w.plan(ssaplan.Request{Manifest: w.manifest(configMap("a: X")), GiveUp: patterns(w, "data.c")}))
	}},
	{why: "an object that a client created is adopted", run: func(w *world) {
		w.create(configMap("a: A, b: B"))
		w.planBy(w.polite, ssaplan.Request{Manifest: w.manifest(configMap("a: A, b: C"))})
		w.apply(configMap("a: A, b: C"))
		w.apply(configMap("a: A"))
	}},
	{why: "an object whose owners were erased", run: func(w *world) {
		w.create(configMap("a: A, b: B"))
		w.mergeAs("other", configMap(""), `{"metadata": {"managedFields": [{}]}}`)
		w.apply(configMap("a: A, b: C"))
	}},
	{why: "eleven updaters are too many", run: func(w *world) {
		w.apply(configMap("a: A"))
		for _, name := range strings.Split("bcdefghijklmn", "") {
			w.mergeAs("updater-"+name, configMap(""), `{"data": {"`+name+`": "x"}}`)
		}
	}},
	{why: "finalizers are a set", run: func(w *world) {
		w.apply(held("a: A"))
		w.applyAs("other", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, finalizers: [example.com/other]}}", false)
		w.apply(configMap("a: A"))
	}},
	{why: "owner references have keys", run: func(w *world) {
		owned := func(uids ...string) string {
			var refs []string
			for _, uid := range uids {
				refs = append(refs, "{apiVersion: v1, kind: ConfigMap, name: o, uid: "+uid+"}")
			}
			return "{apiVersion: conformance.example.com/v1, kind: Gadget, metadata: {name: g, ownerReferences: [" + strings.Join(refs, ", ") + "]}, spec: {color: red}}"
		}
		w.apply(owned("a", "b"))
		w.applyAs("other", owned("c"), false)
		w.apply(owned("b", "d"))
	}},

	{why: "list keys that the manifest leaves to their defaults", run: func(w *world) {
		template := func(ports string) *unstructured.Unstructured {
			return w.manifest(podTemplate("{name: a, image: i, ports: [" + ports + "]}"))
		}
		w.plan(ssaplan.Request{Manifest: template("{containerPort: 53}, {containerPort: 53, protocol: UDP}")})
		plan, err := w.planner.Plan(w.t.Context(), ssaplan.Request{Manifest: template("{containerPort: 53}, {containerPort: 80}")})
		if err == nil {
			_, err = w.planner.Apply(w.t.Context(), plan)
		}
		w.note("applied: %v", err)
		w.plan(ssaplan.Request{Manifest: template("{containerPort: 53}, {containerPort: 80}")})
		w.plan(ssaplan.Request{Manifest: template("{containerPort: 80}, {containerPort: 53, name: dns}")})
		w.plan(ssaplan.Request{Manifest: template("{containerPort: 80}")})
	}},

	// Lists, sets and maps of custom resources.
	{why: "a custom resource: create and no-op", run: edit("size: 1, ratio: 0.5, port: 80, enabled: true", "size: 1, ratio: 0.5, port: 80, enabled: true")},
	{why: "a custom resource: every kind of scalar edited", run: edit("size: 1, ratio: 0.5, port: 80, enabled: true", "size: 9007199254740993, ratio: 2.25, port: http, enabled: false")},
	{why: "a custom resource: a whole number where any number may be", run: edit("ratio: 1", "ratio: 1")},
	{why: "a keyed list: an element edited, one added, one dropped", run: edit(
		"parts: [{name: a, weight: 1}, {name: b, weight: 2}]", "parts: [{name: b, weight: 3}, {name: c}]")},
	{why: "a keyed list: moved", run: edit("parts: [{name: a}, {name: b}, {name: c}]", "parts: [{name: c}, {name: a}, {name: b}]")},
	{why: "a keyed list: moved and edited", run: edit("parts: [{name: a}, {name: b}, {name: c}]", "parts: [{name: c, weight: 1}, {name: b}, {name: a}]")},
	{why: "a keyed list: shared, and our elements dropped", run: shared("parts: [{name: a, weight: 1}, {name: b, weight: 2}]",
		"parts: [{name: b, weight: 2}, {name: c, weight: 3}]", "parts: [{name: a, weight: 1}]")},
	{why: "a keyed list: somebody else's element comes first", run: drift("parts: [{name: a}, {name: b}]", "parts: [{name: x}, {name: a}]")},
	{why: "a keyed list: sets in its elements", run: edit("parts: [{name: a, tags: [x, y]}]", "parts: [{name: a, tags: [y, z]}]")},
	{why: "a set: added, dropped and moved", run: edit("tags: [a, b, c]", "tags: [c, d, a]")},
	{why: "a set: shared", run: shared("tags: [a, b]", "tags: [b, c]", "tags: [a]")},
	{why: "an atomic list: edited, emptied, dropped", run: applies(gadget("steps: [a, b]"), gadget("steps: [b, a]"), gadget("steps: []"), gadget(""))},
	{why: "an atomic list: conflict", run: shared("steps: [a]", "size: 1", "steps: [b]")},
	{why: "an atomic map: edited and taken", run: drift("fixed: {a: A, b: B}", "fixed: {a: A}")},
	{why: "a map: shared key by key", run: shared("labels: {a: A, b: B}", "labels: {b: B, c: C}", "labels: {a: X}")},
	{why: "a map: created empty, filled, dropped", run: applies(gadget("labels: {}"), gadget("labels: {a: A}"), gadget(""))},
	{why: "fields without a schema", run: edit("free: {a: [1, {b: c}], d: {e: null, f: 1.5}}", "free: {a: [1, {b: x}], d: {f: 1.5, g: text}}")},
	{why: "fields without a schema: shared", run: shared("free: {a: {b: 1}}", "free: {a: {c: 2}}", "free: {}")},
	{why: "a value turns into one of another type", run: edit("port: 80, free: {a: 1}", "port: '80', free: {a: '1'}")},

	// Owners.
	{why: "drift", run: drift("size: 1, parts: [{name: a, weight: 1}]", "size: 2, parts: [{name: a, weight: 5}]")},
	{why: "co-ownership of the same values", run: shared("size: 1", "size: 1", "size: 1")},
	{why: "a field that is dropped stays with its other owner", run: shared("size: 1, enabled: true", "size: 1", "enabled: true")},
	{why: "an edit of a shared field", run: shared("size: 1", "size: 1", "size: 2")},
	{why: "conflict with one who applies", run: func(w *world) {
		w.applyAs("other", gadget("size: 1, parts: [{name: a, weight: 1}]"), false)
		w.planBy(w.polite, ssaplan.Request{Manifest: w.manifest(gadget("size: 2, parts: [{name: a, weight: 2}]"))})
		w.apply(gadget("size: 2, parts: [{name: a, weight: 2}]"))
		w.applyAs("other", gadget("size: 1, parts: [{name: a, weight: 1}]"), false)
	}},
	{why: "conflict with ourselves as one who updates", run: func(w *world) {
		w.applyAs("other", configMap("a: A"), false)
		w.mergeAs(manager, configMap(""), `{"data": {"a": "B"}}`)
		w.planBy(w.polite, ssaplan.Request{Manifest: w.manifest(configMap("a: C"))})
		w.apply(configMap("a: C"))
	}},
	{why: "the status is another subresource", run: func(w *world) {
		w.apply(gadget("size: 1"))
		w.patchAs("controller", gadget(""), types.MergePatchType, `{"status": {"ready": true}, "spec": {"size": 5}}`, "status")
		w.apply("{apiVersion: conformance.example.com/v1, kind: Gadget, metadata: {name: g}, spec: {color: red, size: 1}, status: {ready: false}}")
		w.patchAs("controller", gadget(""), types.ApplyPatchType,
			`{"apiVersion": "conformance.example.com/v1", "kind": "Gadget", "status": {"seen": 3}, "spec": {"size": 5}}`, "status")
		w.mergeAs("other", gadget(""), `{"status": {"ready": false}}`)
		w.patchAs("controller", strings.ReplaceAll(gadget(""), "name: g", "name: none"), types.MergePatchType, `{"status": {}}`, "status")
	}},
	{why: "an apply with a status, after the apply of another", run: func(w *world) {
		w.apply(gadget("size: 1"))
		w.patchAs("controller", gadget(""), types.ApplyPatchType, `{"apiVersion": "conformance.example.com/v1", "kind": "Gadget", "status": {"seen": 3}}`, "status")
		lab.NextSecond()
		w.apply("{apiVersion: conformance.example.com/v1, kind: Gadget, metadata: {name: g}, spec: {color: red, size: 1}, status: {seen: 4}}")
	}, differs: "the server gives that apply a time, as if it had changed something, and moves its record to the end"},
	{why: "two versions of a kind", run: func(w *world) {
		w.apply(gadget("size: 1, tags: [a]"))
		v2 := strings.ReplaceAll(gadget("size: 2, tags: [a, b]"), "/v1", "/v2")
		w.applyAs("other", v2, false)
		w.applyAs("other", v2, true)
		w.get(gadget(""))
		w.apply(gadget("size: 1, tags: [a]"))
	}},

	// Identity.
	{why: "an identity change is a replacement", run: func(w *world) {
		state := w.apply(configMap("a: A"))
		renamed := strings.ReplaceAll(configMap("a: A"), "name: c", "name: renamed")
		w.replace(w.plan(ssaplan.Request{Manifest: w.manifest(renamed), Prior: state}))
		w.get(configMap(""))
		w.get(renamed)
	}},
	{why: "a replacement waits for finalizers and goes on", run: func(w *world) {
		state := w.apply(held("a: A"))
		renamed := strings.ReplaceAll(configMap("a: A"), "name: c", "name: renamed")
		plan := w.plan(ssaplan.Request{Manifest: w.manifest(renamed), Prior: state})
		w.replace(plan)
		w.get(configMap(""))
		w.mergeAs("controller", configMap(""), `{"metadata": {"finalizers": null}}`)
		w.get(configMap(""))
		w.replace(plan)
	}},
	{why: "nothing is deleted where the new object is taken", run: func(w *world) {
		state := w.apply(configMap("a: A"))
		renamed := strings.ReplaceAll(configMap("a: A"), "name: c", "name: renamed")
		plan := w.plan(ssaplan.Request{Manifest: w.manifest(renamed), Prior: state})
		w.create(renamed)
		w.replace(plan)
		w.get(configMap(""))
	}},
	{why: "an object that is being deleted", run: func(w *world) {
		w.apply(held("a: A"))
		w.delete(configMap(""), metav1.DeleteOptions{})
		w.delete(configMap(""), metav1.DeleteOptions{})
		w.create(configMap(""))
		w.apply(held("a: B"))
		w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, finalizers: [example.com/held, example.com/more]}}")
		w.apply(configMap("a: B"))
		w.get(configMap(""))
	}},

	// Guards.
	{why: "an object that appears after the plan is not adopted", run: func(w *world) {
		plan := w.plan(ssaplan.Request{Manifest: w.manifest(configMap("a: A"))})
		w.create(configMap("a: X"))
		w.send(plan)
	}},
	{why: "a change of another field in between is followed", run: func(w *world) {
		w.apply(configMap("a: A"))
		plan := w.plan(ssaplan.Request{Manifest: w.manifest(configMap("a: B"))})
		w.mergeAs("other", configMap(""), `{"data": {"x": "theirs"}}`)
		w.send(plan)
	}},
	{why: "a change of the same field in between is another plan", run: func(w *world) {
		w.apply(configMap("a: A"))
		plan := w.plan(ssaplan.Request{Manifest: w.manifest(configMap("a: B"))})
		w.mergeAs("other", configMap(""), `{"data": {"a": "theirs"}}`)
		w.send(plan)
	}},
	{why: "an object that is re-created in between is another object", run: func(w *world) {
		w.apply(configMap("a: A"))
		plan := w.plan(ssaplan.Request{Manifest: w.manifest(configMap("a: B"))})
		w.delete(configMap(""), metav1.DeleteOptions{})
		w.create(configMap("a: A"))
		w.send(plan)
	}},
	{why: "an object that is gone in between", run: func(w *world) {
		w.apply(configMap("a: A"))
		plan := w.plan(ssaplan.Request{Manifest: w.manifest(configMap("a: B"))})
		w.delete(configMap(""), metav1.DeleteOptions{})
		w.send(plan)
	}},
	{why: "a resourceVersion: too old, and of nothing", run: func(w *world) {
		w.applyAs("other", `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, resourceVersion: "1"}, data: {a: A}}`, false)
		w.applyAs("other", `{apiVersion: v1, kind: ConfigMap, metadata: {name: c, resourceVersion: "1"}, data: {a: B}}`, false)
		w.mergeAs("other", configMap(""), `{"metadata": {"resourceVersion": "1"}, "data": {"a": "B"}}`)
		if obj := w.get(configMap("")); obj != nil {
			obj.SetResourceVersion("1")
			w.update(obj)
		}
		w.create(`{apiVersion: v1, kind: ConfigMap, metadata: {name: d, resourceVersion: "1"}}`)
	}},
	{why: "a uid: another one, and of nothing", run: func(w *world) {
		w.applyAs("other", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, uid: other}, data: {a: A}}", false)
		w.apply(configMap("a: A"))
		w.applyAs("other", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, uid: other}, data: {a: A}}", false)
		uid, version := types.UID("other"), "1"
		w.delete(configMap(""), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
		w.delete(configMap(""), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}})
	}},
	{why: "dry runs write nothing", run: func(w *world) {
		dry := []string{metav1.DryRunAll}
		obj := w.manifest(configMap("a: A"))
		got, err := w.Resource(w.t, obj).Create(w.t.Context(), obj, metav1.CreateOptions{DryRun: dry, FieldManager: "creator"})
		w.done("try create", got, err)
		w.get(configMap(""))
		live := w.create(configMap("a: A"))
		if live == nil {
			return
		}
		version := live.GetResourceVersion()
		live.Object["data"] = map[string]any{"a": "B"}
		got, err = w.Resource(w.t, obj).Update(w.t.Context(), live, metav1.UpdateOptions{DryRun: dry, FieldManager: "updater"})
		if w.done("try update", got, err) != nil {
			w.note("same version: %t", got.GetResourceVersion() == version)
		}
		w.delete(configMap(""), metav1.DeleteOptions{DryRun: dry})
		if got := w.get(configMap("")); got != nil {
			w.note("same version: %t", got.GetResourceVersion() == version)
		}
	}},

	// What is refused, or not there.
	{why: "a namespace that doesn't exist", run: func(w *world) {
		w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: conformance-nowhere}}")
		w.applyAs("other", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: conformance-nowhere}}", false)
		w.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: conformance-nowhere}}")
		w.get("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: conformance-nowhere}}")
	}},
	{why: "a kind that isn't served", run: applies("{apiVersion: nothing.example.com/v1, kind: Nothing, metadata: {name: n}}",
		"{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: n}}")},
	{why: "what isn't there can't be changed", run: func(w *world) {
		w.get(configMap(""))
		w.mergeAs("other", configMap(""), "{}")
		w.update(w.manifest(configMap("a: A")))
		w.delete(configMap(""), metav1.DeleteOptions{})
	}},
	{why: "what is there can't be created", run: func(w *world) {
		w.create(configMap("a: A"))
		w.create(configMap("a: A"))
		obj := w.manifest(configMap("a: A"))
		_, err := w.Resource(w.t, obj).Create(w.t.Context(), obj, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		w.failed("try create", err)
	}},
	{why: "a field that the schema lacks", run: applies(configMap("a: A"), "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, dataa: {a: A}}", gadget("nothing: 1"))},
	{why: "a value of another type", run: applies(gadget("size: text"), gadget("tags: text"), configMap("a: 1"))},
	{why: "a key that stands in a list twice", run: applies(gadget("parts: [{name: a}, {name: a}]"), gadget("tags: [a, a]"))},
	{why: "an apply without a manager, and one with managedFields", run: func(w *world) {
		w.applyAs("", configMap("a: A"), false)
		w.applyAs("other", "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, managedFields: []}}", false)
	}},
	{why: "options that no request has", run: func(w *world) {
		obj, force := w.manifest(configMap("")), true
		_, err := w.Resource(w.t, obj).Create(w.t.Context(), obj, metav1.CreateOptions{DryRun: []string{"Server"}})
		w.refused("create", err)
		_, err = w.Resource(w.t, obj).Patch(w.t.Context(), "c", types.MergePatchType, []byte("{}"), metav1.PatchOptions{Force: &force})
		w.refused("patch", err)
	}},
	{why: "an update of a custom resource needs its version", run: func(w *world) {
		w.apply(gadget("size: 1"))
		obj := w.manifest(gadget("size: 2"))
		_, err := w.Resource(w.t, obj).Update(w.t.Context(), obj, metav1.UpdateOptions{})
		w.refused("update", err)
	}},
	{why: "a name or a kind that isn't the address's", run: func(w *world) {
		for _, text := range []string{"{apiVersion: v1, kind: ConfigMap, metadata: {name: x}}", "{apiVersion: v1, kind: Secret, metadata: {name: c}}",
			"{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: elsewhere}}"} {
			obj := w.manifest(configMap(""))
			_, err := w.Resource(w.t, obj).Patch(w.t.Context(), "c", types.ApplyPatchType, []byte(text), metav1.PatchOptions{FieldManager: "other"})
			w.failed("apply", err)
		}
	}},
	{why: "a strategic merge patch of a custom resource", run: func(w *world) {
		w.apply(gadget("size: 1"))
		w.patchAs("other", gadget(""), types.StrategicMergePatchType, `{"spec": {"size": 2}}`)
	}, differs: "the server lists the media types that it accepts"},

	// States.
	{why: "read: present, drifted, absent, re-created", run: func(w *world) {
		state := w.read(w.apply(configMap("a: A, b: B")))
		w.mergeAs("other", configMap(""), `{"data": {"a": "theirs", "b": null}}`)
		state = w.read(state)
		w.plan(ssaplan.Request{Manifest: w.manifest(configMap("a: A, b: B")), Prior: state})
		w.delete(configMap(""), metav1.DeleteOptions{})
		w.read(state)
		w.apply(configMap("a: A, b: B"))
		w.read(state)
		w.plan(ssaplan.Request{Manifest: w.manifest(configMap("a: A, b: C")), Prior: state})
	}},
	{why: "read: a namespace or a type that is gone", run: func(w *world) {
		state := w.apply(configMap("a: A"))
		if state == nil {
			return
		}
		state.Identity.Namespace = "conformance-nowhere"
		w.read(state)
		state.Identity.APIVersion = "nothing.example.com/v1"
		w.read(state)
	}},
	{why: "unknown, ignored and stripped fields", run: func(w *world) {
		w.apply(gadget("size: 1, labels: {a: A, b: B}"))
		edited := w.manifest(gadget("size: 2, labels: {a: X, b: Y}"))
		w.plan(ssaplan.Request{Manifest: edited, Unknown: patterns(w, "spec.labels.b")})
		w.plan(ssaplan.Request{Manifest: edited, Ignore: patterns(w, "spec.labels.b")})
		w.plan(ssaplan.Request{Manifest: edited, Strip: patterns(w, "spec.labels.b")})
	}},
	{why: "a supplied live object", run: func(w *world) {
		w.apply(gadget("size: 1"))
		live := w.get(gadget(""))
		w.plan(ssaplan.Request{Manifest: w.manifest(gadget("size: 2")), Live: live})
		w.mergeAs("other", gadget(""), `{"spec": {"enabled": true}}`)
		w.plan(ssaplan.Request{Manifest: w.manifest(gadget("size: 2")), Live: live})
	}},
	{why: "a generated name", run: func(w *world) {
		w.create("{apiVersion: v1, kind: ConfigMap, metadata: {generateName: gen-}}")
	}, differs: "the generated part of the name is random"},
	{why: "lists by label and name", run: func(w *world) {
		for _, name := range []string{"b", "a", "c"} {
			w.applyAs("other", "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+", labels: {list: "+name+"}}}", false)
		}
		for _, options := range []metav1.ListOptions{{}, {LabelSelector: "list in (a, c)"}, {FieldSelector: "metadata.name=b"}} {
			list, err := w.Resource(w.t, w.manifest(configMap(""))).List(w.t.Context(), options)
			w.done("list", nil, err)
			w.note("%s %v", list.GroupVersionKind(), names(list))
		}
	}},
	{why: "lists in pages", run: func(w *world) {
		for _, name := range []string{"b", "a", "e", "c", "d"} {
			w.applyAs("other", "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+", labels: {list: "+name+"}}}", false)
		}
		w.pages(metav1.ListOptions{Limit: 2}, func() {
			w.create("{apiVersion: v1, kind: ConfigMap, metadata: {name: bb}}")
			w.delete("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}", metav1.DeleteOptions{})
		})
		w.pages(metav1.ListOptions{Limit: 1, LabelSelector: "list in (b, d)"}, func() {})
		w.pages(metav1.ListOptions{Limit: 5}, func() {})
		w.pages(metav1.ListOptions{Limit: 6}, func() {})
		_, err := w.Resource(w.t, w.manifest(configMap(""))).List(w.t.Context(), metav1.ListOptions{Continue: "*"})
		w.note("an invalid place to go on: code %d, reason %q", code(err), apierrors.ReasonForError(err))
	}},

	// Scales.
	{why: "the scale of a workload", run: scales("{apiVersion: apps/v1, kind: ReplicaSet, metadata: {name: r}",
		", spec: {replicas: 1, selector: {matchLabels: {a: b}, matchExpressions: [{key: c, operator: In, values: [d, e]}]}, "+
			"template: {metadata: {labels: {a: b, c: d}}, spec: {containers: [{name: a, image: i}]}}}}")},
	{why: "the scale of a controller with a selector of an old form", run: scales("{apiVersion: v1, kind: ReplicationController, metadata: {name: r}",
		", spec: {replicas: 1, selector: {a: b}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: i}]}}}}")},
	{why: "the scale of a custom resource", run: scales("{apiVersion: conformance.example.com/v1, kind: Gadget, metadata: {name: g}", ", spec: {color: red, replicas: 1}}")},
	{why: "a scale that isn't there", run: func(w *world) {
		w.patchAs("scaler", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}}", types.MergePatchType, `{"spec": {"replicas": 2}}`, "scale")
		w.apply(gadget("mode: a"))
		w.patchAs("scaler", gadget(""), types.MergePatchType, `{"spec": {"replicas": 2}}`, "scale")
	}},

	// What is dropped, and what is said of it.
	{why: "fields that the kind lacks, not applied", run: func(w *world) {
		for _, validation := range []string{"", metav1.FieldValidationWarn, metav1.FieldValidationIgnore, metav1.FieldValidationStrict} {
			for i, text := range []string{
				"{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labelz: {a: A}}, dataa: {a: A}, data: {a: A}}",
				"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r}, rules: [{verbs: [get], resources: [pods], apiGroups: [''], x: 1}]}",
				"{apiVersion: conformance.example.com/v1, kind: Gadget, metadata: {name: g, other: 1}, more: {}, spec: {color: red, none: 1, " +
					"parts: [{name: a, weight: 1, heavy: true}], labels: {a: A}, free: {a: {b: 1}}}, status: {any: 1}}",
			} {
				w.validated("create", i, validation, w.manifest(text))
				if validation == "" {
					w.create(text) // so that the next ones may be updates
				}
				if live := w.get(text); live != nil {
					live.Object["unknown"] = "x"
					w.validated("update", i, validation, live)
				}
			}
			for _, text := range []string{configMap(""), gadget("")} {
				w.validatedPatch(text, validation, types.MergePatchType, `{"nothing": 1, "metadata": {"labels": {"a": "A"}}}`)
				w.validatedPatch(text, validation, types.JSONPatchType, `[{"op": "add", "path": "/nothing", "value": 1}]`)
			}
			w.validatedPatch(configMap(""), validation, types.StrategicMergePatchType, `{"nothing": 1, "data": {"b": "B"}}`)
		}
	}},
	{why: "fields that are twice in a body", run: func(w *world) {
		w.create(configMap("a: A"))
		w.apply(gadget("size: 1"))
		for _, validation := range []string{"", metav1.FieldValidationWarn, metav1.FieldValidationIgnore, metav1.FieldValidationStrict} {
			w.validatedPatch(configMap(""), validation, types.ApplyPatchType,
				`{"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "A", "a": "A"}, "metadata": {"name": "c", "name": "c"}}`)
			w.validatedPatch(gadget(""), validation, types.ApplyPatchType,
				"apiVersion: conformance.example.com/v1\nkind: Gadget\nspec: {size: 1, size: 1}\nspec: {size: 1}\n")
			for _, text := range []string{configMap(""), gadget("")} {
				w.validatedPatch(text, validation, types.MergePatchType, `{"metadata": {"labels": {"a": "A", "a": "B"}}, "metadata": {"labels": {"c": "C"}}}`)
				w.validatedPatch(text, validation, types.JSONPatchType, `[{"op": "test", "op": "add", "path": "/metadata/labels", "value": {"a": "A"}}]`)
			}
			w.validatedPatch(configMap(""), validation, types.StrategicMergePatchType, `{"data": {"b": "B", "b": "C"}}`)
		}
	}},

	// Propagation.
	{why: "what is held is deleted with each propagation policy", run: func(w *world) {
		w.apply(held("a: A"))
		foreground, orphan, background := metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan, metav1.DeletePropagationBackground
		yes, none := true, metav1.DeletionPropagation("None")
		for _, options := range []metav1.DeleteOptions{
			{PropagationPolicy: &foreground, DryRun: []string{metav1.DryRunAll}}, {PropagationPolicy: &foreground}, {}, {PropagationPolicy: &orphan},
			{PropagationPolicy: &background}, {OrphanDependents: &yes}, {},
		} {
			w.delete(configMap(""), options)
			w.get(configMap(""))
		}
		w.refused("delete", w.Resource(w.t, w.manifest(configMap(""))).Delete(w.t.Context(), "c", metav1.DeleteOptions{PropagationPolicy: &none}))
	}},

	// The in-memory server differs in these scenarios.
	{why: "defaults of built-in kinds", run: applies(podTemplate("{name: a, image: i}"), podTemplate("{name: a, image: j}")),
		differs: "the server sets defaults, which its answers show"},
	{why: "a map of a built-in kind that is emptied", run: applies(configMap("a: A"), configMap("")),
		differs: "the merge leaves a null, and the server makes it nothing"},
	{why: "a map of a custom resource that is emptied", run: edit("labels: {a: A}", "labels: {}"),
		differs: "validation: the merge leaves a null, which the schema doesn't allow"},
	{why: "a dropped field with a default", run: applies(
		"{apiVersion: conformance.example.com/v1, kind: Gadget, metadata: {name: g}, spec: {size: 1, color: green}}",
		"{apiVersion: conformance.example.com/v1, kind: Gadget, metadata: {name: g}, spec: {size: 1}}"),
		differs: "the server sets a dropped field to its default"},
	{why: "defaults of custom resources", run: applies("{apiVersion: conformance.example.com/v1, kind: Gadget, metadata: {name: g}, spec: {size: 1}}"),
		differs: "the server sets the schema's defaults"},
	{why: "quantities", run: applies("{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {cpu: 1000m}}}"),
		differs: "the server writes quantities in their shortest form"},
	{why: "null and empty values of a built-in kind", run: applies(configMap("a: null")),
		differs: "the server makes an empty text of a null"},
	{why: "an immutable field of a built-in kind", run: applies(
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, immutable: true, data: {a: A}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, immutable: true, data: {a: B}}"),
		differs: "validation: the server says that the field is immutable"},
	{why: "an immutable field of a custom resource", run: edit("mode: a", "mode: b"),
		differs: "validation: the server checks the rules of the schema"},
	{why: "an invalid name", run: applies("{apiVersion: v1, kind: ConfigMap, metadata: {name: Not_A_Name}}"),
		differs: "validation: the server checks names"},
	{why: "a required field that is missing", run: applies("{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {}}"),
		differs: "validation: the server requires ports, and allocates addresses"},
	{why: "a finalizer that admission adds", run: applies(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: p},
		spec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem, resources: {requests: {storage: 1Gi}}}}`),
		differs: "admission: the server protects claims by a finalizer"},
	{why: "a label that the server adds", run: func(w *world) {
		w.apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + w.Namespace + "-labelled}}")
	},
		differs: "the server labels namespaces with their names, and gives them a finalizer"},
	{why: "a namespace that is deleted", run: func(w *world) {
		w.apply(configMap("a: A"))
		w.delete("{apiVersion: v1, kind: Namespace, metadata: {name: "+w.Namespace+"}}", metav1.DeleteOptions{})
		w.get(configMap(""))
	}, differs: "a controller deletes what is in a namespace; here it is gone at once"},
	{why: "deleting in the foreground", run: func(w *world) {
		w.create(configMap("a: A"))
		foreground := metav1.DeletePropagationForeground
		w.delete(configMap(""), metav1.DeleteOptions{PropagationPolicy: &foreground})
		w.get(configMap(""))
	}, differs: "a controller deletes what an object owns; here nothing is waited for"},
	{why: "a JSON patch whose value has a field twice", run: func(w *world) {
		w.create(configMap("a: A"))
		w.validatedPatch(configMap(""), metav1.FieldValidationWarn, types.JSONPatchType, `[{"op": "replace", "path": "/data", "value": {"a": "A", "a": "B"}}]`)
	}, differs: "the server says of the object, too, that the field is there twice"},
	{why: "warnings", run: applies("{apiVersion: v1, kind: Endpoints, metadata: {name: e}}"),
		differs: "the server warns of what is deprecated"},
	{why: "versions of a built-in kind that are not alike", run: func(w *world) {
		w.create("{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {maxReplicas: 2, targetCPUUtilizationPercentage: 50, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}}}")
		w.get("{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}}")
	}, differs: "the server converts between versions"},
}

func names(list *unstructured.UnstructuredList) []string {
	var out []string
	for _, item := range list.Items {
		out = append(out, item.GetName())
	}
	return out
}
