// Package provider is the Terraform provider: one resource, ssaplan_object, on top of the Planner of package ssaplan.
package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"
)

// Address is the source by which configurations name the provider. It is published nowhere: dev_overrides and mirrors
// lead to it.
const Address = "example.com/ssaplan/ssaplan"

// New returns the provider. It has no configuration: each resource names its cluster, so that a cluster and what is in
// it can be made in one run.
func New() provider.Provider { return &ssaplanProvider{} }

type ssaplanProvider struct{ planners planners }

func (p *ssaplanProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "ssaplan"
}

func (p *ssaplanProvider) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse) {}

func (p *ssaplanProvider) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {
}

func (p *ssaplanProvider) DataSources(context.Context) []func() datasource.DataSource { return nil }

func (p *ssaplanProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return &objectResource{planners: &p.planners} }}
}
