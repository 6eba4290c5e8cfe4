package planner_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// write is what another manager does: an apply of a manifest without its name, or a merge patch.
type write struct{ manager, apply, patch, subresource string }

// Others can change what a plan tells without changing a value that it changes. That is another plan then. What they do
// to things that the plan doesn't tell of is none of its business.
func TestApplyStopsAtWhateverOthersChangeInAPlan(t *testing.T) {
	c := newCluster(t)
	data := func(data string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {" + data + "}}"
	}
	containers := func(containers string) string {
		return `{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: 1, selector: {matchLabels: {a: b}},
			template: {metadata: {labels: {a: b}}, spec: {containers: [` + containers + `]}}}}`
	}
	one := func(data string) write {
		return write{manager: "one", patch: `{"data":{` + data + `}}`}
	}
	for i, row := range []struct {
		why           string
		first, second string // what is applied, and what is planned then
		before, after []write
		goesOn        bool
	}{
		{
			why: "what drifted is somebody else's by now", first: data("a: A"), second: data("a: A"), before: []write{one(`"a":"x"`)},
			after: []write{{manager: "two", patch: `{"data":{"a":"y"}}`}, {manager: "two", patch: `{"data":{"a":"x"}}`}},
		},
		{
			why: "it drifted by another way", first: containers("{name: c, image: i}"), second: containers("{name: c, image: i}"),
			before: []write{{manager: "hpa", patch: `{"spec":{"replicas":5}}`}},
			after: []write{
				{manager: "hpa", patch: `{"spec":{"replicas":4}}`},
				{manager: "hpa", patch: `{"spec":{"replicas":5}}`, subresource: "scale"},
			},
		},
		{
			why: "it drifted again", first: data("a: A"), second: data("a: A"), before: []write{one(`"a":"x"`)},
			after: []write{one(`"a":"y"`), one(`"a":"x"`)}, goesOn: true,
		},
		{
			why: "what keeps its value is somebody else's by now", first: data("a: A, b: B"), second: data("a: A2, b: B"),
			after: []write{one(`"b":"x"`), one(`"b":"B"`)},
		},
		{
			why: "what would be deleted is retained", first: data("a: A, b: B"), second: data("a: A2"),
			after: []write{{manager: "one", apply: data("b: B")}},
		},
		{
			why: "one more retains it", first: data("a: A, b: B"), second: data("a: A2"),
			before: []write{{manager: "one", apply: data("b: B")}}, after: []write{{manager: "two", apply: data("b: B")}},
		},
		{
			why: "who retains it sets it", first: data("a: A, b: B"), second: data("a: A2"),
			before: []write{{manager: "one", apply: data("b: B")}},
			after:  []write{one(`"x":"X"`), {manager: "one", apply: data("b: B, c: C")}}, goesOn: true,
		},
		{
			why:   "what would be reset gets another default",
			first: containers("{name: c, image: i, imagePullPolicy: Never}"), second: containers("{name: c}"),
			before: []write{{manager: "one", apply: containers("{name: c, image: 'i:1'}")}},
			after:  []write{{manager: "one", apply: containers("{name: c, image: i}")}},
		},
		{
			why:   "the new item comes to another position",
			first: containers("{name: c, image: i}"), second: containers("{name: c, image: i}, {name: d, image: i}"),
			after: []write{{manager: "one", patch: `{"spec":{"template":{"spec":{"containers":[{"name":"x","image":"i"},{"name":"c","image":"i"}]}}}}`}},
		},
		{
			why: "somebody is deleting the object", first: data("a: A"), second: data("a: B"),
			before: []write{{manager: "one", patch: `{"metadata":{"finalizers":["example.com/keep"]}}`}},
			after:  []write{{manager: "delete"}},
		},
		{
			why: "others do to other fields what they like", first: data("a: A"), second: data("a: B"),
			after: []write{one(`"x":"X"`), {manager: "two", patch: `{"metadata":{"labels":{"y":"Y"}}}`}}, goesOn: true,
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			name := fmt.Sprintf("reviewed-%d", i)
			c.apply(t, manifest(t, row.first, name))
			c.write(t, name, row.first, row.before)
			plan := c.plan(t, ssaplan.Request{Manifest: manifest(t, row.second, name)})
			require.Equal(t, ssaplan.ActionUpdate, plan.Action)
			c.write(t, name, row.first, row.after)
			live := c.Get(t, manifest(t, row.first, name))
			again := c.plan(t, ssaplan.Request{Manifest: manifest(t, row.second, name)})
			require.Equal(t, row.goesOn, fingerprint(t, plan) == fingerprint(t, again), "in another process")
			_, err := c.planner.Apply(t.Context(), plan)
			if row.goesOn {
				require.NoError(t, err)
				return
			}
			isChanged(ssaplan.ActionUpdate)(t, err)
			require.Equal(t, live, c.Get(t, live), "nothing was written")
		})
	}
}

