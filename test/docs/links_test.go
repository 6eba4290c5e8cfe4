package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	markdownLink = regexp.MustCompile(`(?:\]\(|src="|srcset=")([^)"\s]+)`)
	heading      = regexp.MustCompile(`(?m)^#+ (.*)$`)
	htmlID       = regexp.MustCompile(`\bid="([^"]+)"`)
	notInAnchor  = regexp.MustCompile("[^a-z0-9 _-]")
)

// Each link of a page to another file of the repository leads to a file, and to a heading if it names one.
func TestLinksLeadSomewhere(t *testing.T) {
	checked := 0
	require.NoError(t, filepath.WalkDir("../..", func(page string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (name == ".cache" || name == ".git" || name == "testdata" || name == "node_modules") {
			return filepath.SkipDir
		}
		if filepath.Ext(page) != ".md" {
			return nil
		}
		for _, match := range markdownLink.FindAllStringSubmatch(withoutCode(read(t, page)), -1) {
			if strings.Contains(match[1], "://") || strings.HasPrefix(match[1], "mailto:") {
				continue
			}
			checked++
			file, anchor, _ := strings.Cut(match[1], "#")
			target := page
			if file != "" {
				target = filepath.Join(filepath.Dir(page), file)
			}
			if _, err := os.Stat(target); !assert.NoError(t, err, page) || anchor == "" || filepath.Ext(target) != ".md" {
				continue
			}
			assert.Contains(t, anchors(read(t, target)), anchor, "%s: %s", page, match[1])
		}
		return nil
	}))
	assert.Greater(t, checked, 50)
}

// The index of all pages links to each page of the folder, so that readers find the pages that the README doesn't name.
// The site has each page in its navigation.
func TestIndexHasAllPages(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	require.Greater(t, len(pages), 20)
	index, navigation := read(t, "../../docs/README.md"), read(t, "../../internal/site/hugo.toml")
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" {
			assert.Contains(t, index, "]("+name+")")
			assert.Contains(t, navigation, `"`+strings.TrimSuffix(name, ".md")+`"`)
		}
	}
}

// withoutCode returns a page without its fenced blocks.
func withoutCode(page string) string {
	parts := strings.Split(page, "\n```")
	for i := 1; i < len(parts); i += 2 {
		parts[i] = ""
	}
	return strings.Join(parts, "\n")
}

// anchors returns the names under which a page's headings can be linked to, and the ids of its HTML.
func anchors(page string) (out []string) {
	for _, match := range htmlID.FindAllStringSubmatch(page, -1) {
		out = append(out, match[1])
	}
	for _, match := range heading.FindAllStringSubmatch(withoutCode(page), -1) {
		name := notInAnchor.ReplaceAllString(strings.ToLower(match[1]), "")
		out = append(out, strings.ReplaceAll(name, " ", "-"))
	}
	return out
}
