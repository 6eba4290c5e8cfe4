package wire

import (
	"context"

	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
)

// Warnings are the different warnings of the server about the requests of one context.
type Warnings = warnings.Warnings

// CollectWarnings returns a context for requests, and what collects the server's warnings about them.
func CollectWarnings(ctx context.Context) (context.Context, *Warnings) { return warnings.Collect(ctx) }
