package cmd

import (
	"context"
	"fmt"

	"github.com/ssaplan/primitives/readiness"
)

// awaitReady waits until what was applied is ready, if the user asked for that. It reports whether it is.
func (p *planning) awaitReady(ctx context.Context) bool {
	all := true
	if !p.wait || p.subresource != "" {
		return all
	}
	for waited := range p.set.Await(ctx, readiness.Of(p.conditions), p.timeout) {
		result := &p.results[p.at[waited.Item.Number]]
		result.Ready, result.Waits = &waited.Ready, waited.String()
		p.line(*result)
		if waited.Ready {
			continue
		}
		all = false
		say(p.ErrOut, fmt.Sprintf("not ready: %s: %s", waited.Item.Object, waited.Readiness))
	}
	return all
}
