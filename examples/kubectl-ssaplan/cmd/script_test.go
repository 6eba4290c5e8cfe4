package cmd_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/jsonpath"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/applyset"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/savedplan"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/test/lab"
)

// A script is a list of command lines that run in a folder and a namespace of their own. NS in a line means the name
// of the namespace. The scripts are in the files of testdata/scripts. A line is a command, followed by " => " and the
// exit code if that isn't 0. The expectations of a command come after " :: ", or indented below it:
//
//	| TEXT    a line of the whole output; a bare "|" is an empty output. The errors are empty unless they are expected
//	2| TEXT   a line of the whole errors
//	> TEXT    a text in the output; 2> in the errors, !> in neither
//	>= TEXT   a line of the output, without the space around it; 2>= of the errors
//	>~ REGEXP a match in the output; 2>~ in the errors
//	>N> TEXT  a text that the output contains N times; 2>N> the errors
//
// Commands that aren't commands of the program are in [play.others]. A command of the program with {a,b} runs once
// with a and once with b. After each run, JSON must fit the schema, and no value with c4n4ry may be shown or stored.
type script struct {
	name  string
	steps []step
}

type step struct {
	line, at string
	body     []string
}

func (s step) String() string { return s.at + ": " + s.line }

func scripts(t *testing.T) (all []script) {
	t.Helper()
	files, err := filepath.Glob("testdata/scripts/*.txtar")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			name, isName := strings.CutPrefix(line, "-- ")
			last := len(all) - 1
			switch {
			case isName:
				all = append(all, script{name: strings.TrimSuffix(name, " --")})
			case line == "" || line[0] == '#':
			case line[0] == ' ':
				of := &all[last].steps[len(all[last].steps)-1]
				of.body = append(of.body, strings.TrimPrefix(line, "  "))
			default:
				parts := strings.Split(line, " :: ")
				all[last].steps = append(all[last].steps, step{parts[0], fmt.Sprintf("%s:%d", filepath.Base(file), i+1), parts[1:]})
			}
		}
	}
	require.NotEmpty(t, all)
	return all
}

func TestScripts(t *testing.T) {
	for _, s := range scripts(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			p := &play{cluster: newCluster(t), kept: map[string]string{}}
			for _, one := range s.steps {
				p.do(one)
			}
			p.showsNoCanary()
		})
	}
}

// play is a script that is played.
type play struct {
	*cluster
	kept map[string]string // what "keep" has by name
}

var (
	places       = regexp.MustCompile(`\bNS\b|\bHOST\b|\$[A-Z]+\b`)
	alternatives = regexp.MustCompile(`\{([^{}"]*,[^{}"]*)\}`)
	canary       = regexp.MustCompile(`c4n4ry|YzRuNHJ5|M0bjRye`)
)

// filled puts the namespace in the place of NS, the address of the server in that of HOST, and what was kept as NAME
// in that of $NAME.
func (p *play) filled(text string) string {
	return places.ReplaceAllStringFunc(text, func(place string) string {
		switch place {
		case "NS":
			return p.Namespace
		case "HOST":
			return p.Config.Host
		}
		kept, isKept := p.kept[place[1:]]
		require.True(p.t, isKept, place)
		return strings.TrimSpace(kept)
	})
}

func (p *play) do(s step) {
	p.t.Helper()
	line := p.filled(s.line)
	body := make([]string, len(s.body))
	for i := range s.body {
		body[i] = p.filled(s.body[i])
	}
	verb, rest, _ := strings.Cut(line, " ")
	if p.others(verb, rest, body) {
		return
	}
	line, code := expectedCode(p.t, line)
	if again, isWaiting := strings.CutPrefix(line, "until "); isWaiting {
		lab.Eventually(p.t, s.String(), func() bool { return p.problem(p.output(again), code, s.body) == "" })
		return
	}
	for _, one := range expanded(line) {
		got := p.output(one)
		require.Empty(p.t, p.problem(got, code, s.body), "%s\n%s\n%s\n%s", s, one, got.out, got.err)
	}
}

