package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
)

// objectEphemeral is the ephemeral resource ssaplan_object: what the data source of this name reads, with the values of
// secrets.
type objectEphemeral struct{ planners *planners }

func (e *objectEphemeral) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_object"
}

func (e *objectEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A live object, with the values of a Secret. It is read in each run, and neither plan " +
			"nor state stores it. Needs Terraform 1.10.",
		Attributes: map[string]schema.Attribute{
			"id":      schema.StringAttribute{Required: true, MarkdownDescription: liveObject},
			"cluster": clusterAttribute(resourceCluster),
			"object": schema.DynamicAttribute{Computed: true, Sensitive: true,
				MarkdownDescription: "The fields of the object, such as `object.data`."},
		},
	}
}

func (e *objectEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var data objectDataModel
	if resp.Diagnostics.Append(req.Config.Get(ctx, &data)...); resp.Diagnostics.HasError() {
		return
	}
	_, found, err := e.planners.find(ctx, data.Cluster, data.ID.ValueString())
	if err != nil {
		resp.Diagnostics.AddError(cantBeFound, detail(err))
		return
	}
	found.Live.SetManagedFields(nil)
	data.Object = dynamic(ctx, found.Live.Object)
	resp.Diagnostics.Append(resp.Result.Set(ctx, data)...)
}
