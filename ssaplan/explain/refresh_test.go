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

// What a map has in which others own fields, and that was declared as null or with nothing that a server records, isn't
// what was declared.
func TestRefreshOfMapsOfOthers(t *testing.T) {
	const (
		ours    = `{manager: m, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:map": {}}}}`
		theirs  = `{manager: o, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:map": {".": {}, "f:b": {}}}}}`
		whole   = `{manager: o, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:map": {}}}}`
		updated = `{manager: o, operation: Update, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:map": {"f:b": {}}}}}`
		items   = `{manager: o, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:map": {"v:\"b\"": {}}}}}`
	)
	for _, row := range []struct{ why, was, is, records, drift string }{
		{"null, of which both are owners", `null`, `{b: 1}`, ours + "," + theirs, ""},
		{"null, of which the other one is", `null`, `{b: 1}`, updated, ""},
		{"an empty list in it, and a default", `{l: [], b: 0}`, `{l: [], b: 1}`, ours + "," + theirs, ""},
		{"a map with one owner", `{a: 1}`, `{a: 1, b: 1}`, whole, `spec.map: {"a":1} -> {"a":1,"b":1} (drifted: changed by "o" (Apply))`},
		{"null, and now a list of which others own an item", `null`, `[b]`, items, ""},
		{"an empty list, and others own an item", `[]`, `[b]`, ours + "," + items, ""},
		{"an empty list that others took as a whole", `[]`, `[b]`, whole, `spec.map: [] -> ["b"] (drifted: changed by "o" (Apply))`},
		{"a list with an item", `[a]`, `[a, b]`, items, `spec.map: ["a"] -> ["a","b"] (drifted: changed by "o" (Apply))`},
		{"null that became a text", `null`, `b`, whole, `spec.map: null -> "b" (drifted: changed by "o" (Apply))`},
		{"a map that is gone", `{l: [], b: 0}`, `null`, whole, `spec.map: {"b":0,"l":[]} -> null (drifted: changed by "o" (Apply))`},
	} {
		at := func(value, records string) map[string]any {
			return object(t, `{apiVersion: ex.io/v1, kind: Form, metadata: {name: a, managedFields: [`+records+`]}, spec: {map: `+value+`}}`)
		}
		state := mustNewState(t, nil, at(row.was, ours), "m", nil)
		refreshed := mustRefresh(t, state, at(row.is, row.records))
		var drift string
		for _, c := range refreshed.Drift {
			drift += c.String()
		}
		require.Equal(t, row.drift, drift, row.why)
	}
}

// A map is declared as null that has what others own in it. It is null or gone once they give that up, unless the
// server has a default for it.
func TestRefreshOfMapDeclaredAsNull(t *testing.T) {
	const (
		ours   = `{manager: m, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:map": {}}}`
		theirs = `{manager: o, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:map": {"f:b": {}}}}`
		whole  = `{manager: o, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:map": {}}}`
	)
	object := func(rest, records string) map[string]any {
		return object(t, `{apiVersion: ex.io/v1, kind: Form, metadata: {name: a, managedFields: [`+records+`]}, `+rest+`}`)
	}
	for _, row := range []struct{ why, was, is, records, drift string }{
		{"as it was", `map: {b: 1}`, `map: {b: 1}`, ours + "," + theirs, ""},
		{"others changed what is in it", `map: {b: 1}`, `map: {b: 2}`, ours + "," + theirs, ""},
		{"others gave it up", `map: {b: 1}`, `map: null`, ours, ""},
		{"others gave it up, and it can't be null", `map: {b: 1}`, `on: true`, ours, ""},
		{"another removed it", `map: {b: 1}`, `on: true`, "", "map: - null (drifted)"},
		{"another emptied it", `map: {b: 1}`, `map: {}`, ours, "map: null -> {} (drifted)"},
		{"others gave it up, and it has a default", `map: {b: 1}`, `map: {a: 0}`, ours, ""},
		{"others took it as a whole", `map: {b: 1}`, `map: {a: 0}`, whole, `map: null -> {"a":0} (drifted: changed by "o" (Apply))`},
	} {
		state := mustNewState(t, object(`map: null`, ""), object(row.was, ours+","+theirs), "m", nil)
		require.Equal(t, row.drift, strings.Join(driftOf(t, state, object(row.is, row.records)), "\n"), row.why)
	}
}

