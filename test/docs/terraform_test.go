package docs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/manifest"
	"github.com/ssaplan/primitives/ssaplan/review"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/lab"
)

// exampleProvider is the provider. It has one resource, example_object.
type exampleProvider struct{}

func newProvider() provider.Provider { return exampleProvider{} }

func (exampleProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "example"
}

func (exampleProvider) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {} // no arguments

// Configure creates the Planner, which all resources share.
func (exampleProvider) Configure(_ context.Context, _ provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	planner, err := newPlanner()
	if err != nil {
		resp.Diagnostics.AddError("The provider can't be configured", err.Error())
	}
	resp.ResourceData = &sharedPlanner{Planner: planner}
}

func (exampleProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (exampleProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return &objectResource{} }}
}

// sharedPlanner is the Planner of all resources, with UIDs of their objects. Terraform's state can have the same object
// twice, and the destroy of one entry must not delete the object of the other.
type sharedPlanner struct {
	*ssaplan.Planner
	applied         sync.Map // objects that this process has applied
	kept, destroyed sync.Map // objects that this process has planned to keep, or to destroy
}

// newPlanner returns a Planner for the current context of the files in KUBECONFIG, or of ~/.kube/config.
func newPlanner() (*ssaplan.Planner, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	api, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	return ssaplan.New(api, ssaplan.Options{FieldManager: "terraform"}) // the owner of the fields: don't change it later
}

// objectResource is the resource: a Kubernetes object of any kind.
type objectResource struct{ planner *sharedPlanner }

func (r *objectResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_object"
}

// Configure gets the Planner. There is none if Terraform only validates a configuration.
func (r *objectResource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.planner, _ = req.ProviderData.(*sharedPlanner)
}

// object has the attributes of the resource.
type object struct {
	YAMLBody     types.String `tfsdk:"yaml_body"`     // the manifest
	IgnoreFields []string     `tfsdk:"ignore_fields"` // fields that other clients set, such as spec.replicas
	Fields       types.Map    `tfsdk:"fields"`        // the declared fields with the values that the server has
	Outline      types.String `tfsdk:"outline"`       // a digest of the planned change, which the apply compares
	Adopted      types.Bool   `tfsdk:"adopted"`       // whether the object existed before the resource
}

func (r *objectResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"yaml_body":     schema.StringAttribute{Required: true, Sensitive: true}, // it may be a Secret
		"ignore_fields": schema.ListAttribute{ElementType: types.StringType, Optional: true},
		"fields":        schema.MapAttribute{ElementType: types.StringType, Computed: true},
		"outline":       schema.StringAttribute{Computed: true},
		"adopted":       schema.BoolAttribute{Computed: true},
	}}
}

// request returns the request for a plan. prior is the stored state.
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

// ModifyPlan plans the object, and sets the computed attributes to their values after the apply.
func (r *objectResource) ModifyPlan(
	ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse,
) {
	if req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(r.planDestroy(ctx, req.Private)...)
		return
	}
	var planned, current object
	resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...)
	creating := req.State.Raw.IsNull()
	if !creating {
		resp.Diagnostics.Append(req.State.Get(ctx, &current)...)
	}
	prior, diags := recall(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	planned.Fields, planned.Outline, planned.Adopted = types.MapUnknown(types.StringType), types.StringUnknown(), types.BoolUnknown()
	switch {
	case creating && prior != nil:
		// For a replacement, Terraform calls ModifyPlan for the old object, and then for the new one. The second call
		// gets no state, only the private state of the old object. The old object still exists, so the create can't be
		// planned yet. Terraform calls Delete before Create, so Create takes nothing over.
		planned.Adopted = types.BoolValue(false)
	case !planned.YAMLBody.IsUnknown():
		resp.Diagnostics.Append(r.plan(ctx, &planned, current, prior, resp)...)
	}
	if prior != nil {
		resp.Diagnostics.Append(checkTwice(prior, &r.planner.kept, &r.planner.destroyed)...)
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, planned)...)
}

