package cmd

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
)

// A flag in no group is listed last, as an option, where none of the others is.
func TestEveryFlagHasAGroup(t *testing.T) {
	grouped := map[string]bool{"help": true}
	for _, group := range flagGroups {
		for _, name := range strings.Fields(group.common + " " + group.more) {
			grouped[name] = true
		}
	}
	for _, name := range []string{"plan", "apply"} {
		command, _, err := newRoot(genericiooptions.IOStreams{Out: io.Discard, ErrOut: io.Discard}).Find([]string{name})
		require.NoError(t, err)
		command.Flags().VisitAll(func(f *pflag.Flag) {
			assert.True(t, grouped[f.Name], "flagGroups lacks --%s of %s", f.Name, name)
		})
	}
}

// A flag that decides what a plan says is saved with the plan. Otherwise apply would make another plan, and refuse it.
func TestEveryFlagIsSavedOrNot(t *testing.T) {
	notSaved := map[string]bool{}
	for _, names := range map[string]string{
		"apply finds the same cluster by its own flags, and compares it": `namespace context kubeconfig server user cluster token as as-group as-uid cache-dir
			certificate-authority client-certificate client-key tls-server-name insecure-skip-tls-verify disable-compression request-timeout`,
		"the manifests are saved themselves":  "filename kustomize recursive",
		"it decides only how a plan is shown": "output verbose help",
		"it can't be used with --out":         "from to like shard memory contexts",
		"it says what is saved":               "out out-secrets",
	} {
		for _, name := range strings.Fields(names) {
			notSaved[name] = true
		}
	}
	command, _, err := newRoot(genericiooptions.IOStreams{Out: io.Discard, ErrOut: io.Discard}).Find([]string{"plan"})
	require.NoError(t, err)
	command.InitDefaultHelpFlag()
	command.Flags().VisitAll(func(f *pflag.Flag) {
		assert.NotEqual(t, slices.Contains(lastingFlags, f.Name), notSaved[f.Name], "lastingFlags: is --%s saved with a plan?", f.Name)
		delete(notSaved, f.Name)
	})
	assert.Empty(t, notSaved, "no such flags")
}

// A format that is listed and that nothing prints would look like text.
func TestEveryOutputIsShown(t *testing.T) {
	claim := identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "settings"}
	report := render.Report{Plans: []*ssaplan.Plan{{Object: claim, Action: ssaplan.ActionCreate}}}
	shown := map[string]string{}
	for _, output := range outputs {
		var out bytes.Buffer
		o := newOptions(genericiooptions.IOStreams{Out: &out, ErrOut: io.Discard})
		o.output = output
		require.NoError(t, o.show(report), output)
		for other, text := range shown {
			assert.NotEqual(t, text, out.String(), "%s prints what %s prints", output, other)
		}
		shown[output] = out.String()
	}
}

// A new format needs a row in the README, a row in the tests of what all formats have in common, and an answer to two
// questions. Is it one document, so that nothing else may be printed to standard output? Can it show several clusters,
// one after the other?
func TestEveryOutputIsDescribed(t *testing.T) {
	answers := map[string]struct{ document, contexts bool }{
		"text":      {false, true},
		"json":      {true, true},
		"yaml":      {true, true},
		outputLines: {true, false},
		"markdown":  {false, true},
		"html":      {true, false},
		outputDiff:  {false, true},
	}
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(readme), "\n## Output formats\n")
	section, _, _ = strings.Cut(section, "\n## ")
	described := ""
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			described += cells[1]
		}
	}
	formats, err := os.ReadFile("../render/formats_test.go")
	require.NoError(t, err)
	for _, output := range outputs {
		want, known := answers[output]
		require.True(t, known, "encodes and validateContexts: what do they say of -o %s?", output)
		o := newOptions(genericiooptions.IOStreams{Out: io.Discard, ErrOut: io.Discard})
		o.output = output
		assert.Equal(t, want.document, o.encodes(), "encodes: %s", output)
		assert.Equal(t, want.contexts, o.validateContexts(&cobra.Command{}) == nil, "validateContexts: %s", output)
		assert.True(t, strings.Contains(described, "`"+output+"`"), "README.md: the table of output formats lacks %s", output)
		assert.True(t, strings.Contains(string(formats), `"`+output+`": `), "render/formats_test.go: formats lacks %s", output)
	}
}
