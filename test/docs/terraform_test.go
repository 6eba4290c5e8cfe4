package docs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/manifest"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// objectResource is a Kubernetes object of any kind.
type objectResource struct{ planner *ssaplan.Planner }

// object is the resource in Terraform's state. Schema describes the same attributes.
type object struct {
	YAMLBody     types.String `tfsdk:"yaml_body"`     // the manifest
	IgnoreFields []string     `tfsdk:"ignore_fields"` // fields to leave to others, such as spec.replicas for an autoscaler
	Fields       types.Map    `tfsdk:"fields"`        // the declared fields with the server's values; a plan shows changes
}

func (r *objectResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"yaml_body":     schema.StringAttribute{Required: true, Sensitive: true}, // it may be a Secret
		"ignore_fields": schema.ListAttribute{ElementType: types.StringType, Optional: true},
		"fields":        schema.MapAttribute{ElementType: types.StringType, Computed: true},
	}}
}

// request returns the request for a plan.
func (o object) request(prior *explain.State) (ssaplan.Request, error) {
	manifests, failures := manifest.Parse("yaml_body", []byte(o.YAMLBody.ValueString()))
	if len(failures) > 0 {
		return ssaplan.Request{}, failures[0]
	}
	if len(manifests) != 1 {
		return ssaplan.Request{}, fmt.Errorf("yaml_body has %d manifests instead of one", len(manifests))
	}
	ignored, err := projection.ParsePatterns(o.IgnoreFields...)
	return ssaplan.Request{Manifest: manifests[0].Object, Prior: prior, Ignore: ignored}, err
}

// The library's state is stored in the private state of the resource, as versioned JSON. Instead of values of Secrets,
// it has keyed digests, which show only whether a value changed.
const privateKey = "ssaplan"

type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// recall returns the stored state, or nil before the first apply.
func recall(ctx context.Context, private privateState) (*explain.State, diag.Diagnostics) {
	data, diags := private.GetKey(ctx, privateKey)
	if len(data) == 0 {
		return nil, diags
	}
	state := &explain.State{}
	if err := json.Unmarshal(data, state); err != nil {
		diags.AddError("The private state can't be read", err.Error())
	}
	return state, diags
}

// remember stores the state.
func remember(ctx context.Context, private privateState, state *explain.State) diag.Diagnostics {
	data, err := json.Marshal(state)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("The private state can't be written", err.Error())}
	}
	return private.SetKey(ctx, privateKey, data)
}

// fieldTable returns the attribute "fields": each declared field with its value as JSON. List items are named by key.
func fieldTable(p projection.Projection) types.Map {
	rows := map[string]attr.Value{}
	for path, value := range p.Leaves() {
		text, _ := json.Marshal(value) // what a server answered can be marshalled
		rows[path.String()] = types.StringValue(string(text))
	}
	return types.MapValueMust(types.StringType, rows)
}

// ModifyPlan plans the object and sets the computed attribute to its value after the apply.
func (r *objectResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(r.planDestroy(ctx, req.Private)...)
		return
	}
	var planned object
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	prior, diags := recall(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	planned.Fields = types.MapUnknown(types.StringType)
	current := object{Fields: types.MapNull(types.StringType)}
	creating := req.State.Raw.IsNull()
	if !creating {
		resp.Diagnostics.Append(req.State.Get(ctx, &current)...)
	}
	if !planned.YAMLBody.IsUnknown() && !(creating && prior != nil) { // Terraform plans a replacement a second time, as a create
		resp.Diagnostics.Append(r.plan(ctx, &planned, current, prior, resp)...)
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, planned)...)
}

// plan asks the Planner, and translates the plan for Terraform.
func (r *objectResource) plan(
	ctx context.Context, planned *object, current object, prior *explain.State, resp *resource.ModifyPlanResponse,
) (diags diag.Diagnostics) {
	request, err := planned.request(prior)
	if err != nil {
		diags.AddAttributeError(path.Root("yaml_body"), "Not a manifest", err.Error())
		return diags
	}
	plan, err := r.planner.Plan(ctx, request)
	if err != nil {
		diags.AddError("The object can't be planned", err.Error())
		return diags
	}
	tell(plan, prior, &diags)
	switch plan.Action {
	case ssaplan.ActionNoOp, ssaplan.ActionCreate, ssaplan.ActionUpdate:
		planned.Fields = fieldsAfter(plan, prior)
		if plan.Action == ssaplan.ActionUpdate && planned.Fields.Equal(current.Fields) {
			planned.Fields = types.MapUnknown(types.StringType) // or Terraform would see no difference, and not apply
		}
	case ssaplan.ActionReplace: // "fields" is unknown, so it changes. Terraform then calls Delete and Create.
		resp.RequiresReplace.Append(path.Root("fields"))
	case ssaplan.ActionConflict:
		diags.AddError(plan.Object.String(), plan.Reason)
	case ssaplan.ActionDeferred: // known after apply, once the namespace or the kind exists
	}
	return diags
}

