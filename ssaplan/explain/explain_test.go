package explain_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// pod returns a manifest of a Pod with containers.
func pod(containers string) string {
	return `{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [` + containers + `]}}`
}

// containersOf returns the containers of a Pod.
func containersOf(obj map[string]any) []any {
	return obj["spec"].(map[string]any)["containers"].([]any)
}

// With a remembered state it is certain whether the manifest was edited: it is where the edit is the value itself, an
// item that the value is in, or in the value. What goes along with the apply beside that is listed, once each.
func TestCausesOfChanges(t *testing.T) {
	const (
		a, b  = `spec.containers[name="a"]`, `spec.containers[name="b"]`
		apart = " (side effect of the server)"
	)
	for _, row := range []struct {
		why     string
		applied string
		others  string // a patch of another manager
		edited  string
		webhook func(map[string]any)
		want    []string
	}{
		{
			why:     "an item that the manifest adds, and that another manager added before",
			applied: pod("{name: a, image: a}"), others: `{spec: {containers: [{name: b, image: old}]}}`,
			edited: pod("{name: a, image: a}, {name: b, image: new}"),
			want:   []string{b + ": moved from position 0 to 1", b + `.image: "old" -> "new"`},
		},
		{
			why:     "a field of an item that another manager removed",
			applied: pod("{name: a, image: a}, {name: b, image: old}"),
			others:  `{spec: {containers: [{name: b, $patch: delete}]}}`,
			edited:  pod("{name: a, image: a}, {name: b, image: new}"), want: []string{b + `: + {"image":"new","name":"b"}`},
		},
		{
			why:     "one that the manifest has at another place as it had it",
			applied: pod("{name: b, image: old}, {name: a, image: a}"),
			others:  `{spec: {containers: [{name: b, $patch: delete}]}}`,
			edited:  pod("{name: a, image: a}, {name: b, image: old}"),
			want:    []string{b + `: + {"image":"old","name":"b"} (drifted)`},
		},
		{
			why:     "others changed the order of items that are not declared",
			applied: pod("{name: a, image: a}"), others: `{spec: {containers: [{name: b, image: b}, {name: c, image: c}]}}`,
			edited: pod("{name: a, image: x}"),
			webhook: func(obj map[string]any) {
				slices.SortFunc(containersOf(obj), func(x, y any) int {
					return strings.Compare(y.(map[string]any)["name"].(string), x.(map[string]any)["name"].(string))
				})
			},
			want: []string{a + `.image: "a" -> "x"`, b + ": moved from position 0 to 1" + apart},
		},
		{
			why:     "an item that the manifest adds hides no side effect elsewhere",
			applied: pod("{name: a, image: a}"), edited: pod("{name: a, image: a}, {name: b, image: b}"),
			webhook: func(obj map[string]any) {
				obj["spec"].(map[string]any)["nodeName"] = "n1"
				containersOf(obj)[0].(map[string]any)["tty"] = true
				containersOf(obj)[1].(map[string]any)["tty"] = true
			},
			want: []string{
				b + `: + {"image":"b","name":"b"}`, a + ".tty: + true" + apart, `spec.nodeName: + "n1"` + apart, b + ".tty: + true" + apart,
			},
		},
		{
			why:     "what comes into a new item is shown at its own place, but for the defaults",
			applied: pod("{name: a, image: a}"), edited: pod("{name: a, image: a}, {name: b, image: 'b:1', ports: [{containerPort: 1}]}"),
			webhook: func(obj map[string]any) {
				item := containersOf(obj)[1].(map[string]any)
				item["securityContext"] = map[string]any{"privileged": true, "runAsUser": int64(0)}
				item["imagePullPolicy"], item["terminationMessagePath"] = "IfNotPresent", "/elsewhere"
				item["terminationMessagePolicy"], item["resources"] = "File", map[string]any{}
				item["ports"].([]any)[0].(map[string]any)["hostPort"] = int64(1)
				item["env"] = []any{map[string]any{"name": "TOKEN", "value": "x"}}
			},
			want: []string{
				b + `: + {"image":"b:1","name":"b","ports":[{"containerPort":1,"protocol":"TCP"}]}`,
				b + `.env: + [{"name":"TOKEN","value":"x"}]` + apart, b + `.ports[containerPort=1,protocol="TCP"].hostPort: + 1` + apart,
				b + ".securityContext.privileged: + true" + apart, b + ".securityContext.runAsUser: + 0" + apart,
				b + `.terminationMessagePath: + "/elsewhere"` + apart,
			},
		},
		{
			why:     "the fields of another in a map that the manifest drops go with it",
			applied: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {l: "1"}}, data: {a: A}}`,
			others:  `{data: {x: X}}`,
			edited:  `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, labels: {l: "1"}}}`,
			webhook: func(obj map[string]any) { delete(obj, "data") },
			want:    []string{`data.a: - "A" (dropped from the manifest)`, `data.x: - "X"` + apart},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			m := newMemory(t)
			manifest, edited := object(t, row.applied), object(t, row.edited)
			live := m.apply(us, manifest)
			state := remembered(t, manifest, live)
			live = m.patch(live, row.others)
			e := mustApply(t, explain.Input{
				Manifest: edited, Live: live, Answer: changed(t, m.try(edited), row.webhook), Manager: us, Prior: state,
			})
			require.Equal(t, row.want, lines(e.Changes))
		})
	}
}

// The server removes or replaces values that the live object has just as the manifest declares them. Such a change is a
// side effect of the server and not an edit, with and without a state.
func TestServerOverridesWhatIsDeclared(t *testing.T) {
	m := newMemory(t)
	manifest, edited := object(t, pod("{name: a, image: a, tty: true, workingDir: /a}")), object(t, pod("{name: a, image: b, tty: true, workingDir: /a}"))
	live := m.apply(us, manifest)
	answer := changed(t, m.try(edited), func(obj map[string]any) {
		item := containersOf(obj)[0].(map[string]any)
		item["workingDir"] = "/b"
		delete(item, "tty")
	})
	for _, prior := range []*explain.State{remembered(t, manifest, live), nil} {
		e := mustApply(t, explain.Input{Manifest: edited, Live: live, Answer: answer, Manager: us, Prior: prior})
		require.Equal(t, []string{
			`spec.containers[name="a"].image: "a" -> "b"`,
			`spec.containers[name="a"].tty: - true (side effect of the server)`,
			`spec.containers[name="a"].workingDir: "/a" -> "/b" (side effect of the server)`,
		}, lines(e.Changes))
	}
}

// If a manager that owned the only entry of a map declares it as empty, a server may make it null. So where a map is
// null that a webhook fills as soon as it is empty, managedFields don't show whether the manifest was edited.
func TestNullMapThatIsFilled(t *testing.T) {
	const kind = "ex.io/v1 Widget"
	for why, live := range map[string]map[string]any{
		"we own the same":                    form(t, kind, `{a: 1, m: null}`, applied(us, `{"f:a": {}, "f:m": {}}`)),
		"another field of ours goes at once": form(t, kind, `{a: 1, b: 2, m: null}`, applied(us, `{"f:a": {}, "f:b": {}, "f:m": {}}`)),
	} {
		e := mustApply(t, explain.Input{
			Manifest: form(t, kind, `{a: 1, m: {}}`), Live: live,
			Answer: form(t, kind, `{a: 1, m: {x: theirs}}`, applied(us, `{"f:a": {}, "f:m": {}}`)), Manager: us,
		})
		require.Contains(t, lines(e.Changes), "spec.m: null -> {} (edited or changed by others)", why)
	}
}

// A dry run makes up the values that the server picks. None of them is shown as what will be there, wherever it comes
// in: as a change of its own or in what others add.
func TestValuesThatTheServerPicks(t *testing.T) {
	service := func(ports string) map[string]any {
		return object(t, `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {type: NodePort, ports: [`+ports+`]}}`)
	}
	m := newMemory(t)
	live := m.apply(us, service("{name: a, port: 80, nodePort: 30001}, {name: b, port: 81, nodePort: 30002}"))
	manifest := service("{name: a, port: 80}, {name: b, port: 81, nodePort: 30001}")
	answer := changed(t, m.try(manifest), func(obj map[string]any) {
		spec := obj["spec"].(map[string]any)
		spec["ports"].([]any)[0].(map[string]any)["nodePort"] = int64(31111)
		spec["ports"] = append(spec["ports"].([]any),
			map[string]any{"name": "c", "port": int64(82), "protocol": "TCP", "nodePort": int64(31112)})
		spec["clusterIP"] = "10.0.0.9"
	})
	e := mustApply(t, explain.Input{Manifest: manifest, Live: live, Answer: answer, Manager: us})
	require.Equal(t, []string{
		`spec.ports[port=80,protocol="TCP"].nodePort: assigned at apply`,
		`spec.ports[port=81,protocol="TCP"].nodePort: 30002 -> 30001`,
		"spec.clusterIP: assigned at apply",
		`spec.ports[port=82,protocol="TCP"]: + {"name":"c","port":82,"protocol":"TCP"} (side effect of the server)`,
		`spec.ports[port=82,protocol="TCP"].nodePort: assigned at apply`,
	}, lines(e.Changes))
	for _, c := range e.Changes {
		require.Equal(t, strings.HasSuffix(c.String(), "assigned at apply"), c.Assigned)
		require.False(t, c.Assigned && c.After != nil)
	}
}

// Of an object that isn't the remembered one, or won't be there for long, the explanation warns.
func TestWarningsOfTheObject(t *testing.T) {
	const (
		deleted  = "v1/ConfigMap default/a: is being deleted, and "
		goesSoon = deleted + "the applied fields are deleted with it"
		gone     = deleted + "the apply removes the last finalizer, so the object will be deleted; plan again to create it"
	)
	since := "2026-01-01T00:00:00Z"
	for _, row := range []struct {
		why          string
		uid          string // that is remembered
		live, answer map[string]any
		want         []string
	}{
		{why: "the remembered object", uid: "7"},
		{why: "a state that remembers no UID can't tell", uid: ""},
		{
			why: "another object of the same name", uid: "6",
			want: []string{"v1/ConfigMap default/a: the object was re-created: its uid was 6 and is 7"},
		},
		{
			why: "being deleted, and held", uid: "7",
			live:   map[string]any{"deletionTimestamp": since, "finalizers": []any{"x", "y"}},
			answer: map[string]any{"finalizers": []any{"x", "y"}},
			want:   []string{deleted + "will be gone once its finalizers are removed: x, y"},
		},
		{
			why: "the apply takes the last finalizer, and no time of grace is left", uid: "7",
			live:   map[string]any{"deletionTimestamp": since, "deletionGracePeriodSeconds": int64(0), "finalizers": []any{"x"}},
			answer: map[string]any{"finalizers": nil}, want: []string{gone},
		},
		{
			why: "the apply takes the last finalizer of a kind without a time of grace", uid: "7",
			live:   map[string]any{"deletionTimestamp": since, "finalizers": []any{"x"}},
			answer: map[string]any{"finalizers": nil}, want: []string{gone},
		},
		{
			why: "in its time of grace the object stays, also without finalizers", uid: "7",
			live: map[string]any{
				"deletionTimestamp": since, "deletionGracePeriodSeconds": int64(30), "finalizers": []any{"x"},
			},
			answer: map[string]any{"finalizers": nil}, want: []string{goesSoon},
		},
		{
			why: "nothing holds it, and the apply takes nothing away", uid: "7",
			live: map[string]any{"deletionTimestamp": since, "deletionGracePeriodSeconds": int64(0)}, want: []string{goesSoon},
		},
		{why: "both", uid: "6", live: map[string]any{"deletionTimestamp": since}, want: []string{
			"v1/ConfigMap default/a: the object was re-created: its uid was 6 and is 7", goesSoon,
		}},
	} {
		t.Run(row.why, func(t *testing.T) {
			manifest := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}`)
			live := object(t,
				`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default, uid: "7", resourceVersion: "1"}}`)
			set := func(obj, more map[string]any) map[string]any {
				return changed(t, obj, func(obj map[string]any) {
					for name, v := range more {
						obj["metadata"].(map[string]any)[name] = v
					}
				})
			}
			live = set(live, row.live)
			in := explain.Input{
				Manifest: manifest, Live: live, Answer: set(live, row.answer), Manager: us, Prior: &explain.State{UID: row.uid},
			}
			e := mustApply(t, in)
			require.Equal(t, row.want, lines(e.Warnings))
			if row.answer == nil {
				known := explain.Known(&explain.Explanation{}, explain.Input{Prior: in.Prior, Live: live})
				require.True(t, known.NoOp)
				require.Equal(t, row.want, lines(known.Warnings), "a no-op that is known warns of the object as it is now")
			}
			in.Prior = nil
			e = mustApply(t, in)
			require.Empty(t, slices.DeleteFunc(e.Warnings, func(w foreign.Text) bool { return strings.HasPrefix(string(w), deleted) }))
		})
	}
}