// plan makes a plan, and translates it for Terraform. The attributes that it doesn't set stay unknown.
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
	// If the server doesn't serve the kind, the plan's only warning advises to set ShowValuesOf. It is left out.
	if plan.Deferral != ssaplan.DeferralTypeNotServed {
		addWarning(plan, prior, &diags)
	}
	planned.Adopted = current.Adopted
	if prior == nil {
		planned.Adopted = types.BoolValue(plan.Live() != nil)
	}
	outline, err := review.Outline(plan)
	if err == nil {
		err = checkUnchanged(plan, prior)
	}
	if err != nil {
		diags.AddError("The object can't be planned", err.Error())
		return diags
	}
	switch {
	case plan.Action == ssaplan.ActionReplace:
		// Terraform replaces the object only if an attribute in RequiresReplace changes. The attribute "fields" stays
		// unknown here, and Terraform counts that as a change.
		resp.RequiresReplace.Append(path.Root("fields"))
	case plan.Deferral == ssaplan.DeferralTypeNotServed, plan.Deferral == ssaplan.DeferralNamespaceNotFound:
		// The apply waits for the kind or the namespace.
	case plan.Action == ssaplan.ActionDeferred, plan.Action == ssaplan.ActionConflict: // can't be applied
		diags.AddError(plan.Object.String(), plan.Reason)
	case plan.Action == ssaplan.ActionNoOp && prior != nil: // the outline of the last apply stays
		planned.Fields, planned.Outline = fieldsAfter(plan, prior), current.Outline
	default:
		planned.Fields, planned.Outline = fieldsAfter(plan, prior), types.StringValue(outline)
		// Terraform applies only if an attribute changes. "fields" stays the same if only owners change, or if a failed
		// refresh missed the drift. The new outline can then be equal to the stored one, so that no attribute changes.
		// Then "fields" becomes unknown, which counts as a change.
		if planned.Fields.Equal(current.Fields) {
			planned.Fields = types.MapUnknown(types.StringType)
		}
	}
	return diags
}

// addWarning adds one warning with all causes, owners and side effects. With several warnings of the same summary,
// Terraform would show only the first.
func addWarning(plan *ssaplan.Plan, prior *explain.State, diags *diag.Diagnostics) {
	remarks := review.Remarks(plan, prior)
	if prior == nil && (plan.Action == ssaplan.ActionUpdate || plan.Action == ssaplan.ActionNoOp) {
		remarks = slices.Insert(remarks, 0, review.Remark{Object: plan.Object, Text: "exists already, and is taken over"})
	}
	if len(remarks) > 0 {
		diags.AddWarning(review.Fold(remarks))
	}
}

// fieldTable returns the attribute "fields": each declared field with its value as JSON. List items are named by key.
func fieldTable(p projection.Projection) types.Map {
	rows := map[string]attr.Value{}
	for field, value := range p.Leaves() {
		text, _ := json.Marshal(value) // a value from a server can be marshalled
		rows[field.String()] = types.StringValue(string(text))
	}
	return types.MapValueMust(types.StringType, rows)
}

// fieldsAfter returns the planned value of the attribute "fields". The value is unknown in two cases: the server picks
// values in the apply, or the first apply has sensitive values, for which there are no digests yet.
func fieldsAfter(plan *ssaplan.Plan, prior *explain.State) types.Map {
	switch {
	case plan.Action != ssaplan.ActionNoOp && len(plan.Assigned) > 0, prior == nil && !plan.After.Sensitive.Empty():
		return types.MapUnknown(types.StringType)
	case prior == nil:
		return fieldTable(plan.After)
	}
	return fieldTable(prior.Digested(plan.After))
}

// privateKey is the key of the library's state in the private state of the resource. The state is versioned JSON.
// Instead of values of Secrets, it has salted digests, which show only whether a value changed.
const privateKey = "ssaplan"

