package authresilience_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/goroutines"
)

var update = flag.Bool("update", false, "record the statuses that the server sends")

// recorded is a status of a real server, for the unit tests of the package.
type recorded struct {
	Why    string               `json:"why"`
	Class  authresilience.Class `json:"class"`
	Status metav1.Status        `json:"status"`
}

var (
	recordsMu sync.Mutex
	records   = map[string]recorded{}
	recorders = map[string]string{} // the test of each record
)

// record keeps the status in err, if there is one, for -update.
func record(t *testing.T, why string, class authresilience.Class, err error) {
	t.Helper()
	var status *apierrors.StatusError
	if !errors.As(err, &status) {
		return
	}
	recordsMu.Lock()
	defer recordsMu.Unlock()
	assert.Contains(t, []string{"", t.Name()}, recorders[why], "%q is recorded by two tests", why)
	recorders[why] = t.Name()
	records[why] = recorded{why, class, status.ErrStatus}
}

// TestMain looks for goroutines that are left behind, and writes the records, with -update, once all tests have passed.
//
// What client-go logs by itself is dropped: it quotes the pages of proxies, and ours repeat the token.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil
	code := goroutines.Run(m)
	if *update && code == 0 {
		if err := writeRecords(); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

var port = regexp.MustCompile(`127\.0\.0\.1:\d+`)

func writeRecords() error {
	f, err := shared()
	if err != nil {
		return err
	}
	dir := filepath.Join("..", "..", "..", "authresilience", "testdata")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(records, "", " ")
	if err != nil {
		return err
	}
	text = port.ReplaceAll(text, []byte("127.0.0.1:1"))
	return os.WriteFile(filepath.Join(dir, f.server.Version()+".json"), append(text, '\n'), 0o644)
}

// assertClean demands that the texts contain no secret of config.
func assertClean(t *testing.T, config *rest.Config, texts ...string) {
	t.Helper()
	for _, text := range texts {
		for _, secret := range secretsOf(t, config) {
			assert.False(t, strings.Contains(text, secret), "a secret of the client is shown") // and not shown again
		}
	}
}

// secretsOf returns the secrets in a client's configuration: each part of a token, and each line of a key.
func secretsOf(t *testing.T, config *rest.Config) []string {
	t.Helper()
	token := config.BearerToken
	if config.BearerTokenFile != "" {
		content, err := os.ReadFile(config.BearerTokenFile)
		require.NoError(t, err)
		token = strings.TrimSpace(string(content))
	}
	var secrets []string
	for _, part := range append(strings.Split(token, "."), strings.Split(string(config.KeyData), "\n")...) {
		if len(part) > 20 && !strings.HasPrefix(part, "-----") {
			secrets = append(secrets, part)
		}
	}
	return secrets
}