// An object without managedFields gets a warning if the manifest declares fields. Without such fields nothing can be
// dropped later.
func TestWarningsOfUnrecordedObjects(t *testing.T) {
	const head = "apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default"
	const before = "{manager: before-first-apply, operation: Update, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {f:data: {f:a: {}}}}"
	live := object(t, "{"+head+"}, data: {a: x}}")
	for _, row := range []struct{ why, manifest, answer, want string }{
		{
			"a declared field", "{" + head + "}, data: {b: y}}",
			"{" + head + ", managedFields: [" + before + ", {manager: " + us + ", operation: Apply, apiVersion: v1, " +
				"fieldsType: FieldsV1, fieldsV1: {f:data: {f:b: {}}}}]}, data: {a: x, b: y}}",
			`v1/ConfigMap default/a: has no managedFields, so the server records its fields for "before-first-apply" at this apply. ` +
				`1 of them aren't in the manifest and stay. Fields that are dropped from the manifest later stay, too, until ` +
				`"before-first-apply" is adopted`,
		},
		{"no declared field", "{" + head + "}}", "{" + head + ", managedFields: [" + before + "]}, data: {a: x}}", ""},
	} {
		e := mustApply(t, explain.Input{Manifest: object(t, row.manifest), Live: live, Answer: object(t, row.answer), Manager: us})
		require.Equal(t, row.want, strings.Join(lines(e.Warnings), "\n"), row.why)
	}
}