// expanded returns a line for each of the alternatives of one of the program.
func expanded(line string) (lines []string) {
	found := alternatives.FindStringSubmatch(line)
	if found == nil {
		return []string{line}
	}
	for one := range strings.SplitSeq(found[1], ",") {
		lines = append(lines, strings.Replace(line, found[0], one, 1))
	}
	if verb, _, _ := strings.Cut(lines[0], " "); !isProgram(verb) {
		return []string{line}
	}
	return lines
}

// expectedCode takes the exit code off a line.
func expectedCode(t *testing.T, line string) (string, int) {
	line, text, found := strings.Cut(line, " => ")
	if !found {
		return line, 0
	}
	code, err := strconv.Atoi(text)
	require.NoError(t, err, line)
	return line, code
}

// problem returns the expectation that isn't met, or the exit code if that is wrong. It is empty if the result is as
// expected.
func (p *play) problem(got result, code int, expectations []string) string {
	if got.code != code {
		return fmt.Sprintf("exit code %d", got.code)
	}
	whole := map[string][]string{}
	for _, line := range expectations {
		expected, text := got.out, strings.TrimPrefix(line, "2")
		if text != line {
			expected = got.err
		}
		stream := strings.TrimSuffix(line, text)
		kind, value, _ := strings.Cut(text, " ")
		count, isCount := strings.CutSuffix(strings.TrimPrefix(kind, ">"), ">")
		met := false
		switch {
		case kind == "|":
			whole[stream] = append(whole[stream], value+"\n")
			continue
		case kind == "outcomes": // of JSON lines
			met = strings.Join(outcomes(p.t, got.out), ", ") == value
		case kind == ">":
			met = strings.Contains(expected, strings.ReplaceAll(value, `\n`, "\n"))
		case kind == "!>":
			met = !strings.Contains(got.out+got.err, strings.ReplaceAll(value, `\n`, "\n"))
		case kind == ">=":
			met = slices.ContainsFunc(strings.Split(expected, "\n"), func(l string) bool { return strings.TrimSpace(l) == value })
		case kind == ">~":
			met = regexp.MustCompile("(?m)" + value).MatchString(expected)
		case isCount:
			met = strconv.Itoa(strings.Count(expected, strings.ReplaceAll(value, `\n`, "\n"))) == count
		}
		if !met {
			return line
		}
		whole["told"+stream] = nil
	}
	for _, stream := range []string{"", "2"} {
		want, compared := whole[stream]
		if _, isTold := whole["told2"]; stream == "2" && !compared {
			compared = len(whole[""]) > 0 && !isTold
		}
		text := strings.Join(want, "")
		if text == "\n" {
			text = ""
		}
		if is := map[string]string{"": got.out, "2": got.err}[stream]; compared && is != text {
			return fmt.Sprintf("not all of it: %s", text)
		}
	}
	return ""
}

func isProgram(verb string) bool {
	return slices.Contains([]string{"plan", "apply", "delete", "release", "owners", "import", "show", "explain", "in-vain", "anywhere"}, verb)
}

