package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Topic is the subject of a remark.
type Topic string

// The topics of remarks.
const (
	TopicReplace    Topic = "will be deleted and created again"
	TopicOrder      Topic = "the order of a list changes"
	TopicDrift      Topic = "drifted, and will be set back"
	TopicSideEffect Topic = "side effects: the server also changes"
	TopicAdopted    Topic = "taken over from others, and removed or reset since the manifest lacks it"
	TopicCleared    Topic = "cleared as requested, although the manifest never had it"
	TopicDropped    Topic = "fields that the manifest no longer declares"
	TopicOwners     Topic = "fields change owners"
	TopicStays      Topic = "fields left over from other tools"
	TopicWarning    Topic = "warning"
	TopicManager    Topic = "the field manager changes"
)

// Remark is something that a reviewer must know besides the values before and after. Values and remarks together are
// everything in a plan that a reviewer needs.
type Remark struct {
	// Object is the object of the remark; for a replacement, the old object.
	Object identity.Identity
	Topic  Topic
	// Text is the heading: the topic, or a longer text.
	Text string
	// Lines are the details, such as the fields.
	Lines []string
}

// Remarks returns the remarks about a plan, in the order in which they should be read. prior is the stored state of the
// object. For a replacement, the last arguments are the notes about the deletion of the old object; see
// [deletion.Plan.Notes].
func Remarks(plan *ssaplan.Plan, prior *explain.State, goes ...string) []Remark {
	lines := map[Topic][]string{
		TopicDropped: Lines(plan.Dropped), TopicStays: Lines(staying(plan.Writers)),
		TopicManager: leavingManager(plan, prior),
	}
	if plan.Action != ssaplan.ActionCreate { // of which all is the manager's, and nobody's before
		lines[TopicOwners] = Lines(plan.Ownership)
	}
	changes := map[Topic][]explain.Change{}
	for _, change := range plan.Changes {
		topic := topicOf(change)
		changes[topic] = append(changes[topic], change)
	}
	var out []Remark
	if plan.Replacement != nil {
		out = append(out, Remark{plan.Replacement.Old, TopicReplace,
			fmt.Sprintf("will be deleted, and %s created", plan.Object), replacementLines(plan, goes)})
	}
	for _, topic := range []Topic{TopicOrder, TopicDrift, TopicSideEffect, TopicAdopted, TopicCleared, TopicDropped,
		TopicOwners, TopicStays} {
		if list := append(lines[topic], Lines(changes[topic])...); len(list) > 0 {
			out = append(out, Remark{plan.Object, topic, string(topic), list})
		}
	}
	for _, text := range plan.Warnings {
		out = append(out, Remark{plan.Object, TopicWarning, string(TopicWarning), []string{text.String()}})
	}
	if list := lines[TopicManager]; len(list) > 0 {
		out = append(out, Remark{plan.Object, TopicManager, string(TopicManager), list})
	}
	return out
}

// topicOf returns what to say of a change, "" if its values do.
func topicOf(change explain.Change) Topic {
	switch {
	case change.Op == projection.OpMove:
		return TopicOrder
	case change.Cause == explain.CauseDropped && change.Manager != "":
		return TopicAdopted
	case change.Cause == explain.CauseCleared:
		return TopicCleared
	}
	return map[explain.Cause]Topic{explain.CauseDrifted: TopicDrift,
		explain.CauseSideEffect: TopicSideEffect}[change.Cause]
}

// staying returns the tools of which something stays behind.
func staying(writers []fieldowner.Writer) []fieldowner.Writer {
	return slices.DeleteFunc(slices.Clone(writers), func(w fieldowner.Writer) bool { return len(w.Stays) == 0 })
}

// leavingManager says that the field manager which applied before goes on owning fields.
func leavingManager(plan *ssaplan.Plan, prior *explain.State) []string {
	if prior == nil || prior.Manager == plan.Patch().Options.FieldManager {
		return nil
	}
	owns := func(t fieldowner.Transfer) bool {
		return slices.ContainsFunc(t.Owners, fieldowner.Applier{Manager: prior.Manager}.Is)
	}
	if !slices.ContainsFunc(plan.Ownership, owns) {
		return nil
	}
	return []string{fmt.Sprintf(
		"%q still owns the fields that it applied, so a field that you remove from the manifest later stays in the object", foreign.Text(prior.Manager))}
}

// replacementLines tell why the object has to be replaced, and what goes with the old one.
func replacementLines(plan *ssaplan.Plan, goes []string) []string {
	r := plan.Replacement
	lines := []string{plan.Reason}
	for _, field := range r.Fields {
		lines = append(lines, fmt.Sprintf("%s: %s", field.Path, field.Message))
	}
	for _, hazard := range r.Hazards {
		lines = append(lines, "hazard: "+hazard.String())
	}
	for _, note := range goes {
		if !slices.ContainsFunc(r.Hazards, func(h immutability.Hazard) bool { return h.Message == note }) {
			lines = append(lines, note)
		}
	}
	return append(lines, "evidence: "+r.Evidence.String())
}

// Fold returns remarks as one message: a heading, which names the object of the first remark, and a text below it. Use
// it where a reader sees only the first of several messages, or where there are too many objects for several messages
// each. Adjacent remarks with the same Text get one heading. There must be at least one remark.
func Fold(remarks []Remark) (heading, text string) {
	var headings, lines []string
	several := slices.ContainsFunc(remarks, func(r Remark) bool { return r.Text != remarks[0].Text })
	for i, remark := range remarks {
		if i == 0 || remark.Text != remarks[i-1].Text {
			headings = append(headings, remark.Text)
			if several && len(remark.Lines) > 0 {
				lines = append(lines, remark.Text+":")
			}
		}
		lines = append(lines, remark.Lines...)
	}
	return fmt.Sprintf("%s: %s", remarks[0].Object, strings.Join(headings, "; ")), strings.Join(lines, "\n")
}

// maxLines is how many lines a remark has of one list at most.
const maxLines = 30

// Lines returns a line for each item. If there are too many to read, the last line says how many are left out.
func Lines[T fmt.Stringer](items []T) []string {
	var out []string
	for i, item := range items {
		if i == maxLines {
			return append(out, fmt.Sprintf("… and %d more", len(items)-maxLines))
		}
		out = append(out, item.String())
	}
	return out
}
