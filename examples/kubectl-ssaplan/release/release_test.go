// Package release_test checks the recipes by which the program is released.
package release_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/test/lab"
)

type releaser struct {
	Version     int
	ProjectName string `json:"project_name"`
	Builds      []struct {
		ID, Dir, Main, Binary             string
		Env, Flags, Ldflags, Goos, Goarch []string
		Stamp                             string `json:"mod_timestamp"`
	}
	Archives []struct {
		ID              string
		IDs, Formats    []string
		Name            string           `json:"name_template"`
		FormatOverrides []map[string]any `json:"format_overrides"`
		Files           []any
	}
	Before   struct{ Hooks []string }
	Checksum struct {
		Name      string `json:"name_template"`
		Algorithm string
		IDs       []string
		Extra     []map[string]string `json:"extra_files"`
	}
	Release struct {
		Extra  []map[string]string `json:"extra_files"`
		Footer string
	}
	Krews []struct {
		IDs                         []string
		Name, Homepage, Description string
		ShortDescription            string `json:"short_description"`
		URL                         string `json:"url_template"`
		SkipUpload                  bool   `json:"skip_upload"`
	}
	Sboms []struct {
		ID, Artifacts, Cmd string
		Args, Documents    []string
	}
	Signs []struct {
		Artifacts string
		Args      []string
	}
}

func readReleaser(t *testing.T) (r releaser) {
	t.Helper()
	text, err := os.ReadFile("goreleaser.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(text, &r))
	require.Len(t, r.Builds, 1)
	require.Len(t, r.Archives, 1)
	return r
}

// The image has the program that the archives have.
func TestDockerfileBuildsTheProgram(t *testing.T) {
	recipe, err := os.ReadFile("../Dockerfile")
	require.NoError(t, err)
	r := readReleaser(t)
	assert.Contains(t, string(recipe), "RUN cd "+r.Builds[0].Dir+" && go build ")
	assert.Contains(t, string(recipe), " "+r.Builds[0].Main+"\n")
	for _, setting := range r.Builds[0].Env {
		assert.Regexp(t, `(?m)^ENV .*\b`+setting+`\b`, string(recipe))
	}
}

// What a release runs is named by digests. Dependabot renews those of the workflows and of the image; the provider's
// recipe, which is a workflow in the provider's own repository only, has the same.
func TestRecipesNameDigests(t *testing.T) {
	workflows, err := filepath.Glob("../../../.github/workflows/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, workflows)
	actions := map[string]string{} // by name: digest and version
	action := regexp.MustCompile(`(?m)^.*uses: *([^@\n]*)(.*)$`)
	for _, path := range append(workflows, "../../terraform-provider-ssaplan/release.yml") {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range action.FindAllStringSubmatch(string(text), -1) {
			assert.Regexp(t, `^@[0-9a-f]{40} # v\d+\.\d+\.\d+$`, m[2], "%s: %s", path, m[0])
			if known, found := actions[m[1]]; found {
				assert.Equal(t, known, m[2], "%s: %s", path, m[0])
			}
			actions[m[1]] = m[2]
		}
	}
	assert.GreaterOrEqual(t, len(actions), 4)
	images := 0
	image := regexp.MustCompile(`(?m)^(?:FROM| +image:) +([^\s"]+)`)
	for _, recipe := range []string{"../Dockerfile", "../README.md", "../../fleet/volume.yaml"} {
		text, err := os.ReadFile(recipe)
		require.NoError(t, err)
		for _, m := range image.FindAllStringSubmatch(string(text), -1) {
			images++
			assert.Regexp(t, `^(scratch|kubectl-ssaplan|\S+@sha256:[0-9a-f]{64})$`, m[1], recipe)
		}
	}
	assert.Equal(t, 5, images)
}

// A release is made by the programs that make release-check has tried, in the versions of the Makefile.
func TestRecipesNameTheProgramsThatAreTried(t *testing.T) {
	read := func(path string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	find := func(text, pattern string) string {
		match := regexp.MustCompile(pattern).FindStringSubmatch(text)
		require.NotNil(t, match, "nothing matches %s in %s", pattern, text)
		return match[1]
	}
	makefile := read("../../../Makefile")
	releaser, sboms := find(makefile, `(?m)^GORELEASER \?= \S+@(\S+)$`), find(makefile, `(?m)^CYCLONEDX \?= (\S+)$`)
	for recipe, program := range map[string]string{
		"../../../.github/workflows/command.yml":       `go install "$(sed -n 's/^CYCLONEDX ?= //p' Makefile)"`,
		"../../terraform-provider-ssaplan/release.yml": "go install " + sboms, // the provider's repository has no Makefile
	} {
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses, Run string
					With      map[string]any
				}
			}
		}
		require.NoError(t, yaml.Unmarshal([]byte(read(recipe)), &workflow))
		var versions, installed []any
		for _, step := range workflow.Jobs["goreleaser"].Steps {
			if strings.HasPrefix(step.Uses, "goreleaser/goreleaser-action@") {
				versions = append(versions, step.With["version"])
			}
			if step.Run != "" {
				installed = append(installed, step.Run)
			}
		}
		assert.Equal(t, []any{releaser}, versions, recipe)
		assert.Equal(t, []any{program}, installed, recipe)
	}
}

