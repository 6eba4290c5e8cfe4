package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// defaultFieldManager is no name that another tool uses: two tools of one name would drop each other's fields.
const defaultFieldManager = "terraform-ssaplan"

// objectResource is the resource ssaplan_object.
type objectResource struct {
	planners *planners
	// patches says that this is the resource ssaplan_patch.
	patches bool
}

var (
	_ resource.ResourceWithModifyPlan     = (*objectResource)(nil)
	_ resource.ResourceWithImportState    = (*objectResource)(nil)
	_ resource.ResourceWithValidateConfig = (*objectResource)(nil)
	_ resource.ResourceWithUpgradeState   = (*objectResource)(nil)
)

// object is what Terraform knows of one resource: its configuration, plan or state.
type object struct {
	YAMLBody         types.String   `tfsdk:"yaml_body"`
	YAMLBodyWO       types.String   `tfsdk:"yaml_body_wo"`
	WOVersion        types.Int64    `tfsdk:"yaml_body_wo_version"`
	Object           types.Dynamic  `tfsdk:"object"`
	FieldManager     types.String   `tfsdk:"field_manager"`
	ForceConflicts   types.Bool     `tfsdk:"force_conflicts"`
	IgnoreFields     types.List     `tfsdk:"ignore_fields"`
	Adopt            types.List     `tfsdk:"adopt"`
	Clear            types.List     `tfsdk:"clear"`
	LostVersions     types.List     `tfsdk:"lost_versions"`
	IfExists         types.String   `tfsdk:"if_exists"`
	OnDestroy        types.String   `tfsdk:"on_destroy"`
	DeleteProtection types.Bool     `tfsdk:"delete_protection"`
	Sensitive        types.List     `tfsdk:"sensitive_fields"`
	VersionChange    types.String   `tfsdk:"version_change"`
	OutputFields     types.Map      `tfsdk:"output_fields"`
	Propagation      types.String   `tfsdk:"propagation"`
	Cluster          types.Object   `tfsdk:"cluster"`
	TokenWO          types.String   `tfsdk:"token_wo"`
	Timeouts         timeouts.Value `tfsdk:"timeouts"`
	ID               types.String   `tfsdk:"id"`
	UID              types.String   `tfsdk:"uid"`
	Manifest         types.String   `tfsdk:"manifest"`
	TakenOver        types.String   `tfsdk:"taken_over"`
	Reviewed         types.String   `tfsdk:"reviewed"`
	ReviewedIn       types.String   `tfsdk:"reviewed_in"`
	Fields           types.Map      `tfsdk:"fields"`
	OtherOwners      types.Map      `tfsdk:"other_owners"`
	Outputs          types.Map      `tfsdk:"outputs"`

	// Subresource is what of the object to apply, which only patches have.
	Subresource types.String `tfsdk:"-"`
	// text is the manifest as it is configured, in whichever attribute. A plan may keep the yaml_body of the state,
	// which says the same.
	text types.String
	// written is the manifest if it was written in the attribute of this name. Then yaml_body is the same.
	written types.String
	// unknown are the fields of the manifest whose values aren't known yet.
	unknown projection.Patterns
	// reach is the cluster as it is configured, with what is kept nowhere. It is null where only the state is known.
	reach types.Object
	// in is the cluster that an apply writes to, known as soon as it does.
	in review.Cluster
}

// computedCluster is the attribute as it is after an import, where Terraform generates an empty one or the user writes
// none. Both say the same.
func computedCluster() schema.SingleNestedAttribute {
	attribute := clusterAttribute(resourceCluster)
	attribute.Computed = true
	return attribute
}

// configured adds what only the configuration has, and plans its cluster. Of two that name none the prior one stays.
func (r *objectResource) configured(ctx context.Context, o *object, config tfsdk.Config, prior *object) diag.Diagnostics {
	var given object
	diags := r.get(ctx, config, &given)
	reach, err := withToken(ctx, given.Cluster, given.TokenWO)
	if err != nil {
		diags.Append(failed(wrongConfiguration, err)...)
	}
	o.keepPlanned(&given)
	if err := o.takeText(ctx, given); err != nil {
		diags.Append(failed(wrongConfiguration, err)...)
	}
	if o.Cluster = given.Cluster; isNamed(reach) {
		o.reach = reach
	} else if prior != nil && !isNamed(prior.Cluster) {
		o.Cluster = prior.Cluster
	}
	return diags
}

// keepPlanned puts the manifest as it was planned into a configuration. Terraform evaluates that once more for the
// apply, and a time in it may be another one then. What is kept nowhere is in the configuration only.
func (o object) keepPlanned(given *object) {
	if !given.YAMLBody.IsNull() {
		given.YAMLBody = o.YAMLBody
	}
	if !given.Object.IsNull() {
		given.Object = o.Object
	}
	if !given.Manifest.IsNull() {
		given.Manifest = o.Manifest
	}
}

