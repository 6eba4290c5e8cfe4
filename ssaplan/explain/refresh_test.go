package explain_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// record is an entry of managedFields in YAML, without its version.
type record string

func applied(manager, spec string) record {
	return record(`manager: ` + manager + `, operation: Apply, fieldsV1: {"f:spec": ` + spec + `}`)
}

func updated(manager, spec string) record {
	return record(`manager: ` + manager + `, operation: Update, fieldsV1: {"f:spec": ` + spec + `}`)
}

// form returns an object of an apiVersion and kind, with its managedFields in that version.
func form(t *testing.T, kind, spec string, records ...record) map[string]any {
	t.Helper()
	version, kind, _ := strings.Cut(kind, " ")
	var entries []string
	for _, r := range records {
		entries = append(entries, `{apiVersion: `+version+`, `+string(r)+`}`)
	}
	return object(t, `{apiVersion: `+version+`, kind: `+kind+`, metadata: {name: a, managedFields: [`+
		strings.Join(entries, ", ")+`]}, spec: `+spec+`}`)
}

// restored returns a state that was written as JSON and read again.
func restored(t *testing.T, state *explain.State) *explain.State {
	t.Helper()
	var read explain.State
	require.NoError(t, json.Unmarshal(mustMarshal(t, state), &read))
	return &read
}