// privateState is the private state of the resource, which Terraform stores and doesn't show.
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

// Create applies the manifest of a new resource.
func (r *objectResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	resp.Diagnostics.Append(r.applyTo(ctx, req.Plan, nil, &resp.State, resp.Private)...)
}

// Update applies the manifest again.
func (r *objectResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	prior, diags := recall(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); !diags.HasError() {
		resp.Diagnostics.Append(r.applyTo(ctx, req.Plan, prior, &resp.State, resp.Private)...)
	}
}

// applyTo applies the manifest, and sets the state and the private state to the result.
func (r *objectResource) applyTo(
	ctx context.Context, plan tfsdk.Plan, prior *explain.State, state *tfsdk.State, private privateState,
) diag.Diagnostics {
	var planned object
	diags := plan.Get(ctx, &planned)
	if diags.HasError() {
		return diags
	}
	applied, err := r.apply(ctx, &planned, prior)
	if err != nil {
		diags.AddError("The object can't be applied", err.Error())
		return diags
	}
	return append(append(diags, remember(ctx, private, applied)...), state.Set(ctx, planned)...)
}

// apply makes a new plan, because Terraform doesn't pass on the plan that the user saw. It applies the new plan.
func (r *objectResource) apply(ctx context.Context, planned *object, prior *explain.State) (*explain.State, error) {
	request, err := planned.request(prior)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	plan, err := set.AwaitPlan(ctx, r.planner, request)
	if err != nil {
		return nil, err
	}
	if err := checkPlanned(plan, prior, planned); err != nil {
		return nil, err
	}
	applied, err := r.planner.Apply(ctx, plan)
	if err != nil {
		return nil, err
	}
	r.planner.applied.Store(string(applied.GetUID()), true)
	state, err := plan.State(applied)
	if err != nil {
		return nil, err
	}
	planned.Fields = fieldTable(state.Observed)
	return state, nil
}

// checkPlanned returns an error if the apply would do something that Terraform's plan didn't show.
func checkPlanned(plan *ssaplan.Plan, prior *explain.State, planned *object) error {
	if err := checkUnchanged(plan, prior); err != nil {
		return err
	}
	outline, err := review.Outline(plan)
	switch {
	case err != nil:
		return err
	case prior == nil && plan.Live() != nil && !planned.Adopted.ValueBool():
		return fmt.Errorf("%s: the object exists already, which the plan didn't show: plan again", plan.Object)
	case planned.Outline.IsUnknown(): // there is nothing to compare
		planned.Outline = types.StringValue(outline)
	case plan.Action != ssaplan.ActionNoOp && planned.Outline.ValueString() != outline:
		return fmt.Errorf("%s: the apply would differ from the plan: %s: plan again", plan.Object, plan.Reason)
	}
	return nil
}

// checkUnchanged returns an error if other clients changed declared fields since the last refresh, or replaced the
// object. It compares nothing if the last refresh failed, or if the new plan has no live object because the object was
// deleted or can't be read.
func checkUnchanged(plan *ssaplan.Plan, prior *explain.State) error {
	if prior == nil || !prior.Stale.IsZero() || plan.Live() == nil {
		return nil
	}
	refreshed := review.Shown{State: prior, Rows: review.RowsOf(prior.Observed)}
	// For the fields that the manifest still declares, Check compares the values of the last refresh and the live ones.
	// Its second argument only says which fields these are, so values of Secrets needn't be digests there.
	return refreshed.Check(plan, review.RowsOf(plan.After))
}

