package ssaplan

import "github.com/ssaplan/primitives/ssaplan/internal/wire"

// Observation describes one request that the Planner sent, without the content of objects.
type Observation = wire.Observation

// WarningHandler adds the warnings in the server's answers to the plan of the object. [New] sets it. For
// [NewForClient], set it as WarningHandlerWithContext of the client's config. Its field Others gets the warnings of
// requests that aren't part of a plan, such as an apply, whose warnings were in the plan already. Default: these are
// dropped. The WarningHandler that New sets gives them to the handler in the config.
type WarningHandler = wire.WarningHandler

// wire returns the options that are about requests.
func (o Options) wire() wire.Options {
	return wire.Options{
		Logger: o.Logger, ThrottleRetries: o.ThrottleRetries, Observe: o.Observe,
		Passwords: !o.SkipFormats, ShowValuesOf: o.ShowValuesOf,
	}
}