// A refresh finds the changes of fields that were applied. It leaves out the fields that others own in these, and
// ignored fields.
func TestRefresh(t *testing.T) {
	const custom, quota = "ex.io/v1 Form", "v1 Quota"
	type row struct {
		why     string
		spec    string
		records []record
		drift   string // a line for each change
	}
	all := func(records ...record) []record { return records }
	ours, part := applied("m", `{"f:map": {}}`), applied("o", `{"f:map": {"f:b": {}}}`)
	both, whole := all(ours, part), applied("o", `{"f:map": {}}`)
	hard := applied("m", `{"f:hard": {}}`)
	emptied := all(applied("m", `{"f:options": {}, "f:strategy": {}}`),
		applied("o", `{"f:options": {"f:a": {}}, "f:strategy": {"f:type": {}}}`))
	unkept := all(applied("m", `{"f:mode": {}, "f:timeout": {}}`))
	wholes := all(applied("m", `{"f:args": {}, "f:selector": {}}`))
	hollow, theirs := applied("m", `{"f:args": {}, "f:map": {}}`), updated("o", `{"f:args": {}, "f:map": {}}`)
	unrelated := all(applied("m", `{"f:a": {}}`))
	spec := all(applied("m", `{}`))
	limits := all(applied("m", `{"f:limits": {}}`))
	selector := all(applied("m", `{"f:selector": {}}`))
	entry := func(fields string) []record { return all(applied("m", `{"f:paths": {"f:x": `+fields+`}}`)) }
	for _, state := range []struct {
		why, kind     string
		manifest      string // the spec that was sent, if it is known
		spec          string // of the object after the apply
		records       []record
		left, ignored []string // fields that are left to others, and the patterns of such fields
		sensitive     []string // of a second state, which finds as many changes
		rows          []row
	}{
		{
			why: "a map is declared as null that has what others own in it, and is null or gone once they give that up, " +
				"unless the server has a default for it",
			kind: custom, manifest: `{map: null}`, spec: `{map: {b: 1}}`, records: both, rows: []row{
				{"others changed what is in it", `{map: {b: 2}}`, both, ""},
				{"others gave it up", `{map: null}`, all(ours), ""},
				{"others gave it up, and it can't be null", `{on: true}`, all(ours), ""},
				{"another removed it", `{on: true}`, nil, "spec.map: - null (drifted)"},
				{"another emptied it", `{map: {}}`, all(ours), "spec.map: null -> {} (drifted)"},
				{"others gave it up, and it has a default", `{map: {a: 0}}`, all(ours), ""},
				{"others took it as a whole", `{map: {a: 0}}`, all(whole), `spec.map: null -> {"a":0} (drifted: changed by "o" (Apply))`},
			},
		},
		{
			why:  "a server leaves out an empty map, and what is in it later is of others, unless they took the map",
			kind: quota, manifest: `{hard: {}}`, spec: `{}`, records: all(hard), rows: []row{
				{"the map is there, and empty", `{hard: {}}`, all(hard), ""},
				{"the server filled it", `{hard: {pods: "1"}}`, all(hard), ""},
				{"the server filled it again after others removed it", `{hard: {pods: "1"}}`, all(applied("o", `{"f:a": {}}`)), ""},
				{"there is no record any more", `{hard: {pods: "1"}}`, nil, `spec.hard: + {"pods":"1"} (drifted)`},
				{"another manager took it with a field of its own in it", `{hard: {pods: "1"}}`, all(applied("o", `{"f:hard": {".": {}, "f:pods": {}}}`)), ""},
				{"another took it as a whole", `{hard: {pods: "1"}}`, all(applied("o", `{"f:hard": {}}`)), `spec.hard: + {"pods":"1"} (drifted: changed by "o" (Apply))`},
				{"an empty text was left out, and now has a value", `{hard: set}`, all(hard), `spec.hard: + "set" (drifted)`},
			},
		},
		{
			why:  "a map was declared as empty that others filled and then emptied: a server leaves it out, a structure comes back",
			kind: "apps/v1 Deployment", manifest: `{options: {}, strategy: {}}`,
			spec: `{options: {a: b}, strategy: {type: x}}`, records: emptied, rows: []row{
				{"emptied", `{}`, emptied[:1], "spec.strategy: - {} (drifted)"},
				{"emptied, and something else is there", `{replicas: 1}`, emptied[:1], "spec.strategy: - {} (drifted)"},
			},
		},
		{
			why:  "a map of a custom resource comes back, too",
			kind: "apps.ex.io/v1 Deployment", manifest: `{options: {}, strategy: {}}`,
			spec: `{options: {a: b}, strategy: {type: x}}`, records: emptied, rows: []row{
				{"emptied", `{}`, emptied[:1], "spec.options: - {} (drifted)\nspec.strategy: - {} (drifted)"},
				{"emptied, and something else is there", `{replicas: 1}`, emptied[:1], "spec.options: - {} (drifted)\nspec.strategy: - {} (drifted)"},
			},
		},
		{
			why:  "the server filled an empty map after the apply, so another manager alone declared it as empty, too",
			kind: custom, manifest: `{map: {}}`, spec: `{map: {a: x}}`, records: all(ours),
			rows: []row{{"with what the server has in it", `{map: {a: x}}`, all(whole), ""}},
		},
		{
			why:  "it didn't fill the map, so another manager alone took it with what is in it",
			kind: custom, manifest: `{map: {}}`, spec: `{map: {}}`, records: all(ours),
			rows: []row{{"with what the other has in it", `{map: {a: x}}`, all(whole), `spec.map: {} -> {"a":"x"} (drifted: changed by "o" (Apply))`}},
		},
		{
			why:  "a value that the server didn't keep is no drift when it is there later, and another value is, also if it is secret",
			kind: custom, manifest: `{mode: off, timeout: 6172839}`, spec: `{mode: off}`, records: unkept,
			sensitive: []string{"spec.timeout"}, rows: []row{
				{"the value is there", `{mode: off, timeout: 6172839}`, unkept, ""},
				{"another one is", `{mode: off, timeout: 90}`, unkept, "spec.timeout: + 90 (drifted)"},
			},
		},
		{
			why:  "parts of a list or map with one owner are left to others, and the rest isn't",
			kind: custom, spec: `{args: [a, b, c, d], selector: {app: x, tier: why}}`, records: wholes,
			left:      []string{"spec.args[2]", "spec.args[3]", "spec.selector.tier"},
			sensitive: []string{"spec.args", "spec.selector"}, rows: []row{
				{"others changed their parts", `{args: [a, b, C, D], selector: {app: x, tier: other}}`, wholes, ""},
				{"others removed them", `{args: [a, b], selector: {app: x}}`, wholes, ""},
				{"others changed other parts", `{args: [A, b, c, d], selector: {app: x, tier: why, more: z}}`, wholes,
					`spec.args: ["a","b","c","d"] -> ["A","b","c","d"] (drifted)` + "\n" +
						`spec.selector: {"app":"x","tier":"why"} -> {"app":"x","more":"z","tier":"why"} (drifted)`},
				{"others made something else of them", `{args: x, selector: [why]}`, wholes,
					`spec.args: ["a","b"] -> "x" (drifted)` + "\n" +
						`spec.selector: {"app":"x"} -> ["why"] (drifted)`},
			},
		},
		{
			why:  "all parts of a list or map are left to others, but an item that is gone comes back with all of them",
			kind: custom, spec: `{args: [{at: {a: b}}], selector: {app: x}}`, records: wholes,
			left: []string{"spec.args[0].at", "spec.selector.app"}, rows: []row{
				{"others removed their parts", `{args: [{}], selector: {}}`, wholes, ""},
				{"others have other parts", `{args: [{c: d}], selector: {tier: z}}`, wholes, ""},
				{"the item is gone with its list", `{}`, wholes, `spec.args: - [{"at":{"a":"b"}}] (drifted)`},
				{"the item is gone, and the map is a text", `{args: [], selector: x}`, wholes, `spec.args: [{"at":{"a":"b"}}] -> [] (drifted)`},
				{"others added parts", `{args: [{at: {}, c: d}], selector: {app: w, tier: z}}`, wholes,
					`spec.args: [{"at":{}}] -> [{"at":{},"c":"d"}] (drifted)` + "\n" +
						`spec.selector: {"app":"w"} -> {"app":"w","tier":"z"} (drifted)`},
			},
		},
		{
			why: "a map or list was applied as empty, since all that the manifest has in it is left to others: it isn't applied " +
				"once it is gone or something else, and a null that is the manager's becomes an empty map again",
			kind: custom, manifest: `{args: [], map: {}}`, spec: `{args: [], map: {}}`, records: all(hollow),
			left: []string{"spec.args[0]", "spec.map.a"}, rows: []row{
				{"others removed them", `{}`, unrelated, ""},
				{"others made something else of them", `{args: {a: b}, map: text}`, all(theirs), ""},
				{"others set the part of the map", `{args: [], map: {a: x}}`, all(hollow, updated("o", `{"f:map": {"f:a": {}}}`)), ""},
				{"others have parts of their own", `{args: [x], map: {a: x}}`, all(theirs), ""},
				{"others put another field there", `{args: [], map: {b: x}}`, all(theirs), ""},
				{"others put one beside the parts", `{args: [x, z], map: {a: x, b: x}}`, all(theirs),
					`spec.args: ["x"] -> ["x","z"] (drifted: changed by "o" (Update))` + "\n" +
						`spec.map: {"a":"x"} -> {"a":"x","b":"x"} (drifted: changed by "o" (Update))`},
				{"the server made null of it", `{args: [], map: null}`, all(hollow), `spec.map: {} -> null (drifted)`},
				{"others made null of it", `{args: [], map: null}`, unrelated, ""},
			},
		},
		{
			why:  "a map that was declared as empty isn't compared by what others applied in it, even if a part of that is ignored",
			kind: custom, manifest: `{}`, spec: `{}`, records: spec, ignored: []string{"spec.args[=1]"}, rows: []row{
				{"the ignored part", `{args: [1]}`, all(spec[0], applied("o", `{"f:args": {}}`)), ""},
				{"another part, too", `{args: [2, 1]}`, all(spec[0], applied("o", `{"f:args": {}}`)), ""},
				{"another part", `{args: [2]}`, all(spec[0], applied("o", `{"f:args": {}}`)), ""},
				{"no part", `{args: []}`, all(spec[0], applied("o", `{"f:args": {}}`)), ""},
			},
		},
		{
			why:  "an item is left to others that the list lacks: it may come anywhere, but the order of the others counts",
			kind: custom, spec: `{limits: [{type: b}, {type: c}]}`, records: limits, left: []string{`spec.limits[type="a"]`}, rows: []row{
				{"in front", `{limits: [{type: a, max: 1}, {type: b}, {type: c}]}`, limits, ""},
				{"in between", `{limits: [{type: b}, {type: a}, {type: c}]}`, limits, ""},
				{"behind", `{limits: [{type: b}, {type: c}, {type: a}]}`, limits, ""},
				{"another order", `{limits: [{type: c}, {type: a}, {type: b}]}`, limits,
					`spec.limits: [{"type":"b"},{"type":"a"},{"type":"c"}] -> [{"type":"c"},{"type":"a"},{"type":"b"}] (drifted)`},
			},
		},
		{
			why:  "what the patterns of ignored fields match may come later to a map with one owner",
			kind: "v1 Service", spec: `{selector: {app: a}}`, records: selector, ignored: []string{"spec.selector.hash"},
			sensitive: []string{"spec.selector"}, rows: []row{
				{"the ignored field comes", `{selector: {app: a, hash: h}}`, selector, ""},
				{"it comes, and another one changes", `{selector: {app: b, hash: h}}`, selector, `spec.selector: {"app":"a","hash":"h"} -> {"app":"b","hash":"h"} (drifted)`},
				{"another field comes", `{selector: {app: a, other: h}}`, selector, `spec.selector: {"app":"a"} -> {"app":"a","other":"h"} (drifted)`},
			},
		},
		{
			why: "an entry of a map is recorded beside what is in it: if others remove all that was applied there, only the entry " +
				"is recorded, as if it had become a map with one owner",
			kind: custom, manifest: `{paths: {x: {stones: 1, width: 2}}}`, spec: `{paths: {x: {stones: 1, width: 2}}}`,
			records: entry(`{".": {}, "f:stones": {}}`), rows: []row{
				{"others removed it", `{paths: {x: {width: 2}}}`, entry("{}"), "spec.paths.x.stones: - 1 (drifted)"},
				{"the entry has what was applied, so a definition has made the map atomic", `{paths: {x: {stones: 1, width: 2}}}`,
					entry("{}"), `spec.paths.x: {"stones":1} -> {"stones":1,"width":2} (drifted)`},
			},
		},
		{
			why:  "an ignored list in a map with one owner becomes a field of its own once others write it",
			kind: custom, manifest: `{map: {list: [{}], other: 1}}`, spec: `{map: {list: [{}], other: 1}}`, records: all(ours),
			left: []string{"spec.map.list"}, ignored: []string{"spec.map.list"}, rows: []row{
				{"the list", `{map: {list: [], other: 1}}`, all(ours, updated("o", `{"f:map": {"f:list": {}}}`)), ""},
				{"and another field", `{map: {list: [], other: 2}}`, all(ours, updated("o", `{"f:map": {"f:list": {}}}`)), "spec.map.other: 1 -> 2 (drifted)"},
			},
		},
		{
			why:  "another manager made a value of a map",
			kind: quota, manifest: `{map: {a: {}}}`, spec: `{map: {a: {}}}`, records: all(applied("m", `{"f:map": {"f:a": {}}}`)),
			rows: []row{{"true", `{map: true}`, all(whole), `spec.map: {"a":{}} -> true (drifted: changed by "o" (Apply))`}},
		},
	} {
		t.Run(state.why, func(t *testing.T) {
			var manifest map[string]any
			if state.manifest != "" {
				manifest = form(t, state.kind, state.manifest)
			}
			made := form(t, state.kind, state.spec, state.records...)
			remember := func(sensitive ...string) *explain.State {
				return mustNewState(t, manifest, made, "m", nil, patterns(t, sensitive...)...).
					Without(made, fieldsOf(t, state.left...), patterns(t, state.ignored...)...)
			}
			require.Empty(t, driftOf(t, remember(), made), "as it was")
			for _, row := range state.rows {
				live := form(t, state.kind, row.spec, row.records...)
				for _, s := range []*explain.State{remember(), restored(t, remember())} {
					refreshed := mustRefresh(t, s, live)
					drift := lines(refreshed.Drift)
					require.Equal(t, row.drift, strings.Join(drift, "\n"), row.why)
					require.Equal(t, drift, driftOf(t, refreshed.State, live), "%s: found again", row.why)
					if state.sensitive != nil {
						hidden := remember(state.sensitive...)
						require.Len(t, driftOf(t, hidden, live), len(drift), "%s: hidden", row.why)
						require.Len(t, driftOf(t, restored(t, hidden), live), len(drift), "%s: hidden and restored", row.why)
					}
				}
			}
		})
	}
}

