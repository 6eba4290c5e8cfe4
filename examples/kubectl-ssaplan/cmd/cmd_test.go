package cmd_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/cmd"
	"github.com/ssaplan/primitives/identity/importid"
)

// sources is the folder of this package.
var sources, _ = os.Getwd()

// client-go logs some of the errors that it returns.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == program {
		got := run(context.Background(), "", os.Args[1:]...)
		_, _ = os.Stdout.WriteString(got.out)
		os.Exit(got.code)
	}
	klog.SetLogger(logr.Discard())
	os.Exit(runWithCache(m))
}

// program is the name under which the tests are the program.
const program = "kubectl-ssaplan"

// runWithCache keeps what cli-runtime remembers of servers out of the user's cache, since ports are used again.
func runWithCache(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kubectl-ssaplan-test")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("KUBECACHEDIR", dir); err != nil {
		panic(err)
	}
	code := m.Run()
	if second.server != nil {
		_ = second.server.Stop()
	}
	return code
}

// result is what a run of the command leaves.
type result struct {
	code     int
	out, err string
}

// run runs the command line with text on standard input, and leaves the lines of the target out of the output.
func run(ctx context.Context, stdin string, args ...string) result {
	return runWhole(ctx, stdin, args...).untargeted()
}

var (
	// targetLines are those that name the target: in text, in Markdown, in front of diffs and of JSON lines.
	targetLines = regexp.MustCompile(`(?m)^Target: .*\n\n|^\nTarget: ` + "`.*`" + `\n|^# Target: .*\n|^\{"target":.*\n`)
	// targetNamed finds the target in any output.
	targetNamed = regexp.MustCompile(`Target: .*server https?://.*field manager|"target": ?\{|(?m)^target:$`)
)

func (r result) untargeted() result {
	r.out = targetLines.ReplaceAllString(r.out, "")
	return r
}

// runWhole runs the command line with text on standard input.
func runWhole(ctx context.Context, stdin string, args ...string) result {
	var out, err bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(stdin), Out: &out, ErrOut: &err}
	code := cmd.Run(ctx, args, streams)
	return result{code, out.String(), err.String()}
}

// write writes files into a new folder, makes it the current one, and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
	return dir
}

func configMap(name, value string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\ndata:\n  key: " + value + "\n"
}