// fieldsAfter returns the attribute "fields" after the apply. It is unknown if the server will pick values, or if
// secrets have no digests yet because nothing was applied before.
func fieldsAfter(plan *ssaplan.Plan, prior *explain.State) types.Map {
	switch {
	case plan.Action != ssaplan.ActionNoOp && len(plan.Assigned) > 0, prior == nil && !plan.After.Sensitive.Empty():
		return types.MapUnknown(types.StringType)
	case prior == nil:
		return fieldTable(plan.After)
	}
	return fieldTable(prior.Digested(plan.After))
}

// tell adds one warning with the causes, owners and side effects. If several warnings have the same summary,
// Terraform shows only the first.
func tell(plan *ssaplan.Plan, prior *explain.State, diags *diag.Diagnostics) {
	remarks := review.Remarks(plan, prior)
	if prior == nil && (plan.Action == ssaplan.ActionUpdate || plan.Action == ssaplan.ActionNoOp) {
		remarks = slices.Insert(remarks, 0, review.Remark{Object: plan.Object, Text: "exists already, and is taken over"})
	}
	if len(remarks) > 0 {
		diags.AddWarning(review.Fold(remarks))
	}
}

// Read refreshes the state. If the server rejects the credentials, the state stays as it is.
func (r *objectResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state object
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	prior, diags := recall(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	reading, err := r.planner.Read(ctx, prior)
	if err != nil {
		resp.Diagnostics.AddError("The object can't be read", err.Error())
		return
	}
	switch reading.Presence {
	case ssaplan.PresenceAbsent, ssaplan.PresenceNamespaceNotFound, ssaplan.PresenceRecreated:
		resp.State.RemoveResource(ctx)
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, privateKey, nil)...) // or ModifyPlan would take the create for a replacement
		return
	case ssaplan.PresenceUnreadable:
		resp.Diagnostics.AddWarning(reading.Warning.Summary(), reading.Warning.Detail())
	case ssaplan.PresenceTypeNotServed:
		resp.Diagnostics.AddWarning(prior.Identity.String(), "the server doesn't serve this kind (any more)")
	case ssaplan.PresenceFound:
		state.Fields = fieldTable(reading.State.Observed)
	}
	resp.Diagnostics.Append(remember(ctx, resp.Private, reading.State)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, state)...)
}

