package provider_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// The pages of the registry are generated (make provider-docs). They have everything that the schema has, in its words,
// and no page is about something that is gone.
func TestPagesOfTheRegistry(t *testing.T) {
	_, schemas := newServer(t)
	written := map[string]bool{}
	page := func(name string) string {
		t.Helper()
		written[name] = true
		text, err := os.ReadFile(filepath.Join("..", "docs", name))
		require.NoError(t, err, "make provider-docs")
		return string(text)
	}
	of := func(folder string, named map[string]*tfprotov6.Schema) {
		for name, schema := range named {
			hasAttributes(t, page(filepath.Join(folder, strings.TrimPrefix(name, "ssaplan_")+".md")), schema.Block.Description, schema.Block.Attributes)
		}
	}
	hasAttributes(t, page("index.md"), schemas.Provider.Block.Description, schemas.Provider.Block.Attributes)
	of("resources", schemas.ResourceSchemas)
	of("data-sources", schemas.DataSourceSchemas)
	of("ephemeral-resources", schemas.EphemeralResourceSchemas)
	for name, function := range schemas.Functions {
		require.Contains(t, page(filepath.Join("functions", name+".md")), function.Description)
	}
	found, err := filepath.Glob("../docs/*/*.md")
	require.NoError(t, err)
	require.Len(t, found, len(written)-1)
	for name := range written {
		require.Contains(t, page(name), "## Example Usage", name)
	}
}

// hasAttributes looks for attributes and their descriptions in a page.
func hasAttributes(t *testing.T, page, description string, attributes []*tfprotov6.SchemaAttribute) {
	t.Helper()
	require.Contains(t, page, description)
	require.NotEmpty(t, attributes)
	for _, a := range attributes {
		require.NotEmpty(t, a.Description, a.Name)
		require.Contains(t, page, "- `"+a.Name+"` (")
		require.Contains(t, page, a.Description)
		if a.NestedType != nil {
			hasAttributes(t, page, a.Description, a.NestedType.Attributes)
		}
	}
}

// The registry takes no release without its manifest among the checksums and the files, nor one whose files have other
// names.
func TestReleaseConfiguration(t *testing.T) {
	var release struct {
		Builds []struct {
			Binary  string
			Env     []string
			Flags   []string
			Ldflags []string
		}
		Archives []struct {
			Formats      []string
			NameTemplate string `json:"name_template"`
		}
		Checksum struct {
			NameTemplate string `json:"name_template"`
			IDs          []string
			ExtraFiles   []struct {
				Glob         string
				NameTemplate string `json:"name_template"`
			} `json:"extra_files"`
		}
		Sboms   []struct{ ID, Artifacts, Cmd string }
		Signs   []struct{ Artifacts string }
		Release struct {
			ExtraFiles []struct {
				Glob         string
				NameTemplate string `json:"name_template"`
			} `json:"extra_files"`
		}
	}
	read := func(name string, into any) {
		text, err := os.ReadFile(filepath.Join("..", name))
		require.NoError(t, err)
		require.NoError(t, yaml.Unmarshal(text, into))
	}
	read(".goreleaser.yml", &release)
	require.Equal(t, "{{ .ProjectName }}_v{{ .Version }}", release.Builds[0].Binary)
	require.Contains(t, release.Builds[0].Env, "CGO_ENABLED=0")
	require.Contains(t, release.Builds[0].Flags, "-trimpath")
	require.Equal(t, []string{"zip"}, release.Archives[0].Formats)
	require.Equal(t, "{{ .ProjectName }}_{{ .Version }}_{{ .Os }}_{{ .Arch }}", release.Archives[0].NameTemplate)
	require.Equal(t, "{{ .ProjectName }}_{{ .Version }}_SHA256SUMS", release.Checksum.NameTemplate)
	require.Equal(t, "checksum", release.Signs[0].Artifacts)
	require.Equal(t, "binary", release.Sboms[0].Artifacts, "what each program is built of, from the program itself")
	require.Equal(t, "cyclonedx-gomod", release.Sboms[0].Cmd)
	require.Equal(t, []string{"provider", release.Sboms[0].ID}, release.Checksum.IDs, "what is signed")
	require.Equal(t, release.Checksum.ExtraFiles, release.Release.ExtraFiles)
	require.Equal(t, "terraform-registry-manifest.json", release.Release.ExtraFiles[0].Glob)
	require.Equal(t, "{{ .ProjectName }}_{{ .Version }}_manifest.json", release.Release.ExtraFiles[0].NameTemplate)
	var manifest struct {
		Version  int
		Metadata struct {
			ProtocolVersions []string `json:"protocol_versions"`
		}
	}
	read("terraform-registry-manifest.json", &manifest)
	require.Equal(t, 1, manifest.Version)
	require.Equal(t, []string{"6.0"}, manifest.Metadata.ProtocolVersions)
}

// What the split makes is a module of its own that compiles with the library alone, and has the variable into which the
// release puts its version.
func TestSplit(t *testing.T) {
	out := t.TempDir()
	command := func(dir, name string, args ...string) string {
		t.Helper()
		program := exec.CommandContext(t.Context(), name, args...)
		program.Dir, program.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod -buildvcs=false", "GOPROXY=off", "CGO_ENABLED=0")
		output, err := program.CombinedOutput()
		require.NoError(t, err, string(output))
		return string(output)
	}
	command(".", "sh", "../split.sh", "v0.1.0", out)
	mod, err := os.ReadFile(filepath.Join(out, "go.mod"))
	require.NoError(t, err)
	require.Contains(t, string(mod), "module github.com/ssaplan/terraform-provider-ssaplan\n")
	require.Contains(t, string(mod), "github.com/ssaplan/primitives v0.1.0")
	require.NotContains(t, string(mod), "=>", "a relative path leads nowhere there")
	pages, err := filepath.Glob("../*.md")
	require.NoError(t, err)
	for _, page := range pages {
		require.FileExists(t, filepath.Join(out, filepath.Base(page)), "the README links to it")
	}

	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	command(out, "go", "mod", "edit", "-replace", "github.com/ssaplan/primitives="+root, "-replace", "github.com/ssaplan/primitives/readiness="+filepath.Join(root, "readiness"))
	imports := command(out, "go", "list", "-export", "-deps", ".") // compiles all, and links nothing
	require.NotContains(t, imports, "ssaplan/primitives/examples")
	require.NotContains(t, imports, "ssaplan/primitives/test")
	text, err := os.ReadFile(filepath.Join(out, ".goreleaser.yml"))
	require.NoError(t, err)
	set := regexp.MustCompile(`-X (\S+)/(\w+)\.(\w+)=`).FindStringSubmatch(string(text))
	require.NotNil(t, set, string(text))
	require.Contains(t, string(mod), "module "+set[1]+"\n")
	text, err = os.ReadFile(filepath.Join(out, set[2], "provider.go"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\nvar "+set[3]+` = "`)
}
