package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// managed is an object that "us" applied, with what others own in it.
const managed = `{apiVersion: ex.io/v1, kind: Web, metadata: {name: a, annotations: {ours: live, theirs: live, both: live, free: live}, managedFields: [
	{manager: my-tool, operation: Apply, apiVersion: ex.io/v1, fieldsType: FieldsV1, fieldsV1: {
		"f:metadata": {"f:annotations": {"f:ours": {}, "f:both": {}}},
		"f:spec": {"f:replicas": {}, "f:args": {}, "f:selector": {}, "f:empty": {},
			"f:free": {".": {}, "f:ours": {}, "f:deep": {".": {}, "f:x": {}}}, "f:containers": {
			"k:{\"name\":\"app\"}": {".": {}, "f:name": {}, "f:image": {}, "f:cpu": {}},
			"k:{\"name\":\"log\"}": {".": {}, "f:name": {}, "f:image": {}}}}}},
	{manager: hpa, operation: Update, apiVersion: ex.io/v1, fieldsType: FieldsV1, fieldsV1: {
		"f:metadata": {"f:annotations": {"f:theirs": {}, "f:both": {}}},
		"f:spec": {"f:scale": {}, "f:empty": {"f:x": {}}, "f:free": {"f:theirs": {}, "f:deep": {"f:x": {}}},
			"f:containers": {"k:{\"name\":\"app\"}": {".": {}, "f:name": {}, "f:cpu": {}, "f:env": {}}}}}}]},
	spec: {replicas: 3, scale: 5, args: [a, b, c], selector: {app: live, tier: live}, empty: {x: 1},
		free: {ours: live, theirs: live, deep: {x: live}}, containers: [
		{name: log, image: log:1}, {name: app, image: app:1, cpu: 2, env: live}]}}`

