package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
)

var shop = &cluster{config: &rest.Config{Host: "https://user:password@shop.example.com"}, context: "shop", namespace: "web"}

func TestAsk(t *testing.T) {
	for answer, want := range map[string]bool{
		"yes\n": true, "  yes  \n": true, "yes": true,
		"y\n": false, "YES\n": false, "no\n": false, "\n": false, "": false, "yes please\n": false,
	} {
		var asked bytes.Buffer
		o := newOptions(genericiooptions.IOStreams{In: strings.NewReader(answer), ErrOut: &asked})
		o.manager = "me"
		assert.Equal(t, want, o.ask(t.Context(), shop, "Delete"), "%q", answer)
		assert.Equal(t, "Target: context \"shop\", server https://…@shop.example.com, namespace \"web\", field manager \"me\"\n"+
			"Delete this? Type yes: ", asked.String())
	}
}

// Who presses Ctrl-C at the question has answered it.
func TestAskEndsWithItsContext(t *testing.T) {
	never, writer := io.Pipe()
	defer writer.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := newOptions(genericiooptions.IOStreams{In: never, ErrOut: io.Discard})
	assert.False(t, o.ask(ctx, shop, "Apply"))
}

// With --replace, the objects to delete and the hazards of each delete are printed before the user is asked for
// approval.
func TestReplacementsAreSaidFirst(t *testing.T) {
	claim := identity.Identity{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}
	plan := &ssaplan.Plan{Object: claim, Action: ssaplan.ActionReplace, Replacement: &ssaplan.Replacement{
		Old: claim, Hazards: []immutability.Hazard{{Kind: immutability.HazardData, Message: "the data in the volume is lost"}},
	}}
	var said bytes.Buffer
	p := &planning{options: newOptions(genericiooptions.IOStreams{ErrOut: &said}), plans: []*ssaplan.Plan{
		{Action: ssaplan.ActionUpdate}, plan, {Action: ssaplan.ActionConflict},
	}}
	p.sayReplacements()
	assert.Empty(t, said.String(), "without --replace nothing is deleted")
	assert.True(t, p.leavesOut(plan))
	p.replace = true
	p.deletions = map[*ssaplan.Plan][]string{plan: {"the data in the volume is lost", `finalizer a (set by "b" (Update))`}}
	p.sayReplacements()
	assert.Equal(t, `To be deleted: v1/PersistentVolumeClaim shop/data
  ▲ the data in the volume is lost
  ▲ finalizer a (set by "b" (Update))
`, said.String(), "each line once")
	assert.False(t, p.leavesOut(plan))
}

func TestPlanToReview(t *testing.T) {
	now := &ssaplan.Plan{Action: ssaplan.ActionReplace}
	for _, err := range []error{&set.ChangedError{Now: now}, &ssaplan.ChangedError{Plan: now}} {
		assert.Same(t, now, planToReview(fmt.Errorf("shop/web: %w", err)), "%T", err)
	}
	assert.Nil(t, planToReview(context.Canceled))
}