// What a map has in which others own fields, and that was declared as null or with nothing that a server records, isn't
// what was declared.
func TestRefreshOfMapsOfOthers(t *testing.T) {
	ours, theirs := applied("m", `{"f:map": {}}`), applied("o", `{"f:map": {".": {}, "f:b": {}}}`)
	whole, item := applied("o", `{"f:map": {}}`), applied("o", `{"f:map": {'v:"b"': {}}}`)
	for _, row := range []struct {
		why, was, is string
		records      []record
		drift        string
	}{
		{"null, of which both are owners", `null`, `{b: 1}`, []record{ours, theirs}, ""},
		{"null, of which the other one is", `null`, `{b: 1}`, []record{updated("o", `{"f:map": {"f:b": {}}}`)}, ""},
		{"an empty list in it, and a default", `{l: [], b: 0}`, `{l: [], b: 1}`, []record{ours, theirs}, ""},
		{"a map with one owner", `{a: 1}`, `{a: 1, b: 1}`, []record{whole}, `spec.map: {"a":1} -> {"a":1,"b":1} (drifted: changed by "o" (Apply))`},
		{"null, and now a list of which others own an item", `null`, `[b]`, []record{item}, ""},
		{"an empty list, and others own an item", `[]`, `[b]`, []record{ours, item}, ""},
		{"an empty list that others took as a whole", `[]`, `[b]`, []record{whole}, `spec.map: [] -> ["b"] (drifted: changed by "o" (Apply))`},
		{"a list with an item", `[a]`, `[a, b]`, []record{item}, `spec.map: ["a"] -> ["a","b"] (drifted: changed by "o" (Apply))`},
		{"null that became a text", `null`, `b`, []record{whole}, `spec.map: null -> "b" (drifted: changed by "o" (Apply))`},
		{"a map that is gone", `{l: [], b: 0}`, `null`, []record{whole}, `spec.map: {"b":0,"l":[]} -> null (drifted: changed by "o" (Apply))`},
	} {
		state := mustNewState(t, nil, form(t, "ex.io/v1 Form", `{map: `+row.was+`}`, ours), "m", nil)
		drift := driftOf(t, state, form(t, "ex.io/v1 Form", `{map: `+row.is+`}`, row.records...))
		require.Equal(t, row.drift, strings.Join(drift, "\n"), row.why)
	}
}