func TestIgnored(t *testing.T) {
	for _, row := range []struct {
		why, manifest, ignore, want string
		fields                      []string // path, handling and owners
		warnings                    []string
	}{
		{
			why: "nobody else owns it: without it the server would reset it", ignore: "spec.replicas",
			manifest: `{spec: {replicas: 9}}`, want: `{spec: {replicas: 3}}`, fields: []string{"spec.replicas live"},
		},
		{
			why: "another owns it", ignore: "spec.scale",
			manifest: `{spec: {replicas: 9, scale: 1}}`, want: `{spec: {replicas: 9}}`, fields: []string{"spec.scale omitted hpa"},
		},
		{
			why: "another owns it, too", ignore: "metadata.annotations.both",
			manifest: `{metadata: {name: a, annotations: {ours: x, both: x}}}`, want: `{metadata: {name: a, annotations: {ours: x}}}`,
			fields: []string{"metadata.annotations.both omitted hpa"},
		},
		{
			why: "nobody owns it, so it stays without us", ignore: "metadata.annotations.free",
			manifest: `{metadata: {name: a, annotations: {ours: x, free: x}}}`, want: `{metadata: {name: a, annotations: {ours: x}}}`,
			fields: []string{"metadata.annotations.free omitted"},
		},
		{
			why: "somebody removed it", ignore: "metadata.annotations.gone",
			manifest: `{metadata: {name: a, annotations: {ours: x, gone: x}}}`, want: `{metadata: {name: a, annotations: {ours: x}}}`,
			fields: []string{"metadata.annotations.gone omitted"},
		},
		{
			why: "a map from which all is left out isn't claimed", ignore: `metadata.annotations[~"*e*"]`,
			manifest: `{metadata: {name: a, annotations: {theirs: x, free: x}}, spec: {replicas: 1}}`, want: `{metadata: {name: a}, spec: {replicas: 1}}`,
			fields: []string{"metadata.annotations.free omitted", "metadata.annotations.theirs omitted hpa"},
		},
		{
			why: "but one that is empty in the manifest is", ignore: "metadata.annotations.theirs",
			manifest: `{metadata: {name: a, annotations: {theirs: x}}, spec: {empty: {}}}`, want: `{metadata: {name: a}, spec: {empty: {}}}`,
			fields: []string{"metadata.annotations.theirs omitted hpa"},
		},
		{
			why: "of a map what only we own is held, also what the manifest lacks", ignore: "metadata.annotations",
			manifest: `{metadata: {name: a, annotations: {theirs: x, new: x}}}`, want: `{metadata: {name: a, annotations: {ours: live}}}`,
			fields: []string{"metadata.annotations live hpa"},
		},
		{
			why: "an item's field, where it stands", ignore: `spec.containers[name="app"].image`,
			manifest: `{spec: {containers: [{name: app, image: app:9}, {name: log, image: log:9}]}}`,
			want:     `{spec: {containers: [{name: app, image: app:1}, {name: log, image: log:9}]}}`,
			fields:   []string{`spec.containers[name="app"].image live`},
		},
		{
			why: "by its position in the manifest", ignore: `spec.containers[1].image`,
			manifest: `{spec: {containers: [{name: app, image: app:9}, {name: log, image: log:9}]}}`,
			want:     `{spec: {containers: [{name: app, image: app:9}, {name: log, image: log:1}]}}`,
			fields:   []string{`spec.containers[name="log"].image live`},
		},
		{
			why: "an item that comes is made with all it has", ignore: "spec.containers[*].image",
			manifest: `{spec: {containers: [{name: app, image: app:9}, {name: new, image: new:9}]}}`,
			want:     `{spec: {containers: [{name: app, image: app:1}, {name: new, image: new:9}]}}`,
			fields:   []string{`spec.containers[name="app"].image live`, `spec.containers[name="new"].image sent`},
		},
		{
			why: "a whole item: what only we own of it", ignore: `spec.containers[name="app"]`,
			manifest: `{spec: {containers: [{name: app, image: app:9, cpu: 9, new: 9}]}}`,
			want:     `{spec: {containers: [{name: app, image: app:1}]}}`,
			fields:   []string{`spec.containers[name="app"] live hpa`},
		},
		{
			why: "a whole item that somebody removed", ignore: `spec.containers[name="gone"]`,
			manifest: `{spec: {containers: [{name: log, image: log:1}, {name: gone, image: gone:9}]}}`,
			want:     `{spec: {containers: [{name: log, image: log:1}]}}`,
			fields:   []string{`spec.containers[name="gone"] omitted`},
		},
		{
			why: "a whole list, in the order of the object", ignore: "spec.containers",
			manifest: `{spec: {containers: [{name: app, image: app:9}]}}`,
			want:     `{spec: {containers: [{name: log, image: log:1}, {name: app, image: app:1}]}}`,
			fields:   []string{"spec.containers live hpa"},
		},
		{
			why: "a part of what has one owner is held in it", ignore: "spec.selector.app",
			manifest: `{spec: {selector: {app: x, tier: x}}}`, want: `{spec: {selector: {app: live, tier: x}}}`,
			fields: []string{"spec.selector.app live"},
		},
		{
			why: "also in a list", ignore: "spec.args[1]",
			manifest: `{spec: {args: [x, y, z]}}`, want: `{spec: {args: [x, b, z]}}`, fields: []string{"spec.args[1] live"},
		},
		{
			why: "positions that the object's list doesn't have", ignore: "spec.args[*]",
			manifest: `{spec: {args: [v, w, x, y, z]}}`, want: `{spec: {args: [a, b, c]}}`,
			fields: []string{"spec.args[0] live", "spec.args[1] live", "spec.args[2] live", "spec.args[3] omitted", "spec.args[4] omitted"},
		},
		{
			why: "what only the object has in it is held, too", ignore: "spec.selector.tier",
			manifest: `{spec: {selector: {app: x}}}`, want: `{spec: {selector: {app: x, tier: live}}}`, fields: []string{"spec.selector.tier live"},
		},
		{
			why: "unless the manifest has nothing of the whole", ignore: "spec.selector.tier",
			manifest: `{spec: {replicas: 1}}`, want: `{spec: {replicas: 1}}`,
		},
		{
			why: "what it doesn't have is left out", ignore: "spec.selector.new",
			manifest: `{spec: {selector: {app: x, new: x}}}`, want: `{spec: {selector: {app: x}}}`, fields: []string{"spec.selector.new omitted"},
		},
		{
			why: "a map that we declared as empty and others fill", ignore: "spec.empty",
			manifest: `{spec: {replicas: 1, empty: {}}}`, want: `{spec: {replicas: 1, empty: {}}}`, fields: []string{"spec.empty live hpa"},
		},
		{
			why: "the same of what they put into it", ignore: "spec.empty.x",
			manifest: `{spec: {replicas: 1, empty: {x: 9}}}`, want: `{spec: {replicas: 1, empty: {}}}`,
			fields: []string{"spec.empty.x omitted hpa"},
		},
		{
			why: "maps that only we own as such", ignore: "spec.free.deep.x",
			manifest: `{spec: {free: {deep: {x: 9}}}}`, want: `{spec: {free: {deep: {}}}}`,
			fields: []string{"spec.free.deep.x omitted hpa"},
		},
		{
			why: "all of them", ignore: "spec.free",
			manifest: `{spec: {free: {theirs: 9}}}`, want: `{spec: {free: {ours: live, deep: {}}}}`,
			fields: []string{"spec.free live hpa"},
		},
		{
			why: "all that is in one of them", ignore: "spec.free.*",
			manifest: `{spec: {free: {theirs: 9, new: 9}}}`, want: `{spec: {free: {ours: live, deep: {}}}}`,
			fields: []string{"spec.free.new omitted", "spec.free.theirs omitted hpa", "spec.free.deep live hpa", "spec.free.ours live"},
		},
		{
			why: "the manifest dropped it, and the server would delete it", ignore: "metadata.annotations.ours",
			manifest: `{metadata: {name: a}, spec: {replicas: 1}}`, want: `{metadata: {name: a, annotations: {ours: live}}, spec: {replicas: 1}}`,
			fields: []string{"metadata.annotations.ours live"},
		},
		{
			why: "the manifest dropped it, and another has it, too", ignore: "metadata.annotations.both",
			manifest: `{metadata: {name: a}}`, want: `{metadata: {name: a}}`,
		},
		{
			why: "what is in an item that the manifest dropped goes, too", ignore: "spec.containers[*].image",
			manifest: `{spec: {containers: [{name: app}]}}`, want: `{spec: {containers: [{name: app, image: "app:1"}]}}`,
			fields: []string{`spec.containers[name="app"].image live`},
		},
		{
			why: "neither has it", ignore: "spec.replica",
			manifest: `{spec: {replicas: 1}}`, want: `{spec: {replicas: 1}}`,
			warnings: []string{"spec.replica: matches no field to be ignored; check the path"},
		},
		{
			why: "the object has it: then there is nothing to do, nor to warn of", ignore: "spec.scale",
			manifest: `{spec: {replicas: 1}}`, want: `{spec: {replicas: 1}}`,
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			manifest, live := object(t, row.manifest), object(t, managed)
			prepared := mustPrepare(t, manifest, "", explain.Exceptions{Ignore: patterns(t, row.ignore)})
			require.Equal(t, manifest, prepared.Manifest, "an object is created with all of it")
			left, err := prepared.For(live, live, fieldowner.Applier{Manager: us})
			require.NoError(t, err)
			same, err := prepared.For(live, nil, fieldowner.Applier{Manager: us})
			require.NoError(t, err)
			require.Equal(t, left, same, "nothing changed owners")
			assert.Equal(t, object(t, row.want), left.Manifest)
			var fields []string
			for _, f := range left.Fields {
				text := f.Path.String() + " " + string(f.Handling)
				for _, owner := range f.Owners {
					text += " " + string(owner.Manager)
				}
				fields = append(fields, text)
			}
			assert.Equal(t, row.fields, fields)
			assert.Equal(t, row.warnings, lines(left.Warnings))
			require.Equal(t, object(t, row.manifest), manifest, "the manifest stays as it is")
			require.Equal(t, object(t, managed), live, "and the object")

			made, err := prepared.For(nil, nil, fieldowner.Applier{Manager: us})
			require.NoError(t, err)
			assert.Equal(t, manifest, made.Manifest)
			for _, f := range made.Fields {
				assert.Equal(t, explain.HandlingSent, f.Handling)
			}
		})
	}
	// A position of which only the manifest has an item, with one behind it, which would come to the position.
	prepared := mustPrepare(t, object(t, `{spec: {command: [x, z]}}`), "", explain.Exceptions{Ignore: patterns(t, "spec.command[0]")})
	_, err := prepared.For(object(t, managed), object(t, managed), fieldowner.Applier{Manager: us})
	require.ErrorContains(t, err, "spec.command: items of it are to stay as they are, but at their positions there would be others then")

	prepared = mustPrepare(t, object(t, `{a: 1}`), "", explain.Exceptions{Ignore: patterns(t, "a")})
	_, err = prepared.For(nil, object(t, `{metadata: {managedFields: 5}}`), fieldowner.Applier{Manager: us})
	require.Error(t, err)
	_, err = prepared.For(object(t, `{metadata: {managedFields: 5}}`), nil, fieldowner.Applier{Manager: us})
	require.Error(t, err)
}