// output runs a line and returns what that prints, with NS for the namespace.
func (p *play) output(line string) result {
	p.t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	object, path, _ := strings.Cut(rest, " ")
	var got result
	switch verb {
	case "kubectl":
		got = p.tryKubectl(append(words(rest), "-n", p.Namespace)...)
	case "kubectl-anywhere":
		got = p.tryKubectl(words(rest)...)
	case "changed-lines": // of what a command prints, of which there are some
		got.out = strings.Join(changedLines(p.output(rest).out), "")
		require.NotEmpty(p.t, got.out, line)
	case "live": // PLURAL/NAME JSONPATH
		resource, name, subresources := p.resource(object)
		obj, err := resource.Get(p.t.Context(), name, metav1.GetOptions{}, subresources...)
		require.NoError(p.t, err, line)
		got.out = evaluated(p.t, obj.Object, path) + "\n"
	case "names": // PLURAL, without the ConfigMap that each namespace has
		resource, _, _ := p.resource(object)
		list, err := resource.List(p.t.Context(), metav1.ListOptions{})
		require.NoError(p.t, err, line)
		var names []string
		for _, item := range list.Items {
			if item.GetName() != "kube-root-ca.crt" {
				names = append(names, item.GetName())
			}
		}
		slices.Sort(names)
		if len(names) > 0 {
			got.out = strings.Join(names, " ") + "\n"
		}
	case "cat":
		text, err := os.ReadFile(p.path(rest))
		if err != nil {
			got.code = 1
		}
		got.out = string(text)
	case "mode":
		info, err := os.Stat(p.path(rest))
		require.NoError(p.t, err)
		got.out = info.Mode().String() + "\n"
	default:
		require.True(p.t, isProgram(verb), "what is %q", line)
		got = p.program(verb, line)
	}
	return got.of(p.cluster)
}

// program runs a command line, which may have "< FILE" at its end; of "anywhere" in no namespace, of "in-vain" with a
// clock by which the time is up soon.
func (p *play) program(verb, line string) result {
	p.t.Helper()
	line, input, hasInput := strings.Cut(line, " < ")
	var stdin string
	if hasInput {
		stdin = p.read(input)
	}
	ctx := p.t.Context()
	if verb == "in-vain" {
		ctx = clock.With(ctx, &clock.Fake{LongestSleep: time.Millisecond, TimeUp: 5})
	}
	line, file, isRedirected := strings.Cut(line, " > ")
	args := strings.Fields(line)
	if verb == "in-vain" || verb == "anywhere" {
		args = args[1:]
	}
	if verb != "anywhere" && verb != "show" && verb != "explain" {
		args = append(args, "-n", p.Namespace)
	}
	if verb != "show" && verb != "explain" {
		args = append(args, "--kubeconfig", p.Server.Kubeconfig())
	}
	got := p.command(ctx, stdin, args...)
	told := strings.HasPrefix(strings.Join(args, " "), "plan") || strings.HasPrefix(strings.Join(args, " "), "apply")
	if strings.Contains(line, " -o json") && !strings.Contains(line, "-o jsonl") && told && got.out != "" {
		fitsSchema(p.t, got.out)
	}
	if !strings.Contains(line, "--show-secrets") && !strings.Contains(line, "--show-server-text") {
		require.NotRegexp(p.t, canary, got.out+got.err, line)
	}
	if isRedirected {
		p.overwrite(file, got.out)
	}
	return got
}

