package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/controlplane"
)

// The demo checks every plan that it shows, and runs the program as kubectl's plugin.
func TestDemo(t *testing.T) {
	t.Parallel()
	server := controlplane.ForTest(t, controlplane.Options{}) // of its own, since the demo creates its namespace
	demo := exec.Command("../demo/demo.sh")
	demo.Env = append(os.Environ(),
		"KUBECONFIG="+server.Kubeconfig(),
		"CONTROLPLANE_VERSION="+server.Version(),
		"BUILT="+built(t),
		"PATH="+filepath.Dir(server.Bin("kubectl"))+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := demo.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "Every plan was right.")
}
