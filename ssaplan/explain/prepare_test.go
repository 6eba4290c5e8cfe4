package explain_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// A manifest is sent without what is stripped or not known, and in the form that the server tracks. Nothing happens to
// the manifest of the host.
func TestPrepare(t *testing.T) {
	for _, row := range []struct {
		why, manifest  string
		strip, unknown []string
		want           string
		paths          []string
		adjustments    int
	}{
		{why: "nothing to do", manifest: `{kind: A, spec: {a: 1}}`, want: `{kind: A, spec: {a: 1}}`},
		{
			why: "what is stripped is left out, and is not unknown", manifest: `{kind: A, spec: {a: 1, b: 2}}`,
			strip: []string{"spec.b"},
			want:  `{kind: A, spec: {a: 1}}`,
		},
		{
			why: "what isn't known is left out and named", manifest: `{kind: A, spec: {a: 1, b: 2}}`,
			unknown: []string{"spec.b"},
			want:    `{kind: A, spec: {a: 1}}`, paths: []string{"spec.b"},
		},
		{
			why: "what isn't known is named although it is stripped as well", manifest: `{kind: A, spec: {a: 1, b: 2}}`,
			strip: []string{"spec.b"}, unknown: []string{"spec.b"}, want: `{kind: A, spec: {a: 1}}`, paths: []string{"spec.b"},
		},
		{
			why: "a host may leave out what it doesn't know", manifest: `{kind: A, spec: {a: 1}}`, unknown: []string{"spec.b"},
			want: `{kind: A, spec: {a: 1}}`, paths: []string{"spec.b"},
		},
		{
			why: "wildcards that match nothing name no field", manifest: `{kind: A, spec: {a: 1}}`,
			unknown: []string{"spec.list[*].b", `spec.list[name~"a*"]`, "data.*"}, want: `{kind: A, spec: {a: 1}}`,
		},
		{
			why: "what lies above the unknown is named once, as it was left out", manifest: `{kind: A, spec: {a: 1, b: {c: 1}}}`,
			unknown: []string{"spec.b", "spec.b.c"}, want: `{kind: A, spec: {a: 1}}`, paths: []string{"spec.b"},
		},
		{
			why:      "positions are those of the manifest as it was written, which is looked at once",
			manifest: `{kind: A, spec: {ports: [{port: 80}, {port: 81}, {port: 82}], args: [a, b, c, d]}}`,
			strip:    []string{"spec.ports[0]", "spec.args[1]"}, want: `{kind: A, spec: {ports: [{port: 81}, {port: 82}], args: [a, c, d]}}`,
		},
		{
			why:      "also where something else is left out before them",
			manifest: `{kind: A, spec: {ports: [{port: 80}, {port: 81}, {port: 82}]}}`,
			strip:    []string{"spec.ports[1]"}, unknown: []string{"spec.ports[0]"}, want: `{kind: A, spec: {ports: [{port: 82}]}}`,
			paths: []string{"spec.ports[0]"},
		},
		{
			why:      "and where the form of the server differs",
			manifest: `{apiVersion: v1, kind: Secret, metadata: {finalizers: [a, b]}, stringData: {a: x, b: z}}`,
			strip:    []string{"metadata.finalizers[0]", "data.b"}, unknown: []string{"data.a"},
			want: `{apiVersion: v1, kind: Secret, metadata: {finalizers: [b]}}`, paths: []string{"data.a"}, adjustments: 2,
		},
		{
			why:      "stringData of a Secret is data of the object",
			manifest: `{apiVersion: v1, kind: Secret, stringData: {a: x, b: z}}`,
			unknown:  []string{"stringData.a"}, want: `{apiVersion: v1, kind: Secret, data: {b: eg==}}`,
			paths: []string{"data.a"}, adjustments: 1,
		},
		{
			why:      "the form of the server may be named, too",
			manifest: `{apiVersion: v1, kind: Secret, stringData: {a: x, b: z}}`,
			strip:    []string{"data.b"}, unknown: []string{"data.a"}, want: `{apiVersion: v1, kind: Secret}`,
			paths: []string{"data.a"}, adjustments: 2,
		},
		{
			why:      "stringData of a kind of another group is a field like others",
			manifest: `{apiVersion: ex.io/v1, kind: Secret, stringData: {a: x}}`,
			unknown:  []string{"stringData.a"}, want: `{apiVersion: ex.io/v1, kind: Secret, stringData: {}}`,
			paths: []string{"stringData.a"},
		},
		{
			why: "stringData of another kind, too", manifest: `{apiVersion: v1, kind: ConfigMap, stringData: {a: x}}`,
			unknown: []string{"stringData.a"}, want: `{apiVersion: v1, kind: ConfigMap, stringData: {}}`,
			paths: []string{"stringData.a"},
		},
		{
			why: "data of a Secret is data", manifest: `{apiVersion: v1, kind: Secret, data: {a: eA==}, type: Opaque}`,
			unknown: []string{"type"}, want: `{apiVersion: v1, kind: Secret, data: {a: eA==}}`, paths: []string{"type"},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			manifest := object(t, row.manifest)
			prepared := mustPrepare(t, manifest, "", explain.Exceptions{Strip: patterns(t, row.strip...), Unknown: patterns(t, row.unknown...)})
			require.Equal(t, object(t, row.want), prepared.Manifest)
			require.Equal(t, row.paths, lines(prepared.Unknown.Paths()))
			require.Equal(t, len(row.unknown) == 0, prepared.Unknown.Empty())
			require.Len(t, prepared.Adjustments, row.adjustments)
			require.Equal(t, object(t, row.manifest), manifest, "the manifest stays as it is")
		})
	}
}

