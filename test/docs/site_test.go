package docs_test

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// site returns the folder of the built site.
func site(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("SITE")
	if folder == "" {
		t.Skip("NOT RUN: make site builds the site and checks it")
	}
	return folder
}

var (
	siteLink = regexp.MustCompile(`\b(?:href|src|srcset)="([^"]+)"`)
	siteLoad = regexp.MustCompile(`<(?:link|script|img|source|iframe)\b[^>]*\b(?:href|src|srcset)="([^"]+)"|url\(([^)]+)\)|@import`)
)

// Each link between the pages of the site leads to a file and to a place in it. A page loads nothing from elsewhere.
func TestSite(t *testing.T) {
	folder := site(t)
	pages, err := filepath.Glob(filepath.Join(folder, "*.html"))
	require.NoError(t, err)
	require.Greater(t, len(pages), 20)
	checked := 0
	for _, page := range pages {
		text := read(t, page)
		for _, match := range siteLink.FindAllStringSubmatch(text, -1) {
			link, err := url.Parse(strings.ReplaceAll(match[1], "&amp;", "&"))
			require.NoError(t, err, page)
			if link.Scheme != "" || link.Host != "" {
				continue
			}
			checked++
			target := page
			if link.Path != "" {
				target = filepath.Join(filepath.Dir(page), link.Path)
			}
			if _, err := os.Stat(target); assert.NoError(t, err, page) && link.Fragment != "" {
				assert.Contains(t, read(t, target), `id="`+link.Fragment+`"`, "%s: %s", page, match[1])
			}
		}
		for _, match := range siteLoad.FindAllStringSubmatch(text, -1) {
			assert.True(t, match[1] != "" && !strings.Contains(match[1], "//"), "%s loads %s", page, match[0])
		}
	}
	assert.Greater(t, checked, 500)
	assert.NotRegexp(t, siteLoad, read(t, filepath.Join(folder, "site.css")), "the style loads nothing")
}

// The search of the site, in a real browser, finds first the section that a user looks for.
func TestSearch(t *testing.T) {
	folder := site(t)
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("NOT RUN: there is no chromium (Debian's package of that name)")
	}
	first := regexp.MustCompile(`<ol id="found"><li><a href="([^"]+)"`)
	for query, want := range map[string]string{
		"immutable field":      "one-package-errors.html#immutability-does-replacing-the-object-help",
		"who changed replicas": "concepts.html#edit-and-drift",
		"prune":                "cli-delete.html#delete-and-prune",
		"terraform drift":      "terraform-refresh.html#what-a-user-sees",
		"conflict":             "concepts.html#conflict",
		"adopt":                "concepts.html#adoption",
		"exit codes":           "kubectl-ssaplan.html#exit-codes",
	} {
		address := "file://" + filepath.Join(folder, "index.html") + "?q=" + url.QueryEscape(query)
		dom, err := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
			"--user-data-dir="+filepath.Join(t.TempDir(), "chromium"), "--virtual-time-budget=5000", "--dump-dom", address).Output()
		require.NoError(t, err, query)
		found := first.FindSubmatch(dom)
		if assert.NotNil(t, found, query) {
			assert.Equal(t, want, string(found[1]), query)
		}
	}
}
