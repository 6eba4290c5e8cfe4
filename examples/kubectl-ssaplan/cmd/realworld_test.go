package cmd_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// realWorld is the environment variable with a folder of archives NAME.tar.gz, each with the folders old and new of the
// install manifests of a project in two versions.
const realWorld = "SSAPLAN_SETS"

// Each set is created in one run, and the next plan of it has no changes. One more run upgrades it to the newer
// version, except for objects that the server refuses to kubectl, too.
func TestRealWorld(t *testing.T) {
	archives, err := filepath.Glob(filepath.Join(os.Getenv(realWorld), "*.tar.gz"))
	require.NoError(t, err)
	if os.Getenv(realWorld) == "" {
		t.Skip("ON REQUEST: make sets, with a folder of archives")
	}
	require.NotEmpty(t, archives)
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			out, err := exec.Command("tar", "-xzf", archive).CombinedOutput()
			require.NoError(t, err, string(out))
			installAndUpgrade(t, name)
		})
	}
}

func installAndUpgrade(t *testing.T, name string) {
	server := controlplane.ForTest(t, controlplane.Options{})
	command := func(line string) result {
		return run(t.Context(), "", append(strings.Fields(line), "--state", "state.json", "--kubeconfig", server.Kubeconfig())...)
	}
	makeNamespaces(t, server, filepath.Join(name, "old"))
	start := time.Now()
	first := command("apply --yes -R -f " + name + "/old")
	took := time.Since(start).Round(time.Millisecond)
	require.Equal(t, 0, first.code, first.err)
	again := command("plan -R -o json -v -f " + name + "/old")
	var report struct{ Plans []*ssaplan.Plan }
	require.NoError(t, json.Unmarshal([]byte(again.out), &report))
	for _, plan := range report.Plans {
		// Of an object without content, such as a bare Namespace, a server writes the record of the apply once more.
		isNothing := plan.Action == ssaplan.ActionNoOp || plan.Action == ssaplan.ActionUpdate && len(plan.Changes) == 0
		assert.True(t, isNothing, "%v", plan)
	}

	isShort(t, server, name, command)
	upgradeAsSaved(t, server, name)
	upgrade := command("apply --yes --replace --keep-going -o json -R -f " + name + "/new")
	var outcome struct {
		Errors []struct{ Object struct{ Name string } }
	}
	require.NoError(t, json.Unmarshal([]byte(upgrade.out), &outcome), upgrade.err)
	var names []string
	for _, e := range outcome.Errors {
		names = append(names, e.Object.Name)
	}
	slices.Sort(names)
	assert.Equal(t, refusedByKubectl(t, server, name+"/new"), names, upgrade.err)
	refused := len(names)
	if refused == 0 {
		assert.Equal(t, 0, upgrade.code, upgrade.err)
	}
	left := command("plan -R -o json -f " + name + "/new")
	var after struct{ Removals []struct{ Kept string } }
	require.NoError(t, json.Unmarshal([]byte(left.out), &after))
	pruned := command("apply --yes --prune --keep-going -R -f " + name + "/new")
	if refused == 0 { // else nothing is pruned
		assert.Equal(t, 0, pruned.code, pruned.err)
		assert.Equal(t, len(after.Removals), strings.Count(pruned.err, "deleted "), pruned.err)
		assert.NotContains(t, command("plan -R -f "+name+"/new").out, "No longer in the manifests")
	}
	t.Logf("figure: %s: %d created in %v, %d planned again without a change; the upgrade ended with %d, %d objects refused; %d of %d pruned",
		name, strings.Count(first.err, "created "), took, len(report.Plans), upgrade.code, refused, strings.Count(pruned.err, "deleted "), len(after.Removals))
}

// upgradeAsSaved has a saved plan carry out the upgrade, unless there are errors, which no plan is saved with: it is
// shown as it was printed, does all of it in one run, and nothing a second time.
func upgradeAsSaved(t *testing.T, server *controlplane.Server, name string) {
	t.Helper()
	command := func(line string) result {
		return run(t.Context(), "", append(strings.Fields(line), "--kubeconfig", server.Kubeconfig())...)
	}
	planned := command("plan --state state.json -R -f " + name + "/new --out saved.plan")
	if planned.code == 1 {
		assert.Contains(t, planned.err, "saved.plan wasn't written: correct the errors first\n")
		return
	}
	saved, err := os.Stat("saved.plan")
	require.NoError(t, err, planned.err)
	printed := 0
	for _, format := range []string{"text", "json -v", "markdown", "html"} {
		again := command("plan --state state.json -R -f " + name + "/new -o " + format)
		shown := run(t.Context(), "", strings.Fields("show saved.plan -o "+format)...)
		assert.Equal(t, 0, shown.code, shown.err)
		// The server generates other values for each answer.
		assert.True(t, passed(again.out) == passed(shown.out), "%s is another, without a cluster", format)
		printed += len(shown.out)
	}
	// Manifests with secrets aren't in it.
	apply := "apply --replace --plan saved.plan -R -f " + name + "/new"
	applied := command(apply)
	require.Equal(t, 0, applied.code, applied.err)
	twice := command(apply)
	require.Equal(t, 1, twice.code)
	require.Contains(t, twice.err, "nothing was applied: not as it was reviewed: ")
	t.Logf("figure: %s: a saved plan of %d bytes, shown in 4 formats of %d bytes as it was printed, applied, and refused the second time", name, saved.Size(), printed)
}

// passed returns a text without what passes.
func passed(text string) string {
	for _, p := range passing {
		text = p.text.ReplaceAllString(text, p.name)
	}
	return text
}

// refusedByKubectl returns the names of the objects of a folder that the server refuses kubectl.
func refusedByKubectl(t *testing.T, server *controlplane.Server, folder string) (names []string) {
	t.Helper()
	out, err := exec.Command(server.Bin("kubectl"), "--kubeconfig", server.Kubeconfig(),
		"apply", "--server-side", "--force-conflicts", "--dry-run=server", "-R", "-f", folder).CombinedOutput()
	for _, match := range regexp.MustCompile(`(?m)^.*"([^"]+)" is invalid: .*$`).FindAllStringSubmatch(string(out), -1) {
		names = append(names, match[1])
	}
	require.Equal(t, err != nil, len(names) > 0, string(out))
	slices.Sort(names)
	return names
}

// makeNamespaces makes the namespaces that the objects of a folder name, and that it doesn't have.
func makeNamespaces(t *testing.T, server *controlplane.Server, folder string) {
	t.Helper()
	missing := regexp.MustCompile(`namespace "([^"]+)"`)
	got := run(t.Context(), "", "plan", "-R", "-f", folder, "--kubeconfig", server.Kubeconfig())
	cluster := lab.Connect(t, server.Config())
	made := map[string]bool{}
	for _, match := range missing.FindAllStringSubmatch(got.err, -1) {
		if !made[match[1]] {
			cluster.Apply(t, "somebody", lab.Objectf(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", match[1]))
			made[match[1]] = true
		}
	}
}
