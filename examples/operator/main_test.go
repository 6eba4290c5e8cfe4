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
	"time"

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
	program := started(t, lab.Program(t, "."), "--kubeconfig", kubeconfig(t, c), "--leader-elect", "--leader-elect-namespace", "website-operator")

	kubectl("wait", "--for", "condition=established", "crd/websites.web.example.com")
	kubectl("apply", "-f", "config/website.yaml")
	kubectl("wait", "--for", "condition=Synced", "--timeout", "1m", "website/shop")
	assert.Equal(t, "shop.example.com", kubectl("get", "ingress", "shop", "-o", "jsonpath={.spec.rules[0].host}"))
	assert.Contains(t, get(program.metrics), "\nctrlssaplan_noop_cache_unseen 0\n")
	assert.Contains(t, get(program.metrics), `ctrlssaplan_requests_total{class="None",dry_run="true",kind="Deployment",verb="patch"}`)

	require.NoError(t, program.Process.Signal(syscall.SIGTERM))
	require.NoError(t, <-program.ended, "%s", &program.log)
	assert.NotContains(t, program.log.String(), "forbidden")
	assert.Equal(t, "", kubectl("get", "lease", "website-operator", "-n", "website-operator", "-o", "jsonpath={.spec.holderIdentity}"), "the next one can lead at once")
}

// running is a program that serves its metrics at a URL.
type running struct {
	*exec.Cmd
	metrics string
	ended   chan error
	log     strings.Builder // to be read when it has ended
}

// started starts the program and waits until it serves. If another process has taken one of the free addresses by then,
// started tries again with other addresses.
func started(t *testing.T, binary string, args ...string) *running {
	t.Helper()
	for {
		health, metrics := freeAddress(t), freeAddress(t)
		r := &running{Cmd: exec.Command(binary, append(args, "--health", health, "--metrics", metrics)...), metrics: "http://" + metrics + "/metrics", ended: make(chan error, 1)}
		r.Stderr = &r.log
		require.NoError(t, r.Start())
		t.Cleanup(func() { _ = r.Process.Kill() })
		go func() { r.ended <- r.Wait() }()
		taken := false
		lab.Eventually(t, "ready", func() bool {
			select {
			case <-r.ended:
				taken = true
				require.Contains(t, r.log.String(), "address already in use")
			default:
			}
			return taken || get("http://"+health+"/readyz") == "ok" && strings.HasPrefix(get(r.metrics), "# HELP")
		})
		if !taken {
			return r
		}
	}
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

// freeAddress returns an address on which no process listens yet.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	return listener.Addr().String()
}

func get(url string) string {
	client := http.Client{Timeout: 5 * time.Second} // who took the address may never answer
	response, err := client.Get(url)
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
	command := exec.Command(lab.Program(t, "."), "--kubeconfig", filepath.Join(t.TempDir(), "nothing"))
	command.Env = append(os.Environ(), "KUBECONFIG=", "KUBERNETES_SERVICE_HOST=")
	out, err := command.CombinedOutput()
	require.Error(t, err)
	assert.Contains(t, string(out), "operator: ")
}
