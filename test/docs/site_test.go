package docs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
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
	first := regexp.MustCompile(`<ol id="found"><li><a href="([^"]+)"`)
	for query, want := range map[string]string{
		"immutable field":      "one-package-errors.html#immutability-does-replacing-the-object-help",
		"who changed replicas": "concepts.html#edit-and-drift",
		"prune":                "cli-delete.html#prune",
		"terraform drift":      "terraform-run.html#what-a-user-sees",
		"conflict":             "concepts.html#conflict",
		"adopt":                "concepts.html#adoption",
		"exit codes":           "kubectl-ssaplan.html#exit-codes",

		// Questions as they are typed: a section may lack some of the words.
		"what does each exit code mean, and which wins":     "kubectl-ssaplan.html#exit-codes",
		"how many requests does a plan of 100 objects need": "requests.html#lists",
		"which kubernetes versions are supported":           "compatibility.html#versions",
		"takeover":          "concepts.html#conflict",
		"conflict takeover": "concepts.html#conflict",
		"HPA":               "concepts.html#conflict",
		"what happens on a conflict, and how do I prevent a takeover": "concepts.html#conflict",
	} {
		address := "file://" + filepath.Join(folder, "index.html") + "?q=" + url.QueryEscape(query)
		found := first.FindStringSubmatch(rendered(t, address))
		if assert.NotNil(t, found, query) {
			assert.Equal(t, want, found[1], query)
		}
	}
}

// measurePages opens each page in a frame, and writes how wide the page is in a narrow and in a wide window, in light
// and in dark.
const measurePages = `<!DOCTYPE html><html><body><iframe style="border: 0; height: 40rem"></iframe><ol></ol><script>
(async () => {
	const frame = document.querySelector("iframe"), list = document.querySelector("ol");
	for (const page of %s) {
		await new Promise((resolve) => { frame.onload = resolve; frame.src = page; });
		const view = frame.contentWindow, root = frame.contentDocument.documentElement;
		for (const scheme of ["light", "dark"]) {
			frame.style.colorScheme = scheme;
			for (const width of [360, 1280]) {
				frame.style.width = width + "px";
				await new Promise((resolve) => setTimeout(resolve, 100)); // of virtual time
				const line = document.createElement("li"), dark = view.matchMedia("(prefers-color-scheme: dark)").matches;
				line.textContent = [page, width, dark ? "dark" : "light", root.clientWidth, root.scrollWidth].join(" ");
				list.append(line);
			}
		}
	}
})();
</script></body></html>`

// No page is wider than the window: tables and code that are wide scroll by themselves.
func TestPagesFitTheWindow(t *testing.T) {
	folder := site(t)
	found, err := filepath.Glob(filepath.Join(folder, "*.html"))
	require.NoError(t, err)
	pages := []string{"/wide"}
	for _, page := range found {
		pages = append(pages, "/"+filepath.Base(page))
	}
	names, err := json.Marshal(pages)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(folder)))
	mux.HandleFunc("/measure", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, measurePages, names) })
	mux.HandleFunc("/wide", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<!DOCTYPE html><html><meta name="color-scheme" content="light dark"><p style="width: 2000px">wide</p></html>`)
	})
	web := httptest.NewServer(mux)
	defer web.Close()

	measured := map[string]bool{}
	for _, line := range regexp.MustCompile(`<li>(\S+) (\d+ \w+) (\d+) (\d+)</li>`).FindAllStringSubmatch(rendered(t, web.URL+"/measure"), -1) {
		window, err := strconv.Atoi(line[3])
		require.NoError(t, err)
		page, err := strconv.Atoi(line[4])
		require.NoError(t, err)
		if line[1] == "/wide" {
			assert.Greater(t, page, window, "a page that is too wide is noticed")
		} else {
			assert.LessOrEqual(t, page, window, "%s in a window of %s", line[1], line[2])
		}
		measured[line[1]+" "+line[2]] = true
	}
	for _, page := range pages {
		for _, window := range []string{"360 light", "360 dark", "1280 light", "1280 dark"} {
			assert.Contains(t, measured, page+" "+window)
		}
	}
}

// rendered returns what Chromium makes of a page and its scripts.
func rendered(t *testing.T, address string) string {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("NOT RUN: there is no chromium (Debian's package of that name)")
	}
	dom, err := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--user-data-dir="+filepath.Join(t.TempDir(), "chromium"), "--virtual-time-budget=60000", "--dump-dom", address).Output()
	require.NoError(t, err, address)
	return string(dom)
}