func (r *objectResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_object"
}

func (r *objectResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		Version:             schemaVersion,
		MarkdownDescription: "A Kubernetes object of any kind, applied by server-side apply. The plan is what the API server answers to a dry run.",
		Attributes: map[string]schema.Attribute{
			"yaml_body": schema.StringAttribute{
				Optional: true, Computed: true, Sensitive: true,
				MarkdownDescription: "The whole manifest, one YAML document. It is marked as sensitive, because it may be a Secret; plans show `manifest` and `fields` instead. It is kept in the state as it is.",
			},
			"yaml_body_wo": schema.StringAttribute{
				Optional: true, WriteOnly: true,
				MarkdownDescription: "The whole manifest in place of `yaml_body`, kept nowhere, so that it may be ephemeral. All its fields count as sensitive: plans show which of them change, and nothing of their values. Needs Terraform 1.11.",
			},
			"yaml_body_wo_version": schema.Int64Attribute{
				Optional:            true,
				MarkdownDescription: "Version of `yaml_body_wo`, which needs it: Terraform can't compare what it doesn't keep. It is applied when the version is another one, or when the object drifted.",
			},
			"object": schema.DynamicAttribute{
				Optional:            true,
				MarkdownDescription: "The whole manifest as a value in place of `yaml_body`, shown in plans as any value of Terraform: with its sensitive parts hidden, and with what isn't known yet marked as such. An attribute that is null isn't there. Not for a Secret.",
			},
			"field_manager": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString(defaultFieldManager),
				MarkdownDescription: "Name under which the server records the fields of the manifest. Default: `" + defaultFieldManager + "`.",
			},
			"force_conflicts": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(true),
				MarkdownDescription: "Take over fields that other managers own; the plan says which, and from whom. With `false` they are an error of the plan. Default: `true`.",
			},
			"ignore_fields": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Fields of the manifest to leave to others, as paths with wildcards: `spec.replicas`, `metadata.annotations[~\"example.io/*\"]`.",
			},
			"adopt": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Field managers whose fields are taken over before the manifest is applied, such as `kubectl-client-side-apply`, so that what the manifest lacks of theirs goes; `auto` for all tools that are known.",
			},
			"clear": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Fields to remove from the object, no matter who owns them, unless the manifest has them, such as `spec.strategy.rollingUpdate` for a change to `Recreate`; `auto` for those that are proven to be in the way of the apply.",
			},
			"lost_versions": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Versions that the definition of the kind no longer has, such as `example.com/v1beta1`. What the server recorded about owners in these is moved to the version of the manifest before that is applied, which the server refuses otherwise.",
			},
			"if_exists": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "What to do with an object that is there and that this resource doesn't have in its state: `take_over`, or `refuse` unless `field_manager` applied it before, under a name other than the default one. Default: `take_over`.",
			},
			"on_destroy": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "What a destroy does: `delete` the object, or `release` it, so that `field_manager` owns nothing of it and all values stay. Default: `delete`.",
			},
			"delete_protection": schema.BoolAttribute{
				Optional:            true,
				MarkdownDescription: "Refuse every plan that deletes the object, also to replace it. To be set to `false` and applied before. Default: `false`.",
			},
			"sensitive_fields": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Fields whose values are shown nowhere, beside those of Secrets and those that a definition marks with `format: password`, as paths with wildcards: `data.password`. What the server says of an object that has such a field isn't shown either, but for the field and phrases that are known.",
			},
			"version_change": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "What to do when the manifest names another version of the object's API group: `replace` the object, or update it `in_place` if the server shows the same object under both versions. The plan says if a replacement is needless. Default: `replace`.",
			},
			"propagation": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "What becomes of the dependents of an object that is deleted, such as the pods of a Job: `Background` and `Foreground` delete them, `Orphan` leaves them. It counts for a delete once it was applied. Default: `Background`.",
			},
			"output_fields": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Fields of the object as it is in the cluster that `outputs` has, by a name for each: `{ip = \"status.loadBalancer.ingress[0].ip\"}`.",
			},
			"outputs": schema.MapAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "The values of `output_fields` when the object was applied or refreshed last: texts, other values as JSON, null where there is none, and `<redacted>` for what is sensitive.",
			},
			"cluster":  computedCluster(),
			"token_wo": tokenWOAttribute(),
			"id":       schema.StringAttribute{Computed: true, MarkdownDescription: "The object, in the form that can be imported."},
			"uid":      schema.StringAttribute{Computed: true, MarkdownDescription: "UID of the object. A destroy deletes this one, and no other of its name."},
			"manifest": schema.StringAttribute{
				Optional: true, Computed: true, MarkdownDescription: "The whole manifest in place of `yaml_body`, shown in plans as it is; not for a Secret. Otherwise what `yaml_body` declares, with sensitive values redacted. Plans show it also where no server can be asked yet.",
			},
			"taken_over": schema.StringAttribute{
				Computed: true, MarkdownDescription: "UID of the object that was there already, without `field_manager` having applied it, when the resource was created. Null if there was none.",
			},
			"reviewed": schema.StringAttribute{
				Computed: true, MarkdownDescription: "Stands for what the last plan did to the declared fields, by whom they were changed and from whom they are taken. An apply that would do anything else writes nothing.",
			},
			"reviewed_in": schema.StringAttribute{
				Computed: true, MarkdownDescription: "The cluster that `reviewed` is about: the UID of its namespace `kube-system`, or a digest of its address for those who may not read that. An apply in another cluster writes nothing.",
			},
			"fields": schema.MapAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "The fields of the manifest with the values that the server gives them. Values of secrets are keyed digests, which only show that they change.",
			},
			"other_owners": schema.MapAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Who owns those of these fields that don't belong to `field_manager` alone.",
			},
		},
		Blocks: map[string]schema.Block{
			"timeouts": timeouts.Block(ctx, timeouts.Opts{Create: true, Update: true, Delete: true}),
		},
	}
}

