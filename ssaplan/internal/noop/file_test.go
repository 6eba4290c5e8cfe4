package noop

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/recent"
)

// portable returns a cache that knows the answer to a question, and one with warnings.
func portable(t *testing.T, options Options) (*Cache, Question) {
	options.Portable, options.ServerInterval = true, -1
	c := New(options)
	q, _ := newQuestion(func(*Question, *Asked) {})
	_, asked := c.Ask(t.Context(), nil, q)
	asked.NoOp(q, &explain.Explanation{}, nil)
	warned, _ := newQuestion(func(q *Question, _ *Asked) { q.Object.Name = "warned" })
	_, asked = c.Ask(t.Context(), nil, warned)
	asked.NoOp(warned, &explain.Explanation{}, []foreign.Text{"careful"})
	return c, q
}

func saved(t *testing.T, c *Cache, scope string) string {
	var text bytes.Buffer
	require.NoError(t, c.Save(&text, scope))
	return text.String()
}

func knows(t *testing.T, c *Cache, q Question) bool {
	known, _ := c.Ask(t.Context(), nil, q)
	return known != nil
}

func TestNoOpsOutliveTheProcess(t *testing.T) {
	c, q := portable(t, Options{})
	text := saved(t, c, "here")
	require.NotContains(t, text, "ConfigMap", "no names, no values")
	second := New(Options{Portable: true, ServerInterval: -1})
	require.False(t, knows(t, second, q))
	require.NoError(t, second.Restore(strings.NewReader(text), "here"))
	require.True(t, knows(t, second, q))
	warned, _ := newQuestion(func(q *Question, _ *Asked) { q.Object.Name = "warned" })
	require.False(t, knows(t, second, warned), "what else it told isn't in the file")
	require.Equal(t, text, saved(t, second, "here"), "and again")
	for what, change := range map[string]func(*Question, *Asked){
		"another version": func(q *Question, _ *Asked) { q.Live.SetResourceVersion("24") },
		"another content": func(q *Question, _ *Asked) { q.Live.Object["data"] = map[string]any{"a": "c"} },
		"another body":    func(q *Question, _ *Asked) { q.Body = []byte(`{}`) },
	} {
		other, _ := newQuestion(change)
		require.False(t, knows(t, second, other), what)
	}
}

func TestFilesThatAreNotTaken(t *testing.T) {
	c, q := portable(t, Options{})
	text := saved(t, c, "here")
	key := base64.StdEncoding.EncodeToString(make([]byte, len(recent.Key{})))
	withSetup := func(kind, since string) string {
		return strings.Replace(text, `"setups":[]`, fmt.Sprintf(`"setups":[{"k":%q,"p":["","",""],"since":%q}]`, kind, since), 1)
	}
	require.NoError(t, New(Options{Portable: true}).Restore(strings.NewReader(withSetup(key, "2026-01-02T03:04:05Z")), "here"))
	for what, wrong := range map[string]string{
		"nothing": "", "half of it": text[:len(text)/2], "no JSON": "no-ops", "another version": strings.Replace(text, `"version":1`, `"version":2`, 1),
		"another scope": strings.Replace(text, `"here"`, `"there"`, 1), "a short key": strings.Replace(text, `"q":"`, `"q":"AAAA`, 1),
		"a wrong time": withSetup(key, "soon"), "a short kind": withSetup("AAAA", "2026-01-02T03:04:05Z"),
	} {
		second := New(Options{Portable: true, ServerInterval: -1})
		require.Error(t, second.Restore(strings.NewReader(wrong), "here"), what)
		require.False(t, knows(t, second, q), what)
	}
	local := New(Options{})
	require.ErrorIs(t, local.Restore(strings.NewReader(text), "here"), errNotPortable)
	require.ErrorIs(t, local.Save(&bytes.Buffer{}, "here"), errNotPortable)
}

// A restored answer counts no longer than a new answer of this cache could. A full cache restores none.
func TestRestoredAnswersAreBounded(t *testing.T) {
	c, q := portable(t, Options{MaxAge: 4 * time.Hour})
	second := New(Options{Portable: true, ServerInterval: -1, MaxAge: time.Hour})
	require.NoError(t, second.Restore(strings.NewReader(saved(t, c, "")), ""))
	require.False(t, knows(t, second, q), "it claims to count for longer than an hour")
	full := New(Options{Portable: true, ServerInterval: -1, Size: 1, MaxAge: 4 * time.Hour})
	other, _ := newQuestion(func(q *Question, _ *Asked) { q.Object.Name = "other" })
	_, asked := full.Ask(t.Context(), nil, other)
	asked.NoOp(other, &explain.Explanation{}, nil)
	require.NoError(t, full.Restore(strings.NewReader(saved(t, c, "")), ""))
	require.True(t, knows(t, full, other))
	require.False(t, knows(t, full, q))
}

// A saved cache keeps since when the server is known to have its configuration. After a change this time is a new one.
func TestASetupIsKnownAcrossProcesses(t *testing.T) {
	c := New(Options{Portable: true})
	long, now := time.Now().Add(-time.Hour), time.Now()
	seenFor := func(c *Cache, kind, admission, definition string, since time.Time) time.Time {
		sum := sha256.Sum256([]byte(admission)) // not valid UTF-8, like the digests of a server's configuration
		configured := Configuration{Fingerprint: [3]string{string(sum[:]), "v1", definition}, Since: since}
		c.settle(identity.Identity{APIVersion: "v1", Kind: kind}, &configured)
		return configured.Since
	}
	seen := func(c *Cache, admission string, since time.Time) time.Time {
		return seenFor(c, "Secret", admission, "definition", since)
	}
	require.Equal(t, long, seen(c, "none", long))
	require.Equal(t, long, seenFor(c, "Service", "none", "definition", long))
	second := New(Options{Portable: true})
	require.NoError(t, second.Restore(strings.NewReader(saved(t, c, "")), ""))
	require.WithinDuration(t, long, seen(second, "none", now), 0, "the first process saw it")
	require.Equal(t, now, seen(second, "webhook", now))
	require.Equal(t, now, seen(second, "none", now), "it was otherwise meanwhile")
	require.Equal(t, now, seenFor(second, "Service", "none", "definition", now), "for other kinds, too")
	require.Equal(t, now, seenFor(c, "Secret", "none", "another", now), "another definition")
	require.Equal(t, now, seen(c, "none", now), "the definition was another one meanwhile")
	require.Equal(t, long, seenFor(c, "Service", "none", "definition", now), "that of another kind wasn't")
	shared := New(Options{})
	require.Equal(t, long, seen(shared, "none", long))
	require.Equal(t, long, seen(shared, "none", now), "by a Planner that looked later")
}