// The image is built as it is released, the same twice, and plans what is in a folder that is mounted, as its user.
func TestImage(t *testing.T) {
	if _, err := exec.LookPath("buildah"); err != nil || os.Getuid() != 0 {
		t.Skip("NOT RUN: there is no buildah, or nobody who may use it")
	}
	folder, c := t.TempDir(), lab.New(t)
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(folder, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	sh := func(script string) string {
		shell := exec.Command("sh", "-ec", script)
		out, err := shell.CombinedOutput()
		require.NoError(t, err, "%s: %s", script, out)
		return string(out)
	}
	kubeconfig, err := os.ReadFile(c.Server.Kubeconfig())
	require.NoError(t, err)
	write("certificates", "none\n")
	write("work/config", string(kubeconfig))
	write("work/app.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: "+c.Namespace+"}, data: {a: b}}")
	// Two images of the same program have the same bytes. A small program is enough for that: make reproducible shows
	// that the real one has the same bytes twice.
	write("small", "#!/bin/sh\n")
	write("bin/go", "#!/bin/sh\ncp "+folder+"/small \"$PROGRAM\"\n")
	require.NoError(t, os.Chmod(filepath.Join(folder, "bin/go"), 0o755))
	image := "CERTIFICATES=" + folder + "/certificates ./image.sh v1.2.3 " + folder + "/"
	for _, name := range []string{"one", "two"} {
		sh("PATH=" + folder + "/bin:$PATH " + image + name + " amd64")
	}
	const archive = "kubectl-ssaplan_v1.2.3_image_linux_amd64.tar"
	sh(fmt.Sprintf("cd %s && cmp one/%s two/%s", folder, archive, archive))

	sh(image + "real amd64")
	buildah := fmt.Sprintf("cd %s && buildah --root $PWD/images --runroot $PWD/run --storage-driver vfs ", folder)
	pulled := strings.TrimSpace(sh(buildah + "pull --quiet oci-archive:real/" + archive))
	container := strings.TrimSpace(sh(buildah + "from " + pulled))
	in := func(args string) string {
		return sh(buildah + "run --isolation chroot --volume $PWD/work:/work:ro " + container + " -- /kubectl-ssaplan " + args)
	}
	assert.Contains(t, in("version"), "kubectl-ssaplan v1.2.3 ")
	assert.Contains(t, in("plan --kubeconfig /work/config -f /work/app.yaml || [ $? = 2 ]"), "Plan: 1 to create.\n")
	assert.Contains(t, sh(buildah+"inspect --type image --format '{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}}' "+pulled), "65532:65532 [/kubectl-ssaplan]")
}

// What krew demands of a manifest holds. goreleaser makes it, with all archives, and make release-check reads it.
func TestKrewManifest(t *testing.T) {
	r := readReleaser(t)
	require.Len(t, r.Krews, 1)
	plugin := r.Krews[0]
	assert.Equal(t, "ssaplan", plugin.Name, "what follows kubectl- in the name of the program")
	assert.Equal(t, []string{r.Archives[0].ID}, plugin.IDs)
	assert.NotContains(t, plugin.ShortDescription, "\n")
	assert.LessOrEqual(t, len(plugin.ShortDescription), 80)
	assert.NotEmpty(t, plugin.Description)
	assert.True(t, plugin.SkipUpload, "it is a file of the release")
	assert.Contains(t, r.Release.Extra, map[string]string{"glob": "dist/krew/" + plugin.Name + ".yaml"})
	assert.Contains(t, r.Archives[0].Files, any("LICENSE"))
}