// ValidateConfig finds what is wrong without a cluster.
func (r *objectResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config object
	if resp.Diagnostics.Append(r.get(ctx, req.Config, &config)...); resp.Diagnostics.HasError() {
		return
	}
	if err := config.checkText(ctx); err != nil {
		resp.Diagnostics.AddError(wrongConfiguration, err.Error())
		return
	}
	if isKnown(ctx, config.text) {
		m, err := config.manifest()
		if err != nil {
			resp.Diagnostics.AddAttributeError(config.manifestPath(), wrongConfiguration, err.Error())
		}
		for _, w := range m.Warnings {
			text := w.InDocument()
			if config.isWriteOnly() { // which word it is tells the value
				text = fmt.Sprintf("line %d: a word is read as a boolean; put it into quotes", w.Source.Line)
			}
			resp.Diagnostics.AddAttributeWarning(config.manifestPath(), fmt.Sprintf("%s: could be read otherwise than it is meant", m.Identity), text)
		}
	}
	for _, list := range []struct {
		at    path.Path
		texts types.List
	}{{ignoreFieldsPath, config.IgnoreFields}, {sensitiveFieldsPath, config.Sensitive}} {
		if isKnown(ctx, list.texts) {
			if _, err := patterns(ctx, list.at, list.texts); err != nil {
				resp.Diagnostics.AddAttributeError(list.at, wrongConfiguration, err.Error())
			}
		}
	}
	for _, choice := range []struct {
		at   path.Path
		text types.String
		of   []string
	}{{path.Root("if_exists"), config.IfExists, r.ways()}, {path.Root("propagation"), config.Propagation, []string{"Background", "Foreground", "Orphan"}}, {path.Root("on_destroy"), config.OnDestroy, []string{"delete", release}}, {path.Root("version_change"), config.VersionChange, []string{"replace", inPlace}}} {
		if !choice.text.IsNull() && !choice.text.IsUnknown() && !slices.Contains(choice.of, choice.text.ValueString()) {
			resp.Diagnostics.AddAttributeError(choice.at, wrongConfiguration, fmt.Sprintf("%s: one of %s", choice.at, strings.Join(choice.of, ", ")))
		}
	}
	if err := config.checkOutputs(); err != nil {
		resp.Diagnostics.AddAttributeError(outputFieldsPath, wrongConfiguration, err.Error())
	}
	if cluster, err := withToken(ctx, config.Cluster, config.TokenWO); err != nil {
		resp.Diagnostics.AddAttributeError(clusterPath, wrongConfiguration, err.Error())
	} else if isNamed(cluster) && isKnown(ctx, cluster) {
		if _, err := clusterConfig(ctx, cluster); err != nil {
			resp.Diagnostics.AddAttributeError(clusterPath, wrongConfiguration, err.Error())
		}
	}
}

// settled reports whether everything is known that the plan depends on. Of a manifest that is kept nowhere, the version
// may tell enough.
func (o object) settled(ctx context.Context) bool {
	for _, value := range []attr.Value{o.WOVersion, o.FieldManager, o.ForceConflicts, o.IgnoreFields, o.Adopt, o.Clear, o.LostVersions, o.IfExists, o.Sensitive, o.Cluster} {
		if !isKnown(ctx, value) {
			return false
		}
	}
	return o.isWriteOnly() || isKnown(ctx, o.text)
}