// A map that another manager declared as empty looks like one whole in the version of the state if the fields in it
// were written in another version since. If that was before, the map may have become one whole.
func TestRefreshOfAMapThatIsWrittenInAnotherVersion(t *testing.T) {
	live := func(records, spec string) map[string]any {
		return object(t, `{apiVersion: ex.io/v1, kind: Form, metadata: {name: a, managedFields: [`+records+`]}, spec: `+spec+`}`)
	}
	made := live(`{manager: m, operation: Apply, apiVersion: ex.io/v1, time: "2026-01-01T00:00:01Z", fieldsV1: {"f:spec": {"f:a": {}}}}`, "{a: 1}")
	state := mustNewState(t, made, made, "m", nil)
	for second, drift := range map[string]string{
		"2": `spec: {"a":1} -> {"a":2,"b":3} (drifted: changed by "o" (Update))`,
		"3": `spec.a: 1 -> 2 (drifted: changed by "p" (Update))`,
	} {
		require.Equal(t, []string{drift}, driftOf(t, state, live(
			`{manager: o, operation: Update, apiVersion: ex.io/v1, time: "2026-01-01T00:00:03Z", fieldsV1: {"f:spec": {}}},
			{manager: p, operation: Update, apiVersion: ex.io/v2, time: "2026-01-01T00:00:0`+second+`Z", fieldsV1: {"f:spec": {"f:a": {}, "f:b": {}}}}`, "{a: 2, b: 3}")))
	}
}

