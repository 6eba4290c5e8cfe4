package cmd_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// cluster is a namespace of its own on the real API server that the tests share, and a folder of its own, so that
// tests can run side by side.
type cluster struct {
	*lab.Cluster
	t   *testing.T
	dir string
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return clusterOn(t, controlplane.Shared(t))
}

func clusterOn(t *testing.T, server *controlplane.Server) *cluster {
	t.Helper()
	return &cluster{lab.On(t, server), t, t.TempDir()}
}

var second struct {
	once   sync.Once
	server *controlplane.Server
	err    error
}

// another returns a second server. It is shared by tests that need a server without the webhooks and policies of other
// tests.
func another(t *testing.T) *controlplane.Server {
	t.Helper()
	second.once.Do(func() { second.server, second.err = controlplane.Start(context.Background(), controlplane.Options{}) })
	require.NoError(t, second.err)
	return second.server
}

// kubectl runs kubectl in the namespace of the test, as another client of the cluster, and returns its output. The
// command must succeed.
func (c *cluster) kubectl(args ...string) string {
	c.t.Helper()
	got := c.tryKubectl(append(args, "-n", c.Namespace)...)
	require.Zero(c.t, got.code, got.out)
	return got.out
}

// tryKubectl runs a kubectl in the folder, which may fail.
func (c *cluster) tryKubectl(args ...string) result {
	c.t.Helper()
	command := exec.Command(c.Server.Bin("kubectl"), args...)
	command.Dir = c.dir
	cache := filepath.Join(filepath.Dir(c.Server.Kubeconfig()), "cache")
	command.Env = append(os.Environ(), "KUBECONFIG="+c.Server.Kubeconfig(), "KUBECACHEDIR="+cache, "KUBECTL_APPLYSET=true")
	out, err := command.CombinedOutput()
	require.NotNil(c.t, command.ProcessState, err)
	return result{code: command.ProcessState.ExitCode(), out: string(out)}
}

// run runs a command line, which is split at spaces, in the namespace.
func (c *cluster) run(line string) result {
	c.t.Helper()
	return c.runIn(c.t.Context(), line)
}

func (c *cluster) runIn(ctx context.Context, line string) result {
	c.t.Helper()
	return c.command(ctx, "", append(strings.Fields(line), "--kubeconfig", c.Server.Kubeconfig(), "-n", c.Namespace)...)
}

// named are the flags that name files.
var named = []string{"-f", "-k", "--state", "--out", "--plan", "--memory", "--from", "--to", "--kubeconfig"}

// command runs a command line whose files are in the folder.
func (c *cluster) command(ctx context.Context, stdin string, args ...string) result {
	c.t.Helper()
	args = slices.Clone(args)
	for i, arg := range args {
		isFile := i > 0 && slices.Contains(named, args[i-1]) || args[0] == "show" && i == 1 || len(args) > 1 && args[1] == "merge" && i > 1
		if isFile && arg != "-" && !strings.Contains(arg, "://") && !filepath.IsAbs(arg) {
			args[i] = c.path(arg)
		}
	}
	got := runWhole(ctx, stdin, args...)
	isOfCluster := slices.Contains([]string{"plan", "apply", "delete", "release", "show", "owners", "import"}, args[0]) && (len(args) < 2 || args[1] != "merge")
	if isOfCluster && got.code != 1 && got.out != "" && !slices.Contains(args, "--help") {
		said := got.out
		if args[0] == "import" { // beside JSON, which is the manifest
			said += got.err
		}
		require.Regexp(c.t, targetNamed, said, args)
	}
	return got.untargeted()
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *cluster) read(name string) string {
	c.t.Helper()
	text, err := os.ReadFile(c.path(name))
	require.NoError(c.t, err)
	return string(text)
}

func (c *cluster) apply(line string) {
	c.t.Helper()
	got := c.run("apply --yes " + line)
	require.Equal(c.t, 0, got.code, got.out+got.err)
}

func (c *cluster) edit(name, before, after string) {
	c.t.Helper()
	text := c.read(name)
	require.Contains(c.t, text, before)
	c.overwrite(name, strings.ReplaceAll(text, before, after))
}

func (c *cluster) overwrite(name, text string) {
	c.t.Helper()
	require.NoError(c.t, os.MkdirAll(filepath.Dir(c.path(name)), 0o755))
	require.NoError(c.t, os.WriteFile(c.path(name), []byte(text), 0o600))
}

func (c *cluster) write(files map[string]string) {
	c.t.Helper()
	for name, text := range files {
		c.overwrite(name, text)
	}
}

// changedLines returns the lines that a unified diff removes and adds in order of the alphabet, without those that
// every write changes.
func changedLines(diff string) (lines []string) {
	for line := range strings.Lines(diff) {
		if !regexp.MustCompile(`^[-+]`).MatchString(line) || regexp.MustCompile(`^(---|\+\+\+) |^[-+] *(generation|uid|creationTimestamp|resourceVersion): `).MatchString(line) {
			continue
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

func maps(names ...string) string {
	var texts []string
	for _, name := range names {
		texts = append(texts, configMap(name, "x"))
	}
	return strings.Join(texts, "---\n")
}

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: web:1
        resources: {requests: {cpu: 1000m}}
      - name: log
        image: log:1
`

const twoKinds = `apiVersion: v1
kind: ConfigMap
metadata: {name: web-conf, labels: {app: web}}
data: {a: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: db-conf, labels: {app: db}}
data: {a: b}
---
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: web}}
spec: {ports: [{port: 80}]}
`

const crontab = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crontabs.deferred.example.com}
spec:
  group: deferred.example.com
  scope: Namespaced
  names: {kind: CronTab, plural: crontabs, singular: crontab}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {schedule: {type: string}}}}}}
---
apiVersion: v1
kind: Namespace
metadata: {name: deferred}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: deferred}
---
apiVersion: deferred.example.com/v1
kind: CronTab
metadata: {name: a, namespace: deferred}
spec: {schedule: daily}
`

// apart is an application in a namespace of its own, which comes with it, with rights, a new kind and an object of
// it, and no secret.
const apart = `apiVersion: v1
kind: Namespace
metadata: {name: NS-apart}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: conf, namespace: NS-apart}
data: {a: b}
immutable: no
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: NS}
rules: [{apiGroups: [""], resources: [secrets], verbs: [get, list]}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: parts.NS.example.com}
spec:
  group: NS.example.com
  scope: Namespaced
  names: {plural: parts, singular: part, kind: Part, listKind: PartList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, default: 3}}}}}}
---
apiVersion: NS.example.com/v1
kind: Part
metadata: {name: one, namespace: NS}
spec: {}
`

const machines = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: machines.NS.example.com}
spec:
  group: NS.example.com
  scope: Namespaced
  names: {kind: Machine, plural: machines, singular: machine}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}},
      status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
`

const machine = `apiVersion: NS.example.com/v1
kind: Machine
metadata: {name: one}
spec: {size: 1}
`