// A pattern that was never set names nothing, and no manifest that contains itself is walked for ever.
func TestPrepareOddInput(t *testing.T) {
	prepared := mustPrepare(t, object(t, `{a: 1}`), "", explain.Exceptions{Ignore: projection.Patterns{{}}, Strip: projection.Patterns{{}}, Unknown: projection.Patterns{{}}})
	require.Equal(t, object(t, `{a: 1}`), prepared.Manifest)
	require.Empty(t, prepared.Unknown.Paths())

	endless := map[string]any{}
	endless["again"] = []any{endless}
	_, err := explain.Prepare(endless, "", explain.Exceptions{})
	require.ErrorIs(t, err, explain.ErrTooDeep)
}

// An object is sent with the namespace that it lives in, whatever the manifest has there.
func TestInNamespace(t *testing.T) {
	for _, row := range []struct{ why, manifest, namespace, want string }{
		{"named already", `{metadata: {name: a, namespace: here}}`, "here", `{metadata: {name: a, namespace: here}}`},
		{"left to the default", `{metadata: {name: a}}`, "here", `{metadata: {name: a, namespace: here}}`},
		{
			"empty means the default, too", `{metadata: {name: a, namespace: ""}}`, "here",
			`{metadata: {name: a, namespace: here}}`,
		},
		{"another one", `{metadata: {name: a, namespace: there}}`, "here", `{metadata: {name: a, namespace: here}}`},
		{"the kind has none, and neither has the manifest", `{metadata: {name: a}}`, "", `{metadata: {name: a}}`},
		{
			"the kind has none, and the manifest names one", `{metadata: {name: a, namespace: here}}`, "",
			`{metadata: {name: a}}`,
		},
		{
			"the kind has none, and the manifest an empty one", `{metadata: {name: a, namespace: ""}}`, "",
			`{metadata: {name: a}}`,
		},
		{"without metadata", `{a: 1}`, "here", `{a: 1}`},
	} {
		manifest := object(t, row.manifest)
		got := explain.Addressed(manifest, row.namespace, "")
		require.Equal(t, object(t, row.want), got, row.why)
		require.Equal(t, object(t, row.manifest), manifest, row.why)
		isCopy := reflect.ValueOf(got).Pointer() != reflect.ValueOf(manifest).Pointer()
		require.Equal(t, row.want != row.manifest, isCopy, "what needs no change is not copied")
	}
	require.Nil(t, explain.Addressed(nil, "here", ""))
}

