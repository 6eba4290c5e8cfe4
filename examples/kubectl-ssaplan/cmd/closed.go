package cmd

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/wholefile"
)

// output is where a run prints its results. A reader that goes away interrupts the run, which then remembers what it
// did.
type output struct {
	io.Writer
	interrupt context.CancelFunc

	mu     sync.Mutex
	failed error
}

func (o *output) Write(text []byte) (int, error) {
	n, err := o.Writer.Write(text)
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.failed == nil {
			o.failed = fmt.Errorf("the output can't be written: %w", wholefile.Cause(err))
		}
		o.interrupt()
	}
	return n, err
}

// err returns the first error, nil if all was written.
func (o *output) err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failed
}
