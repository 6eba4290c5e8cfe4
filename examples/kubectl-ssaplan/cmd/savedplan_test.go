package cmd_test

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// A saved plan is applied only in the cluster that it was made for, at any address and by any user who may apply it.
// The UID of the namespace kube-system identifies the cluster, or its address if the user can't read the namespace. The
// plan creates an object that no cluster has, so only the identity of the cluster can differ from the plan.
func TestSavedPlanIsOfOneCluster(t *testing.T) {
	t.Parallel()
	other := another(t)
	c := newCluster(t)
	c.kubectl("create", "role", "writer", "--verb", "*", "--resource", "configmaps")
	c.kubectl("create", "rolebinding", "writer", "--role", "writer", "--user", "writer-of-"+c.Namespace)
	lab.Connect(t, other.Config()).Apply(t, "test", lab.Objectf(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", c.Namespace))
	uid := func(server *controlplane.Server) string {
		system := lab.Connect(t, server.Config()).Get(t, lab.Object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}"))
		return string(system.GetUID())
	}
	host := c.Server.Config().Host
	tunnel := " --server " + strings.Replace(host, "127.0.0.1", "localhost", 1)
	limited := " --as writer-of-" + c.Namespace
	for _, row := range []struct {
		why, plan, apply string
		of               *controlplane.Server // that of the plan if nil
		says             string               // empty if it is carried out
	}{
		{why: "by another address", apply: tunnel},
		{why: "by who may read kube-system, although it was planned by who may not", plan: limited},
		{why: "by who may not read kube-system", plan: limited, apply: limited},
		{why: "another address, and by it nobody knows", plan: limited, apply: tunnel, says: "address \"sha256:"},
		{why: "another address, and of it nobody knows", apply: limited + tunnel, says: "since the namespace kube-system can't be read"},
		{why: "another cluster", of: other, says: uid(other)},
	} {
		t.Run(row.why, func(t *testing.T) {
			c.overwrite("app.yaml", configMap("settings", "x"))
			planned := c.run("plan -f app.yaml --out saved.plan" + row.plan)
			require.Equal(t, 2, planned.code, planned.err)
			at := &cluster{c.Cluster, t, c.dir}
			if row.of != nil {
				connected := *lab.Connect(t, row.of.Config())
				connected.Server, connected.Namespace = row.of, c.Namespace
				at.Cluster = &connected
			}
			got := at.run("apply --plan saved.plan" + row.apply).of(at)
			settings := at.kubectl("get", "configmaps", "settings", "--ignore-not-found", "-o", "name")
			if row.says == "" {
				require.Equal(t, 0, got.code, got.err)
				at.kubectl("delete", "configmaps", "settings")
				return
			}
			assert.Equal(t, 1, got.code, got.out)
			assert.Contains(t, got.err, "nothing was applied: saved.plan was made for another cluster: for ")
			assert.Contains(t, got.err, row.says)
			assert.Regexp(t, `for context "\S+", server `+host+`, .* and this is context "\S+", server https://\S+, namespace`, got.err)
			if row.plan == "" {
				assert.Contains(t, got.err, "(namespace kube-system \""+uid(c.Server)+"\"")
			}
			assert.Empty(t, settings, "nothing was written")
		})
	}
}

// If the file of --out can't be written, plan fails before it asks the server.
func TestOutIsTriedBefore(t *testing.T) {
	write(t, map[string]string{"app.yaml": configMap("a", "x")})
	socket, err := net.Listen("unix", "socket")
	require.NoError(t, err)
	defer socket.Close()
	got := run(t.Context(), "", strings.Fields("plan -f app.yaml --out socket --server http://127.0.0.1:1")...)
	assert.Equal(t, result{1, "", "--out socket: can't be written: is a socket\n"}, got)
}