// Create applies the manifest.
func (r *objectResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var planned object
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	state, err := r.apply(ctx, &planned, nil)
	if err != nil {
		resp.Diagnostics.AddError("The object can't be applied", err.Error())
		return
	}
	resp.Diagnostics.Append(remember(ctx, resp.Private, state)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
}

// Update does the same with the stored state.
func (r *objectResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var planned object
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	prior, diags := recall(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	state, err := r.apply(ctx, &planned, prior)
	if err != nil {
		resp.Diagnostics.AddError("The object can't be applied", err.Error())
		return
	}
	resp.Diagnostics.Append(remember(ctx, resp.Private, state)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
}

// apply plans again, because Terraform applies in another process, and applies that plan.
func (r *objectResource) apply(ctx context.Context, planned *object, prior *explain.State) (*explain.State, error) {
	request, err := planned.request(prior)
	if err != nil {
		return nil, err
	}
	plan, err := r.planner.Plan(ctx, request)
	if err != nil {
		return nil, err
	}
	applied, err := r.planner.Apply(ctx, plan)
	if err != nil {
		return nil, err
	}
	state, err := plan.State(applied)
	if err != nil {
		return nil, err
	}
	planned.Fields = fieldTable(state.Observed)
	return state, nil
}

// planDestroy warns of what is deleted along with the object, and of what blocks the delete. Notes leaves out two
// kinds of hazards, which users expect: the pods stop, and dependents are deleted.
func (r *objectResource) planDestroy(ctx context.Context, private privateState) diag.Diagnostics {
	prior, diags := recall(ctx, private)
	if diags.HasError() || prior == nil {
		return diags
	}
	plan, err := r.planner.PlanDelete(ctx, ssaplan.DeleteRequest{Object: prior.Identity, UID: prior.UID})
	if err != nil {
		diags.AddWarning("The consequences of the destroy aren't known", err.Error())
	} else if notes := plan.Notes(immutability.HazardInterruption, immutability.HazardDependents); len(notes) > 0 {
		diags.AddWarning(plan.Object.String()+": will be destroyed", strings.Join(notes, "\n"))
	}
	return diags
}

// Delete deletes the object that was applied, but no other object with its name. It waits until the object is gone.
func (r *objectResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	prior, diags := recall(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	warn := func(old identity.Identity, text foreign.Text) {
		resp.Diagnostics.AddWarning(old.String(), text.String())
	}
	if err := r.planner.Delete(ctx, prior, ssaplan.DeleteOptions{Warning: warn}); err != nil {
		resp.Diagnostics.AddError("The object can't be deleted", err.Error())
	}
}

// ImportState imports an object by an ID such as "shop/Deployment/web?manager=helm".
func (r *objectResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	id, err := importid.Parse(req.ID)
	if err != nil {
		resp.Diagnostics.AddError("Not an import ID", err.Error())
		return
	}
	imported, err := r.planner.Import(ctx, id)
	if err != nil {
		resp.Diagnostics.AddError("The object can't be imported", err.Error())
		return
	}
	body, err := yaml.Marshal(imported.Manifest.Object)
	if err != nil {
		resp.Diagnostics.AddError("The object can't be imported", err.Error())
		return
	}
	resp.Diagnostics.Append(remember(ctx, resp.Private, imported.State)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, object{
		YAMLBody: types.StringValue(string(body)), Fields: fieldTable(imported.State.Observed),
	})...)
}

func (r *objectResource) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = typeName
}

var (
	_ resource.ResourceWithModifyPlan  = (*objectResource)(nil)
	_ resource.ResourceWithImportState = (*objectResource)(nil)
)

// docsProvider is a provider with one resource.
type docsProvider struct{ resource *objectResource }

func (p docsProvider) Metadata(context.Context, provider.MetadataRequest, *provider.MetadataResponse) {
}

func (p docsProvider) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}

func (p docsProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}

func (p docsProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (p docsProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return p.resource }}
}

func Example_terraform() {
	const web = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: terraform}
