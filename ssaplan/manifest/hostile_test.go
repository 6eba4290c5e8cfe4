package manifest

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const objectHead = "apiVersion: v1\nkind: K\nmetadata: {name: a}\n"

// laughs is a document in which each line repeats the one before ten times.
func laughs(lines int) string {
	var b strings.Builder
	b.WriteString(objectHead + "spec:\n  l0: &l0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n")
	for i := 1; i < lines; i++ {
		fmt.Fprintf(&b, "  l%d: &l%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 10), ", "))
	}
	return b.String()
}

// Small documents that grow without bounds are refused before they grow.
func TestDocumentsThatGrow(t *testing.T) {
	large := objectHead + "spec:\n  a: &a " + strings.Repeat("x", 1<<20) + "\n  b: [" + strings.Repeat("*a,", 1<<16) + "]\n"
	for name, document := range map[string]string{"many nodes": laughs(10), "few large nodes": large} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			failure := refused(t, document, name)
			runtime.ReadMemStats(&after)
			assert.Equal(t, "app.yaml: document 1 (line 1): its anchors and aliases expand it to more than 16 MiB; API servers accept objects up to 3 MiB", failure.Error())
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<20))
		})
	}
}

func TestAnchors(t *testing.T) {
	m := parseOne(t, objectHead+"spec:\n  base: &base {cpu: 1, list: [a]}\n  same: *base\n  more: {<<: *base, cpu: 2}\n")
	base := map[string]any{"cpu": int64(1), "list": []any{"a"}}
	assert.Equal(t, map[string]any{
		"base": base, "same": base, "more": map[string]any{"cpu": int64(2), "list": []any{"a"}},
	}, m.Object.Object["spec"])
	for _, twice := range []string{"cpu: 2, cpu: 3", "yes: 1, on: 2", "yes: 1, true: 2"} {
		failure := refused(t, objectHead+"spec:\n  base: &base {cpu: 1}\n  more: {<<: *base, "+twice+"}\n",
			"what appears twice is an error where something is merged, too")
		assert.Contains(t, failure.Error(), " appears twice", twice)
	}
	parseOne(t, laughs(3)) // 1,110 words are no attack
}

// A document that is too large in itself is refused as it is, before anything is made of it.
func TestDocumentThatIsTooLarge(t *testing.T) {
	for name, document := range map[string]string{
		"yaml": objectHead + "spec: [" + strings.Repeat("a,", 9<<20) + "]\n",
		"json": `{"apiVersion":"v1","kind":"K","metadata":{"name":"a"},"spec":"` + strings.Repeat("a", 17<<20) + `"}`,
	} {
		manifests, failures := Parse("app.yaml", []byte(document+"\n---\n"+objectHead))
		require.Len(t, failures, 1, name)
		assert.Equal(t, "app.yaml: document 1 (line 1): is larger than 16 MiB; API servers accept objects up to 3 MiB", failures[0].Error())
		assert.Len(t, manifests, 1, "the others are read all the same")
	}
}

// What is said of a place far down is short all the same.
func TestDuplicateKeysFarDown(t *testing.T) {
	long := strings.Repeat("b", 500)
	twice := fmt.Sprintf(`{"%s":1,"%s":2}`, long, long)
	for name, document := range map[string]string{
		"yaml": "? a\n: " + strings.Repeat("{a: ", 5000) + twice + strings.Repeat("}", 5000),
		"json": strings.Repeat(`{"a":`, 5000) + twice + strings.Repeat("}", 5000),
	} {
		failure := refused(t, document, name)
		assert.Regexp(t, `…b+"( appears twice)?; keep one of them$`, failure.Problem, name)
		assert.Less(t, len(failure.Problem), 500, name)
	}
}

// Deep nesting is read, or refused with a word; it never ends the program.
func TestNesting(t *testing.T) {
	nested := func(depth int) map[string]string {
		return map[string]string{
			"flow":  objectHead + "spec: " + strings.Repeat("[", depth) + "yes" + strings.Repeat("]", depth),
			"maps":  objectHead + "spec: " + strings.Repeat("{a: ", depth) + "1" + strings.Repeat("}", depth),
			"block": objectHead + "spec: \n" + blocks(min(depth, 3000)), // its text grows with the square
			"json":  `{"apiVersion":"v1","kind":"K","metadata":{"name":"a"},"spec":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`,
		}
	}
	for name, document := range nested(1000) {
		_, err := json.Marshal(parseOne(t, document).Object.Object)
		assert.NoError(t, err, name)
	}
	for name, document := range nested(100_000) {
		if name == "block" {
			parseOne(t, document)
			continue
		}
		assert.Regexp(t, `^app.yaml: document 1 \(line 1\): line \d: not valid YAML: exceeded max depth of 10000$`,
			refused(t, document, name).Error(), name)
	}
}

// Aliases put levels into each other that the parser counts one by one.
func TestNestingByAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString(objectHead + "spec:\n  l0: &l0 [a]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&b, "  l%d: &l%d %s*l%d%s\n", i, i, strings.Repeat("[", 500), i-1, strings.Repeat("]", 500))
	}
	assert.Equal(t, "app.yaml: document 1 (line 1): its anchors and aliases expand it to more than 10000 levels; write it without them",
		refused(t, b.String(), "levels").Error())
}

// Small files that hold more than anybody plans are refused as a whole where that shows.
func TestTooManyObjects(t *testing.T) {
	for name, stream := range map[string]string{
		"documents": strings.Repeat("a\n---\n", maxObjects+1),
		"items":     "apiVersion: v1\nkind: List\nitems: [" + strings.Repeat("a,", maxObjects+1) + "]\n",
	} {
		_, failures := Parse("app.yaml", []byte(stream))
		require.Len(t, failures, maxObjects+1, name)
		assert.Contains(t, failures[maxObjects].Error(), ": has more than 100000 objects; split it up", name)
	}
}

func blocks(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i+1) + "a:\n")
	}
	return b.String() + strings.Repeat(" ", depth+1) + "on\n"
}

// A byte that is no UTF-8 would reach the server as another character.
func TestInvalidUTF8(t *testing.T) {
	for name, document := range map[string]string{
		"yaml":   "# ok\n" + head + "stringData: {a: \"c4n4ry\xff\"}\n",
		"json":   "# ok\n\n\n\n\n" + `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"stringData":{"a":"c4n4ry` + "\xff" + `"}}`,
		"latin1": "# ok\n" + head + "# M\xfcnchen\n",
	} {
		failure := refused(t, document, name)
		assert.Contains(t, failure.Error(), ": line 6: not valid UTF-8; save the file in this encoding", name)
		assert.NotContains(t, failure.Error(), canary)
	}
}