// A server leaves out empty values of some kinds. What such a map has later is of others, unless they took the map.
func TestRefreshOfWhatTheServerLeftOut(t *testing.T) {
	const (
		ours    = `{manager: m, operation: Apply, apiVersion: v1, fieldsV1: {"f:spec": {"f:hard": {}}}}`
		inParts = `{manager: o, operation: Apply, apiVersion: v1, fieldsV1: {"f:spec": {"f:hard": {".": {}, "f:pods": {}}}}}`
		whole   = `{manager: o, operation: Apply, apiVersion: v1, fieldsV1: {"f:spec": {"f:hard": {}}}}`
		others  = `{manager: o, operation: Apply, apiVersion: v1, fieldsV1: {"f:metadata": {"f:labels": {"f:a": {}}}}}`
	)
	for _, row := range []struct{ why, spec, records, drift string }{
		{"as it was", `{}`, ours, ""},
		{"the map is there, and empty", `{hard: {}}`, ours, ""},
		{"the server filled it", `{hard: {pods: "1"}}`, ours, ""},
		{"the server filled it anew after others took it out", `{hard: {pods: "1"}}`, others, ""},
		{"there is no record any more", `{hard: {pods: "1"}}`, "", `spec.hard: + {"pods":"1"} (drifted)`},
		{"another manager took it with a field of its own in it", `{hard: {pods: "1"}}`, inParts, ""},
		{"another took it as a whole", `{hard: {pods: "1"}}`, whole, `spec.hard: + {"pods":"1"} (drifted: changed by "o" (Apply))`},
		{"an empty text was left out, and now has a value", `{hard: set}`, ours, `spec.hard: + "set" (drifted)`},
	} {
		applied := object(t, `{apiVersion: v1, kind: Quota, metadata: {name: a, managedFields: [`+ours+`]}, spec: {}}`)
		state := mustNewState(t, object(t, `{apiVersion: v1, kind: Quota, metadata: {name: a}, spec: {hard: {}}}`), applied, "m", nil)
		refreshed := mustRefresh(t, state, object(t, `{apiVersion: v1, kind: Quota, metadata: {name: a, managedFields: [`+row.records+`]}, spec: `+row.spec+`}`))
		var drift string
		for _, c := range refreshed.Drift {
			drift += c.String()
		}
		require.Equal(t, row.drift, drift, row.why)
	}
}

// A map that was declared as empty, and that others filled and then emptied, is gone in a kind whose server leaves out
// empty ones. A structure comes back, and so does a map of a custom resource.
func TestRefreshOfWhatOthersEmptied(t *testing.T) {
	object := func(kind, spec, managers string) map[string]any {
		return object(t, `{`+kind+`, metadata: {name: a, managedFields: [`+managers+`]}, spec: `+spec+`}`)
	}
	const (
		manifest = `{options: {}, strategy: {}}`
		live     = `{options: {a: b}, strategy: {type: x}}`
		record   = `operation: Apply, apiVersion: apps/v1, fieldsV1: {"f:spec": {"f:options": {%}, "f:strategy": {%}}}}`
	)
	ours := `{manager: m, ` + strings.ReplaceAll(record, "%", "")
	theirs := `{manager: o, ` + strings.Replace(strings.Replace(record, "%", `"f:a": {}`, 1), "%", `"f:type": {}`, 1)
	for kind, drift := range map[string][]string{
		"apiVersion: apps/v1, kind: Deployment":       {`spec.strategy: - {} (drifted)`},
		"apiVersion: apps.ex.io/v1, kind: Deployment": {`spec.options: - {} (drifted)`, `spec.strategy: - {} (drifted)`},
	} {
		state := mustNewState(t, object(kind, manifest, ""), object(kind, live, ours+", "+theirs), "m", nil)
		require.Empty(t, driftOf(t, state, object(kind, live, ours+", "+theirs)), kind)
		for _, spec := range []string{"{}", "{replicas: 1}"} {
			require.Equal(t, drift, driftOf(t, state, object(kind, spec, ours)), kind)
		}
	}
}

