package docs_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// notInGlossary are the exported types that are no idea of their own, by the reason.
var notInGlossary = map[string][]string{
	"how a function works, documented at its fields": {
		"identity.Options", "immutability.ProbeOptions", "immutability.HazardOptions", "openapi.Options", "deletion.Options", "ssaplan.Options",
		"ssaplantest.Options", "set.Options", "set.RemovalOptions", "client.Options", "dynclient.Options",
	},
	"what a function takes or returns, documented with it": {
		"authresilience.ClientConfig", "authresilience.Kept", "authresilience.ReadAttempt",
		"explain.Input", "explain.Prepared", "explain.Refreshed", "projection.Renaming",
		"server.Kind", "server.Ref", "server.Response",
	},
	"what a client has to be able to do":           {"immutability.Getter", "immutability.Writer", "dynclient.RESTClienter"},
	"a part of an implementation of server.Server": {"server.Mapped", "dynclient.Discovery"},
	"an implementation of server.Server":           {"client.Client"},
	"the kinds of something that the glossary has": {
		"authresilience.CredentialKind", "fieldowner.TransferKind", "immutability.HazardKind", "projection.ElementKind",
	},
	"several of something that the glossary has":               {"projection.Patterns"},
	"a part of something that the glossary has":                {"immutability.Field", "authresilience.Description", "projection.Held", "explain.EmptyField"},
	"a cache, and what collects warnings: no idea of planning": {"ssaplan.NoOpCache", "ssaplan.NoOpCacheOptions", "ssaplan.NoOpStats", "server.WarningHandler"},
	"a stand-in for a server, in tests":                        {"ssaplantest.Kind", "ssaplantest.Request", "ssaplantest.Scale", "ssaplantest.Server"},
}

// Each exported type that is an idea of its own is in the glossary. The errors are in docs/errors.md.
func TestGlossaryHasEveryIdea(t *testing.T) {
	glossary := read(t, "../../docs/glossary.md")
	left := map[string]bool{}
	for _, names := range notInGlossary {
		for _, name := range names {
			left[name] = true
		}
	}
	types := 0
	for _, folder := range packages {
		exported := exports(t, folder)
		for _, name := range exported.errors {
			left[filepath.Base(folder)+"."+name] = true
		}
		for _, typeName := range exported.types {
			name := filepath.Base(folder) + "." + typeName
			explained := strings.Contains(glossary, "`"+name+"`")
			assert.NotEqual(t, left[name], explained, "%s: in the glossary, or with a reason here", name)
			delete(left, name)
			types++
		}
	}
	assert.Greater(t, types, 80)
	for name := range left {
		assert.Contains(t, name, ".Err", "no such type")
	}
}

// A word is explained once, the words are in order, and there are few of them.
func TestGlossaryIsInOrder(t *testing.T) {
	glossary := read(t, "../../docs/glossary.md")
	last, rows := "", 0
	for line := range strings.Lines(glossary) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| word ") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		require.Len(t, cells, 3, line)
		assert.Less(t, last, cells[0])
		assert.True(t, strings.HasSuffix(cells[1], "."), line)
		last = cells[0]
		rows++
	}
	assert.NotZero(t, rows)
	assert.LessOrEqual(t, rows, 60, "a glossary is read as a whole")
}
