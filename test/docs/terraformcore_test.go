package docs_test

import (
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

const typeName = "kubernetes_object"

var objectType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{
	"yaml_body": tftypes.String, "ignore_fields": tftypes.List{ElementType: tftypes.String}, "fields": tftypes.Map{ElementType: tftypes.String},
}}

// terraform stands for the program: it sends what that sends, prints what that shows, and panics where that calls a
// provider faulty.
type terraform struct {
	resource *objectResource
	server   tfprotov6.ProviderServer
	state    tftypes.Value
	private  []byte
}

func newTerraform(r *objectResource) *terraform {
	server := must(providerserver.NewProtocol6WithError(docsProvider{r})())
	must(server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{}))
	return &terraform{resource: r, server: server, state: tftypes.NewValue(objectType, nil)}
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

// values returns the attributes of the resource; ignore_fields is null without any.
func values(body, fields tftypes.Value, ignored []string) tftypes.Value {
	list := tftypes.NewValue(objectType.AttributeTypes["ignore_fields"], nil)
	var items []tftypes.Value
	for _, text := range ignored {
		items = append(items, tftypes.NewValue(tftypes.String, text))
	}
	if len(items) > 0 {
		list = tftypes.NewValue(objectType.AttributeTypes["ignore_fields"], items)
	}
	return tftypes.NewValue(objectType, map[string]tftypes.Value{"yaml_body": body, "ignore_fields": list, "fields": fields})
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
	body := tftypes.NewValue(tftypes.String, yamlBody)
	planned, replaces := t.plan(body, ignored)
	if replaces {
		fmt.Println("replace")
		t.destroy()
		planned, _ = t.plan(body, ignored)
	}
	if unwire(planned.PlannedState).Equal(t.state) {
		fmt.Println("no changes")
		return
	}
	was, want := table(t.state), table(unwire(planned.PlannedState))
	fmt.Println("fields:", was, "->", want)
	config := values(body, tftypes.NewValue(objectType.AttributeTypes["fields"], nil), ignored)
	resp := must(t.server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: typeName, PriorState: wire(t.state), PlannedState: planned.PlannedState, Config: wire(config), PlannedPrivate: planned.PlannedPrivate,
	}))
	show(resp.Diagnostics)
	t.state, t.private = unwire(resp.NewState), resp.Private
	if got := table(t.state); want != "known after apply" && got != want {
		panic("Provider produced inconsistent result after apply: " + got)
	}
}

// plan plans; a replacement is planned again as a create.
func (t *terraform) plan(body tftypes.Value, ignored []string) (*tfprotov6.PlanResourceChangeResponse, bool) {
	fields := tftypes.NewValue(objectType.AttributeTypes["fields"], nil)
	config := values(body, fields, ignored)
	if !t.state.IsNull() {
		fields = attributes(t.state)["fields"]
	}
	proposed := values(body, fields, ignored)
	resp := must(t.server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
		TypeName: typeName, PriorState: wire(t.state), ProposedNewState: wire(proposed), Config: wire(config), PriorPrivate: t.private,
	}))
	show(resp.Diagnostics)
	return resp, len(resp.RequiresReplace) > 0
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
	null := tftypes.NewValue(objectType, nil)
	resp := must(t.server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: typeName, PriorState: wire(t.state), PlannedState: wire(null), Config: wire(null), PlannedPrivate: t.private,
	}))
	show(resp.Diagnostics)
	t.state, t.private = unwire(resp.NewState), nil
	fmt.Println("destroyed:", t.state.IsNull())
}

func show(diagnostics []*tfprotov6.Diagnostic) {
	for _, d := range diagnostics {
		fmt.Printf("%s: %s: %s\n", d.Severity, d.Summary, d.Detail)
	}
}

func attributes(value tftypes.Value) map[string]tftypes.Value {
	out := map[string]tftypes.Value{}
	if err := value.As(&out); err != nil {
		panic(err)
	}
	return out
}

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
		rows = append(rows, path+"="+text)
	}
	slices.Sort(rows)
	return fmt.Sprint(rows)
}