// Another manager alone is recorded for a map that a state remembers as empty. If the server filled it after the apply,
// the manager declared it as empty, too; if not, it took the map with what is in it.
func TestRefreshOfMapThatTheServerFilled(t *testing.T) {
	live := func(manager, spec string) map[string]any {
		return object(t, `{apiVersion: ex.io/v1, kind: Form, metadata: {name: a, managedFields: [
			{manager: `+manager+`, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:map": {}}}}]}, spec: `+spec+`}`)
	}
	for filled, drift := range map[string][]string{
		`{map: {a: x}}`: nil,
		`{map: {}}`:     {`spec.map: {} -> {"a":"x"} (drifted: changed by "o" (Apply))`},
	} {
		manifest := object(t, `{apiVersion: ex.io/v1, kind: Form, metadata: {name: a}, spec: {map: {}}}`)
		state := mustNewState(t, manifest, live("m", filled), "m", nil)
		text := mustMarshal(t, state)
		require.Equal(t, drift == nil, strings.Contains(string(text), `"filled"`))
		restored := &explain.State{}
		require.NoError(t, json.Unmarshal(text, restored))
		for _, s := range []*explain.State{state, restored} {
			refreshed := mustRefresh(t, s, live("o", `{map: {a: x}}`))
			require.ElementsMatch(t, drift, lines(refreshed.Drift), filled)
			require.ElementsMatch(t, drift, driftOf(t, refreshed.State, live("o", `{map: {a: x}}`)), filled)
		}
	}
}

// A value that the server didn't keep is no drift when it is there later, and another value is, also if it is secret.
func TestRefreshOfWhatWasNotKept(t *testing.T) {
	object := func(spec string) map[string]any {
		return object(t, `{apiVersion: ex.io/v1, kind: Form, metadata: {name: a, managedFields: [
			{manager: m, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:mode": {}, "f:timeout": {}}}}]}, spec: `+spec+`}`)
	}
	for _, sensitive := range []projection.Patterns{nil, patterns(t, "spec.timeout")} {
		state := mustNewState(t, object("{mode: off, timeout: 6172839}"), object("{mode: off}"), "m", nil, sensitive...)
		text := mustMarshal(t, state)
		require.NotContains(t, string(text), "6172839")
		restored := &explain.State{}
		require.NoError(t, json.Unmarshal(text, restored))
		for timeout, isDrift := range map[string]bool{"6172839": false, "90": true} {
			for _, s := range []*explain.State{state, restored} {
				drift := driftOf(t, s, object("{mode: off, timeout: "+timeout+"}"))
				require.Equal(t, isDrift, len(drift) > 0, "%s %v %v", timeout, drift, sensitive)
			}
		}
	}
}

// What a list or map with one owner has at a part that is left to others is never drift, and the rest of it is.
func TestRefreshOfPartsThatAreLeftToOthers(t *testing.T) {
	live := func(args, selector string) map[string]any {
		return object(t, `{apiVersion: ex.io/v1, kind: Form, metadata: {name: a, managedFields: [
			{manager: m, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:args": {}, "f:selector": {}}}}]},
			spec: {args: `+args+`, selector: `+selector+`}}`)
	}
	made := live("[a, b, c, d]", "{app: x, tier: why}")
	state := mustNewState(t, nil, made, "m", nil)
	whole := mustMarshal(t, state.Without(made, projection.NewFieldSet(path(t, "spec.selector"))))
	require.NotContains(t, string(whole), `"left"`, "of a field with an owner of its own nothing is remembered")
	left := projection.NewFieldSet(path(t, "spec.args[2]"), path(t, "spec.args[3]"), path(t, "spec.selector.tier"))
	state = state.Without(made, left)
	hidden := mustNewState(t, nil, made, "m", nil, patterns(t, "spec.args", "spec.selector")...)
	hidden = hidden.Without(made, left)
	text := mustMarshal(t, state)
	restored := &explain.State{}
	require.NoError(t, json.Unmarshal(text, restored))
	for _, row := range []struct {
		why, args, selector string
		drift               []string
	}{
		{"as they were", "[a, b, c, d]", "{app: x, tier: why}", nil},
		{"others changed their parts", "[a, b, C, D]", "{app: x, tier: other}", nil},
		{"others removed them", "[a, b]", "{app: x}", nil},
		{"others changed other parts", "[A, b, c, d]", "{app: x, tier: why, more: z}", []string{
			`spec.args: ["a","b","c","d"] -> ["A","b","c","d"] (drifted)`,
			`spec.selector: {"app":"x","tier":"why"} -> {"app":"x","more":"z","tier":"why"} (drifted)`,
		}},
		{"others made something else of them", "x", "[why]", []string{
			`spec.args: ["a","b"] -> "x" (drifted)`, `spec.selector: {"app":"x"} -> ["why"] (drifted)`,
		}},
	} {
		for _, s := range []*explain.State{state, restored} {
			require.ElementsMatch(t, row.drift, driftOf(t, s, live(row.args, row.selector)), row.why)
		}
		require.Len(t, driftOf(t, hidden, live(row.args, row.selector)), len(row.drift), "hidden, %s", row.why)
	}
}

