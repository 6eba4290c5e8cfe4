package cmd_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/e2e/authresilience/faultproxy"
)

// applied is what a program reads of the results of apply.
type applied struct {
	Plans   []json.RawMessage
	Results []struct {
		Object                         struct{ Name string }
		Outcome, Stage, Class, Message string
	}
}

// TestApplyTellsOutcomes breaks the first of three writes, each time after the server did it or not.
func TestApplyTellsOutcomes(t *testing.T) {
	for _, row := range []struct {
		why                     string
		fault                   faultproxy.Fault
		outcome, class, summary string
	}{
		{"the server did it, and it is found", faultproxy.After(faultproxy.Reset()), "Done", "", ""},
		{"nothing arrived", faultproxy.Reset(), "NotSent", "Connection", "Apply: 2 done, 1 not sent.\n"},
		{"the server says no", faultproxy.Status(403), "Refused", "Authorization", "Apply: 2 done, 1 refused.\n"},
		{"an answer of which nobody knows whose it is, and it may come later", faultproxy.Status(504), "Unknown", "Timeout",
			"Apply: 2 done, 1 unknown.\n"},
	} {
		t.Run(row.why, func(t *testing.T) {
			c := newCluster(t)
			proxy := faultproxy.StartAs(t, c.Server.Config())
			proxy.InjectWrite(1, row.fault)
			write(t, map[string]string{"app.yaml": configMap("one", "x") + "---\n" + configMap("two", "x") + "---\n" + configMap("three", "x")})
			got := c.run("apply --yes -f app.yaml -o json --server " + proxy.Client("").Host)
			fitsSchema(t, got.out)
			var told applied
			require.NoError(t, json.Unmarshal([]byte(got.out), &told), got.err)
			require.Len(t, told.Results, 3, got.err)
			first := told.Results[0]
			assert.Equal(t, []string{"one", row.outcome, row.class}, []string{first.Object.Name, first.Outcome, first.Class}, first.Message)
			assert.Equal(t, row.class == "", first.Message == "")
			assert.Equal(t, "Done", told.Results[2].Outcome)
			assert.True(t, strings.HasSuffix(got.err, row.summary), got.err)
		})
	}
}

// What apply doesn't touch is in the results, too, and nothing is where nothing was carried out.
func TestResultsOfWhatIsLeftOut(t *testing.T) {
	c := newCluster(t)
	write(t, map[string]string{"app.yaml": deployment, "two.yaml": configMap("two", "x"), "bad.yaml": "kind: x\n"})
	c.apply("-f app.yaml")
	c.edit("app.yaml", "app: web", "app: shop")
	got := c.run("apply --yes -f app.yaml -f two.yaml -o json")
	assert.Equal(t, 3, got.code)
	fitsSchema(t, got.out)
	var told applied
	require.NoError(t, json.Unmarshal([]byte(got.out), &told))
	require.Len(t, told.Results, 2)
	assert.Equal(t, "NotSent", told.Results[1].Outcome)
	assert.Equal(t, "left out: can't change in place: spec.selector", told.Results[1].Message)
	assert.Equal(t, "Done", told.Results[0].Outcome)

	got = c.run("apply --yes -f bad.yaml -f two.yaml -o json")
	assert.Equal(t, 1, got.code)
	fitsSchema(t, got.out)
	assert.NotContains(t, got.out, `"results"`)
}