// showsNoCanary looks for secrets in the files that the program wrote.
func (p *play) showsNoCanary() {
	p.t.Helper()
	require.NoError(p.t, filepath.WalkDir(p.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || slices.Contains([]string{".yaml", ".secrets"}, filepath.Ext(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		require.NotRegexp(p.t, canary, string(text), path)
		return err
	}))
}

// others carries out what prints nothing.
func (p *play) others(verb, rest string, body []string) bool {
	p.t.Helper()
	target, more, _ := strings.Cut(rest, " ")
	switch verb {
	case "file": // NAME [MANIFEST]...
		p.overwrite(target, manifest(p.t, more, body))
	case "edit": // NAME OLD => NEW
		before, after, found := strings.Cut(more, " =>")
		require.True(p.t, found, rest)
		p.edit(target, strings.ReplaceAll(before, `\n`, "\n"), strings.ReplaceAll(strings.TrimPrefix(after, " "), `\n`, "\n"))
	case "files": // NAME N MANIFEST, in which %d is a number
		count, text, _ := strings.Cut(more, " ")
		n, err := strconv.Atoi(count)
		require.NoError(p.t, err)
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, "---\n"+text+"\n", i)
		}
		p.overwrite(target, all.String())
	case "next-second":
		lab.NextSecond()
	case "digest": // FILE, to be kept as DIGEST
		p.kept["DIGEST"] = savedplan.Digest([]byte(p.read(target)))
	case "redigest": // FILE, after an edit: correct its digest
		_, body, _ := strings.Cut(p.read(target), "\n")
		p.overwrite(target, "ssaplan saved plan 1 "+savedplan.Digest([]byte(body))+"\n"+body)
	case "parent": // TOOLING APIVERSION KIND NAME, that of an ApplySet
		parts := strings.Fields(more)
		p.Apply(p.t, "admin", applyset.Parent{Object: identity.Identity{APIVersion: parts[0], Kind: parts[1], Name: parts[2]}, Tooling: target}.Manifest())
	case "printed": // COMMAND, which fails; what it prints is in a file of that name
		got := p.output(rest)
		require.NotZero(p.t, got.code, rest)
		p.overwrite("printed", got.out)
	case "move": // OLD NEW
		require.NoError(p.t, os.Rename(p.path(target), p.path(more)))
	case "link": // OLD NEW
		require.NoError(p.t, os.Symlink(target, p.path(more)))
	case "chmod": // MODE FILE
		mode, err := strconv.ParseUint(target, 8, 32)
		require.NoError(p.t, err)
		require.NoError(p.t, os.Chmod(p.path(more), os.FileMode(mode)))
	case "unlink":
		require.NoError(p.t, os.Remove(p.path(target)))
	case "served": // PLURAL
		lab.Eventually(p.t, rest, func() bool {
			meta.MaybeResetRESTMapper(p.Mapper)
			_, err := p.Mapper.ResourceFor(schema.ParseGroupResource(target).WithVersion(""))
			return err == nil
		})
	case "applies": // MANAGER [MANIFEST]...
		for _, text := range strings.Split(manifest(p.t, more, body), "\n---\n") {
			p.Apply(p.t, target, lab.Object(p.t, p.filled(text)))
		}
	case "creates": // MANAGER [MANIFEST]...
		obj := lab.Object(p.t, manifest(p.t, more, body))
		_, err := p.Resource(p.t, obj).Create(p.t.Context(), obj, metav1.CreateOptions{FieldManager: target})
		require.NoError(p.t, err)
	case "kubectl-apply": // MANIFEST...
		p.Kubectl(p.t, manifest(p.t, rest, body), "apply", "-f", "-")
	case "policy": // ACTION OPERATION VALIDATION, in the namespace
		p.policy(target, more, body)
	case "patch": // MANAGER PLURAL/NAME[/SUBRESOURCE] PATCH
		object, patch, _ := strings.Cut(more+strings.Join(body, ""), " ")
		resource, name, subresources := p.resource(object)
		kind := types.StrategicMergePatchType
		if strings.HasPrefix(patch, "[") {
			kind = types.JSONPatchType
		} else if strings.Contains(object, ".example.com") || strings.HasPrefix(patch, "merge ") {
			kind, patch = types.MergePatchType, strings.TrimPrefix(patch, "merge ")
		}
		_, err := resource.Patch(p.t.Context(), name, kind, []byte(patch), metav1.PatchOptions{FieldManager: target}, subresources...)
		require.NoError(p.t, err, rest)
	case "remove": // PLURAL/NAME...
		for object := range strings.FieldsSeq(rest) {
			resource, name, _ := p.resource(object)
			require.NoError(p.t, resource.Delete(p.t.Context(), name, metav1.DeleteOptions{}), object)
		}
	case "keep": // NAME COMMAND
		p.kept[target] = p.output(more).out
	case "same":
		require.Equal(p.t, p.kept[target], p.output(more).out, more)
	case "other":
		require.NotEqual(p.t, p.kept[target], p.output(more).out, more)
	default:
		return false
	}
	return true
}