// If some values of a manifest are unknown, the explanation still lists the changes of all known fields. The fields
// with unknown values neither change nor are dropped, and no field changes owners. List items have the names that the
// server gives them, whichever names the caller's patterns use.
func TestUnknownValues(t *testing.T) {
	deployment := func(container, pod string) string {
		return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {` + pod +
			`containers: [{name: side, image: s}, {name: app, ` + container + `}]}}}}`
	}
	service := func(ports string) string {
		return `{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [` + ports + `]}}`
	}
	const (
		containers = "spec.template.spec.containers"
		app        = containers + `[name="app"]`
		ports      = `{apiVersion: v1, kind: Service, metadata: {name: web},
			spec: {ports: [{name: a, port: 80, targetPort: %s}, {name: b, port: 81, targetPort: %s}]}}`
	)
	for _, row := range []struct {
		why, before, after, pattern string
		unknown, changes            []string
	}{
		{
			"a field that the host left out was declared before, and is not dropped",
			deployment("image: a, workingDir: /tmp", ""), deployment("image: b", ""), app + ".workingDir",
			[]string{app + ".workingDir"}, []string{app + `.image: "a" -> "b"`},
		},
		{
			"an element of an atomic list changes the list, which can't be told",
			deployment("image: a, args: [k, l]", ""), deployment("image: b, args: [k, m]", ""), app + ".args[1]",
			[]string{app + ".args[1]"}, []string{app + `.image: "a" -> "b"`},
		},
		{
			"a field of an atomic map, too",
			deployment("image: a", "nodeSelector: {zone: a, disk: ssd}, "),
			deployment("image: b", "nodeSelector: {zone: z, disk: ssd}, "),
			"spec.template.spec.nodeSelector.zone", []string{"spec.template.spec.nodeSelector.zone"},
			[]string{app + `.image: "a" -> "b"`},
		},
		{
			"by position", deployment("image: a, env: [{name: A, value: a}, {name: B, value: b}]", ""),
			deployment("image: a, env: [{name: A, value: x}, {name: B, value: z}]", ""), containers + "[1].env[0].value",
			[]string{app + `.env[name="A"].value`}, []string{app + `.env[name="B"].value: "b" -> "z"`},
		},
		{
			"the first one by position", deployment("image: a", ""), deployment("image: b", ""), containers + "[0].image",
			[]string{containers + `[name="side"].image`}, []string{app + `.image: "a" -> "b"`},
		},
		{
			"a position behind the last one names nothing that is there", deployment("image: a", ""), deployment("image: b", ""),
			containers + "[2].image",
			[]string{containers + "[2].image"}, []string{app + `.image: "a" -> "b"`},
		},
		{
			"a key that no item has, neither", deployment("image: a", ""), deployment("image: b", ""),
			containers + `[name="none"].image`,
			[]string{containers + `[name="none"].image`}, []string{app + `.image: "a" -> "b"`},
		},
		{
			"a key of what is no map, neither", deployment("image: a, args: [k]", ""), deployment("image: b, args: [k]", ""),
			app + `.args[name="k",x="y"].z`,
			[]string{app + `.args[name="k",x="y"].z`}, []string{app + `.image: "a" -> "b"`},
		},
		{
			"of every item", deployment("image: a, env: [{name: A, value: a}, {name: B, value: b}]", ""),
			deployment("image: b, env: [{name: A, value: x}, {name: B, value: z}]", ""), containers + "[*].env[*].value",
			[]string{app + `.env[name="A"].value`, app + `.env[name="B"].value`}, []string{app + `.image: "a" -> "b"`},
		},
		{
			"an item that is new comes all the same", deployment("image: a", ""),
			deployment("image: a, env: [{name: M, value: x}]", ""),
			containers + "[*].env[*].value", []string{app + `.env[name="M"].value`},
			[]string{app + `.env[name="M"]: + {"name":"M"} (edited or changed by others)`},
		},
		{
			"all that is below, by position", deployment("image: a, resources: {limits: {cpu: 1, memory: 1Gi}}", ""),
			deployment("image: b, resources: {limits: {cpu: 2, memory: 2Gi}}", ""), containers + "[1].resources",
			[]string{app + ".resources"}, []string{app + `.image: "a" -> "b"`},
		},
		{
			"by one of two keys, of which the manifest lacks the other", fmt.Sprintf(ports, "1", "2"),
			fmt.Sprintf(ports, "3", "4"), "spec.ports[port=81].targetPort",
			[]string{`spec.ports[port=81,protocol="TCP"].targetPort`},
			[]string{`spec.ports[port=80,protocol="TCP"].targetPort: 1 -> 3`},
		},
		{
			"by both keys, of which the manifest lacks one", fmt.Sprintf(ports, "1", "2"), fmt.Sprintf(ports, "3", "4"),
			`spec.ports[port=81,protocol="TCP"].targetPort`,
			[]string{`spec.ports[port=81,protocol="TCP"].targetPort`},
			[]string{`spec.ports[port=80,protocol="TCP"].targetPort: 1 -> 3`},
		},
		{
			"an item that isn't known may be any of those that seem to go or to come",
			service("{name: a, port: 80}, {name: b, port: 81, targetPort: 1}, {name: c, port: 82}"),
			service("{}, {name: b, port: 81, targetPort: 2}, {name: d, port: 83}"), "spec.ports[0]",
			[]string{"spec.ports[0]"}, []string{`spec.ports[port=81,protocol="TCP"].targetPort: 1 -> 2`},
		},
		{
			"what the manifest has in its place tells nothing",
			service("{name: a, port: 80}, {name: b, port: 81, targetPort: 1}"),
			service("{name: a, port: 80}, {name: b, port: 81, targetPort: 2}"), "spec.ports[0]",
			[]string{"spec.ports[0]"}, []string{`spec.ports[port=81,protocol="TCP"].targetPort: 1 -> 2`},
		},
		{
			"stringData", `{apiVersion: v1, kind: Secret, metadata: {name: s}, data: {a: YQ==, user: YQ==}}`,
			`{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {a: canary, user: b}}`, "stringData.a",
			[]string{"data.a"}, []string{`data.user: "<redacted>" -> "<redacted: changed>"`},
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			m := newMemory(t)
			live := m.apply(us, prepare(t, row.before).Manifest)
			prepared := prepare(t, row.after, row.pattern)
			held, err := prepared.Unknown.Hold(prepared.Manifest, live)
			require.NoError(t, err)
			require.Equal(t, prepare(t, row.after, row.pattern).Manifest, prepared.Manifest, "it is not modified")
			for _, manifest := range []map[string]any{prepared.Manifest, held} {
				e := mustApply(t, explain.Input{
					Manifest: manifest, Live: live, Answer: m.try(manifest), Manager: us, Unknown: prepared.Unknown,
				})
				require.Equal(t, row.unknown, lines(e.Unknown))
				require.Equal(t, row.changes, lines(e.Changes))
				require.Empty(t, e.Dropped)
				require.Empty(t, e.Ownership)
				for _, p := range e.Unknown {
					_, there := projection.Get(e.After.Object, p)
					require.False(t, there && p[len(p)-1].Kind() == projection.FieldKind, "the value that is sent in its place isn't the one that will be: %s", p)
				}
				text := mustMarshal(t, e.Changes)
				require.NotContains(t, string(text), "canary")
			}
		})
	}
}

func prepare(t *testing.T, manifest string, unknown ...string) explain.Prepared {
	t.Helper()
	out := mustPrepare(t, object(t, manifest), "", explain.Exceptions{Unknown: patterns(t, unknown...)})
	return out
}

// Without unknown values, an explanation lists everything, including side effects of the server. With unknown values it
// omits side effects, since the missing values may cause them. It still lists the other changes, the dropped fields and
// the changes of owners.
func TestUnknownValuesHideSideEffects(t *testing.T) {
	m := newMemory(t)
	live := m.apply(us,
		object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: "1", b: "1", c: "1"}}`))
	live = m.patch(live, `{data: {a: "2"}}`)
	for _, row := range []struct {
		unknown                     []string
		changes, dropped, ownership []string
	}{
		{
			nil,
			[]string{
				`data.a: "2" -> "3" (edited, or changed by "other" (Update))`, `data.b: - "1" (dropped from the manifest)`,
				`data.c: - "1" (dropped from the manifest)`, `metadata.labels.by: + "webhook" (side effect of the server)`,
			},
			[]string{"data.b: deleted", "data.c: deleted"},
			[]string{`data.a: taken from "other" (Update)`, "data.b: given up", "data.c: given up"},
		},
		{
			[]string{"data.b"},
			[]string{`data.a: "2" -> "3" (edited, or changed by "other" (Update))`, `data.c: - "1" (dropped from the manifest)`},
			[]string{"data.c: deleted"}, []string{`data.a: taken from "other" (Update)`, "data.c: given up"},
		},
	} {
		prepared := prepare(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: "3"}}`, row.unknown...)
		answer := changed(t, m.try(prepared.Manifest), func(obj map[string]any) {
			obj["metadata"].(map[string]any)["labels"] = map[string]any{"by": "webhook"}
		})
		in := explain.Input{Manifest: prepared.Manifest, Live: live, Answer: answer, Manager: us, Unknown: prepared.Unknown}
		e := mustApply(t, in)
		require.Equal(t, row.changes, lines(e.Changes))
		require.Equal(t, row.dropped, lines(e.Dropped))
		require.Equal(t, row.ownership, lines(e.Ownership))
		require.Equal(t, row.unknown, lines(e.Unknown))
	}
}