data: {mode: %s}`
	configMaps := objects("terraform", "", "v1", "configmaps")
	terraform := newTerraform(&objectResource{planner: must(ssaplan.New(must(client.New(config, client.Options{})), ssaplan.Options{FieldManager: "terraform"}))})
	terraform.apply(fmt.Sprintf(web, "dark"))
	fmt.Println("--- nothing changed")
	terraform.apply(fmt.Sprintf(web, "dark"))
	fmt.Println("--- somebody edits the object")
	patch(configMaps, "kubectl-edit", "web", `{"data": {"mode": "light"}}`)
	terraform.apply(fmt.Sprintf(web, "dark"))
	fmt.Println("--- somebody edits the object, and Terraform doesn't refresh (-refresh=false)")
	patch(configMaps, "kubectl-edit", "web", `{"data": {"mode": "light"}}`)
	terraform.change(fmt.Sprintf(web, "dark"))
	fmt.Println("--- the object becomes immutable, and its data is edited")
	patch(configMaps, "kubectl-edit", "web", `{"immutable": true}`)
	terraform.apply(fmt.Sprintf(web, "auto"))
	fmt.Println("--- the credentials of the last run have lost their rights")
	jane := must(server.ConfigFor("jane"))
	terraform.resource.planner = must(ssaplan.New(must(client.New(jane, client.Options{})), ssaplan.Options{FieldManager: "terraform"}))
	patch(configMaps, "kubectl-edit", "web", `{"data": {"mode": "light"}}`)
	terraform.refresh()
	fmt.Println("--- and planning has new credentials")
	terraform.resource.planner = must(ssaplan.New(must(client.New(config, client.Options{})), ssaplan.Options{FieldManager: "terraform"}))
	terraform.change(fmt.Sprintf(web, "auto"))
	fmt.Println("--- the end")
	terraform.destroy()
	// Output:
	// fields: none -> [data.mode="dark"]
	// --- nothing changed
	// no changes
	// --- somebody edits the object
	// WARNING: v1/ConfigMap terraform/web: drifted, and will be set back; fields change owners: drifted, and will be set back:
	// data.mode: "light" -> "dark" (drifted: changed by "kubectl-edit" (Update))
	// fields change owners:
	// data.mode: taken from "kubectl-edit" (Update)
	// fields: [data.mode="light"] -> [data.mode="dark"]
	// --- somebody edits the object, and Terraform doesn't refresh (-refresh=false)
	// WARNING: v1/ConfigMap terraform/web: drifted, and will be set back; fields change owners: drifted, and will be set back:
	// data.mode: "light" -> "dark" (drifted: changed by "kubectl-edit" (Update))
	// fields change owners:
	// data.mode: taken from "kubectl-edit" (Update)
	// fields: [data.mode="dark"] -> known after apply
	// --- the object becomes immutable, and its data is edited
	// WARNING: v1/ConfigMap terraform/web: will be deleted, and v1/ConfigMap terraform/web created; side effects: the server also changes; fields change owners: will be deleted, and v1/ConfigMap terraform/web created:
	// can't change in place: data
	// data: Forbidden: field is immutable when `immutable` is set
	// hazard: objects that name this one as their owner are deleted with it
	// evidence: texts: field is immutable; dry-run create: valid
	// side effects: the server also changes:
	// immutable: - true (side effect of the server)
	// fields change owners:
	// immutable: destroyed, was owned by "kubectl-edit" (Update)
	// replace
	// destroyed: true
	// fields: none -> [data.mode="auto"]
	// --- the credentials of the last run have lost their rights
	// WARNING: v1/ConfigMap terraform/web was not refreshed; its last known state is kept: User "jane" cannot get resource "configmaps" in API group "" in the namespace "terraform". Ask for the right to get resource "configmaps" in API group "" in the namespace "terraform" (RBAC), or use credentials of another user.
	// --- and planning has new credentials
	// WARNING: v1/ConfigMap terraform/web: drifted, and will be set back; fields change owners: drifted, and will be set back:
	// data.mode: "light" -> "auto" (drifted: changed by "kubectl-edit" (Update))
	// fields change owners:
	// data.mode: taken from "kubectl-edit" (Update)
	// fields: [data.mode="auto"] -> known after apply
	// --- the end
	// destroyed: true
}

func Example_terraformSecret() {
	objects("terraform", "", "v1", "secrets")
	terraform := newTerraform(&objectResource{planner: must(ssaplan.New(must(client.New(config, client.Options{})), ssaplan.Options{FieldManager: "terraform"}))})
	secret := `{apiVersion: v1, kind: Secret, metadata: {name: db, namespace: terraform}, stringData: {password: canary}}`
	terraform.apply(secret)
	terraform.apply(secret)
	terraform.destroy()
	// Output:
	// fields: none -> known after apply
	// no changes
	// destroyed: true
}

func Example_terraformTakeover() {
	configMaps := objects("terraform", "", "v1", "configmaps")
	apply(configMaps, "somebody", yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {mode: light}}`))
	terraform := newTerraform(&objectResource{planner: must(ssaplan.New(must(client.New(config, client.Options{})), ssaplan.Options{FieldManager: "terraform"}))})
	terraform.apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: terraform}, data: {mode: dark}}`)
	must(0, configMaps.Delete(ctx, "other", metav1.DeleteOptions{}))
	apply(configMaps, "somebody", yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {mode: light}}`))
	terraform.refresh()
	fmt.Println("in the state:", !terraform.state.IsNull())
	terraform.apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: terraform}, data: {mode: dark}}`)
	// Output:
	// WARNING: v1/ConfigMap terraform/other: exists already, and is taken over; fields change owners: fields change owners:
	// data.mode: taken from "somebody" (Apply)
	// fields: none -> [data.mode="dark"]
	// in the state: false
	// WARNING: v1/ConfigMap terraform/other: exists already, and is taken over; fields change owners: fields change owners:
	// data.mode: taken from "somebody" (Apply)
	// fields: none -> [data.mode="dark"]
}

func Example_terraformImport() {
	configMaps := objects("terraform", "", "v1", "configmaps")
	apply(configMaps, "helm", yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: imported}, data: {mode: light}}`))
	terraform := newTerraform(&objectResource{planner: must(ssaplan.New(must(client.New(config, client.Options{})), ssaplan.Options{FieldManager: "terraform"}))})
	terraform.importObject("terraform/ConfigMap/imported?manager=helm")
	fmt.Println("imported:", table(terraform.state))
	terraform.apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: imported, namespace: terraform}, data: {mode: light}}`, "data.mode")
	// Output:
	// imported: [data.mode="light"]
	// fields: [data.mode="light"] -> []
}
