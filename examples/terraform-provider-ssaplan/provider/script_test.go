package provider_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/test/controlplane"
	"github.com/ssaplan/primitives/test/lab"
)

// A script is a course of commands, as testdata/*/*.txtar has them: one a line, with what belongs to it after " :: " or
// indented below it. Most commands print something, and what belongs to them is what that has to contain, what it must
// not after "! ", what it has to match after "~ ", and a command on the cluster that checks an object after "> ". The
// commands of a cluster, and of what plans and applies, are in the methods do.
type script struct {
	name     string
	commands []command
}

type command struct {
	verb, rest string
	body       []string
	at         string // file and line
}

// scripts reads the scripts of a folder of testdata.
func scripts(t *testing.T, folder string) (all []script) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all = append(all, parsed(file, string(text))...)
	}
	require.NotEmpty(t, all)
	return all
}

// parsed reads scripts, each of which begins with its name as "-- NAME --".
func parsed(file, text string) (all []script) {
	for i, line := range strings.Split(text, "\n") {
		name, isName := strings.CutPrefix(line, "-- ")
		last := len(all) - 1
		switch {
		case isName:
			all = append(all, script{name: strings.TrimSuffix(name, " --")})
		case line == "" || line[0] == '#':
		case line[0] == ' ':
			commands := all[last].commands
			of := &commands[len(commands)-1]
			of.body = append(of.body, strings.Split(strings.TrimPrefix(line, "  "), " :: ")...)
		default:
			parts := strings.Split(line, " :: ")
			verb, rest, _ := strings.Cut(parts[0], " ")
			all[last].commands = append(all[last].commands, command{verb, rest, parts[1:], fmt.Sprintf("%s:%d", file, i+1)})
		}
	}
	return all
}

// fills returns the script with its placeholders replaced, such as NAMESPACE by the namespace of the test.
func (s script) fills(place func(string) string) script {
	filled := script{name: s.name}
	for _, of := range s.commands {
		body := make([]string, len(of.body))
		for i, line := range of.body {
			body[i] = place(line)
		}
		filled.commands = append(filled.commands, command{of.verb, place(of.rest), body, of.at})
	}
	return filled
}

func (of command) String() string { return of.at + ": " + of.verb + " " + of.rest }

// text is what belongs to a command.
func (of command) text() string { return strings.Join(of.body, "\n") }

// expects checks what a command prints.
func (c *cluster) expects(t *testing.T, of command, output string) {
	t.Helper()
	flat := unwrapped(output)
	for _, line := range of.body {
		if check, isCheck := strings.CutPrefix(line, "> "); isCheck {
			verb, rest, _ := strings.Cut(check, " ")
			require.True(t, c.do(t, command{verb: verb, rest: rest, at: of.at}), line)
		} else if absent, isAbsent := strings.CutPrefix(line, "! "); isAbsent {
			if pattern, isPattern := strings.CutPrefix(absent, "~ "); isPattern {
				require.NotRegexp(t, pattern, flat, of)
			}
			require.NotContains(t, flat, unwrapped(absent), "%s: %s", of, output)
		} else if pattern, isPattern := strings.CutPrefix(line, "~ "); isPattern {
			require.Regexp(t, regexp.MustCompile(pattern), flat, "%s: %s", of, output)
		} else if !strings.Contains(flat, unwrapped(line)) {
			require.Fail(t, "missing", "%s: %q in %s", of, line, output)
		}
	}
}

// unwrapped undoes how Terraform wraps what a provider says.
func unwrapped(output string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(output, "│", "")), " ")
}

// manifests are those that scripts name.
var manifests = map[string]string{
	"configMap": configMap, "deployment": deployment, "definition": definition, "gadget": gadget,
	"secret": secret(oldCanary), "patchOfDeployment": patchOfDeployment,
}

// manifest is a text, or one of manifests, and what replaces what in it: configMap | blue => red.
func (c *cluster) manifest(t *testing.T, expression string) string {
	t.Helper()
	name, edits, _ := strings.Cut(expression, " | ")
	text := c.in(strings.Trim(cmp.Or(manifests[name], name), "\n"))
	if edits != "" {
		text = edited(t, text, edits)
	}
	return text
}

func edited(t *testing.T, text, edits string) string {
	t.Helper()
	for edit := range strings.SplitSeq(edits, " | ") {
		old, replaced, found := strings.Cut(edit, " =>")
		require.True(t, found && strings.Contains(text, old), "%q in %s", edit, text)
		text = strings.ReplaceAll(text, old, strings.ReplaceAll(strings.TrimPrefix(replaced, " "), `\n`, "\n"))
	}
	return text
}

