package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Kubectl runs the real kubectl as an administrator in the namespace of c, if there is one, with text on standard input. It
// returns what kubectl prints.
func (c *Cluster) Kubectl(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	var common []string
	if c.Namespace != "" {
		common = []string{"--namespace", c.Namespace}
	}
	cmd := exec.Command(c.Server.Bin("kubectl"), append(common, args...)...)
	// What it remembers of servers goes with this one: ports are used again.
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Server.Kubeconfig(), "KUBECACHEDIR="+filepath.Join(filepath.Dir(c.Server.Kubeconfig()), "cache"))
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "kubectl %s: %s", args, out)
	return string(out)
}