// A state that is imported from a manager that declared a map as empty finds no drift in the map.
func TestRefreshOfAnImportedEmptyMap(t *testing.T) {
	live := form(t, "v1 Quota", `{on: true}`, applied("o", `{}`))
	imported, err := fieldowner.NewManifest(live, fieldowner.Selection{Strategy: fieldowner.ManagerFields, Manager: "o"})
	require.NoError(t, err)
	state, err := explain.NewImportedState(imported, live, "m")
	require.NoError(t, err)
	require.Empty(t, driftOf(t, state, live))
}

// A state as JSON has no more of an object than a refresh needs.
func TestWhatARefreshNeeds(t *testing.T) {
	const kind = "ex.io/v1 Form"
	made := form(t, kind, `{selector: {app: a}}`, applied("m", `{"f:selector": {}}`))
	state := mustNewState(t, nil, made, "m", nil)
	text := mustMarshal(t, state.Without(made, fieldsOf(t, "spec.selector")))
	require.NotContains(t, string(text), `"left"`, "of a field with an owner of its own nothing is remembered")
	text = mustMarshal(t, state.Without(made, projection.FieldSet{}, patterns(t, "spec.selector.hash", "spec.ports[0]")...))
	require.Contains(t, string(text), `"ignored":["spec.selector.hash"]`, "a position is about one list")
	for spec, isFilled := range map[string]bool{`{map: {a: x}}`: true, `{map: {}}`: false} {
		text = mustMarshal(t, mustNewState(t, form(t, kind, `{map: {}}`), form(t, kind, spec, applied("m", `{"f:map": {}}`)), "m", nil))
		require.Equal(t, isFilled, strings.Contains(string(text), `"filled"`), spec)
	}
	made = form(t, kind, `{mode: off}`, applied("m", `{"f:mode": {}, "f:timeout": {}}`))
	for _, sensitive := range []projection.Patterns{nil, patterns(t, "spec.timeout")} {
		text = mustMarshal(t, mustNewState(t, form(t, kind, `{mode: off, timeout: 6172839}`), made, "m", nil, sensitive...))
		require.NotContains(t, string(text), "6172839", "a value that the server didn't keep")
	}
}
