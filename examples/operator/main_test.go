package main_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/ssaplan/primitives/test/lab"
)

// The README's way: install the files of config, run the program, make a Website. The program has the rights of
// config/rbac.yaml and no others.
func TestProgram(t *testing.T) {
	c := lab.New(t).In("") // the manifests say where they belong
	kubectl := func(args ...string) string { return c.Kubectl(t, "", args...) }
	kubectl("apply", "-f", "config/crd.yaml", "-f", "config/rbac.yaml")
	binary := filepath.Join(t.TempDir(), "operator")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	health, metrics := freeAddress(t), freeAddress(t)
	var log strings.Builder
	program := exec.Command(binary, "--kubeconfig", kubeconfig(t, c), "--health", health, "--metrics", metrics,
		"--leader-elect", "--leader-elect-namespace", "website-operator")
	program.Stderr = &log
	require.NoError(t, program.Start())
	t.Cleanup(func() { _ = program.Process.Kill() })

	lab.Eventually(t, "ready", func() bool { return get("http://"+health+"/readyz") == "ok" })
	kubectl("wait", "--for", "condition=established", "crd/websites.web.example.com")
	kubectl("apply", "-f", "config/website.yaml")
	kubectl("wait", "--for", "condition=Synced", "--timeout", "1m", "website/shop")
	assert.Equal(t, "shop.example.com", kubectl("get", "ingress", "shop", "-o", "jsonpath={.spec.rules[0].host}"))
	assert.Contains(t, get("http://"+metrics+"/metrics"), "\nctrlssaplan_noop_cache_unseen 0\n")
	assert.Contains(t, get("http://"+metrics+"/metrics"), `ctrlssaplan_requests_total{class="None",dry_run="true",kind="Deployment",verb="patch"}`)

	require.NoError(t, program.Process.Signal(syscall.SIGTERM))
	require.NoError(t, program.Wait(), "%s", &log)
	assert.NotContains(t, log.String(), "forbidden")
	assert.Equal(t, "", kubectl("get", "lease", "website-operator", "-n", "website-operator", "-o", "jsonpath={.spec.holderIdentity}"), "the next one can lead at once")
}

// kubeconfig returns a file with the rights of the operator's service account.
func kubeconfig(t *testing.T, c *lab.Cluster) string {
	t.Helper()
	config, err := c.Server.ConfigFor("system:serviceaccount:website-operator:website-operator")
	require.NoError(t, err)
	require.NoError(t, rest.LoadTLSFiles(config))
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"u": {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}, file))
	return file
}

// freeAddress returns an address on which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	return listener.Addr().String()
}

func get(url string) string {
	response, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return fmt.Sprint(response.Status, err)
	}
	return string(body)
}

func TestNoKubeconfig(t *testing.T) {
	command := exec.Command("go", "run", ".", "--kubeconfig", filepath.Join(t.TempDir(), "nothing"))
	command.Env = append(os.Environ(), "KUBECONFIG=", "KUBERNETES_SERVICE_HOST=")
	out, err := command.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "operator: ")
}
