package client

import (
	"context"

	"k8s.io/client-go/rest"
)

// otherWarnings returns the handler of the config, nil if it has none.
func otherWarnings(config *rest.Config) rest.WarningHandlerWithContext {
	if config.WarningHandlerWithContext == nil && config.WarningHandler != nil {
		return withoutContext{config.WarningHandler}
	}
	return config.WarningHandlerWithContext
}

type withoutContext struct{ handler rest.WarningHandler }

func (h withoutContext) HandleWarningHeaderWithContext(_ context.Context, code int, agent string, text string) {
	h.handler.HandleWarningHeader(code, agent, text)
}
