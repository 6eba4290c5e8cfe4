package provider_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/test/lab"
)

// TestProtocol runs the scripts of testdata/protocol with core, which plays Terraform. No secret value may be shown or
// stored. A script whose name begins with "part: " runs only inside other scripts, which replace CREDENTIALS in it.
func TestProtocol(t *testing.T) {
	all := scripts(t, "protocol")
	for _, s := range all {
		if strings.HasPrefix(s.name, "part: ") {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel() // some of them wait
			p := &player{cluster: newCluster(t), scripts: all, courses: map[string]*course{}}
			p.play(t, command{verb: "resource", rest: "first"})
			for _, of := range s.fills(p.places(t)).commands {
				p.play(t, of)
			}
			var left strings.Builder
			for _, played := range p.courses {
				left.WriteString(played.tf.said.String() + string(played.tf.private) + played.tf.text(t, nil) + "\n")
			}
			requireNoCanary(t, left.String())
		})
	}
}

// player plays a script with resources, each of which has a course of its own.
type player struct {
	*cluster
	*course
	scripts []script
	courses map[string]*course
	refused map[string]map[string]any // credentials
}

type course struct {
	tf    *core
	attrs map[string]any
	plan  *corePlan
}

// play carries out a command, and checks what it prints. "fails" behind the command means that it has to.
func (p *player) play(t *testing.T, of command) {
	t.Helper()
	if p.cluster.do(t, of) {
		return
	}
	if of.verb == "until" {
		verb, rest, _ := strings.Cut(of.rest, " ")
		again := command{verb, rest, of.body, of.at}
		lab.Eventually(t, of.String(), func() bool {
			output, err := p.do(t, again)
			return (err != nil) == again.fails() && strings.Contains(output+fmt.Sprint(err), of.body[0])
		})
		return
	}
	output, err := p.do(t, of)
	if of.fails() {
		require.Error(t, err, "%s: %s", of, output)
		output = err.Error()
	} else {
		require.NoError(t, err, of)
	}
	if of.verb != "yaml" { // to which its text belongs
		p.expects(t, of, output)
	}
}

func (of command) fails() bool { return strings.HasSuffix(" "+of.rest, " fails") }