// An item that is given up is left out of the manifest wherever the manifest has it, and stays so. An item that looks
// otherwise may be another one. By its position in the manifest, it is the item with the name of the one there,
// whatever the object has at that position, and though the record has no names of the list any more.
func TestGivenUpItems(t *testing.T) {
	const (
		text = `{metadata: {managedFields: [{manager: my-tool, operation: Apply, fieldsType: FieldsV1, fieldsV1: {"f:x": {}%s}}]}, l: [%s]}`
		none = ``
		one  = `, "f:l": {"k:{\"id\":1}": {".": {}, "f:id": {}}}`
		two  = `, "f:l": {"k:{\"id\":2}": {".": {}, "f:id": {}}}`
		both = `, "f:l": {"k:{\"id\":1}": {".": {}, "f:id": {}}, "k:{\"id\":2}": {".": {}, "f:id": {}}}`
		keys = `, "f:l": {"k:{\"id\":1,\"s\":\"a\"}": {".": {}, "f:id": {}}}`
	)
	for _, row := range []struct{ why, before, after, items, giveUp, manifest, want string }{
		{"twice", keys, none, `{id: 1, s: a}`, `l[id=1,s="a"]`, `{l: [{id: 1, s: a}, {id: 2, s: a}, {id: 1, s: a}]}`, `{l: [{id: 2, s: a}]}`},
		{"twice without its key", keys, none, `{id: 1, s: a}`, `l[id=1,s="a"]`, `{l: [{}, {}], x: 1}`, `{x: 1}`},
		{"one that may be another", keys, none, `{id: 1, s: a}`, `l[id=1,s="a"]`, `{l: [{id: 1, s: a}, {id: 1}]}`, `{l: [{id: 1}]}`},
		{"by position", one, none, `{id: 1}`, "l[0]", `{l: [{id: 1}], x: 1}`, `{x: 1}`},
		{"by position, without its key", one, none, `{id: 1}`, "l[0]", `{l: [{}], x: 1}`, `{x: 1}`},
		{"beside another one", one, none, `{id: 1}`, "l[0]", `{l: [{id: 1}, {id: 2}], x: 1}`, `{l: [{id: 2}], x: 1}`},
		{"at another position", both, two, `{id: 2}, {id: 1}`, "l[0]", `{l: [{id: 1}], x: 1}`, `{x: 1}`},
		{"given up before", none, none, `{id: 1}`, "l[0]", `{l: [{id: 1}], x: 1}`, `{x: 1}`},
		{"given up before, without its key", none, none, `{id: 1}`, "l[0]", `{l: [{}], x: 1}`, `{x: 1}`},
		{"the list may be one whole", none, none, `{id: 1}, {id: 2}`, "l[0]", `{l: [{id: 1}], x: 1}`, `{l: [{id: 1}], x: 1}`},
		{"a field of it", none, none, `{id: 1, v: 1}`, "l[0].v", `{l: [{id: 1, v: 2}], x: 1}`, `{l: [{id: 1, v: 1}], x: 1}`},
	} {
		prepared := mustPrepare(t, object(t, row.manifest), "", explain.Exceptions{GiveUp: patterns(t, row.giveUp)})
		was, live := object(t, fmt.Sprintf(text, row.before, row.items)), object(t, fmt.Sprintf(text, row.after, row.items))
		left, err := prepared.For(live, was, fieldowner.Applier{Manager: us})
		require.NoError(t, err, row.why)
		assert.Equal(t, object(t, row.want), left.Manifest, row.why)
		assert.Empty(t, left.Warnings, row.why)
	}
}

