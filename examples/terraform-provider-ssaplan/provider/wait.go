package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"
	kindschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/readiness"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// waitResource is the resource ssaplan_wait. It is one of its own, since an error of a create makes Terraform destroy
// what was created: a wait that failed is only waited for again.
type waitResource struct{ planners *planners }

// wait is what Terraform knows of it.
type wait struct {
	Object    types.String   `tfsdk:"object"`
	Condition types.String   `tfsdk:"condition"`
	Fields    types.Map      `tfsdk:"fields"`
	Triggers  types.Map      `tfsdk:"triggers"`
	Sensitive types.List     `tfsdk:"sensitive_fields"`
	Cluster   types.Object   `tfsdk:"cluster"`
	TokenWO   types.String   `tfsdk:"token_wo"`
	Timeouts  timeouts.Value `tfsdk:"timeouts"`
	ID        types.String   `tfsdk:"id"`
}

func (r *waitResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_wait"
}

func (r *waitResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	again := []planmodifier.String{stringplanmodifier.RequiresReplace()}
	resp.Schema = schema.Schema{
		Version: schemaVersion,
		MarkdownDescription: "Waits until an object is ready: by the rules of kstatus, by a condition, or by fields. " +
			"It changes nothing in the cluster, not even when it is destroyed.",
		Attributes: map[string]schema.Attribute{
			"object": schema.StringAttribute{
				Required: true, PlanModifiers: again,
				MarkdownDescription: "The `id` of the object's resource, such as `ssaplan_object.web.id`.",
			},
			"condition": schema.StringAttribute{
				Optional: true, PlanModifiers: again,
				MarkdownDescription: "The type of the condition that must be true, such as `Synced`. Default: the " +
					"rules of [kstatus](https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus), which " +
					"know the built-in kinds and the usual conditions of custom resources, or no condition if " +
					"`fields` is set.",
			},
			"fields": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				PlanModifiers: []planmodifier.Map{mapplanmodifier.RequiresReplace()},
				MarkdownDescription: "The required value of each field, by path: `{\"status.phase\" = \"Bound\"}`. A " +
					"string is compared as it is, another value as JSON, and `*` matches any value that isn't empty. " +
					"With `condition`, both must hold. The status must be of the object's current generation.",
			},
			"triggers": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				PlanModifiers: []planmodifier.Map{mapplanmodifier.RequiresReplace()},
				MarkdownDescription: "A map of strings, such as `ssaplan_object.web.fields`. If it changes, the " +
					"resource waits again.",
			},
			"cluster":  clusterAttribute(resourceCluster),
			"token_wo": tokenWOAttribute(),
			"sensitive_fields": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "The same paths as in the resource of the object. The status may quote such " +
					"values, so its messages aren't shown then.",
			},
			"id": schema.StringAttribute{
				Computed: true, PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
				MarkdownDescription: "The same as `object`.",
			},
		},
		Blocks: map[string]schema.Block{"timeouts": timeouts.Block(ctx,
			timeouts.Opts{Create: true, CreateDescription: howLong(defaultWaitTimeout)})},
	}
}

// defaultWaitTimeout is how long an object has to get ready.
const defaultWaitTimeout = 10 * time.Minute

// Create waits.
func (r *waitResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var planned wait
	if resp.Diagnostics.Append(req.Plan.Get(ctx, &planned)...); resp.Diagnostics.HasError() {
		return
	}
	var reach wait // as the configuration has it, with the token that is kept nowhere
	resp.Diagnostics.Append(req.Config.Get(ctx, &reach)...)
	cluster, err := withToken(ctx, reach.Cluster, reach.TokenWO)
	if err != nil {
		resp.Diagnostics.AddAttributeError(clusterPath, wrongConfiguration, detail(err))
	}
	reach.Cluster = cluster
	limit, diags := planned.Timeouts.Create(ctx, defaultWaitTimeout)
	if resp.Diagnostics.Append(diags...); resp.Diagnostics.HasError() {
		return
	}
	if err := r.await(ctx, reach, limit); err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("object"), "The object isn't ready", detail(err))
		return
	}
	planned.ID = planned.Object
	resp.Diagnostics.Append(resp.State.Set(ctx, planned)...)
}

// await waits for the object. The error says what it lacks.
func (r *waitResource) await(ctx context.Context, planned wait, limit time.Duration) error {
	parsed, err := importid.Parse(planned.Object.ValueString())
	if err != nil {
		return err
	}
	obj := anyObject(planned.Cluster)
	obj.Sensitive = planned.Sensitive
	planner, err := r.planners.of(ctx, obj)
	if err != nil {
		return err
	}
	id := parsed.Identity()
	ready, err := planned.ready(kindschema.GroupKind{Group: id.Group(), Kind: id.Kind})
	if err != nil {
		return err
	}
	asked := &lastRead{Planner: planner}
	found := set.AwaitObject(ctx, asked, id, ready, limit, func(why string) {
		tflog.Info(ctx, "waiting", map[string]any{"object": id.String(), "for": foreign.Text(why).String()})
	})
	switch {
	case found.Ready:
		return nil
	case found.Failed:
		return fmt.Errorf("%s: %s", id, found)
	}
	late := fmt.Errorf("%s: not within %s: %s. The next apply waits again; timeouts.create is how long", id, limit,
		found)
	return notReady{late, asked.err}
}

// lastRead keeps the error of the last read, of which the result of a wait has the text alone. A read that the end of
// the wait ends doesn't count.
type lastRead struct {
	*ssaplan.Planner
	err error
}

func (l *lastRead) Read(ctx context.Context, state *explain.State) (*ssaplan.Reading, error) {
	reading, err := l.Planner.Read(ctx, state)
	if ctx.Err() == nil {
		l.err = err
	}
	return reading, err
}

// notReady is the error of a wait, of the class of its last read.
type notReady struct {
	error
	read error
}

func (e notReady) Unwrap() error { return e.read }

// ready returns what tells whether an object of the kind is ready.
func (w wait) ready(kind kindschema.GroupKind) (set.ReadyFunc, error) {
	conditions := readiness.Conditions{}
	if !w.Condition.IsNull() {
		conditions[kind] = w.Condition.ValueString()
	}
	if w.Fields.IsNull() {
		return readiness.Of(conditions), nil
	}
	fields, err := readiness.ParseFields(rowsOf(w.Fields))
	if err != nil {
		return nil, fmt.Errorf("fields: %w", err)
	}
	if len(conditions) == 0 {
		return readiness.WithFields(fields, nil), nil
	}
	return readiness.WithFields(fields, readiness.Of(conditions)), nil
}

// ValidateConfig checks what can be known without a cluster.
func (r *waitResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest,
	resp *resource.ValidateConfigResponse) {
	var config wait
	if resp.Diagnostics.Append(req.Config.Get(ctx, &config)...); resp.Diagnostics.HasError() {
		return
	}
	if _, err := config.ready(kindschema.GroupKind{}); err != nil {
		resp.Diagnostics.AddAttributeError(fieldsPath, wrongConfiguration, detail(err))
	}
}

// Read has nothing to refresh: that the object was ready once stays true.
func (r *waitResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

// Update only takes over how the cluster is reached, and how long to wait.
func (r *waitResource) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = req.Plan.Raw
}

// Delete has nothing to delete.
func (r *waitResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}