// do carries out a command of Terraform, and returns what it prints.
func (p *player) do(t *testing.T, of command) (string, error) {
	t.Helper()
	rest := strings.TrimSpace(strings.TrimSuffix(of.rest, "fails"))
	printed := func(warnings []string, err error) (string, error) { return strings.Join(warnings, "\n"), err }
	switch of.verb {
	case "resource": // NAME [TYPE]: what the next commands are about
		name, kind, _ := strings.Cut(rest, " ")
		if p.courses[name] == nil {
			p.courses[name] = &course{tf: newCoreOf(t, cmp.Or(kind, typeName), nil), attrs: map[string]any{"cluster": p.block()}}
		}
		p.course = p.courses[name]
	case "play": // PART WITH
		name, with, _ := strings.Cut(rest, " ")
		i := slices.IndexFunc(p.scripts, func(s script) bool { return s.name == "part: "+name })
		place := p.places(t)
		for _, of := range p.scripts[i].fills(func(text string) string { return place(strings.ReplaceAll(text, "CREDENTIALS", with)) }).commands {
			p.play(t, of)
		}
	case "yaml": // MANIFEST
		text := rest
		if len(of.body) > 0 {
			text = of.text()
		}
		p.set(t, map[string]any{"yaml_body": p.manifest(t, text)})
	case "edit":
		p.set(t, map[string]any{"yaml_body": edited(t, p.attrs["yaml_body"].(string), rest)})
	case "set": // ATTRIBUTES, of which "?" is unknown
		p.set(t, attributesOf(t, rest))
	case "provider", "settings": // ATTRIBUTES of its configuration from here on, in a new process or only in the next one
		settings := attributesOf(t, rest)
		for name, v := range settings {
			settings[name] = p.connected(t, name, v)
		}
		if of.fails() {
			return "", newCoreError(t, settings)
		}
		p.tf.settings = settings
		if of.verb == "provider" {
			p.tf.walk(t)
		}
	case "new-run":
		p.tf.walk(t)
	case "same-run": // RESOURCE: in the process of that
		p.tf.server = p.courses[rest].tf.server
	case "known": // the configuration as it is evaluated when the plan is carried out
		p.plan.config = value(t, p.tf.schema.ValueType(), p.attrs)
	case "reevaluated": // and that once more
		p.plan.again = p.attrs
	case "meanwhile": // COMMAND, of the cluster, between that and the apply
		verb, rest, _ := strings.Cut(rest, " ")
		p.plan.meanwhile = func() { require.True(t, p.cluster.do(t, command{verb: verb, rest: rest, at: of.at}), of) }
	case "carry-out": // ACTION, of a plan, until nothing is left
		output, err := p.do(t, command{verb: "plan", rest: rest, at: of.at})
		require.NoError(t, err, of)
		p.play(t, command{verb: "apply", at: of.at})
		p.tf.nothingLeft(t, p.attrs)
		return output, nil
	case "plan": // ACTION, after a refresh in a new process
		return p.planned(t, rest)(p.tf.tryPlan(t, p.attrs))
	case "replan": // ACTION, without one in the same process
		return p.planned(t, rest)(p.tf.planRefreshed(t, value(t, p.tf.schema.ValueType(), p.attrs)))
	case "apply":
		return printed(p.tf.tryApply(t, p.plan))
	case "clean": // another run finds nothing to do
		p.tf.nothingLeft(t, p.attrs)
	case "refresh":
		warnings, err := p.tf.refresh(t)
		return p.tf.text(t, nil) + strings.Join(warnings, "\n"), err
	case "state":
		return p.tf.text(t, nil), nil
	case "plan-destroy":
		p.tf.walk(t)
		return printed(p.tf.planDestroyToo(t))
	case "replan-destroy":
		return printed(p.tf.planDestroyToo(t))
	case "destroy":
		return printed(p.tf.destroy(t))
	case "import":
		return "", p.tf.importID(t, rest)
	case "validate":
		return printed(p.tf.validate(t, p.attrs))
	case "data": // ID, of a data source
		return p.tf.data(t, typeName, map[string]any{"id": rest, "cluster": p.attrs["cluster"]})
	case "data-of-all": // ATTRIBUTES of the data source of many objects
		of := attributesOf(t, rest)
		of["cluster"] = p.attrs["cluster"]
		return p.tf.data(t, "ssaplan_objects", of)
	case "open": // ID, of an ephemeral resource
		return "", p.tf.opened(t, typeName, map[string]any{"id": rest, "cluster": p.attrs["cluster"]})
	case "loses": // CONNECTION: as if that in the state had become this one
		block, _ := p.connected(t, "cluster", attributesOf(t, "cluster: "+rest)["cluster"]).(map[string]any)
		p.tf.loses(t, block)
	case "forget": // what isn't in the state
		p.tf.private = nil
	case "stale": // yes or no
		require.Equal(t, rest == "no", p.tf.remembers(t).Stale.IsZero(), of)
	case "leaks-nothing": // so far, also by what a later command forgets
		requireNoCanary(t, p.tf.said.String()+string(p.tf.private)+p.tf.text(t, nil))
	case "keeps-no-token": // of a robot
		requireNoToken(t, p.tf.state.String()+string(p.tf.private), p.token(t, rest))
	case "said":
		require.Contains(t, p.tf.said.String(), rest)
	case "webhook": // NAME
		p.install(t, rest)
	default:
		require.Fail(t, "no command", of.String())
	}
	return "", nil
}

// planned takes a plan, and returns what it shows. Its action has to be as is expected.
func (p *player) planned(t *testing.T, action string) func(*corePlan, error) (string, error) {
	return func(plan *corePlan, err error) (string, error) {
		if err != nil {
			return "", err
		}
		output := p.tf.text(t, plan) + strings.Join(plan.warnings, "\n")
		if action != "" {
			require.Equal(t, action, plan.action, output)
		}
		p.plan = plan
		return output, nil
	}
}

func attributesOf(t *testing.T, text string) (attributes map[string]any) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal([]byte("{"+text+"}"), &attributes), text)
	return attributes
}

// set changes the configuration.
func (p *player) set(t *testing.T, attributes map[string]any) {
	t.Helper()
	p.attrs = maps.Clone(p.attrs)
	for name, v := range attributes {
		p.attrs[name] = p.connected(t, name, v)
	}
}

// connected returns the value of an attribute: a cluster is named, and "?" is what isn't known.
func (p *player) connected(t *testing.T, attribute string, v any) any {
	t.Helper()
	switch v := v.(type) {
	case string:
		if attribute == "cluster" {
			return p.connection(t, v)
		}
	case map[string]any:
		if v["exec"] != nil {
			maps.Copy(v, p.connection(t, "tokenless"))
		}
	}
	return unknowns(v)
}

