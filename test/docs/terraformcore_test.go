package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

const typeName = "example_object"

var (
	providerConfig = tftypes.Object{AttributeTypes: map[string]tftypes.Type{}}
	objectType     = tftypes.Object{AttributeTypes: map[string]tftypes.Type{
		"yaml_body": tftypes.String, "ignore_fields": tftypes.List{ElementType: tftypes.String},
		"fields": tftypes.Map{ElementType: tftypes.String}, "outline": tftypes.String, "adopted": tftypes.Bool,
	}}
)

// terraform does what the program does: it sends the same requests, prints the results, and panics if the program would
// blame the provider.
type terraform struct {
	server     tfprotov6.ProviderServer
	kubeconfig string
	state      tftypes.Value
	private    []byte
}

// newTerraform returns a program whose provider is configured by the kubeconfig of an administrator.
func newTerraform() *terraform {
	t := &terraform{server: must(providerserver.NewProtocol6WithError(newProvider())()), state: tftypes.NewValue(objectType, nil)}
	must(t.server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{}))
	t.configure(server.Kubeconfig())
	return t
}

// configure configures the provider as in another run, with another kubeconfig.
func (t *terraform) configure(kubeconfig string) {
	t.kubeconfig = kubeconfig
	t.restart()
}

// restart begins a run: Terraform starts another process of the provider for each plan and each apply.
func (t *terraform) restart() {
	before, wasSet := os.LookupEnv(clientcmd.RecommendedConfigPathEnvVar)
	must(0, os.Setenv(clientcmd.RecommendedConfigPathEnvVar, t.kubeconfig))
	nothing := must(tfprotov6.NewDynamicValue(providerConfig, tftypes.NewValue(providerConfig, map[string]tftypes.Value{})))
	resp := must(t.server.ConfigureProvider(ctx, &tfprotov6.ConfigureProviderRequest{Config: &nothing}))
	show(resp.Diagnostics)
	if must(0, os.Unsetenv(clientcmd.RecommendedConfigPathEnvVar)); wasSet {
		must(0, os.Setenv(clientcmd.RecommendedConfigPathEnvVar, before))
	}
}

// kubeconfigFor returns a kubeconfig of the Examples' server for another user.
func kubeconfigFor(user string) string {
	config := must(server.ConfigFor(user))
	file := api.NewConfig()
	file.Clusters["cluster"] = &api.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	file.AuthInfos["user"] = &api.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	file.Contexts["context"] = &api.Context{Cluster: "cluster", AuthInfo: "user"}
	file.CurrentContext = "context"
	name := filepath.Join(must(os.MkdirTemp("", "docs")), "kubeconfig")
	must(0, clientcmd.WriteToFile(*file, name))
	return name
}

func wire(value tftypes.Value) *tfprotov6.DynamicValue {
	out := must(tfprotov6.NewDynamicValue(objectType, value))
	return &out
}

func unwire(value *tfprotov6.DynamicValue) tftypes.Value { return must(value.Unmarshal(objectType)) }

// apply refreshes, and then changes what has to change.
func (t *terraform) apply(yamlBody string, ignored ...string) {
	t.refresh()
	t.change(yamlBody, ignored...)
}

// configured returns the attributes of a configuration. The computed ones are null.
func configured(body tftypes.Value, ignored []string) map[string]tftypes.Value {
	out := map[string]tftypes.Value{}
	for name, of := range objectType.AttributeTypes {
		out[name] = tftypes.NewValue(of, nil)
	}
	out["yaml_body"] = body
	var items []tftypes.Value
	for _, text := range ignored {
		items = append(items, tftypes.NewValue(tftypes.String, text))
	}
	if len(items) > 0 {
		out["ignore_fields"] = tftypes.NewValue(objectType.AttributeTypes["ignore_fields"], items)
	}
	return out
}

func (t *terraform) importObject(id string) {
	resp := must(t.server.ImportResourceState(ctx, &tfprotov6.ImportResourceStateRequest{TypeName: typeName, ID: id}))
	show(resp.Diagnostics)
	for _, imported := range resp.ImportedResources {
		t.state, t.private = unwire(imported.State), imported.Private
	}
}

// change plans, and applies if there is a difference.
func (t *terraform) change(yamlBody string, ignored ...string) {
	t.changeAfter(yamlBody, func() {}, func() {}, ignored...)
}