func TestUsageErrors(t *testing.T) {
	write(t, map[string]string{
		"app.yaml": configMap("a", "x"), "good": goodKubeconfig, "success.json": `{"kind":"Status","apiVersion":"v1","status":"Success"}`,
	})
	t.Setenv("KUBECONFIG", "missing")
	tests := []struct {
		args string
		want string
	}{
		{"plan", "no manifests: name a file, folder or URL with -f, or a kustomization with -k"},
		{"plan -R -k prod", "-R: only folders of -f have sub-folders; leave it out with -k"},
		{"plan -f app.yaml -k prod", "-f and -k: only one of them can be used at a time"},
		{"plan -f app.yaml -o xml", "-o xml: the output formats are text, json, yaml, jsonl, markdown, html, diff"},
		{"apply -f app.yaml --replace --subresource status", "--replace: a subresource is never replaced; leave it out with --subresource"},
		{"plan -f app.yaml --field-manager=", "--field-manager: a name is needed"},
		{"plan -f app.yaml --ignore a..b", `--ignore: projection: pattern "a..b": at byte 2: expected a field name (write others as ["name"])`},
		{"plan -f app.yaml --prune", "--prune: deletes what a state file or an ApplySet remembers; name one with --state or --applyset, and no --subresource"},
		{"plan -f app.yaml --out nowhere/saved.plan", "--out nowhere/saved.plan: can't be written: no such file or directory"},
		{"plan -f app.yaml --out .", "--out .: can't be written: is a directory"},
		{"owners", "name one object as TYPE/NAME or TYPE NAME, such as deploy/web"},
		{"owners deploy", "name one object as TYPE/NAME or TYPE NAME, such as deploy/web"},
		{"owners deploy/", "name one object as TYPE/NAME or TYPE NAME, such as deploy/web"},
		{"owners deploy,svc web", "name one object as TYPE/NAME or TYPE NAME, such as deploy/web"},
		{"owners deploy/a deploy/b", "name one object as TYPE/NAME or TYPE NAME, such as deploy/web"},
		{"owners deploy/web -o markdown", "-o markdown: the output formats are text, json, yaml"},
		{"import", "name one object by its ID: " + importid.Form},
		{"import web", `import ID "web": 1 parts; expected ` + importid.Form},
		{"import Deployment/web -o text", "-o text: the output formats are yaml, json"},
		{"owners deploy/web --kubeconfig missing", "kubeconfig missing: there is no such file; check the path after --kubeconfig"},
		{"import Deployment/web --kubeconfig missing", "kubeconfig missing: there is no such file; check the path after --kubeconfig"},
		{"explain", "no error to explain: name a file with -f, or - for standard input"},
		{"explain -f missing", "missing: there is no such file; check the path after -f"},
		{"explain -f .", ".: can't be read: is a directory"},
		{"explain -f app.yaml -o xml", "-o xml: the output formats are text, json, yaml"},
		{"explain -f app.yaml", "app.yaml: no API status found: neither a JSON object of kind Status, nor the text of a refused object"},
		{"explain -f -", "standard input: no API status found: neither a JSON object of kind Status, nor the text of a refused object"},
		{"explain -f success.json", "success.json: the status says Success, so there is no error to explain"},
		{"plan -f app.yaml --kubeconfig good --contexts prod,prod", `--contexts: "prod" is named twice`},
		{"plan -f app.yaml --kubeconfig good --contexts prod --context test", "--contexts: --context is about one cluster; leave one of them out"},
		{"plan -f app.yaml --kubeconfig good --contexts prod --server x", "--contexts: --server is about one cluster; leave one of them out"},
		{"plan -f app.yaml --kubeconfig good --contexts prod --memory noops", "--contexts: --memory is about one cluster; leave one of them out"},
		{"plan -f app.yaml --kubeconfig good --contexts prod --state state.json", "--contexts: --state is about one cluster; leave one of them out"},
		{"plan -f app.yaml --kubeconfig good --contexts prod -o html", "--contexts: -o html is about one cluster; choose another output"},
		{"plan -f app.yaml --kubeconfig good --contexts prod -o jsonl", "--contexts: -o jsonl is about one cluster; choose another output"},
		{"plan -f app.yaml --nonsense", "unknown flag: --nonsense; see kubectl ssaplan plan --help"},
		{"plan app.yaml", `unknown command "app.yaml" for "kubectl ssaplan plan"`},
		{"nonsense", `unknown command "nonsense" for "kubectl ssaplan"`},
		{"apply -f app.yaml", "apply: can't ask for confirmation: standard input is no terminal, or holds the manifests; use --yes to apply without asking"},
		{"apply -f -", "apply: can't ask for confirmation: standard input is no terminal, or holds the manifests; use --yes to apply without asking"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			assert.Equal(t, result{1, "", tt.want + "\n"}, run(t.Context(), "yes\n", strings.Fields(tt.args)...))
		})
	}
}

// What is too large for a status or a saved plan isn't read. The file is all hole.
func TestLargeInput(t *testing.T) {
	write(t, map[string]string{"large": ""})
	require.NoError(t, os.Truncate("large", 1<<30))
	spaces := strings.Repeat(" ", 64<<20+1)
	for args, want := range map[string]string{
		"explain -f large":   "large: is larger than 64 MiB",
		"explain -f -":       "standard input: is larger than 64 MiB",
		"show large":         "large: can't be read: is larger than 256 MiB",
		"apply --plan large": "large: can't be read: is larger than 256 MiB",
	} {
		got := run(t.Context(), spaces, strings.Fields(args)...)
		assert.Equal(t, result{1, "", want + "; check what it is, or split it up\n"}, got, args)
	}
}

// An error names the side of an upgrade, unless both sides have it.
func TestErrorsOfAnUpgrade(t *testing.T) {
	write(t, map[string]string{"app.yaml": configMap("a", "x")})
	t.Setenv("KUBECONFIG", "missing")
	const noCluster = "kubeconfig missing: no cluster is configured there; name a file with --kubeconfig or KUBECONFIG, " +
		"or a cluster with --server\n"
	for args, want := range map[string]string{
		"plan --from app.yaml --to new": "--to: new: there is no such file or folder; check the path\n" + noCluster,
		"plan --from old --to app.yaml": noCluster + "--from: old: there is no such file or folder; check the path\n",
	} {
		got := run(t.Context(), "", strings.Fields(args)...)
		assert.Equal(t, result{1, got.out, want}, got, args)
	}
}

