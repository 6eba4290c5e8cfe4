package liveobject

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan/internal/passwords"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

// target returns the ConfigMap of a server that answers in turn after the discovery.
func target(t *testing.T, bodies ...string) *Target {
	return targetOf(t, &wiretest.Answers{Bodies: bodies})
}

func targetOf(t *testing.T, transport *wiretest.Answers) *Target {
	transport.Bodies = append([]string{wiretest.Discovery}, transport.Bodies...)
	return locate(t, transport)
}

func locate(t *testing.T, transport http.RoundTripper) *Target {
	target, err := locator(t, transport).Locate(t.Context(), wiretest.A, "")
	require.NoError(t, err)
	return target
}

func locator(t *testing.T, transport http.RoundTripper) Locator {
	server := wire.New(wiretest.Client(t, transport), wire.Options{ThrottleRetries: -1})
	return Locator{Server: server, Passwords: passwords.New(server, passwords.Options{Skip: true}), DefaultNamespace: "n"}
}

func TestLiveObjectsThatCantGuard(t *testing.T) {
	for why, metadata := range wiretest.Incomplete {
		_, err := target(t, wiretest.Versioned(metadata)).Live(t.Context())
		require.Error(t, err, why)
	}
	live, err := target(t, wiretest.Versioned(wiretest.Identified)).Live(t.Context())
	require.NoError(t, err)
	require.Equal(t, "5", live.GetResourceVersion())
}

// A 404 counts only if it is about the object that was asked for.
func TestMissingIsWhatWasAskedFor(t *testing.T) {
	live, err := target(t, wiretest.Missing).Live(t.Context())
	require.NoError(t, err)
	require.Nil(t, live)
	_, err = target(t, wiretest.MissingOther).Live(t.Context())
	require.EqualError(t, err,
		`the server was asked for "a" and answers that another object isn't there: check the proxies in front of the server ("b")`)
}
