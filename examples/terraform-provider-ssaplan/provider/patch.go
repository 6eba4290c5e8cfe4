package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ssaplan/primitives/ssaplan"
)

// patchFieldManager is another name than that of objects, which would drop the fields of each other.
const patchFieldManager = defaultFieldManager + "-patch"

// patchResource is the resource ssaplan_patch: fields of an object that others make. It is planned and applied as an
// object is, but for what asPatch says.
type patchResource struct{ objectResource }

// patch is what Terraform knows of it.
type patch struct {
	YAMLBody       types.String   `tfsdk:"yaml_body"`
	YAMLBodyWO     types.String   `tfsdk:"yaml_body_wo"`
	WOVersion      types.Int64    `tfsdk:"yaml_body_wo_version"`
	Object         types.Dynamic  `tfsdk:"object"`
	FieldManager   types.String   `tfsdk:"field_manager"`
	ForceConflicts types.Bool     `tfsdk:"force_conflicts"`
	IgnoreFields   types.List     `tfsdk:"ignore_fields"`
	LostVersions   types.List     `tfsdk:"lost_versions"`
	Sensitive      types.List     `tfsdk:"sensitive_fields"`
	Subresource    types.String   `tfsdk:"subresource"`
	Cluster        types.Object   `tfsdk:"cluster"`
	TokenWO        types.String   `tfsdk:"token_wo"`
	Timeouts       timeouts.Value `tfsdk:"timeouts"`
	ID             types.String   `tfsdk:"id"`
	UID            types.String   `tfsdk:"uid"`
	Manifest       types.String   `tfsdk:"manifest"`
	TakenOver      types.String   `tfsdk:"taken_over"`
	Reviewed       types.String   `tfsdk:"reviewed"`
	ReviewedIn     types.String   `tfsdk:"reviewed_in"`
	Fields         types.Map      `tfsdk:"fields"`
	OtherOwners    types.Map      `tfsdk:"other_owners"`
}

// asObject returns a patch as an object that has to be there, and that is let go of in the end.
func (p patch) asObject() object {
	return object{
		YAMLBody: p.YAMLBody, YAMLBodyWO: p.YAMLBodyWO, WOVersion: p.WOVersion, Object: p.Object,
		FieldManager: p.FieldManager, ForceConflicts: p.ForceConflicts, IgnoreFields: p.IgnoreFields,
		LostVersions: p.LostVersions, Sensitive: p.Sensitive, Cluster: p.Cluster, TokenWO: p.TokenWO,
		Timeouts: p.Timeouts, ID: p.ID, UID: p.UID, Manifest: p.Manifest, TakenOver: p.TakenOver, Reviewed: p.Reviewed,
		ReviewedIn: p.ReviewedIn, Fields: p.Fields, OtherOwners: p.OtherOwners, Subresource: p.Subresource,
		Adopt: types.ListNull(types.StringType), Clear: types.ListNull(types.StringType),
		IfExists: types.StringValue(mustExist), OnDestroy: types.StringValue(release),
		OutputFields: types.MapNull(types.StringType), Outputs: types.MapNull(types.StringType),
	}
}

func (o object) asPatch() patch {
	return patch{
		YAMLBody: o.YAMLBody, YAMLBodyWO: o.YAMLBodyWO, WOVersion: o.WOVersion, Object: o.Object,
		FieldManager: o.FieldManager, ForceConflicts: o.ForceConflicts, IgnoreFields: o.IgnoreFields,
		LostVersions: o.LostVersions, Sensitive: o.Sensitive, Cluster: o.Cluster, TokenWO: o.TokenWO,
		Timeouts: o.Timeouts, ID: o.ID, UID: o.UID, Manifest: o.Manifest, TakenOver: o.TakenOver, Reviewed: o.Reviewed,
		ReviewedIn: o.ReviewedIn, Fields: o.Fields, OtherOwners: o.OtherOwners, Subresource: o.Subresource,
	}
}

// isPatch reports whether the object is made by others.
func (o object) isPatch() bool { return o.IfExists.ValueString() == mustExist }

// refusesPatch refuses a patch of what can't be changed, since the object isn't the patch's to replace. One of another
// object takes its place.
func (p *planning) refusesPatch(plan *ssaplan.Plan) bool {
	refused := p.planned.isPatch() && plan.Object == p.state.Identity
	if refused {
		p.diags.AddAttributeError(p.planned.manifestPath(), fmt.Sprintf("%s: a patch can't change this", plan.Object),
			plan.Reason)
	}
	return refused
}

// get reads an object, or a patch as one.
func (r *objectResource) get(ctx context.Context, from interface {
	Get(context.Context, any) diag.Diagnostics
}, into *object,
) diag.Diagnostics {
	if !r.patches {
		return from.Get(ctx, into)
	}
	var p patch
	diags := from.Get(ctx, &p)
	*into = p.asObject()
	return diags
}

// set writes an object, or the patch that it stands for.
func (r *objectResource) set(ctx context.Context, to interface {
	Set(context.Context, any) diag.Diagnostics
}, o object,
) diag.Diagnostics {
	if r.patches {
		return to.Set(ctx, o.asPatch())
	}
	return to.Set(ctx, o)
}

func (r *patchResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_patch"
}

// Schema is that of an object, without what a patch has no choice in.
func (r *patchResource) Schema(ctx context.Context, req resource.SchemaRequest, resp *resource.SchemaResponse) {
	r.objectResource.Schema(ctx, req, resp)
	resp.Schema.MarkdownDescription = "Some fields of an object that another tool creates, such as a label of a " +
		"namespace or the image of a Deployment. " +
		"The object must exist, and is never replaced or deleted. When the resource is destroyed, all values stay."
	attributes := resp.Schema.Attributes
	for _, name := range []string{"adopt", "clear", "if_exists", "on_destroy", "delete_protection", "version_change",
		"propagation", "output_fields", "outputs"} {
		delete(attributes, name)
	}
	attributes["yaml_body"] = schema.StringAttribute{
		Optional: true, Sensitive: true,
		MarkdownDescription: "The fields, as a manifest with apiVersion, kind, name and namespace of the object, and " +
			"the fields to apply. Set this, `object` or `yaml_body_wo`.",
	}
	attributes["manifest"] = schema.StringAttribute{Computed: true,
		MarkdownDescription: "The content of `yaml_body`, with sensitive values redacted; null with `object` and " +
			"`yaml_body_wo`."}
	attributes["field_manager"] = schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(patchFieldManager),
		MarkdownDescription: "Name under which the server records the fields. Two patches of one object need " +
			"different names. Default: `" + patchFieldManager + "`.",
	}
	attributes["subresource"] = schema.StringAttribute{
		Optional: true,
		MarkdownDescription: "The subresource to patch, such as `status` or `scale`. For `scale`, the manifest names " +
			"the object and has only `spec.replicas`. Default: the object itself.",
	}
}

// ImportState is none: a patch takes over what it names when it is created.
func (r *patchResource) ImportState(_ context.Context, _ resource.ImportStateRequest,
	resp *resource.ImportStateResponse) {
	resp.Diagnostics.AddError("A patch can't be imported",
		"Apply it: with the same field_manager and fields it changes nothing.")
}
