package explain_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/replay"
	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// recordedDir has a file for each scenario.
var recordedDir = filepath.Join("..", "..", "..", "ssaplan", "explain", "testdata", "recorded")

// TestRecordings plays scenarios and compares the answers with those that are recorded, or records them. A run that
// compares has a third of them, each day another one: the server is of the version of the recordings. The scenarios are
// played side by side, as many as there are, because each waits for the next second before each write.
func TestRecordings(t *testing.T) {
	server := strings.TrimPrefix(controlplane.Shared(t).Version(), "v")
	if other := os.Getenv("SSAPLAN_SERVER"); other != "" && !strings.HasPrefix(recordedServer(t), other+".") {
		t.Skipf("NOT RUN: the recordings are of kube-apiserver %s, not of %s", recordedServer(t), server)
	}
	scenarios := readScenarios(t)
	require.GreaterOrEqual(t, len(scenarios), 60)
	c := newCluster(t)
	var played sync.WaitGroup
	for i, s := range scenarios {
		if isRecording() || lab.Today(i, 3) {
			played.Go(func() {
				t.Run(s.Name, func(t *testing.T) {
					r := (&player{Cluster: c.In(s.Name), scenario: s, t: t}).play()
					r.server = server
					checkFile(t, filepath.Join(recordedDir, s.Name+".json"), r)
				})
			})
		}
	}
	played.Wait()
	checkNoOthers(t, scenarios)
}

// recordedServer returns the version of the server that the recordings are of, or nothing if there are none.
func recordedServer(t *testing.T) string {
	files, err := filepath.Glob(filepath.Join(recordedDir, "*.json"))
	require.NoError(t, err)
	if len(files) == 0 {
		return ""
	}
	return readFile(t, files[0])["server"].(string)
}

func isRecording() bool { return os.Getenv("RECORD") != "" }

// checkFile writes the recording to a file. Without RECORD it expects the file to say the same.
func checkFile(t *testing.T, file string, r *recording) {
	if isRecording() {
		if _, err := os.Stat(file); err == nil {
			r.want, _ = readFile(t, file)["want"].([]any)
		}
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(replay.Format(r.fields())), 0o644))
		return
	}
	require.FileExists(t, file, "run make record")
	recorded := readFile(t, file)
	r.want, _ = recorded["want"].([]any)
	assert.Equal(t, replay.Format(recorded), replay.Format(r.content()), "the server answers otherwise than recorded: run make record")
}

// checkNoOthers expects each recording to have a scenario. With RECORD it removes those that have none.
func checkNoOthers(t *testing.T, scenarios []scenario) {
	names := map[string]bool{}
	for _, s := range scenarios {
		names[s.Name] = true
	}
	files, err := filepath.Glob(filepath.Join(recordedDir, "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		switch name := strings.TrimSuffix(filepath.Base(file), ".json"); {
		case names[name]:
		case isRecording():
			require.NoError(t, os.Remove(file))
		default:
			t.Errorf("%s has no scenario: run make record", name)
		}
	}
}
