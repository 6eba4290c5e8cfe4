package server_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/server"
)

type others struct{ texts []string }

func (o *others) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	o.texts = append(o.texts, text)
}

// A warning is returned with the answer, and goes to the plan that the request is part of, or else to the handler of
// the client.
func TestWarningHandler(t *testing.T) {
	for _, isPlan := range []bool{true, false} {
		var rest others
		ctx, plan := t.Context(), &warnings.Warnings{}
		if isPlan {
			ctx, plan = warnings.Collect(ctx)
		}
		one, answer := server.CollectWarnings(ctx)
		handler := server.WarningHandler{Others: &rest}
		for _, text := range []string{"a", "b", "a", ""} {
			handler.HandleWarningHeaderWithContext(one, 299, "-", text)
		}
		handler.HandleWarningHeaderWithContext(one, 199, "-", "c")
		assert.Equal(t, []string{"a", "b"}, answer())
		assert.Equal(t, isPlan, len(plan.All()) == 2)
		assert.Equal(t, isPlan, len(rest.texts) == 0, rest.texts)
	}
	server.WarningHandler{}.HandleWarningHeaderWithContext(t.Context(), 299, "-", "dropped")
}
