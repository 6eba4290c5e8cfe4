package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kindschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/restmapper"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

const (
	liveObject = "The import ID of the object, such as `shop/Deployment/web`."
	redacted   = "Sensitive values, such as the data of a Secret, are `<redacted>`; the ephemeral resource " +
		"`ssaplan_object` has them."
	cantBeFound = "The object can't be read"
)

// objectData is the data source ssaplan_object.
type objectData struct{ planners *planners }

type objectDataModel struct {
	ID      types.String  `tfsdk:"id"`
	Cluster types.Object  `tfsdk:"cluster"`
	Object  types.Dynamic `tfsdk:"object"`
}

func (d *objectData) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_object"
}

func (d *objectData) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A live object. It is an error if the object doesn't exist.",
		Attributes: map[string]schema.Attribute{
			"id":      schema.StringAttribute{Required: true, MarkdownDescription: liveObject},
			"cluster": clusterAttribute(resourceCluster),
			"object": schema.DynamicAttribute{Computed: true,
				MarkdownDescription: "The fields of the object, such as `object.status.loadBalancer`. " + redacted},
		},
	}
}

func (d *objectData) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var data objectDataModel
	if resp.Diagnostics.Append(req.Config.Get(ctx, &data)...); resp.Diagnostics.HasError() {
		return
	}
	planner, found, err := d.planners.find(ctx, data.Cluster, data.ID.ValueString())
	if err != nil {
		resp.Diagnostics.AddError(cantBeFound, detail(err))
		return
	}
	data.Object = dynamic(ctx, shownObject(planner, found.Live))
	resp.Diagnostics.Append(resp.State.Set(ctx, data)...)
}

// find returns the object of an import ID.
func (p *planners) find(ctx context.Context, cluster types.Object,
	text string) (*ssaplan.Planner, *explain.Imported, error) {
	id, err := importid.Parse(text)
	if err != nil {
		return nil, nil, err
	}
	planner, err := p.of(ctx, anyObject(cluster))
	if err != nil {
		return nil, nil, err
	}
	found, err := planner.Import(ctx, id)
	return planner, found, err
}

// objectsData is the data source ssaplan_objects.
type objectsData struct{ planners *planners }

type objectsDataModel struct {
	APIVersion    types.String  `tfsdk:"api_version"`
	Kind          types.String  `tfsdk:"kind"`
	Namespace     types.String  `tfsdk:"namespace"`
	LabelSelector types.String  `tfsdk:"label_selector"`
	Cluster       types.Object  `tfsdk:"cluster"`
	Objects       types.Dynamic `tfsdk:"objects"`
}

func (d *objectsData) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_objects"
}

func (d *objectsData) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The live objects of a kind: all, or those that a selector finds.",
		Attributes: map[string]schema.Attribute{
			"api_version": schema.StringAttribute{Required: true, MarkdownDescription: "Such as `apps/v1`."},
			"kind":        schema.StringAttribute{Required: true, MarkdownDescription: "Such as `Deployment`."},
			"namespace":   schema.StringAttribute{Optional: true, MarkdownDescription: "Default: all namespaces."},
			"label_selector": schema.StringAttribute{Optional: true,
				MarkdownDescription: "Such as `app=web,tier!=cache`. Default: all objects."},
			"cluster": clusterAttribute(resourceCluster),
			"objects": schema.DynamicAttribute{Computed: true,
				MarkdownDescription: "A map from import ID to object, for `for_each`. " + redacted},
		},
	}
}

func (d *objectsData) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var data objectsDataModel
	if resp.Diagnostics.Append(req.Config.Get(ctx, &data)...); resp.Diagnostics.HasError() {
		return
	}
	objects, err := d.planners.query(ctx, data)
	if err != nil {
		resp.Diagnostics.AddError("The objects can't be read", detail(err))
		return
	}
	data.Objects = dynamic(ctx, objects)
	resp.Diagnostics.Append(resp.State.Set(ctx, data)...)
}

// query returns the objects that are asked for, each under its ID. It lists names only, and reads each object as a
// single one is read, which knows what of it must not be shown. An object that has gone in between is none.
func (p *planners) query(ctx context.Context, data objectsDataModel) (map[string]any, error) {
	names, err := p.list(ctx, data)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", data.APIVersion.ValueString(), data.Kind.ValueString(),
			authresilience.Redact(err))
	}
	planner, err := p.of(ctx, anyObject(data.Cluster))
	if err != nil {
		return nil, err
	}
	objects := map[string]any{}
	for _, id := range names {
		found, err := planner.Import(ctx, id)
		switch {
		case authresilience.Classify(err) == authresilience.ClassNotFound:
		case err != nil:
			return nil, err
		default:
			objects[id.String()] = shownObject(planner, found.Live)
		}
	}
	return objects, nil
}

// pageSize is how many names a request lists.
const pageSize = 500

func (p *planners) list(ctx context.Context, data objectsDataModel) (ids []importid.ID, err error) {
	config, err := clusterConfig(ctx, p.clusterOf(anyObject(data.Cluster)))
	if err != nil {
		return nil, err
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	kind := kindschema.FromAPIVersionAndKind(data.APIVersion.ValueString(), data.Kind.ValueString())
	mapping, err := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(served)).RESTMapping(
		kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	options := metav1.ListOptions{LabelSelector: data.LabelSelector.ValueString(), Limit: pageSize}
	for {
		page, err := client.Resource(mapping.Resource).Namespace(data.Namespace.ValueString()).List(ctx, options)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			ids = append(ids, importid.ID{Group: kind.Group, Version: kind.Version, Kind: kind.Kind,
				Namespace: item.Namespace, Name: item.Name})
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return ids, nil
		}
	}
}