// unknowns returns what was read of a configuration as core takes it.
func unknowns(v any) any {
	switch v := v.(type) {
	case string:
		if v == "?" {
			return unknown{}
		}
	case map[string]any:
		for name, item := range v {
			v[name] = unknowns(item)
		}
	case []any:
		for i, item := range v {
			v[i] = unknowns(item)
		}
	}
	return v
}

// connection returns the block of a cluster by the name of its credentials, which a robot has if nothing else:
// "localhost" in front means another address, and "later" one that isn't known.
func (p *player) connection(t *testing.T, name string) map[string]any {
	t.Helper()
	words := strings.Fields(name)
	last, of := words[len(words)-1], p.cluster
	if words[0] == "elsewhere" {
		of = p.another(t)
	}
	if p.refused == nil {
		p.refused = p.refusedCredentials(t)
	}
	block := maps.Clone(p.refused[last])
	switch {
	case last == "admin" || last == "elsewhere":
		block = of.block()
	case last == "dead":
		block = of.withToken("x")
		block["host"] = "https://127.0.0.1:1"
	case last == "tokenless":
		block = of.withToken("")
		delete(block, "token")
	case last == "kubeconfig":
		text, err := os.ReadFile(of.Server.Kubeconfig())
		require.NoError(t, err)
		block = map[string]any{"kubeconfig": string(text)}
	case last == "stranger-authority":
		block = of.block()
		block["cluster_ca_certificate"] = otherAuthority(t)
	case block == nil:
		block = of.withToken(p.token(t, last))
	}
	switch words[0] {
	case "localhost":
		block["host"] = strings.Replace(block["host"].(string), "127.0.0.1", "localhost", 1)
	case "later":
		block["host"] = unknown{}
	}
	return block
}

// text is what a plan shows, or the state without one: the attributes that aren't sensitive, each as NAME: VALUE or, of
// a plan that changes it, as NAME: OLD -> NEW.
func (c *core) text(t *testing.T, plan *corePlan) string {
	t.Helper()
	before := flat(t, c.schema, c.state)
	after := before
	if plan != nil {
		before, after = flat(t, c.schema, plan.prior), flat(t, c.schema, plan.planned)
	}
	var lines []string
	for name, is := range after {
		if was, existed := before[name]; existed && was != is {
			is = was + " -> " + is
		}
		lines = append(lines, name+": "+is+";")
	}
	for name, was := range before {
		if _, exists := after[name]; !exists {
			lines = append(lines, name+": "+was+" -> nothing;")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// flat returns the attributes that are texts, and the rows of those that are maps, "?" if unknown.
func flat(t *testing.T, schema *tfprotov6.Schema, of tftypes.Value) map[string]string {
	t.Helper()
	out := map[string]string{}
	if of.IsNull() {
		return out
	}
	for _, a := range schema.Block.Attributes {
		value := attribute(t, of, a.Name)
		var text string
		switch {
		case a.Sensitive || value.IsNull():
		case value.Type().Is(tftypes.Map{ElementType: tftypes.String}):
			for row, v := range rows(t, of, a.Name) {
				out[a.Name+" "+row] = v
			}
		case !value.IsKnown():
			out[a.Name] = "?"
		case value.Type().Is(tftypes.String):
			require.NoError(t, value.As(&text))
			out[a.Name] = text
		}
	}
	return out
}

// validate returns what there is to say of a configuration.
func (c *core) validate(t *testing.T, config map[string]any) ([]string, error) {
	t.Helper()
	resp, err := c.server.ValidateResourceConfig(t.Context(), &tfprotov6.ValidateResourceConfigRequest{
		TypeName: c.typeName, Config: dynamic(t, value(t, c.schema.ValueType(), config)),
		ClientCapabilities: &tfprotov6.ValidateResourceConfigClientCapabilities{WriteOnlyAttributesAllowed: true},
	})
	require.NoError(t, err)
	for _, d := range resp.Diagnostics {
		fmt.Fprintln(c.said, d.Attribute)
	}
	return c.diagnose(resp.Diagnostics)
}

// newCoreError returns what the provider has against its configuration.
func newCoreError(t *testing.T, settings map[string]any) error {
	t.Helper()
	server, schemas := newServer(t)
	resp, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: dynamic(t, value(t, schemas.Provider.ValueType(), settings))})
	require.NoError(t, err)
	require.Len(t, resp.Diagnostics, 1)
	return errors.New(resp.Diagnostics[0].Summary + ": " + resp.Diagnostics[0].Detail)
}
