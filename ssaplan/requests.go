package ssaplan

import (
	"github.com/ssaplan/primitives/ssaplan/internal/passwords"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// wire returns the options that are about requests.
func (o Options) wire() wire.Options {
	return wire.Options{Logger: o.Logger, ThrottleRetries: o.ThrottleRetries, Observe: o.Observe}
}

// passwords returns the options that are about fields with the format password.
func (o Options) passwords() passwords.Options {
	return passwords.Options{Skip: o.SkipFormats, ShowValuesOf: o.ShowValuesOf}
}