// For an ignored field, an explanation lists the change of owners. It lists no change of the value, and the field isn't
// dropped. A field that isn't ignored is dropped as usual if the manifest lacks it. An ignored field is a change only
// if the apply creates the object.
func TestExplanationOfIgnored(t *testing.T) {
	live := object(t, managed)
	apply := func(manifest, ignore string, record func(string) string, edit func(map[string]any)) *explain.Explanation {
		prepared := mustPrepare(t, object(t, manifest), "", explain.Exceptions{Ignore: patterns(t, ignore)})
		left, err := prepared.For(live, live, fieldowner.Applier{Manager: us})
		require.NoError(t, err)
		answer := object(t, record(managed))
		edit(answer)
		explained := mustApply(t, explain.Input{Manifest: left.Manifest, Live: live, Answer: answer, Manager: us, Ignored: left.Fields})
		return explained
	}
	const name = `{apiVersion: ex.io/v1, kind: Web, metadata: {name: a, annotations: {`
	withoutBoth := func(text string) string {
		return strings.Replace(text, `{"f:ours": {}, "f:both": {}}`, `{"f:ours": {}}`, 1)
	}
	unchanged := func(map[string]any) {}

	e := apply(name+`ours: live, both: x}}}`, "metadata.annotations.both", withoutBoth, unchanged)
	assert.Empty(t, e.Changes)
	assert.Empty(t, e.Dropped, "it is left to the other, not dropped")
	assert.Len(t, e.Ownership, 1)
	assert.False(t, e.After.Fields.Has(path(t, "metadata.annotations.both")))
	assert.Equal(t, e.Before.String(), e.After.String())
	assert.Equal(t, e.Before.String(), e.Baseline.String())

	e = apply(name+`ours: live}}}`, "metadata.annotations.none", withoutBoth, unchanged)
	assert.Len(t, e.Dropped, 1, "what isn't ignored and is gone from the manifest is dropped")

	e = apply(name+`ours: x, both: live}}}`, "metadata.annotations.ours", func(text string) string { return text }, unchanged)
	assert.True(t, e.NoOp)
	assert.Equal(t, []explain.IgnoredField{{Path: path(t, "metadata.annotations.ours"), Handling: explain.HandlingLive}}, e.Ignored)
	assert.False(t, e.After.Fields.Has(path(t, "metadata.annotations.ours")))
	assert.True(t, e.After.Fields.Has(path(t, "metadata.annotations.both")))

	made := mustApply(t, explain.Input{
		Manifest: object(t, managed), Answer: live, Manager: us,
		Ignored: []explain.IgnoredField{{Path: path(t, "spec.replicas"), Handling: explain.HandlingSent}},
	})
	told := false
	for _, c := range made.Changes {
		told = told || c.Path.Equal(path(t, "spec.replicas"))
	}
	assert.True(t, told, "it is created with the object")
	assert.False(t, made.After.Fields.Has(path(t, "spec.replicas")))
}

