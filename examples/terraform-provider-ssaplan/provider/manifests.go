package provider

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/ssaplan/manifest"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// splitManifests returns the manifests of a text, each under the ID of its object. No error quotes the text, since it
// can hold secrets.
func splitManifests(text string) (split map[string]string, warnings []string, err error) {
	manifests, failures := manifest.Parse("content", []byte(text))
	if len(failures) > 0 {
		return nil, nil, failures[0]
	}
	split = map[string]string{}
	for _, m := range manifests {
		id := importID(m.Identity).ValueString()
		if _, twice := split[id]; twice {
			return nil, nil, fmt.Errorf("content: %s occurs twice", id)
		}
		body, err := yaml.Marshal(m.Object.Object)
		if err != nil {
			return nil, nil, errors.New("content: " + id + " can't be written as YAML")
		}
		split[id] = string(body)
		for _, warning := range m.Warnings {
			warnings = append(warnings, fmt.Sprintf("%s: %s", m.Identity, warning.InDocument()))
		}
	}
	return split, warnings, nil
}

const (
	splitText = "Splits YAML or JSON of one or many documents, and the lists in it, into a map from import ID to " +
		"manifest, for `for_each`: adding or removing documents doesn't change the other keys."
	splitKeys = "The manifests, by the import ID of their objects, such as `shop/apps/v1/Deployment/web`."
)

// manifestsData is the data source ssaplan_manifests, for what has no functions yet.
type manifestsData struct{}

func (manifestsData) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_manifests"
}

func (manifestsData) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: splitText +
			" Since Terraform 1.8, the function of the same name does this without a data source.",
		Attributes: map[string]schema.Attribute{
			"content": schema.StringAttribute{Required: true,
				MarkdownDescription: "The string, such as `file(\"all.yaml\")`."},
			"manifests": schema.MapAttribute{Computed: true, ElementType: types.StringType,
				MarkdownDescription: splitKeys},
		},
	}
}

func (manifestsData) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var data struct {
		Content   types.String      `tfsdk:"content"`
		Manifests map[string]string `tfsdk:"manifests"`
	}
	if resp.Diagnostics.Append(req.Config.Get(ctx, &data)...); resp.Diagnostics.HasError() {
		return
	}
	split, warnings, err := splitManifests(data.Content.ValueString())
	if err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("content"), wrongConfiguration, detail(err))
		return
	}
	if len(warnings) > 0 {
		resp.Diagnostics.AddAttributeWarning(path.Root("content"),
			"The manifests could be read differently than you expect", strings.Join(warnings, "\n"))
	}
	data.Manifests = split
	resp.Diagnostics.Append(resp.State.Set(ctx, data)...)
}

// manifestsFunction is the function manifests.
type manifestsFunction struct{}

func (manifestsFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "manifests"
}

func (manifestsFunction) Definition(_ context.Context, _ function.DefinitionRequest,
	resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Splits a string into manifests", MarkdownDescription: splitText,
		Parameters: []function.Parameter{textParameter}, Return: function.MapReturn{ElementType: types.StringType},
	}
}

func (manifestsFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var text string
	if resp.Error = req.Arguments.Get(ctx, &text); resp.Error != nil {
		return
	}
	split, _, err := splitManifests(text) // a function can't warn
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, detail(err))
		return
	}
	resp.Error = resp.Result.Set(ctx, split)
}

const stagesText = "Splits a string as the function `manifests` does, into two maps: `first` has the namespaces and " +
	"CRDs, and `rest` has the other manifests. " +
	"Let the resource with `rest` depend on the one with `first`: instances of one `for_each` can't depend on each " +
	"other, and Terraform applies ten at a time, " +
	"which may all wait for a namespace that comes after them."

// stagesFunction is the function manifest_stages.
type stagesFunction struct{}

func (stagesFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "manifest_stages"
}

func (stagesFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	texts := types.MapType{ElemType: types.StringType}
	resp.Definition = function.Definition{
		Summary: "Splits a string into manifests to apply one after the other", MarkdownDescription: stagesText,
		Parameters: []function.Parameter{textParameter},
		Return:     function.ObjectReturn{AttributeTypes: map[string]attr.Type{"first": texts, "rest": texts}},
	}
}

func (stagesFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var text string
	if resp.Error = req.Arguments.Get(ctx, &text); resp.Error != nil {
		return
	}
	split, _, err := splitManifests(text)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, detail(err))
		return
	}
	var stages struct {
		First map[string]string `tfsdk:"first"`
		Rest  map[string]string `tfsdk:"rest"`
	}
	stages.First, stages.Rest = map[string]string{}, map[string]string{}
	for id, body := range split {
		m, err := decodeManifest(body)
		if err != nil {
			resp.Error = function.NewArgumentFuncError(0, id+": "+detail(err))
			return
		}
		if stages.Rest[id] = body; set.DefaultStages()[0].Has(m.Object) {
			stages.First[id] = body
			delete(stages.Rest, id)
		}
	}
	resp.Error = resp.Result.Set(ctx, stages)
}

// decodeFunction is the function manifest_decode.
type decodeFunction struct{}

func (decodeFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "manifest_decode"
}

func (decodeFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Reads a manifest",
		MarkdownDescription: "Reads the manifest of one object like `yaml_body`: strictly, and with the booleans of " +
			"Kubernetes. `yamlencode` does the opposite.",
		Parameters: []function.Parameter{textParameter}, Return: function.DynamicReturn{},
	}
}

func (decodeFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var text string
	if resp.Error = req.Arguments.Get(ctx, &text); resp.Error != nil {
		return
	}
	m, err := decodeManifest(text)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, "text: "+detail(err))
		return
	}
	resp.Error = resp.Result.Set(ctx, dynamic(ctx, m.Object.Object))
}

var textParameter = function.StringParameter{Name: "text", MarkdownDescription: "YAML or JSON."}
