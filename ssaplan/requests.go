package ssaplan

import "github.com/ssaplan/primitives/ssaplan/internal/wire"

// wire returns the options that are about requests.
func (o Options) wire() wire.Options {
	return wire.Options{
		Logger: o.Logger, ThrottleRetries: o.ThrottleRetries, Observe: o.Observe,
		Passwords: !o.SkipFormats, ShowValuesOf: o.ShowValuesOf,
	}
}
