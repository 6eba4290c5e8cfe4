package ssaplan

import "github.com/ssaplan/primitives/ssaplan/internal/wire"

// Observation is one request that the Planner sent. It holds nothing of an object's content.
type Observation = wire.Observation

// WarningHandler hands the warnings that a server sends with its answers to the plan of the object that they are about.
// [New] sets it; a host with a client of its own sets it as WarningHandlerWithContext of the client's config. Its field
// Others gets the warnings about requests that aren't part of a plan, such as those of an apply, which the plan had.
// Default: they are dropped; [New] sets what the config has.
type WarningHandler = wire.WarningHandler

// wire returns the options that are about requests.
func (o Options) wire() wire.Options {
	return wire.Options{
		Logger: o.Logger, ThrottleRetries: o.ThrottleRetries, Observe: o.Observe,
		Passwords: !o.SkipFormats, ShowValuesOf: o.ShowValuesOf,
	}
}