// changeAfter plans, and applies if there is a difference. Terraform makes another plan before it calls the provider's
// apply. reviewed runs before that plan, and planned after it.
func (t *terraform) changeAfter(yamlBody string, reviewed, planned func(), ignored ...string) {
	body := tftypes.NewValue(tftypes.String, yamlBody)
	t.restart()
	first, ok := t.plan(body, ignored)
	show(first.Diagnostics)
	if !ok {
		return
	}
	old, replaces := t.state, len(first.RequiresReplace) > 0
	if replaces { // it is planned again, as a create
		fmt.Println("replace")
		t.state = tftypes.NewValue(objectType, nil)
		first, _ = t.plan(body, ignored)
		show(first.Diagnostics)
		t.state = old
	}
	if unwire(first.PlannedState).Equal(t.state) {
		fmt.Println("no changes")
		return
	}
	fmt.Println("fields:", table(t.state), "->", table(unwire(first.PlannedState)))
	t.restart()
	if replaces {
		t.delete()
	}
	reviewed()
	second, ok := t.plan(body, ignored) // Terraform shows the warnings of this plan, too
	if !ok {
		show(slices.DeleteFunc(second.Diagnostics, isWarning))
		return
	}
	if differ := differences(unwire(first.PlannedState), unwire(second.PlannedState)); len(differ) > 0 {
		fmt.Println("Error: Provider produced inconsistent final plan:", strings.Join(differ, ", "))
		return
	}
	planned()
	resp := must(t.server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: typeName, PriorState: wire(t.state), PlannedState: second.PlannedState, Config: wire(tftypes.NewValue(objectType, configured(body, ignored))), PlannedPrivate: second.PlannedPrivate,
	}))
	show(resp.Diagnostics)
	t.state, t.private = unwire(resp.NewState), resp.Private
	if len(resp.Diagnostics) > 0 {
		return
	}
	if differ := differences(unwire(second.PlannedState), t.state); len(differ) > 0 {
		panic("Provider produced inconsistent result after apply: " + strings.Join(differ, ", "))
	}
}

// differences returns the names of the attributes that are known in a plan, and have other values later.
func differences(planned, later tftypes.Value) (names []string) {
	for name, value := range attributes(planned) {
		if value.IsFullyKnown() && !value.Equal(attributes(later)[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// plan plans, and reports whether there was no error.
func (t *terraform) plan(body tftypes.Value, ignored []string) (resp *tfprotov6.PlanResourceChangeResponse, ok bool) {
	config, proposed := configured(body, ignored), configured(body, ignored)
	if !t.state.IsNull() {
		for _, computed := range []string{"fields", "outline", "adopted"} {
			proposed[computed] = attributes(t.state)[computed]
		}
	}
	resp = must(t.server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
		TypeName: typeName, PriorState: wire(t.state), ProposedNewState: wire(tftypes.NewValue(objectType, proposed)),
		Config: wire(tftypes.NewValue(objectType, config)), PriorPrivate: t.private,
	}))
	return resp, !slices.ContainsFunc(resp.Diagnostics, func(d *tfprotov6.Diagnostic) bool { return !isWarning(d) })
}

func isWarning(d *tfprotov6.Diagnostic) bool {
	return d.Severity == tfprotov6.DiagnosticSeverityWarning
}

func (t *terraform) refresh() {
	if t.state.IsNull() {
		return
	}
	resp := must(t.server.ReadResource(ctx, &tfprotov6.ReadResourceRequest{TypeName: typeName, CurrentState: wire(t.state), Private: t.private}))
	show(resp.Diagnostics)
	t.state, t.private = unwire(resp.NewState), resp.Private
}

func (t *terraform) destroy() {
	t.restart()
	t.delete()
}

func (t *terraform) delete() {
	null := tftypes.NewValue(objectType, nil)
	resp := must(t.server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: typeName, PriorState: wire(t.state), PlannedState: wire(null), Config: wire(null), PlannedPrivate: t.private,
	}))
	show(resp.Diagnostics)
	t.state, t.private = unwire(resp.NewState), nil
	fmt.Println("destroyed:", t.state.IsNull())
}

// show prints diagnostics like Terraform, without the frame.
func show(diagnostics []*tfprotov6.Diagnostic) {
	for _, d := range diagnostics {
		severity := map[bool]string{true: "Warning", false: "Error"}[isWarning(d)]
		fmt.Printf("%s: %s\n    %s\n", severity, d.Summary, strings.ReplaceAll(d.Detail, "\n", "\n    "))
	}
}

func attributes(value tftypes.Value) map[string]tftypes.Value {
	out := map[string]tftypes.Value{}
	if err := value.As(&out); err != nil {
		panic(err)
	}
	return out
}

// digest matches the digest of a secret value, which has another salt in each run.
var digest = regexp.MustCompile(`pbkdf2-sha256:[^"]*`)

// table returns the attribute fields as text.
func table(value tftypes.Value) string {
	if value.IsNull() {
		return "none"
	}
	fields := attributes(value)["fields"]
	if !fields.IsKnown() {
		return "known after apply"
	}
	var rows []string
	for path, value := range attributes(fields) {
		var text string
		if err := value.As(&text); err != nil {
			panic(err)
		}
		rows = append(rows, path+"="+digest.ReplaceAllString(text, "(digest)"))
	}
	slices.Sort(rows)
	return fmt.Sprint(rows)
}