func TestExceptions(t *testing.T) {
	assert.True(t, explain.Exceptions{}.Empty())
	for _, some := range []explain.Exceptions{{Ignore: patterns(t, "a")}, {Strip: patterns(t, "a")}, {Unknown: patterns(t, "a")}} {
		assert.False(t, some.Empty())
	}
	assert.True(t, explain.IgnoredPaths(nil).Empty())
}

// An item that is left to others can move although its value stays, which isn't hidden.
func TestMoveOfIgnoredItem(t *testing.T) {
	object := func(finalizers string) map[string]any {
		return object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: u, finalizers: `+finalizers+`, managedFields: [
			{manager: us, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:finalizers": {'v:"b"': {}, 'v:"c"': {}, 'v:"d"': {}}}}}]}}`)
	}
	for _, row := range []struct {
		why, is, want string
		ignored       []string
	}{
		{"it moves", "[b, c, d]", `[metadata.finalizers[="c"]: moved from position 0 to 1 (side effect of the server)]`, []string{`metadata.finalizers[="b"]`}},
		{"another one moves, as before", "[d, c, b]", `[metadata.finalizers[="c"]: moved from position 0 to 1]`, []string{`metadata.finalizers[="b"]`}},
		{"it moves, and another one goes", "[b, c]", `[metadata.finalizers[="d"]: - "d" metadata.finalizers[="c"]: moved from position 0 to 1 (side effect of the server)]`, []string{`metadata.finalizers[="b"]`}},
		{"nothing is ignored", "[b, c, d]", `[metadata.finalizers[="c"]: moved from position 0 to 1]`, nil},
		{"nothing moves", "[c, b, d, e]", `[metadata.finalizers[="e"]: + "e" (side effect of the server)]`, []string{`metadata.finalizers[="b"]`}},
	} {
		t.Run(row.why, func(t *testing.T) {
			in := explain.Input{Manifest: object(row.is), Live: object("[c, b, d]"), Answer: object(row.is), Manager: "us"}
			for _, text := range row.ignored {
				in.Ignored = append(in.Ignored, explain.IgnoredField{Path: path(t, text), Handling: explain.HandlingLive})
			}
			e := mustApply(t, in)
			assert.Equal(t, row.want, fmt.Sprint(e.Changes))
		})
	}
}