// An explanation rests on records that can be read: what can't be is an error that says of which side it is.
func TestRecordsThatCantBeRead(t *testing.T) {
	manifest := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: A}}`)
	m := newMemory(t)
	good := m.apply(us, manifest)
	broken := changed(t, good, func(obj map[string]any) {
		(&unstructured.Unstructured{Object: obj}).SetResourceVersion("0")
		records := obj["metadata"].(map[string]any)["managedFields"].([]any)
		records[0].(map[string]any)["fieldsV1"] = map[string]any{"odd": int64(5)}
	})
	for _, in := range []explain.Input{
		{Manifest: manifest, Answer: broken, Manager: us},
		{Manifest: manifest, Live: good, Answer: broken, Manager: us},
	} {
		_, err := explain.Apply(in)
		require.ErrorContains(t, err, "dry run: ")
	}
	_, err := explain.Apply(explain.Input{Manifest: manifest, Live: broken, Answer: good, Manager: us})
	require.Error(t, err)
}

// Only equal JSON proves that a server would write nothing.
func TestEqual(t *testing.T) {
	list := []any{"a"}
	for _, row := range []struct {
		why  string
		a, b any
		want bool
	}{
		{"texts", "a", "a", true},
		{"other texts", "a", "b", false},
		{"a text is no number", "1", int64(1), false},
		{"fractions", 1.5, 1.5, true},
		{"other fractions", 1.5, 1.25, false},
		{"numbers of another type of Go", int64(1), 1, true},
		{"null", nil, nil, true},
		{"null is no empty text", nil, "", false},
		{"no map is null", map[string]any(nil), map[string]any{}, false},
		{"no list is null", []any(nil), []any{}, false},
		{"empty maps", map[string]any{}, map[string]any{}, true},
		{"a map is no list", map[string]any{}, []any{}, false},
		{"one map", map[string]any{"b": list}, map[string]any{"b": list}, true},
		{"a name more", map[string]any{"b": "1"}, map[string]any{"b": "1", "c": nil}, false},
		{"the order of items", []any{"a", "b"}, []any{"b", "a"}, false},
		{"what has no JSON proves nothing", func() {}, func() {}, false},
		{"on one side, too", "", func() {}, false},
	} {
		a, b := map[string]any{"a": row.a}, map[string]any{"a": row.b}
		require.Equal(t, row.want, explain.Equal(a, b), row.why)
		require.Equal(t, row.want, explain.Equal(b, a), row.why)
	}
}

// A refresh knows the object that was applied by its UID, and remembers nothing of another one.
func TestRefreshKnowsTheObject(t *testing.T) {
	m := newMemory(t)
	manifest := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: A}}`)
	live := m.patch(m.apply(us, manifest), `{data: {a: B}}`)
	for _, row := range []struct {
		why       string
		uid       string
		recreated bool
	}{
		{"the object that was applied", string((&unstructured.Unstructured{Object: live}).GetUID()), false},
		{"a state without UID is of whatever has the name", "", false},
		{"another object of the name", "another", true},
	} {
		prior := remembered(t, manifest, m.try(manifest))
		prior.UID = row.uid
		refreshed := mustRefresh(t, prior, live)
		require.Equal(t, row.recreated, refreshed.Recreated, row.why)
		if row.recreated {
			require.Same(t, prior, refreshed.State, row.why)
			require.Empty(t, refreshed.Drift)
			continue
		}
		require.Equal(t, []string{`data.a: "A" -> "B" (drifted: changed by "other" (Update))`}, lines(refreshed.Drift),
			row.why)
		require.Equal(t, "B", refreshed.State.Observed.Object["data"].(map[string]any)["a"])
		require.Equal(t, "A", prior.Observed.Object["data"].(map[string]any)["a"], "the prior state stays as it is")
	}
}

