package lab

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/ssaplan/primitives/internal/clock"
)

// Patience is how long a test waits for what has to happen. It only ends tests that fail.
const Patience = 3 * time.Minute

// Context returns the context of a test, in which no timeout of the library ends, however slow the machine is.
func Context(t testing.TB) context.Context {
	return clock.With(t.Context(), &clock.Fake{NoTimeouts: true})
}

// Eventually calls holds every now and then until it returns true. It does so on the goroutine of the test, which holds
// may therefore end. The text says what is waited for.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(context.Background(), 20*time.Millisecond, Patience, true,
		func(context.Context) (bool, error) { return holds(), nil })
	require.NoError(t, err, "waited in vain: %s", what)
}

// NextSecond waits until a second begins. Servers write times in seconds, and keep records of the same second in
// another order than those of two.
func NextSecond() {
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
}