// do carries out a command on the cluster, if it is one. Objects are written as PLURAL/NAME or PLURAL/NAME/SUBRESOURCE.
func (c *cluster) do(t *testing.T, of command) bool {
	t.Helper()
	target, rest, _ := strings.Cut(of.rest, " ")
	plural, name, _ := strings.Cut(target, "/")
	name, subresource, isSub := strings.Cut(name, "/")
	switch of.verb {
	case "patch": // as the field manager "somebody"
		var subresources []string
		if isSub {
			subresources = []string{subresource}
		}
		c.foreign(t, plural, name, rest+of.text(), subresources...)
	case "create": // as the field manager "somebody"
		obj := lab.Object(t, c.manifest(t, of.rest))
		_, err := c.Resource(t, obj).Create(t.Context(), obj, metav1.CreateOptions{FieldManager: "somebody"})
		require.NoError(t, err)
	case "applies": // MANAGER MANIFEST
		c.Apply(t, target, lab.Object(t, c.manifest(t, rest+of.text())))
	case "kubectl":
		c.Kubectl(t, of.text(), strings.Fields(of.rest)...)
	case "delete":
		require.NoError(t, c.resource(plural).Delete(t.Context(), name, metav1.DeleteOptions{}))
	case "undefine":
		c.deleteDefinition(t)
	case "revoke":
		c.revoke(t, of.rest, c.token(t, of.rest))
	case "live": // PATH VALUE, of the object
		path, want, _ := strings.Cut(rest, " ")
		is := c.value(t, plural, name, strings.Split(path, ".")...)
		if pattern, isPattern := strings.CutPrefix(want, "~ "); isPattern {
			require.Regexp(t, pattern, is, of)
		} else {
			require.Equal(t, want, is, of)
		}
	case "mark": // what same, kept and new compare with
		if c.marked == nil {
			c.marked = map[string]*unstructured.Unstructured{}
		}
		c.marked[target] = c.live(t, plural, name)
	case "same":
		require.Equal(t, c.marked[target].GetResourceVersion(), c.live(t, plural, name).GetResourceVersion(), of)
	case "kept":
		require.Equal(t, c.marked[target].GetUID(), c.live(t, plural, name).GetUID(), of)
	case "new":
		require.NotEqual(t, c.marked[target].GetUID(), c.live(t, plural, name).GetUID(), of)
	case "gone":
		_, err := c.resource(plural).Get(t.Context(), name, metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%s: %v", of, err)
	case "elsewhere": // COMMAND, on another cluster
		require.True(t, c.another(t).do(t, command{verb: target, rest: rest, at: of.at}), of)
	case "managers": // all of the object
		var managers []string
		for _, entry := range c.live(t, plural, name).GetManagedFields() {
			managers = append(managers, entry.Manager)
		}
		require.Equal(t, rest, strings.Join(managers, " "), of)
	default:
		return false
	}
	return true
}

// token returns the token of a robot, which is made when it is named first.
func (c *cluster) token(t *testing.T, name string) string {
	t.Helper()
	if c.tokens[name] == "" {
		if c.tokens == nil {
			c.tokens = map[string]string{}
		}
		c.tokens[name] = c.robot(t, name)
	}
	return c.tokens[name]
}

// places fills in what scripts name of a cluster: its namespace, HOST, TOKEN(robot), CLUSTER(robot), which is a value
// of the language of Terraform and has no credentials as CLUSTER(), and ELSEWHERE(robot), which is that of another
// cluster.
func (c *cluster) places(t *testing.T) func(string) string {
	places := regexp.MustCompile(`(TOKEN|CLUSTER|ELSEWHERE)\(([a-z-]*)\)`)
	return func(text string) string {
		text = places.ReplaceAllStringFunc(c.in(text), func(place string) string {
			parts := places.FindStringSubmatch(place)
			switch {
			case parts[1] == "TOKEN":
				return c.token(t, parts[2])
			case parts[1] == "ELSEWHERE":
				return c.another(t).clusterValue(fmt.Sprintf("token = %q", c.another(t).token(t, parts[2])))
			case parts[2] == "":
				return c.clusterValue("")
			}
			return c.clusterValue(fmt.Sprintf("token = %q", c.token(t, parts[2])))
		})
		text = web.ReplaceAllString(text, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: "+c.Namespace+", annotations: null}, "+
			"spec: {replicas: $2, paused: true, selector: {matchLabels: {app: $1}}, template: {metadata: {labels: {app: $1}}, spec: {containers: ["+
			`{name: app, image: $3, resources: {limits: {cpu: 0.5}}}, {name: proxy, image: "proxy:1"}]}}}}`)
		text = settingsOf.ReplaceAllString(text, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: "+c.Namespace+"}, data: {user: root, password: $1}}")
		return strings.NewReplacer("HOST", c.Server.Config().Host, "KUBE-SYSTEM", c.uid(t)).Replace(text)
	}
}

// web and settingsOf are objects that scripts name with what differs in them.
var (
	web        = regexp.MustCompile(`WEB\((\w+), ([^,]+), ([^)]+)\)`)
	settingsOf = regexp.MustCompile(`SETTINGS\(([^)]+)\)`)
)

// uid is that of the namespace kube-system.
func (c *cluster) uid(t *testing.T) string {
	t.Helper()
	return string(c.Get(t, lab.Object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}")).GetUID())
}

// cluster is a namespace on the real control plane, for one test.
type cluster struct {
	*lab.Cluster
	tokens map[string]string
	marked map[string]*unstructured.Unstructured
	other  *cluster
}

// second is the server of another cluster, which the tests share.
var second = sync.OnceValues(func() (*controlplane.Server, error) {
	return controlplane.Start(context.Background(), controlplane.Options{})
})

// another returns another cluster that has the same namespace.
func (c *cluster) another(t *testing.T) *cluster {
	t.Helper()
	if c.other == nil {
		server, err := second()
		require.NoError(t, err)
		other := *lab.Connect(t, server.Config())
		other.Server, other.Namespace = server, c.Namespace
		other.Apply(t, "test", lab.Objectf(t, "{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", c.Namespace))
		c.other = &cluster{Cluster: &other}
	}
	return c.other
}