// An answer is about the object that was read only in its version.
func TestSameVersion(t *testing.T) {
	of := func(version string) map[string]any {
		return map[string]any{"metadata": map[string]any{"resourceVersion": version}}
	}
	for _, row := range []struct {
		why                    string
		live, answer, manifest map[string]any
		want                   bool
	}{
		{"the same", of("1"), of("1"), of(""), true},
		{"another", of("1"), of("2"), of(""), false},
		{"another, which the manifest names", of("1"), of("2"), of("2"), false},
		{"a create", nil, of(""), of(""), true},
		{"a create of a manifest with a version", nil, of("7"), of("7"), true},
		{"an object that came meanwhile", nil, of("7"), of(""), false},
	} {
		require.Equal(t, row.want, explain.SameVersion(row.live, row.answer, row.manifest), row.why)
	}
}

// A map that replaces another value is one change of the whole value, whichever manager owned it. A map that replaces
// null, or adds fields to a map, is one change for each field.
func TestValueThatBecomesAMap(t *testing.T) {
	const kind = "ex.io/v1 Widget"
	for was, want := range map[string]string{
		"7":           `spec.any: 7 -> {"b":{"c":7},"d":1} (edited or changed by others)`,
		"text":        `spec.any: "text" -> {"b":{"c":7},"d":1} (edited or changed by others)`,
		"{b: 7}":      `spec.any.b: 7 -> {"c":7} (edited or changed by others)`,
		"{b: {c: 1}}": `spec.any.b.c: 1 -> 7 (edited or changed by others)`,
		"null":        `spec.any.b.c: + 7 (edited or changed by others)`,
		"{b: null}":   `spec.any.b.c: + 7 (edited or changed by others)`,
		"{b: {d: 1}}": `spec.any.b.c: + 7 (edited or changed by others)`,
	} {
		e := mustApply(t, explain.Input{
			Manifest: form(t, kind, `{a: 1, any: {b: {c: 7}, d: 1}}`),
			Live:     form(t, kind, `{a: 1, any: `+was+`}`, applied(us, `{"f:a": {}}`)),
			Answer: form(t, kind, `{a: 1, any: {b: {c: 7}, d: 1}}`,
				applied(us, `{"f:a": {}, "f:any": {"f:b": {"f:c": {}}, "f:d": {}}}`)), Manager: us,
		})
		require.Equal(t, want, lines(e.Changes)[0], was)
	}
}

