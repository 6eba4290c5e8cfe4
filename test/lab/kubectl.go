package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Kubectl runs the real kubectl as an administrator, in the namespace of c if it has one and with text on standard
// input, and returns what that prints.
func (c *Cluster) Kubectl(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	var common []string
	if c.Namespace != "" {
		common = []string{"--namespace", c.Namespace}
	}
	cmd := exec.Command(c.Server.Bin("kubectl"), append(common, args...)...)
	kubeconfig := c.Server.Kubeconfig()
	// What kubectl remembers of a server is removed with the server: ports are used again.
	cache := filepath.Join(filepath.Dir(kubeconfig), "cache")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "KUBECACHEDIR="+cache)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "kubectl %s: %s", args, out)
	return string(out)
}
