package cmd

import (
	"fmt"
	"io"
	"time"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
)

// waits says what a run waits for, if that takes long enough to wonder.
type waits struct {
	out    io.Writer
	object identity.Identity
	since  time.Time
	said   string
}

// sayUnusable says that no object of a definition, or in a namespace, can be made yet.
func (o *options) sayUnusable(object identity.Identity, why string) {
	say(o.ErrOut, fmt.Sprintf("%s can't be used: %s", object, foreign.Text(why)))
}

func (o *options) newWaiting() *waits { return &waits{out: o.ErrOut} }

// show is told again and again what is being waited for.
func (w *waits) show(object identity.Identity, why string) {
	if object != w.object {
		w.object, w.since, w.said = object, time.Now(), ""
	}
	if time.Since(w.since) < unnoticed || why == w.said {
		return
	}
	w.said = why
	say(w.out, fmt.Sprintf("waiting for %s: %s", object, foreign.Text(why)))
}
