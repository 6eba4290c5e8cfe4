package review_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// A plan that only does what its values show needs no words, and one that does more has a remark of its own for each of
// these.
func TestRemarks(t *testing.T) {
	path := projection.Path{projection.Field("spec"), projection.Field("a")}
	change := func(cause explain.Cause, op projection.Op, manager string) explain.Explanation {
		c := explain.Change{Difference: projection.Difference{Path: path, Op: op, Before: "x", After: "y"}, Cause: cause}
		c.Manager = foreign.Text(manager)
		return explain.Explanation{Changes: []explain.Change{c}}
	}
	owners := []fieldowner.Owner{{Manager: "helm", Operation: fieldowner.OperationApply}}
	for topic, row := range map[review.Topic]struct {
		said   explain.Explanation
		action ssaplan.Action
	}{
		"":                     {change(explain.CauseEdited, projection.OpChange, ""), ssaplan.ActionUpdate},
		review.TopicOrder:      {change(explain.CauseEdited, projection.OpMove, ""), ssaplan.ActionUpdate},
		review.TopicDrift:      {change(explain.CauseDrifted, projection.OpChange, "kubectl"), ssaplan.ActionUpdate},
		review.TopicSideEffect: {change(explain.CauseSideEffect, projection.OpChange, ""), ssaplan.ActionUpdate},
		review.TopicAdopted:    {change(explain.CauseDropped, projection.OpRemove, "helm"), ssaplan.ActionUpdate},
		review.TopicDropped:    {explain.Explanation{Dropped: []fieldowner.DroppedField{{Path: path, Fate: fieldowner.FateRetained}}}, ssaplan.ActionUpdate},
		review.TopicOwners:     {explain.Explanation{Ownership: []fieldowner.Transfer{{Path: path, Owners: owners}}}, ssaplan.ActionUpdate},
		review.TopicStays:      {explain.Explanation{Writers: []fieldowner.Writer{{}, {Stays: []projection.Path{path}}}}, ssaplan.ActionUpdate},
		review.TopicWarning:    {explain.Explanation{Warnings: []foreign.Text{"beware"}}, ssaplan.ActionUpdate},
		"creates":              {explain.Explanation{Ownership: []fieldowner.Transfer{{Path: path, Owners: owners}}}, ssaplan.ActionCreate},
	} {
		got := review.Remarks(&ssaplan.Plan{Action: row.action, Explanation: row.said}, nil)
		if topic == "" || topic == "creates" {
			require.Empty(t, got, topic)
			continue
		}
		require.Len(t, got, 1, topic)
		require.Equal(t, topic, got[0].Topic)
		require.Equal(t, string(topic), got[0].Text)
		require.Len(t, got[0].Lines, 1)
	}
}

// A new cause needs an answer to three questions: which topic a change of it has, which one if it was of another
// manager, and whether the outline has it where the manifest doesn't declare the field.
func TestEveryCauseHasATopic(t *testing.T) {
	answers := map[explain.Cause]struct {
		topic, taken review.Topic // "" if the values say it
		outlined     bool
	}{
		explain.CauseEdited:     {"", "", true},
		explain.CauseUnknown:    {"", "", true},
		explain.CauseDrifted:    {review.TopicDrift, review.TopicDrift, true},
		explain.CauseDropped:    {"", review.TopicAdopted, true},
		explain.CauseCleared:    {review.TopicCleared, review.TopicCleared, true},
		explain.CauseSideEffect: {review.TopicSideEffect, review.TopicSideEffect, false},
	}
	for _, cause := range explain.Causes() {
		want, known := answers[cause]
		require.True(t, known, "topicOf and outline: what do they do with a change of the cause %s?", cause)
		plan := &ssaplan.Plan{Action: ssaplan.ActionUpdate}
		nothing, err := review.Outline(plan)
		require.NoError(t, err)
		change := explain.Change{Difference: projection.Difference{Path: projection.Path{projection.Field("spec")}, Op: projection.OpChange}, Cause: cause}
		for manager, topic := range map[foreign.Text]review.Topic{"": want.topic, "helm": want.taken} {
			change.Manager = manager
			plan.Changes = []explain.Change{change}
			var got review.Topic
			for _, remark := range review.Remarks(plan, nil) {
				got = remark.Topic
			}
			require.Equal(t, topic, got, "topicOf: %s, manager %q", cause, manager)
		}
		something, err := review.Outline(plan)
		require.NoError(t, err)
		require.Equal(t, want.outlined, nothing != something, "outline: %s", cause)
	}
}

// Who applied before under another name goes on owning what it applied.
func TestRemarkOnAnotherManager(t *testing.T) {
	h := newHost(t)
	h.apply(settings)
	h.seen.State.Manager = "former"
	plan := h.plan(settings)
	plan.Ownership = []fieldowner.Transfer{{Owners: []fieldowner.Owner{{Manager: "former", Operation: fieldowner.OperationApply}}}}
	got := review.Remarks(plan, h.seen.State)
	require.Equal(t, review.TopicManager, got[len(got)-1].Topic)
	require.Contains(t, got[len(got)-1].Lines[0], `"former" still owns`)
	h.seen.State.Manager = "host"
	require.NotContains(t, fmt.Sprint(review.Remarks(plan, h.seen.State)), "still owns")
}

// The remark on a replacement comes first, and all of them fold into one, under the name of the object that goes.
func TestFold(t *testing.T) {
	a, b := identity.Identity{APIVersion: "v1", Kind: "Secret", Name: "a"}, identity.Identity{APIVersion: "v1", Kind: "Secret", Name: "b"}
	plan := &ssaplan.Plan{
		Object: b, Action: ssaplan.ActionReplace, Reason: "metadata.name changes", Explanation: explain.Explanation{Warnings: []foreign.Text{"beware"}},
		Replacement: &ssaplan.Replacement{Old: a, Evidence: "identity", Hazards: []immutability.Hazard{{Kind: immutability.HazardData, Message: "it has data"}}},
	}
	remarks := review.Remarks(plan, nil, "it has data", "a finalizer holds it")
	heading, text := review.Fold(remarks)
	require.Equal(t, "v1/Secret a: will be deleted, and v1/Secret b created; warning", heading)
	require.Equal(t, "will be deleted, and v1/Secret b created:\nmetadata.name changes\nhazard: "+plan.Replacement.Hazards[0].String()+
		"\na finalizer holds it\nevidence: identity\nwarning:\nbeware", text)
	heading, text = review.Fold(remarks[1:])
	require.Equal(t, "v1/Secret b: warning|beware", heading+"|"+text, "one needs no heading twice")
	heading, text = review.Fold(append(remarks, review.Remark{Object: b, Text: "warning", Lines: []string{"and wary"}}))
	require.Equal(t, "v1/Secret a: will be deleted, and v1/Secret b created; warning", heading, "those of the same text have one")
	require.True(t, strings.HasSuffix(text, "\nevidence: identity\nwarning:\nbeware\nand wary"), text)
}

func TestLines(t *testing.T) {
	many := make([]foreign.Text, 32)
	lines := review.Lines(many)
	require.Len(t, lines, 31)
	require.Equal(t, "… and 2 more", strings.TrimSpace(lines[30]))
	require.Len(t, review.Lines(many[:30]), 30)
}