// A map in a field that only newer servers have is atomic. This library doesn't know that, and still explains the
// change of the whole map.
func TestMapsOfNewerServers(t *testing.T) {
	const kind = "v1 Pod"
	record := applied(us, `{"f:newMap": {}}`)
	e := mustApply(t, explain.Input{
		Manifest: form(t, kind, `{newMap: {x: new}}`), Live: form(t, kind, `{newMap: {x: old, z: gone}}`, record),
		Answer: form(t, kind, `{newMap: {x: new}}`, record), Manager: us,
	})
	require.Equal(t, []string{`spec.newMap: {"x":"old","z":"gone"} -> {"x":"new"}`}, lines(e.Changes))
}

// A cached no-op has the assigned and ineffective fields of the earlier explanation. Its only warning is that of the
// ineffective field.
func TestKnownNoOp(t *testing.T) {
	before := &explain.Explanation{
		Assigned:    []projection.Path{path(t, "spec.clusterIP")},
		Ineffective: []projection.Ineffective{{Path: path(t, "spec.typo"), Reason: projection.ReasonAbsent}},
		Warnings:    []foreign.Text{"of then"},
	}
	e := explain.Known(before, explain.Input{Live: object(t, `{apiVersion: v1, kind: Service, metadata: {name: a}}`)})
	require.True(t, e.NoOp)
	require.Equal(t, before.Assigned, e.Assigned)
	require.Equal(t, before.Ineffective, e.Ineffective)
	require.Len(t, e.Warnings, 1)
	require.Contains(t, e.Warnings[0], "spec.typo: the server doesn't keep what the manifest has here")
	require.Empty(t, e.Changes)
}