// Of a list or map that was nothing but parts which are left to others, whatever is there later is no drift. An item
// that is gone is, since it comes back with all that the manifest has.
func TestRefreshOfWholesThatAreLeftToOthers(t *testing.T) {
	live := func(spec string) map[string]any {
		return object(t, `{apiVersion: ex.io/v1, kind: Form, metadata: {name: a, managedFields: [
			{manager: m, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:args": {}, "f:selector": {}}}}]},
			spec: `+spec+`}`)
	}
	state := mustNewState(t, nil, live("{args: [{at: {a: b}}], selector: {app: x}}"), "m", nil)
	left := projection.NewFieldSet(path(t, "spec.args[0].at"), path(t, "spec.selector.app"))
	state = state.Without(live("{args: [{at: {a: b}}], selector: {app: x}}"), left)
	for spec, drift := range map[string][]string{
		"{args: [{at: {a: b}}], selector: {app: x}}": nil,
		"{args: [{}], selector: {}}":                 nil,
		"{args: [{c: d}], selector: {tier: z}}":      nil,
		"{}":                                         {`spec.args: - [{"at":{"a":"b"}}] (drifted)`},
		"{args: [], selector: x}":                    {`spec.args: [{"at":{"a":"b"}}] -> [] (drifted)`},
		"{args: [{at: {}, c: d}], selector: {app: w, tier: z}}": {
			`spec.args: [{"at":{}}] -> [{"at":{},"c":"d"}] (drifted)`, `spec.selector: {"app":"w"} -> {"app":"w","tier":"z"} (drifted)`,
		},
	} {
		require.Equal(t, drift, driftOf(t, state, live(spec)), spec)
	}
}

// A map or list that was applied as empty, since all that the manifest has in it is left to others, isn't applied once
// it is gone or something else. A null that is the manager's becomes an empty map again.
func TestRefreshOfEmptyWholesThatAreLeftToOthers(t *testing.T) {
	const (
		both   = `fieldsV1: {"f:spec": {"f:args": {}, "f:map": {}}}}`
		ours   = `{manager: m, operation: Apply, apiVersion: ex.io/v1, ` + both
		none   = `{manager: m, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:a": {}}}}`
		theirs = `{manager: o, operation: Update, apiVersion: ex.io/v1, ` + both
		parts  = `{manager: o, operation: Update, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:map": {"f:a": {}}}}}`
	)
	live := func(records, spec string) map[string]any {
		return object(t, `{apiVersion: ex.io/v1, kind: Form, metadata: {name: a, managedFields: [`+records+`]},
			spec: `+spec+`}`)
	}
	made := live(ours, "{args: [], map: {}}")
	state := mustNewState(t, made, made, "m", nil)
	state = state.Without(made, projection.NewFieldSet(path(t, "spec.args[0]"), path(t, "spec.map.a")))
	for _, row := range []struct {
		why, records, spec string
		drift              []string
	}{
		{"as they were", ours, "{args: [], map: {}}", nil},
		{"others removed them", none, "{}", nil},
		{"others made something else of them", theirs, "{args: {a: b}, map: text}", nil},
		{"others set the part of the map", ours + "," + parts, "{args: [], map: {a: x}}", nil},
		{"others have parts of their own", theirs, "{args: [x], map: {a: x}}", nil},
		{"others put another field there", theirs, "{args: [], map: {b: x}}", nil},
		{"others put one beside the parts", theirs, "{args: [x, z], map: {a: x, b: x}}", []string{
			`spec.args: ["x"] -> ["x","z"] (drifted: changed by "o" (Update))`,
			`spec.map: {"a":"x"} -> {"a":"x","b":"x"} (drifted: changed by "o" (Update))`,
		}},
		{"the server made null of it", ours, "{args: [], map: null}", []string{`spec.map: {} -> null (drifted)`}},
		{"others made null of it", none, "{args: [], map: null}", nil},
	} {
		require.Equal(t, row.drift, driftOf(t, state, live(row.records, row.spec)), row.why)
	}
}