// Read refreshes the state. If the caller may not read the object, all values stay as they are.
func (r *objectResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state object
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	prior, diags := recall(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	if prior == nil { // only after "terraform taint" and a failed apply: this entry of the state has no private state
		resp.State.RemoveResource(ctx)
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
		// The private state survives RemoveResource. With it, ModifyPlan would take the next create for a replacement.
		resp.Diagnostics.Append(resp.Private.SetKey(ctx, privateKey, nil)...)
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

// planDestroy adds a warning with what is lost along with the object, such as the content of a namespace, and with the
// finalizers that block the delete. The arguments of Notes are hazards that users expect, so the warning omits them: a
// workload stops (HazardInterruption), and its dependents, such as Pods, are deleted, too (HazardDependents).
func (r *objectResource) planDestroy(ctx context.Context, private privateState) diag.Diagnostics {
	prior, diags := recall(ctx, private)
	if diags.HasError() || prior == nil {
		return diags
	}
	if diags = checkTwice(prior, &r.planner.destroyed, &r.planner.kept); diags.HasError() {
		return diags
	}
	plan, err := r.planner.PlanDelete(ctx, deletion.Request{Object: prior.Identity, UID: prior.UID})
	if err != nil {
		diags.AddWarning("The consequences of the destroy aren't known", err.Error())
	} else if notes := plan.Notes(immutability.HazardInterruption, immutability.HazardDependents); len(notes) > 0 {
		diags.AddWarning(plan.Object.String()+": will be destroyed", strings.Join(notes, "\n"))
	}
	return diags
}

// checkTwice adds the object to the first set. It returns an error if the object is in the second set.
func checkTwice(prior *explain.State, add, find *sync.Map) (diags diag.Diagnostics) {
	add.Store(prior.UID, true)
	if _, twice := find.Load(prior.UID); twice {
		diags.AddError(prior.Identity.String()+": is in the state twice, and the destroy of one entry would delete it",
			`Remove both entries with "terraform state rm", and import the object.`)
	}
	return diags
}

// Delete deletes the object that was applied, but no other object with its name. It waits until the object is gone.
func (r *objectResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	prior, diags := recall(ctx, req.Private)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	if prior != nil { // it is nil after "terraform taint"
		if _, applied := r.planner.applied.Load(prior.UID); applied {
			resp.Diagnostics.AddWarning(prior.Identity.String()+": not deleted", "This run has applied it for another entry of the state.")
			return
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	addServerWarning := func(deleted identity.Identity, text foreign.Text) { // a server can answer with warnings
		resp.Diagnostics.AddWarning(deleted.String(), text.String())
	}
	err := r.planner.Delete(ctx, prior, deletion.Options{Warning: addServerWarning})
	if authresilience.Classify(err) == authresilience.ClassTypeNotServed {
		resp.Diagnostics.AddWarning(prior.Identity.String()+": not deleted", "The server doesn't serve this kind (any more).")
	} else if err != nil {
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
		YAMLBody: types.StringValue(string(body)), Fields: fieldTable(imported.State.Observed), Adopted: types.BoolValue(true),
	})...)
}

var (
	_ resource.ResourceWithConfigure   = (*objectResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*objectResource)(nil)
	_ resource.ResourceWithImportState = (*objectResource)(nil)
)

func Example_terraform() {
	const web = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: terraform}
data: {mode: %s}`
	dark, auto := fmt.Sprintf(web, "dark"), fmt.Sprintf(web, "auto")
	configMaps := objects("terraform", "", "v1", "configmaps")
	editOf := func(change string) func() { return func() { patch(configMaps, "kubectl-patch", "web", change) } }
	edit := editOf(`{"data": {"mode": "light"}}`)
	terraform := newTerraform()
	fmt.Println("--- 1")
	terraform.apply(dark)
	fmt.Println("--- 2")
	terraform.apply(dark)
	edit()
	fmt.Println("--- 3")
	terraform.change(dark) // without a refresh
	fmt.Println("--- 4")
	terraform.apply(dark)
	editOf(`{"immutable": true}`)()
	fmt.Println("--- 5")
	terraform.apply(auto)
	fmt.Println("--- 6")
	terraform.configure(kubeconfigFor("jane"))
	edit()
	terraform.apply(auto)
	fmt.Println("--- the plan after that has other credentials")
	terraform.configure(server.Kubeconfig())
	terraform.change(auto)
	fmt.Println("--- the same edit twice")
	edit()
	terraform.apply(auto)
	edit()
	terraform.apply(auto)
	fmt.Println("--- the end")
	terraform.destroy()
	// Output:
	// --- 1
	// fields: none -> [data.mode="dark"]
	// --- 2
	// no changes
	// --- 3
	// Warning: v1/ConfigMap terraform/web: drifted, and will be set back; fields change owners
	//     drifted, and will be set back:
	//     data.mode: "light" -> "dark" (drifted: changed by "kubectl-patch" (Update))
	//     fields change owners:
	//     data.mode: taken from "kubectl-patch" (Update)
	// Error: The object can't be planned
	//     v1/ConfigMap terraform/web: the object was changed after the plan was made: data.mode: plan again, with a refresh
	// --- 4
	// Warning: v1/ConfigMap terraform/web: drifted, and will be set back; fields change owners
	//     drifted, and will be set back:
	//     data.mode: "light" -> "dark" (drifted: changed by "kubectl-patch" (Update))
	//     fields change owners:
	//     data.mode: taken from "kubectl-patch" (Update)
	// fields: [data.mode="light"] -> [data.mode="dark"]
	// --- 5
	// Warning: v1/ConfigMap terraform/web: will be deleted, and v1/ConfigMap terraform/web created; side effects: the server also changes; fields change owners
	//     will be deleted, and v1/ConfigMap terraform/web created:
	//     can't change in place: data
	//     data: Forbidden: field is immutable when `immutable` is set
	//     hazard: objects that name this one as their owner are deleted with it
	//     evidence: texts: field is immutable; dry-run create: valid
	//     side effects: the server also changes:
	//     immutable: - true (side effect of the server)
	//     fields change owners:
	//     immutable: destroyed, was owned by "kubectl-patch" (Update)
	// replace
	// fields: [data.mode="dark"] -> known after apply
	// destroyed: true
	// --- 6
	// Warning: v1/ConfigMap terraform/web was not refreshed; its last known state is kept
	//     User "jane" cannot get resource "configmaps" in API group "" in the namespace "terraform". Ask for the right to get resource "configmaps" in API group "" in the namespace "terraform" (RBAC), or use credentials of another user.
	// Error: The object can't be planned
	//     v1/ConfigMap terraform/web: get: configmaps "web" is forbidden: User "jane" cannot get resource "configmaps" in API group "" in the namespace "terraform"; and the dry run: configmaps "web" is forbidden: User "jane" cannot patch resource "configmaps" in API group "" in the namespace "terraform"
	// --- the plan after that has other credentials
	// Warning: v1/ConfigMap terraform/web: drifted, and will be set back; fields change owners
	//     drifted, and will be set back:
	//     data.mode: "light" -> "auto" (drifted: changed by "kubectl-patch" (Update))
	//     fields change owners:
	//     data.mode: taken from "kubectl-patch" (Update)
	// fields: [data.mode="auto"] -> known after apply
	// --- the same edit twice
	// Warning: v1/ConfigMap terraform/web: drifted, and will be set back; fields change owners
	//     drifted, and will be set back:
	//     data.mode: "light" -> "auto" (drifted: changed by "kubectl-patch" (Update))
	//     fields change owners:
	//     data.mode: taken from "kubectl-patch" (Update)
	// fields: [data.mode="light"] -> [data.mode="auto"]
	// Warning: v1/ConfigMap terraform/web: drifted, and will be set back; fields change owners
	//     drifted, and will be set back:
	//     data.mode: "light" -> "auto" (drifted: changed by "kubectl-patch" (Update))
	//     fields change owners:
	//     data.mode: taken from "kubectl-patch" (Update)
	// fields: [data.mode="light"] -> [data.mode="auto"]
	// --- the end
	// destroyed: true
}

func Example_terraformSecret() {
	objects("terraform", "", "v1", "secrets")
	terraform := newTerraform()
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
	apply(configMaps, "other-tool", yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {mode: light}}`))
	terraform := newTerraform()
	terraform.apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: terraform}, data: {mode: dark}}`)
	must(0, configMaps.Delete(ctx, "other", metav1.DeleteOptions{}))
	apply(configMaps, "other-tool", yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {mode: light}}`))
	terraform.refresh()
	fmt.Println("in the state:", !terraform.state.IsNull())
	terraform.apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: terraform}, data: {mode: dark}}`)
	// Output:
	// Warning: v1/ConfigMap terraform/other: exists already, and is taken over; fields change owners
	//     fields change owners:
	//     data.mode: taken from "other-tool" (Apply)
	// fields: none -> [data.mode="dark"]
	// in the state: false
	// Warning: v1/ConfigMap terraform/other: exists already, and is taken over; fields change owners
	//     fields change owners:
	//     data.mode: taken from "other-tool" (Apply)
	// fields: none -> [data.mode="dark"]
}

func Example_terraformImport() {
	configMaps := objects("terraform", "", "v1", "configmaps")
	apply(configMaps, "helm", yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: imported}, data: {mode: light}}`))
	terraform := newTerraform()
	terraform.importObject("terraform/ConfigMap/imported?manager=helm")
	fmt.Println("imported:", table(terraform.state))
	terraform.change(`{apiVersion: v1, kind: ConfigMap, metadata: {name: imported, namespace: terraform}, data: {mode: light}}`)
	terraform.apply(`{apiVersion: v1, kind: ConfigMap, metadata: {name: imported, namespace: terraform}, data: {mode: light}}`, "data.mode")
	// Output:
	// imported: [data.mode="light"]
	// Warning: v1/ConfigMap terraform/imported: fields change owners; the field manager changes
	//     fields change owners:
	//     data.mode: shared with "helm" (Apply)
	//     the field manager changes:
	//     "helm" still owns the fields that it applied, so a field that you remove from the manifest later stays in the object
	// fields: [data.mode="light"] -> known after apply
	// Warning: v1/ConfigMap terraform/imported: fields change owners
	//     data.mode: given up, still owned by "helm" (Apply)
	// fields: [data.mode="light"] -> []
}