// sameSettings reports whether the configuration says the same as the state of what is sent and shown. Fields to ignore
// are sent only when the object, or an item of a list, is made.
func (o object) sameSettings(ctx context.Context, prior object) bool {
	return (o.sameText(ctx, prior) || o.sameButIgnored(ctx, prior)) && prior.IgnoreFields.Equal(o.IgnoreFields) && prior.Adopt.Equal(o.Adopt) && prior.Clear.Equal(o.Clear) && prior.LostVersions.Equal(o.LostVersions) && prior.Sensitive.Equal(o.Sensitive) && prior.FieldManager.Equal(o.FieldManager)
}

// patterns returns those of an attribute, which are known.
func patterns(ctx context.Context, at path.Path, list types.List) (projection.Patterns, error) {
	var texts []string
	if diags := list.ElementsAs(ctx, &texts, false); diags.HasError() {
		return nil, errorOf(diags)
	}
	found, err := projection.ParsePatterns(texts...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	return found, nil
}

// request returns what to plan for an object whose configuration is known.
func (o object) request(ctx context.Context, prior *explain.State) (ssaplan.Request, error) {
	m, err := o.manifest()
	if err != nil {
		return ssaplan.Request{}, err
	}
	ignore, err := patterns(ctx, ignoreFieldsPath, o.IgnoreFields)
	if err != nil {
		return ssaplan.Request{}, err
	}
	var adopt, lost []string
	if o.Adopt.ElementsAs(ctx, &adopt, false).HasError() || o.LostVersions.ElementsAs(ctx, &lost, false).HasError() {
		return ssaplan.Request{}, errors.New("adopt and lost_versions: every name has to be known")
	}
	named := slices.DeleteFunc(adopt, isAuto)
	clear, err := o.cleared(ctx)
	if err != nil {
		return ssaplan.Request{}, err
	}
	return ssaplan.Request{
		Manifest: m.Object, Unknown: o.unknown, Prior: prior, Ignore: ignore, Adopt: named, AdoptTools: len(named) < len(o.Adopt.Elements()),
		AllowVersionChange: o.VersionChange.ValueString() == inPlace, Existing: o.existing(), Subresource: o.Subresource.ValueString(),
		LostVersions: lost, Clear: clear, ClearBlocking: slices.Contains(o.Clear.Elements(), attr.Value(types.StringValue(auto))),
	}, nil
}

// cleared returns the patterns of clear.
func (o object) cleared(ctx context.Context) (projection.Patterns, error) {
	named := slices.DeleteFunc(o.Clear.Elements(), func(value attr.Value) bool { return value.Equal(types.StringValue(auto)) })
	list, diags := types.ListValue(types.StringType, named)
	if diags.HasError() {
		return nil, errorOf(diags)
	}
	return patterns(ctx, path.Root("clear"), list)
}

// What if_exists and on_destroy can be, beside what they are by default.
const (
	takeOver  = "take_over"
	refuse    = "refuse"
	mustExist = "must_exist" // of patches only
	release   = "release"
)

// inPlace is what version_change can be beside what it is by default.
const inPlace = "in_place"

// existing returns the rule for an object that is there already.
func (o object) existing() explain.Existing {
	switch o.IfExists.ValueString() {
	case refuse:
		return explain.ExistingRefuse
	case mustExist:
		return explain.ExistingRequired
	}
	return explain.ExistingTakeOver
}

// ways returns what if_exists can be.
func (r *objectResource) ways() []string {
	if r.patches {
		return []string{mustExist}
	}
	return []string{takeOver, refuse}
}

// propagation returns what becomes of the dependents.
func (o object) propagation() metav1.DeletionPropagation {
	return metav1.DeletionPropagation(o.Propagation.ValueString())
}

// auto means all that is found, in adopt and in clear.
const auto = "auto"

func isAuto(name string) bool { return name == auto }

// remembered is the private state: what the Planner remembers of the object, which includes that it is stale.
const remembered = "ssaplan"

var errNothingRemembered = errors.New("the private state of the resource is lost: remove it from the state and import it again")

type privateState interface {
	GetKey(context.Context, string) ([]byte, diag.Diagnostics)
	SetKey(context.Context, string, []byte) diag.Diagnostics
}

// recall returns the remembered state, nil if there is none.
func recall(ctx context.Context, private privateState) (*explain.State, diag.Diagnostics) {
	text, diags := private.GetKey(ctx, remembered)
	if len(text) == 0 || diags.HasError() {
		return nil, diags
	}
	state := &explain.State{}
	if err := json.Unmarshal(text, state); err != nil {
		diags.AddError("The private state can't be read", err.Error())
		return nil, diags
	}
	return state, diags
}

func remember(ctx context.Context, private privateState, state *explain.State) diag.Diagnostics {
	text, err := json.Marshal(state)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("The private state can't be written", err.Error())}
	}
	return private.SetKey(ctx, remembered, text)
}