// A map that was declared as empty isn't compared by what others applied in it, even if a part of that is ignored.
func TestRefreshOfIgnoredPartsOfAMapDeclaredAsEmpty(t *testing.T) {
	const (
		ours   = `{manager: m, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {}}}`
		theirs = `{manager: o, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:args": {}}}}`
	)
	live := func(records, spec string) map[string]any {
		return object(t, `{apiVersion: ex.io/v1, kind: Form, metadata: {name: a, managedFields: [`+records+`]}, spec: `+spec+`}`)
	}
	made := live(ours, "{}")
	state := mustNewState(t, made, made, "m", nil)
	state = state.Without(made, projection.FieldSet{}, patterns(t, "spec.args[=1]")...)
	for _, spec := range []string{"{args: [1]}", "{args: [2, 1]}", "{args: [2]}", "{args: []}"} {
		require.Empty(t, driftOf(t, state, live(ours+","+theirs, spec)), spec)
	}
}

// An item of a list with one owner that is left to others, and that the list lacked, is no drift wherever it comes; the
// order of the others is.
func TestRefreshOfItemsThatAreLeftToOthers(t *testing.T) {
	live := func(limits string) map[string]any {
		return object(t, `{apiVersion: ex.io/v1, kind: Form, metadata: {name: a, managedFields: [
			{manager: m, operation: Apply, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:limits": {}}}}]}, spec: {limits: `+limits+`}}`)
	}
	state := mustNewState(t, nil, live("[{type: b}, {type: c}]"), "m", nil)
	state = state.Without(live("[{type: b}, {type: c}]"), projection.NewFieldSet(path(t, `spec.limits[type="a"]`)))
	for limits, drift := range map[string][]string{
		"[{type: b}, {type: c}]":                    nil,
		"[{type: a, max: 1}, {type: b}, {type: c}]": nil,
		"[{type: b}, {type: a}, {type: c}]":         nil,
		"[{type: b}, {type: c}, {type: a}]":         nil,
		"[{type: c}, {type: a}, {type: b}]":         {`spec.limits: [{"type":"b"},{"type":"a"},{"type":"c"}] -> [{"type":"c"},{"type":"a"},{"type":"b"}] (drifted)`},
	} {
		require.Equal(t, drift, driftOf(t, state, live(limits)), limits)
	}
}

// What the patterns of ignored fields match is no drift if it comes after the apply to a map with one owner.
func TestRefreshOfPartsThatComeLater(t *testing.T) {
	live := func(selector string) map[string]any {
		return object(t, `{apiVersion: v1, kind: Service, metadata: {name: a, managedFields: [
			{manager: m, operation: Apply, apiVersion: v1, fieldsV1: {"f:spec": {"f:selector": {}}}}]}, spec: {selector: `+selector+`}}`)
	}
	state := mustNewState(t, nil, live("{app: a}"), "m", nil)
	text := mustMarshal(t, state.Without(live("{app: a}"), projection.FieldSet{}, patterns(t, "spec.selector.hash", "spec.ports[0]")...))
	require.Contains(t, string(text), `"ignored":["spec.selector.hash"]`, "a position is about one list")
	hidden := mustNewState(t, nil, live("{app: a}"), "m", nil, patterns(t, "spec.selector")...)
	hidden = hidden.Without(live("{app: a}"), projection.FieldSet{}, patterns(t, "spec.selector.hash")...)
	var restored explain.State
	require.NoError(t, json.Unmarshal(text, &restored))
	for selector, drift := range map[string][]string{
		"{app: a}":           nil,
		"{app: a, hash: h}":  nil,
		"{app: b, hash: h}":  {`spec.selector: {"app":"a","hash":"h"} -> {"app":"b","hash":"h"} (drifted)`},
		"{app: a, other: h}": {`spec.selector: {"app":"a"} -> {"app":"a","other":"h"} (drifted)`},
	} {
		require.Equal(t, drift, driftOf(t, &restored, live(selector)), selector)
		require.Len(t, driftOf(t, hidden, live(selector)), len(drift), "hidden, %s", selector)
	}
}