func Example_terraformChecks() {
	const web = `
apiVersion: v1
kind: ConfigMap
metadata: {name: checked, namespace: terraform}
data: {mode: %s}`
	dark, auto := fmt.Sprintf(web, "dark"), fmt.Sprintf(web, "auto")
	configMaps := objects("terraform", "", "v1", "configmaps")
	edit := func() { patch(configMaps, "kubectl-patch", "checked", `{"data": {"mode": "light"}}`) }
	create := func() {
		apply(configMaps, "helm", yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: checked}, data: {mode: light}}`))
	}
	remove := func() { must(0, configMaps.Delete(ctx, "checked", metav1.DeleteOptions{})) }
	nothing := func() {}
	terraform := newTerraform()
	fmt.Println("--- helm creates the object after the plan")
	terraform.changeAfter(dark, create, nothing)
	remove()
	fmt.Println("--- helm creates the object during the apply")
	terraform.changeAfter(dark, nothing, create)
	remove()
	terraform.apply(dark)
	fmt.Println("--- kubectl edits the object after the plan")
	terraform.changeAfter(auto, edit, nothing)
	terraform.refresh()
	fmt.Println("--- kubectl edits the object during the apply")
	patch(configMaps, "kubectl-patch", "checked", `{"data": {"mode": "blue"}}`)
	terraform.refresh()
	terraform.changeAfter(auto, nothing, edit)
	terraform.refresh()
	fmt.Println("--- the object is replaced after the plan")
	terraform.changeAfter(auto, func() { remove(); create() }, nothing)
	terraform.refresh()
	terraform.apply(dark)
	fmt.Println("--- the object is replaced during the apply")
	terraform.changeAfter(auto, nothing, func() { remove(); create() })
	terraform.refresh()
	terraform.apply(dark)
	fmt.Println("--- helm becomes another owner of the field after the plan")
	terraform.changeAfter(auto, func() {
		apply(configMaps, "helm", yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: checked}, data: {mode: dark}}`))
	}, nothing)
	fmt.Println("--- the object is deleted after the plan")
	terraform.changeAfter(auto, remove, nothing)
	fmt.Println("--- the object is deleted during the apply")
	terraform.apply(dark)
	terraform.changeAfter(auto, nothing, remove)
	terraform.refresh()
	terraform.apply(dark)
	patch(configMaps, "kubectl-patch", "checked", `{"immutable": true}`)
	terraform.refresh()
	fmt.Println("--- helm creates the object again after the delete of a replacement")
	terraform.changeAfter(auto, create, nothing)
	// Output:
	// --- helm creates the object after the plan
	// fields: none -> [data.mode="dark"]
	// Error: Provider produced inconsistent final plan: adopted, outline
	// --- helm creates the object during the apply
	// fields: none -> [data.mode="dark"]
	// Error: The object can't be applied
	//     v1/ConfigMap terraform/checked: the object exists already, which the plan didn't show: plan again
	// fields: none -> [data.mode="dark"]
	// --- kubectl edits the object after the plan
	// fields: [data.mode="dark"] -> [data.mode="auto"]
	// Error: The object can't be planned
	//     v1/ConfigMap terraform/checked: the object was changed after the plan was made: data.mode: plan again, with a refresh
	// --- kubectl edits the object during the apply
	// Warning: v1/ConfigMap terraform/checked: fields change owners
	//     data.mode: taken from "kubectl-patch" (Update)
	// fields: [data.mode="blue"] -> [data.mode="auto"]
	// Error: The object can't be applied
	//     v1/ConfigMap terraform/checked: the object was changed after the plan was made: data.mode: plan again, with a refresh
	// --- the object is replaced after the plan
	// Warning: v1/ConfigMap terraform/checked: fields change owners
	//     data.mode: taken from "kubectl-patch" (Update)
	// fields: [data.mode="light"] -> [data.mode="auto"]
	// Error: The object can't be planned
	//     v1/ConfigMap terraform/checked: the object was replaced after the plan was made: plan again, with a refresh
	// Warning: v1/ConfigMap terraform/checked: exists already, and is taken over; fields change owners
	//     fields change owners:
	//     data.mode: taken from "helm" (Apply)
	// fields: none -> [data.mode="dark"]
	// --- the object is replaced during the apply
	// fields: [data.mode="dark"] -> [data.mode="auto"]
	// Error: The object can't be applied
	//     v1/ConfigMap terraform/checked: the object was replaced after the plan was made: plan again, with a refresh
	// Warning: v1/ConfigMap terraform/checked: exists already, and is taken over; fields change owners
	//     fields change owners:
	//     data.mode: taken from "helm" (Apply)
	// fields: none -> [data.mode="dark"]
	// --- helm becomes another owner of the field after the plan
	// fields: [data.mode="dark"] -> [data.mode="auto"]
	// Error: Provider produced inconsistent final plan: outline
	// --- the object is deleted after the plan
	// Warning: v1/ConfigMap terraform/checked: fields change owners
	//     data.mode: taken from "helm" (Apply)
	// fields: [data.mode="dark"] -> [data.mode="auto"]
	// Error: Provider produced inconsistent final plan: outline
	// --- the object is deleted during the apply
	// fields: none -> [data.mode="dark"]
	// fields: [data.mode="dark"] -> [data.mode="auto"]
	// Error: The object can't be applied
	//     v1/ConfigMap terraform/checked: the apply would differ from the plan: does not exist: plan again
	// fields: none -> [data.mode="dark"]
	// --- helm creates the object again after the delete of a replacement
	// Warning: v1/ConfigMap terraform/checked: will be deleted, and v1/ConfigMap terraform/checked created; side effects: the server also changes; fields change owners
	//     will be deleted, and v1/ConfigMap terraform/checked created:
	//     can't change in place: data
	//     data: Forbidden: field is immutable when `immutable` is set
	//     hazard: objects that name this one as their owner are deleted with it
	//     evidence: texts: field is immutable; dry-run create: valid
	//     side effects: the server also changes:
	//     immutable: - true (side effect of the server)
	//     fields change owners:
	//     immutable: destroyed, was owned by "kubectl-patch" (Update)
	// replace
	// fields: [data.mode="dark"] -> known after apply
	// destroyed: true
	// Error: Provider produced inconsistent final plan: adopted
}