// write carries out what others do to an object.
func (c *cluster) write(t *testing.T, name, text string, writes []write) {
	t.Helper()
	for _, w := range writes {
		switch m := manifest(t, text, name); {
		case w.manager == "delete":
			c.Delete(t, m)
		case w.apply != "":
			c.Apply(t, w.manager, manifest(t, w.apply, name))
		case w.subresource != "":
			c.Patch(t, w.manager, m, w.patch, w.subresource)
		default:
			c.Patch(t, w.manager, m, w.patch)
		}
	}
}

func fingerprint(t *testing.T, plan *ssaplan.Plan) string {
	t.Helper()
	text, err := review.Fingerprint(plan)
	require.NoError(t, err)
	require.Regexp(t, `^plan-1:[-_A-Za-z0-9]{43}$`, text)
	return text
}

// A fingerprint tells plans apart by everything that a reviewer decides on, also by what he can't see.
func TestFingerprintsOfPlans(t *testing.T) {
	c := newCluster(t)
	const secret = "{apiVersion: v1, kind: Secret, metadata: {name: print}, stringData: {a: %s}}"
	const config = "{apiVersion: v1, kind: ConfigMap, metadata: {name: print}, data: {a: %s}}"
	const job = `{apiVersion: batch/v1, kind: Job, metadata: {name: print}, spec: {suspend: true, template:
		{spec: {restartPolicy: Never, containers: [{name: c, image: %s}]}}}}`
	seen := map[string]string{}
	is := func(why string, action ssaplan.Action, text, value string) string {
		t.Helper()
		request := ssaplan.Request{Manifest: manifest(t, text, value)}
		plan := c.plan(t, request)
		require.Equal(t, action, plan.Action, why)
		print := fingerprint(t, plan)
		require.Equal(t, print, fingerprint(t, c.plan(t, request)), "%s, once more", why)
		require.Empty(t, seen[print], "%s: a fingerprint of its own", why)
		seen[print] = why
		return print
	}
	is("no ConfigMap yet", ssaplan.ActionCreate, config, "one")
	is("another one", ssaplan.ActionCreate, config, "two")
	is("no Secret yet", ssaplan.ActionCreate, secret, "one")
	is("a Secret with another value", ssaplan.ActionCreate, secret, "two")
	for _, text := range []string{config, secret} {
		c.apply(t, manifest(t, text, "one"))
		is("an update", ssaplan.ActionUpdate, text, "two")
		is("another one", ssaplan.ActionUpdate, text, "three")
		c.apply(t, manifest(t, text, "two"))
		is("from another value", ssaplan.ActionUpdate, text, "three")
		nothing := is("nothing", ssaplan.ActionNoOp, text, "two")
		c.apply(t, manifest(t, text, "three"))
		require.Equal(t, nothing, fingerprint(t, c.plan(t, ssaplan.Request{Manifest: manifest(t, text, "three")})), "nothing is nothing")
		c.Delete(t, manifest(t, text, "three"))
		c.apply(t, manifest(t, text, "two"))
		is("of an object that was made anew", ssaplan.ActionUpdate, text, "three")
	}
	c.apply(t, manifest(t, job, "one"))
	is("a replacement", ssaplan.ActionReplace, job, "two")
	is("another one", ssaplan.ActionReplace, job, "three")
	c.Patch(t, "other", manifest(t, job, "one"), `{"metadata":{"finalizers":["example.com/keep"]}}`)
	is("with a hazard", ssaplan.ActionReplace, job, "three")
}
