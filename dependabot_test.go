package primitives_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// knownToDependabot returns the folders by their ecosystem in which the bot renews what is required.
func knownToDependabot(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(".github/dependabot.yml")
	require.NoError(t, err)
	var config struct {
		Updates []struct {
			Ecosystem   string `json:"package-ecosystem"`
			Directory   string
			Directories []string
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &config))
	known := map[string][]string{}
	for _, update := range config.Updates {
		known[update.Ecosystem] = append(known[update.Ecosystem], update.Directories...)
		if update.Directory != "" {
			known[update.Ecosystem] = append(known[update.Ecosystem], update.Directory)
		}
	}
	return known
}

// The bot renews the digests of each action and image, also of the recipe that is a workflow in the provider's own
// repository only.
func TestDependabotKnowsEachDigest(t *testing.T) {
	digest := regexp.MustCompile(`uses: *\S+@[0-9a-f]{40}|(FROM|image:) \S+@sha256:`)
	used := map[string][]string{}
	tracked, err := exec.Command("git", "ls-files", "*.yml", "*.yaml", "*Dockerfile").Output()
	require.NoError(t, err)
	for _, path := range strings.Fields(string(tracked)) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if !digest.Match(text) {
			continue
		}
		ecosystem, folder := "github-actions", filepath.Join("/", filepath.Dir(path))
		switch {
		case folder == "/.github/workflows":
			folder = "/"
		case !strings.Contains(string(text), "uses:"):
			ecosystem = "docker"
		}
		if !slices.Contains(used[ecosystem], folder) {
			used[ecosystem] = append(used[ecosystem], folder)
		}
	}
	known := knownToDependabot(t)
	delete(known, "gomod")
	for ecosystem := range known {
		require.ElementsMatch(t, used[ecosystem], known[ecosystem], ecosystem)
	}
	require.Len(t, used, len(known))
}

// The bot renews the requirements of each module, but those of the servers, which are tested in the versions that they
// have.
func TestDependabotKnowsEachModule(t *testing.T) {
	known := knownToDependabot(t)["gomod"]
	var modules []string
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case entry.Name() == "go.mod" && !strings.HasPrefix(path, "test/controlplane/v"):
			modules = append(modules, filepath.Join("/", filepath.Dir(path)))
		}
		return nil
	}))
	require.ElementsMatch(t, modules, known)
}