// An entry of a map is recorded beside what is in it. If others remove all that was applied there, only the entry is
// recorded, as if it had become a map with one owner.
func TestRefreshOfAnEntryFromWhichAllWasRemoved(t *testing.T) {
	live := func(entry, spec string) map[string]any {
		return object(t, `{apiVersion: ex.io/v1, kind: Form, metadata: {name: a, managedFields: [{manager: m, operation: Apply, apiVersion: ex.io/v1,
			fieldsV1: {"f:spec": {"f:paths": {"f:x": `+entry+`}}}}]}, spec: {paths: {x: `+spec+`}}}`)
	}
	made := live(`{".": {}, "f:stones": {}}`, "{stones: 1, width: 2}")
	state := mustNewState(t, made, made, "m", nil)
	for spec, drift := range map[string][]string{
		"{width: 2}":            {"spec.paths.x.stones: - 1 (drifted)"},
		"{stones: 1, width: 2}": {`spec.paths.x: {"stones":1} -> {"stones":1,"width":2} (drifted)`}, // the entry has what was applied, so a definition has made the map atomic
	} {
		require.Equal(t, drift, driftOf(t, state, live("{}", spec)), spec)
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
		refreshed := mustRefresh(t, state, live(
			`{manager: o, operation: Update, apiVersion: ex.io/v1, time: "2026-01-01T00:00:03Z", fieldsV1: {"f:spec": {}}},
			{manager: p, operation: Update, apiVersion: ex.io/v2, time: "2026-01-01T00:00:0`+second+`Z", fieldsV1: {"f:spec": {"f:a": {}, "f:b": {}}}}`, "{a: 2, b: 3}"))
		require.Equal(t, []string{drift}, lines(refreshed.Drift))
	}
}

// An ignored list in a map with one owner becomes a field of its own once others write it.
func TestRefreshOfAnIgnoredPartThatBecameAField(t *testing.T) {
	live := func(records, spec string) map[string]any {
		return object(t, `{apiVersion: ex.io/v1, kind: Form, metadata: {name: a, managedFields: [{manager: m, operation: Apply, apiVersion: ex.io/v1,
			fieldsV1: {"f:spec": {"f:map": {}}}}`+records+`]}, spec: {map: `+spec+`}}`)
	}
	made := live("", "{list: [{}], other: 1}")
	state := mustNewState(t, made, made, "m", nil)
	state = state.Without(made, fieldsOf(t, "spec.map.list"), patterns(t, "spec.map.list")...)
	for spec, drift := range map[string][]string{"{list: [], other: 1}": nil, "{list: [], other: 2}": {"spec.map.other: 1 -> 2 (drifted)"}} {
		theirs := `, {manager: o, operation: Update, apiVersion: ex.io/v1, fieldsV1: {"f:spec": {"f:map": {"f:list": {}}}}}`
		require.Equal(t, drift, driftOf(t, state, live(theirs, spec)), spec)
	}
}

// TestRefreshOfRetypedMaps has a map that another manager made a value of, and one that the manager it was imported
// from declared as empty.
func TestRefreshOfRetypedMaps(t *testing.T) {
	const (
		ours   = `{manager: m, operation: Apply, apiVersion: v1, fieldsV1: {"f:spec": {"f:any": {"f:a": {}}}}}`
		theirs = `{manager: o, operation: Apply, apiVersion: v1, fieldsV1: {"f:spec": {"f:any": {}}}}`
		empty  = `{manager: o, operation: Apply, apiVersion: v1, fieldsV1: {"f:spec": {}}}`
	)
	live := func(records, spec string) map[string]any {
		return object(t, `{apiVersion: v1, kind: Quota, metadata: {name: a, managedFields: [`+records+`]}, spec: `+spec+`}`)
	}
	state := mustNewState(t, live("", "{any: {a: {}}}"), live(ours, "{any: {a: {}}}"), "m", nil)
	refreshed := mustRefresh(t, state, live(theirs, "{any: true}"))
	require.Len(t, refreshed.Drift, 1)
	require.Equal(t, `spec.any: {"a":{}} -> true (drifted: changed by "o" (Apply))`, refreshed.Drift[0].String())

	imported, err := fieldowner.NewManifest(live(empty, "{on: true}"), fieldowner.Selection{Strategy: fieldowner.ManagerFields, Manager: "o"})
	require.NoError(t, err)
	state, err = explain.NewImportedState(imported, live(empty, "{on: true}"), "m")
	require.NoError(t, err)
	require.Empty(t, driftOf(t, state, live(empty, "{on: true}")))
}
