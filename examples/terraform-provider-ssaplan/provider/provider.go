// Package provider is the Terraform provider: the resource ssaplan_object on top of the Planner of package ssaplan,
// ssaplan_wait, and what reads objects and manifests.
package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"
)

// Address is the source by which configurations name the provider. It is published nowhere: dev_overrides and mirrors
// lead to it.
const Address = "example.com/ssaplan/ssaplan"

// version is that of a release, which the linker sets.
var version = "dev"

// New returns the provider.
func New() provider.Provider { return &ssaplanProvider{} }

type ssaplanProvider struct{ planners planners }

var (
	_ provider.ProviderWithFunctions          = (*ssaplanProvider)(nil)
	_ provider.ProviderWithEphemeralResources = (*ssaplanProvider)(nil)
)

// settings is the configuration of the provider. It is read anew in each run and stands in no state.
type settings struct {
	Cluster             types.Object `tfsdk:"cluster"`
	RefreshUnreachable  types.String `tfsdk:"refresh_unreachable"`
	RefreshOtherCluster types.String `tfsdk:"refresh_other_cluster"`
	ShowValuesOf        types.List   `tfsdk:"show_values_of"`
}

func (p *ssaplanProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName, resp.Version = "ssaplan", version
}

func (p *ssaplanProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Applies Kubernetes objects of any kind by server-side apply. Each plan comes from a " +
			"dry run of the API server. It says what " +
			"the apply will do: which values change, who changed them last, which field managers lose them, and " +
			"whether an object must be replaced.",
		Attributes: map[string]schema.Attribute{
			"refresh_unreachable": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "What a refresh does if no server answers at the address in the state, or one " +
					"with an untrusted certificate: `error`, or `keep` the state and plan with the connection of " +
					"this run. Default: `error`.",
			},
			"refresh_other_cluster": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "What a refresh does with an object that was applied in another cluster than " +
					"the present one: " +
					"`error`, or `forget` the object, which stays in its cluster. Default: `error`.",
			},
			"show_values_of": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Kinds, such as `Backup.example.com`, whose values are shown although it isn't " +
					"known which of their fields are secret, because the server doesn't serve the kind or its schema " +
					"can't be read. Default: none.",
			},
			"cluster": clusterAttribute(providerCluster),
		},
	}
}

// Configure keeps the connection for the resources that name none. It may not be known yet: the same run can make the
// cluster.
func (p *ssaplanProvider) Configure(ctx context.Context, req provider.ConfigureRequest,
	resp *provider.ConfigureResponse) {
	var config settings
	if resp.Diagnostics.Append(req.Config.Get(ctx, &config)...); resp.Diagnostics.HasError() {
		return
	}
	for _, choice := range []struct {
		name, of string
		text     types.String
		chosen   *bool
	}{
		{"refresh_unreachable", keep, config.RefreshUnreachable, &p.planners.keepUnreachable},
		{"refresh_other_cluster", forget, config.RefreshOtherCluster, &p.planners.forgetOtherCluster},
	} {
		text := choice.text.ValueString()
		if *choice.chosen = text == choice.of; !*choice.chosen && text != "" && text != "error" {
			resp.Diagnostics.AddAttributeError(path.Root(choice.name), wrongConfiguration,
				fmt.Sprintf("%s: one of error, %s", choice.name, choice.of))
		}
	}
	if isKnown(ctx, config.ShowValuesOf) {
		var kinds []string
		resp.Diagnostics.Append(config.ShowValuesOf.ElementsAs(ctx, &kinds, false)...)
		for _, kind := range kinds {
			p.planners.showValuesOf = append(p.planners.showValuesOf, k8sschema.ParseGroupKind(kind))
		}
	}
	p.planners.cluster = config.Cluster
	if isKnown(ctx, config.Cluster) && !config.Cluster.IsNull() {
		if _, err := clusterConfig(ctx, config.Cluster); err != nil {
			resp.Diagnostics.AddAttributeError(clusterPath, wrongConfiguration, detail(err))
		}
	}
}

// What refresh_unreachable and refresh_other_cluster can be besides "error", their default.
const (
	keep   = "keep"
	forget = "forget"
)

func (p *ssaplanProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		func() datasource.DataSource { return &objectData{planners: &p.planners} },
		func() datasource.DataSource { return &objectsData{planners: &p.planners} },
		func() datasource.DataSource { return manifestsData{} },
	}
}

func (p *ssaplanProvider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{
		func() ephemeral.EphemeralResource { return &objectEphemeral{planners: &p.planners} },
	}
}

func (p *ssaplanProvider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{
		func() function.Function { return manifestsFunction{} },
		func() function.Function { return stagesFunction{} },
		func() function.Function { return decodeFunction{} },
	}
}

func (p *ssaplanProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		func() resource.Resource { return &objectResource{planners: &p.planners} },
		func() resource.Resource { return &patchResource{objectResource{planners: &p.planners, patches: true}} },
		func() resource.Resource { return &waitResource{planners: &p.planners} },
	}
}
