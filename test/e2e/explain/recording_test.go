package explain_test

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"os"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/internal/replay"
)

// recording is the content of a file.
type recording struct {
	why, server string
	manifest    any
	answers     answers
	want        []any
}

// answers are what the server said. What is nil was not there.
type answers struct {
	// PriorManifest and PriorObject are the manager's last apply and the answer to it.
	PriorManifest any `json:"priorManifest"`
	PriorObject   any `json:"priorObject"`
	Live          any `json:"live"`
	// Answer is that to the dry run, Refusal the status if it was refused. Forced is the answer if it was refused for a
	// conflict and then tried with force.
	Answer  any `json:"answer"`
	Refusal any `json:"refusal"`
	Forced  any `json:"forced"`
}

// fields returns the content of the file, in the order in which it is read best.
func (r *recording) fields() []replay.Field {
	a := r.answers
	fields := []replay.Field{
		{Name: "why", Value: r.why}, {Name: "server", Value: r.server}, {Name: "manager", Value: manager},
		{Name: "want", Value: append([]any{}, r.want...)}, {Name: "manifest", Value: r.manifest},
	}
	if a.PriorObject != nil {
		fields = append(fields, replay.Field{Name: "prior", Value: map[string]any{"manifest": a.PriorManifest, "object": a.PriorObject}})
	}
	fields = append(fields, replay.Field{Name: "live", Value: a.Live}, replay.Field{Name: "answer", Value: a.Answer})
	if a.Refusal != nil {
		fields = append(fields, replay.Field{Name: "refusal", Value: a.Refusal})
	}
	if a.Forced != nil {
		fields = append(fields, replay.Field{Name: "forced", Value: a.Forced})
	}
	return fields
}

func (r *recording) content() map[string]any {
	content := map[string]any{}
	for _, f := range r.fields() {
		content[f.Name] = f.Value
	}
	return content
}

func readFile(t *testing.T, file string) map[string]any {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var content map[string]any
	require.NoError(t, json.Unmarshal(text, &content), file)
	return content
}

// What the server picks, or takes from its clock.
var (
	someUID     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	someVersion = regexp.MustCompile(`"resourceVersion":"\d+"`)
	someAddress = regexp.MustCompile(`10\.0\.0\.[1-9]\d*`)
	somePort    = regexp.MustCompile(`[nN]odePort":\d+`)
	someTime    = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
)

// anonymous returns the answers with other uids, versions, addresses, ports and times, which are equal where the
// server's are. Versions and times are also in the same order. What is in the scenario itself stays. A time becomes
// that of its step; the steps began in the given seconds.
func (a answers) anonymous(t *testing.T, s scenario, began []int64) (out answers) {
	text, err := stdjson.Marshal(a)
	require.NoError(t, err)
	said, err := stdjson.Marshal(s)
	require.NoError(t, err)
	for _, pick := range []struct {
		pattern *regexp.Regexp
		format  string
	}{
		{someUID, "00000000-0000-4000-8000-%012d"}, {someVersion, `"resourceVersion":"10%02d"`},
		{someAddress, "10.0.0.1%02d"}, {somePort, `odePort":310%02d`},
	} {
		text = renumbered(text, said, pick.pattern, pick.format)
	}
	text = someTime.ReplaceAllFunc(text, func(found []byte) []byte {
		if bytes.Contains(said, found) {
			return found
		}
		return timeOfStep(found, began)
	})
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

// renumbered returns the text with numbers, in the order of their first appearance, for what the pattern finds and is
// not in the scenario. The order of resourceVersions is that of time, since the answers are in that order.
func renumbered(text, said []byte, pattern *regexp.Regexp, format string) []byte {
	numbers := map[string]int{}
	return pattern.ReplaceAllFunc(text, func(found []byte) []byte {
		if bytes.Contains(said, found) {
			return found
		}
		if numbers[string(found)] == 0 {
			numbers[string(found)] = len(numbers) + 1
		}
		number := fmt.Sprintf(format, numbers[string(found)])
		if pattern == somePort {
			number = string(found[:1]) + number
		}
		return []byte(number)
	})
}

// timeOfStep replaces a time that a server answered by a fixed time for its step. Each step has a minute of its own.
func timeOfStep(found []byte, began []int64) []byte {
	at, err := time.Parse(time.RFC3339, string(found))
	if err != nil || len(began) == 0 || at.Unix() < began[0] {
		return found
	}
	step := 0
	for step+1 < len(began) && began[step+1] <= at.Unix() {
		step++
	}
	format := "2026-01-01T10:%02d:00Z"
	if bytes.ContainsRune(found, '.') {
		format = "2026-01-01T10:%02d:00.000000Z"
	}
	return fmt.Appendf(nil, format, step+1)
}
