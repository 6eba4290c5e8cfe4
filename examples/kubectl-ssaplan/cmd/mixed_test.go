package cmd_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// passing is what differs from run to run.
var passing = []struct {
	text *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`\d+s ago`), "AGE ago"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "TIME"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\bNS\b`), "shop"},
	{regexp.MustCompile(`https://127.0.0.1:\d+/`), "https://SERVER/"},
}

// TestMixedPlan plans on the real server what has something of everything, in every format.
func TestMixedPlan(t *testing.T) {
	c := newCluster(t)
	t.Chdir(c.dir) // YAML has its lines broken by how long the names of files are
	c.dir = "."
	mixed(c)
	for _, tt := range []struct {
		name, flags string
		code        int
	}{
		{"forced.txt", "", 1},
		{"forced.md", "-o markdown", 1},
		{"conflicts.txt", "--force-conflicts=false", 1},
		{"conflicts.md", "--force-conflicts=false -o markdown", 1},
		{"conflicts.json", "--force-conflicts=false -o json", 1},
		{"conflicts.yaml", "--force-conflicts=false -o yaml", 1},
		{"verbose.txt", "-v", 1},
	} {
		got := c.run("plan --state state.json --allow-missing -f app.yaml -f more.yaml " + tt.flags)
		assert.Equal(t, tt.code, got.code, got.err)
		assert.NotContains(t, got.out+got.err, "c4n4ry")
		assert.NotContains(t, got.out+got.err, "YzRuNH", "the same in base64")
		if strings.HasSuffix(tt.name, ".json") {
			fitsSchema(t, got.out)
		}
		golden(t, tt.name, got.of(c).out)
		golden(t, "errors.txt", got.of(c).err)
	}
	// The page shows the owners of a changed field, also to users of a keyboard, and no secret value.
	got := c.run("plan --state state.json -f app.yaml -f more.yaml -o html")
	assert.Equal(t, 1, got.code, got.err)
	assert.True(t, strings.HasPrefix(got.out, "<!DOCTYPE html>\n"))
	assert.Regexp(t, `<code class="path">spec.replicas</code> <span class="owners" tabindex="0">owners<span class="tip" role="note">`+
		`now &#34;kubectl&#34; \(Update of scale\); then &#34;kubectl-ssaplan&#34; \(Apply\)</span></span> <span class="value">7 -&gt; 3</span>`, got.out)
	assert.NotContains(t, got.out+got.err, "c4n4ry")
	assert.NotContains(t, got.out+got.err, "YzRuNH", "the same in base64")
}

// mixed applies the first input, lets others change its objects, and edits the files.
func mixed(c *cluster) {
	files := map[string]string{}
	for _, name := range []string{"app.yaml", "more.yaml"} {
		text, err := os.ReadFile(filepath.Join(sources, "testdata/mixed", name))
		require.NoError(c.t, err)
		files[name] = string(text)
	}
	c.write(files)
	c.apply("--state state.json -f app.yaml")

	c.kubectl("scale", "deployment", "web", "--replicas", "7")
	c.kubectl("patch", "configmap", "conf", "--field-manager", "night-shift", "--type", "merge", "-p", `{"data":{"color":"blue"}}`)
	for before, after := range map[string]string{
		"web:1.4.0": "web:1.5.0", "value: info": "value: debug", "c4n4ry-old": "c4n4ry-new", "keepalive 30": "keepalive 65",
		"storageClassName: slow": "storageClassName: fast", "log-format=json": "log-format=text",
		", annotations: {example.com/owner: team-a}": "", "name: old-name": "name: new-name",
	} {
		c.edit("app.yaml", before, after)
	}
}

// golden compares text with a file of testdata/mixed.
func golden(t *testing.T, name, text string) {
	t.Helper()
	text = passed(text)
	file := filepath.Join(sources, "testdata/mixed", name)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), text)
}
