package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Kubectl runs the real kubectl as an administrator in the namespace of c, with text on standard input, and returns what
// it prints.
func (c *Cluster) Kubectl(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	args = append([]string{"--kubeconfig", c.Server.Kubeconfig(), "--namespace", c.Namespace}, args...)
	cmd := exec.Command(c.Server.Bin("kubectl"), args...)
	// What it remembers of servers goes with this one: ports are used again.
	cmd.Env = append(os.Environ(), "KUBECACHEDIR="+filepath.Join(filepath.Dir(c.Server.Kubeconfig()), "cache"))
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "kubectl %s: %s", args, out)
	return string(out)
}