// policy has the server deny or warn of what doesn't fulfil a condition.
func (p *play) policy(action, operations string, body []string) {
	p.t.Helper()
	policy := fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  matchConstraints: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}, resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [%[3]s], resources: ["*"]}]}
  validations: [{%[4]s}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s, validationActions: [%[2]s]}
`, p.Namespace, action, operations, strings.Join(body, " "))
	for _, text := range strings.Split(policy, "\n---\n") {
		obj := lab.Object(p.t, text)
		p.Apply(p.t, "admin", obj)
		p.t.Cleanup(func() { p.Delete(p.t, obj) })
	}
}

// resource finds what is named as PLURAL/NAME or PLURAL/NAME/SUBRESOURCE, also in another namespace as
// NAMESPACE:PLURAL/NAME.
func (p *play) resource(object string) (resource dynamic.ResourceInterface, name string, subresources []string) {
	p.t.Helper()
	namespace, within, found := strings.Cut(object, ":")
	if !found {
		namespace, within = "", object
	}
	parts := strings.Split(within, "/")
	of := schema.ParseGroupResource(parts[0]).WithVersion("")
	kind, err := p.Mapper.KindFor(of)
	if err != nil {
		meta.MaybeResetRESTMapper(p.Mapper)
		kind, err = p.Mapper.KindFor(of)
	}
	require.NoError(p.t, err, object)
	resource, err = p.Find(kind, cmp.Or(namespace, p.Namespace))
	require.NoError(p.t, err, object)
	if len(parts) > 1 {
		name = parts[1]
	}
	if len(parts) > 2 {
		subresources = parts[2:]
	}
	return resource, name, subresources
}

func evaluated(t *testing.T, object map[string]any, path string) string {
	t.Helper()
	parsed := jsonpath.New("").AllowMissingKeys(true)
	require.NoError(t, parsed.Parse(path))
	var out bytes.Buffer
	require.NoError(t, parsed.Execute(&out, (&unstructured.Unstructured{Object: object}).Object))
	return out.String()
}

// words splits a line at spaces that aren't in single quotes.
func words(line string) (out []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

var configMaps = regexp.MustCompile(`^CM\(([^,]+), (.*)\)$`)

// manifest returns the YAML of the body and of the objects that the expression names. Edits of an object follow it
// after "|".
func manifest(t *testing.T, expression string, body []string) string {
	t.Helper()
	var texts []string
	if len(body) > 0 {
		texts = append(texts, strings.Join(body, "\n")+"\n")
	}
	for one := range strings.SplitSeq(expression, " + ") {
		parts := strings.Split(one, " | ")
		text := map[string]string{"deployment": deployment, "twoKinds": twoKinds, "crontab": crontab, "apart": apart, "machines": machines, "machine": machine}[parts[0]]
		if found := configMaps.FindStringSubmatch(parts[0]); found != nil {
			text = configMap(found[1], found[2])
		} else if names, is := strings.CutPrefix(parts[0], "maps "); is {
			text = maps(strings.Fields(names)...)
		}
		for _, edit := range parts[1:] {
			before, after, found := strings.Cut(edit, " =>")
			before = strings.ReplaceAll(before, `\n`, "\n")
			require.True(t, found && strings.Contains(text, before), one)
			text = strings.ReplaceAll(text, before, strings.ReplaceAll(strings.TrimPrefix(after, " "), `\n`, "\n"))
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "---\n")
}

func (p *play) overwrite(name, text string) { p.cluster.overwrite(name, p.filled(text)) }

// of returns what a run leaves with the names of a script.
func (r result) of(c *cluster) result {
	named := strings.NewReplacer(c.Namespace, "NS")
	if filepath.IsAbs(c.dir) {
		named = strings.NewReplacer(c.dir+"/", "", c.Namespace, "NS")
	}
	return result{r.code, named.Replace(r.out), named.Replace(r.err)}
}