func TestVersion(t *testing.T) {
	got := run(t.Context(), "", "version")
	assert.Equal(t, 0, got.code)
	assert.Regexp(t, `^kubectl-ssaplan \S+ go\S+ \S+/\S+\n$`, got.out)
}

// Every command has a help of a screen or two, and a whole one with every part of a manual page. Both fit into 80
// columns.
func TestHelp(t *testing.T) {
	for args, want := range map[string][]string{
		"":           {"Commands:", "plan ", "apply ", "delete ", "owners ", "import ", "explain ", "completion ", "version ", "KUBECONFIG", "NO_COLOR"},
		"plan":       {"kubectl ssaplan plan (-f PATH ... | -k DIR | --from DIR --to DIR)", "--field-manager NAME", "--state FILE", "--kubeconfig", "3  some", "KUBECONFIG", "NO_COLOR"},
		"plan merge": {"kubectl ssaplan plan merge FILE..."},
		"apply":      {"kubectl ssaplan apply (-f PATH ... | -k DIR | --plan FILE)", "--yes", "--replace", "--ignore PATTERN", "3  some objects were skipped"},
		"show":       {"kubectl ssaplan show FILE", "--digest SHA256", "NO_COLOR"},
		"release":    {"kubectl ssaplan release (-f PATH ... | -k DIR | --state FILE)", "--dry-run", "2  with --dry-run: something would be released"},
		"delete":     {"kubectl ssaplan delete (-f PATH ... | -k DIR | --state FILE)", "--dry-run", "--prune-contents", "3  something was kept"},
		"owners":     {"kubectl ssaplan owners TYPE/NAME", "--output FORMAT", "--kubeconfig", "KUBECACHEDIR"},
		"import":     {"kubectl ssaplan import ID", "?unowned", "?manager=", "--show-secrets"},
		"explain":    {"kubectl ssaplan explain -f STATUS.json", "--output", "NO_COLOR"},
		"completion": {"kubectl ssaplan completion bash|zsh|fish|powershell", "kubectl_complete-ssaplan"},
		"man":        {"kubectl ssaplan man DIR"},
		"version":    {"kubectl ssaplan version"},
	} {
		short := run(t.Context(), "", append(strings.Fields(args), "--help")...)
		all := run(t.Context(), "", append(strings.Fields(args), "--help=all")...)
		for _, got := range []result{short, all} {
			assert.Equal(t, 0, got.code)
			for _, text := range []string{"Usage:\n", "Description:\n", "Options:\n", "--help ", "Exit codes:\n", "Examples:\n"} {
				assert.Contains(t, got.out, text, args)
			}
			for line := range strings.Lines(got.out) {
				assert.LessOrEqual(t, len([]rune(line)), 81, "%s: %s", args, line)
			}
			assert.NotContains(t, got.out, "\t")
		}
		for _, text := range want {
			assert.Contains(t, all.out, text, args)
		}
		assert.Less(t, strings.Count(short.out, "\n"), 80, args)
		flags := run(t.Context(), "", append(append([]string{"__complete"}, strings.Fields(args)...), "--")...).out
		for flag := range strings.Lines(flags) {
			if name, _, _ := strings.Cut(strings.TrimSpace(flag), "\t"); strings.HasPrefix(name, "--") {
				assert.Regexp(t, `(?m)^ +(-., )?`+name+`\b`, all.out, args)
			}
		}
	}
}

// The help of plan begins with what most people need, in groups.
func TestHelpOfPlan(t *testing.T) {
	short := run(t.Context(), "", "plan", "--help").out
	position := 0
	for _, section := range []string{"Usage", "Description", "Manifests", "Fields and owners", "State and pruning", "Output", "Cluster",
		"Options", "Exit codes", "Examples"} {
		at := strings.Index(short, "\n"+section+":\n")
		require.Greater(t, at, position, section)
		position = at
	}
	for _, rare := range []string{"--lost-version", "--tls-server-name", "KUBECONFIG", "--shard"} {
		assert.NotContains(t, short, rare)
	}
	assert.Contains(t, run(t.Context(), "", "plan", "--help=some").err, `invalid argument "some" for "-h, --help" flag`)
}