// An apply waits for the namespace or the kind, and takes nothing over that its plan didn't show.
func Example_terraformDeferred() {
	c := lab.Connect(example{}, config)
	inNamespace := func(name string) string {
		return `{apiVersion: v1, kind: ConfigMap, metadata: {name: web, namespace: ` + name + `}, data: {mode: dark}}`
	}
	create := func() { objects("later", "", "v1", "configmaps") }
	nothing := func() {}
	terraform := newTerraform()
	terraform.changeAfter(inNamespace("later"), create, nothing)
	fmt.Println("applied:", table(terraform.state))
	terraform.destroy()
	fmt.Println("--- helm creates the namespace and the object during the apply")
	terraform.changeAfter(inNamespace("later-by-helm"), nothing, func() {
		apply(objects("later-by-helm", "", "v1", "configmaps"), "helm", yamlObject(inNamespace("later-by-helm")))
	})
	fmt.Println("--- the kind is deleted, and defined again after the plan")
	definition := yamlObject(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.guide.example.com}
spec:
  group: guide.example.com
  names: {kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}
  scope: Cluster
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {mode: {type: string}, token: {type: string, format: password}}}`)
	define := func() { c.Define(example{}, definition.DeepCopy()) }
	widget := `{apiVersion: guide.example.com/v1, kind: Widget, metadata: {name: web}, spec: {mode: dark, token: canary}}`
	terraform.changeAfter(widget, define, nothing)
	definitions := c.Client.Resource(k8sschema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	widgets := c.Client.Resource(k8sschema.GroupVersionResource{Group: "guide.example.com", Version: "v1", Resource: "widgets"})
	must(0, definitions.Delete(ctx, definition.GetName(), metav1.DeleteOptions{}))
	lab.Eventually(example{}, "the kind isn't served", func() bool { // a moment after its definition is gone
		_, err := widgets.Get(ctx, "web", metav1.GetOptions{})
		return err != nil && !strings.Contains(err.Error(), `"web"`)
	})
	terraform.refresh()
	terraform.changeAfter(widget, define, nothing)
	fmt.Println("applied:", table(terraform.state))
	terraform.destroy()
	must(0, definitions.Delete(ctx, definition.GetName(), metav1.DeleteOptions{}))
	// Output:
	// fields: none -> known after apply
	// applied: [data.mode="dark"]
	// destroyed: true
	// --- helm creates the namespace and the object during the apply
	// fields: none -> known after apply
	// Error: The object can't be applied
	//     v1/ConfigMap later-by-helm/web: the object exists already, which the plan didn't show: plan again
	// --- the kind is deleted, and defined again after the plan
	// fields: none -> known after apply
	// Warning: guide.example.com/v1/Widget web
	//     the server doesn't serve this kind (any more)
	// fields: [spec.mode="dark" spec.token="(digest)"] -> known after apply
	// applied: [spec.mode="dark" spec.token="(digest)"]
	// destroyed: true
}
