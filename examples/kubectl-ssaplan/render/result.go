package render

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// Result is what became of carrying out a plan.
type Result struct {
	Object identity.Identity
	// Subresource is that of the plan, empty for the object itself.
	Subresource string
	// Action is what was to be done, as the plan of that moment had it; "Prune" for an object that has left the set. It
	// is empty if there was no plan.
	Action  ssaplan.Action
	Outcome write.Outcome
	// ResourceVersion is that of the object afterwards, empty if it isn't known.
	ResourceVersion string
	// Ready reports whether the object was ready in the end, and Waits why not; nil if nobody waited for it.
	Ready *bool
	Waits string
	// Stage is where a replacement stopped, which is the one that the outcome is about; otherwise empty.
	Stage write.Stage
	// Class is that of the failure, empty if there was none.
	Class string
	// Message says why the object isn't as planned, empty if it is.
	Message string
	// Differences are how an object that was written differs from what its plan said.
	Differences []projection.Difference
	// Unshown are changes that were made to an object that was deferred, and that its first plan couldn't show.
	Unshown []explain.Change
}

// ActionPrune is the action of a result for an object that has left the set.
const ActionPrune ssaplan.Action = "Prune"

type resultJSON struct {
	Object          objectJSON     `json:"object"`
	Subresource     string         `json:"subresource,omitempty"`
	Action          ssaplan.Action `json:"action,omitempty"`
	Outcome         write.Outcome  `json:"outcome"`
	ResourceVersion string         `json:"resourceVersion,omitempty"`
	Ready           *bool          `json:"ready,omitempty"`
	Waits           string         `json:"waits,omitempty"`
	Stage           write.Stage    `json:"stage,omitempty"`
	Class           string         `json:"class,omitempty"`
	Message         string         `json:"message,omitempty"`

	Differences []projection.Difference `json:"differences,omitempty"`
	Unshown     []explain.Change        `json:"unshown,omitempty"`
}

func (r Result) json() resultJSON {
	return resultJSON{
		objectToJSON(r.Object), r.Subresource, r.Action, r.Outcome, r.ResourceVersion, r.Ready,
		foreign.Visible(r.Waits), r.Stage, r.Class, r.Message, r.Differences, r.Unshown,
	}
}

// Line returns the result as one line of JSON.
func (r Result) Line() ([]byte, error) {
	text, err := compact(r.json())
	return append(text, '\n'), err
}

// resultWords are in the order in which a summary lists the outcomes.
var resultWords = []struct {
	outcome write.Outcome
	words   string
}{
	{write.OutcomeDone, "done"},
	{write.OutcomeRefused, "refused"},
	{write.OutcomeUnknown, "unknown"},
	{write.OutcomeNotSent, "not sent"},
}

// Results returns a sentence: "Apply: 2 done, 1 refused, 1 not sent."
func (t Text) Results(results []Result) string {
	outcomes := map[write.Outcome]int{}
	for _, r := range results {
		outcomes[r.Outcome]++
	}
	var parts []string
	for _, w := range resultWords {
		if n := outcomes[w.outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, w.words))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing to do"}
	}
	return t.paint(bold, "Apply:") + " " + strings.Join(parts, ", ") + ".\n"
}
