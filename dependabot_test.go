package primitives_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// The bot renews the requirements of each module, but those of the servers, which are tested in the versions that they
// have.
func TestDependabotKnowsEachModule(t *testing.T) {
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
	var known, modules []string
	for _, update := range config.Updates {
		if update.Ecosystem == "gomod" {
			known = append(known, update.Directories...)
			if update.Directory != "" {
				known = append(known, update.Directory)
			}
		}
	}
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
