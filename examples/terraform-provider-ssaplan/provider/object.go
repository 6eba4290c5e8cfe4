package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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
func (r *objectResource) configured(ctx context.Context, o *object, config tfsdk.Config,
	prior *object) diag.Diagnostics {
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
		Version: schemaVersion,
		MarkdownDescription: "A Kubernetes object of any kind, applied by server-side apply. Each plan comes from a " +
			"dry run of the API server.",
		Attributes: map[string]schema.Attribute{
			"yaml_body": schema.StringAttribute{
				Optional: true, Computed: true, Sensitive: true,
				MarkdownDescription: "The whole manifest, one YAML document. It is sensitive, because it may be a " +
					"Secret: plans show `manifest` and `fields` instead. The state has it in plain text. Comments, " +
					"layout and the order of keys don't matter. Plain `y`, `yes`, `on` and the like are booleans, as " +
					"everywhere in Kubernetes; a warning says where. A manifest of a namespaced kind without a " +
					"namespace is applied to `default`.",
			},
			"yaml_body_wo": schema.StringAttribute{
				Optional: true, WriteOnly: true,
				MarkdownDescription: "The same as `yaml_body`, but write-only: neither plan nor state stores it, so " +
					"it may contain ephemeral values. All its fields count as sensitive: plans show which fields " +
					"change, without values. Needs Terraform 1.11.",
			},
			"yaml_body_wo_version": schema.Int64Attribute{
				Optional: true,
				MarkdownDescription: "A number for `yaml_body_wo`, required with it. The manifest is applied when " +
					"this number changes, and when the object drifted. A change of the manifest alone is not " +
					"applied, because Terraform doesn't store it.",
			},
			"object": schema.DynamicAttribute{
				Optional: true,
				MarkdownDescription: "The whole manifest as a Terraform value, like in `kubernetes_manifest`. It " +
					"replaces `yaml_body`. Plans show its fields: sensitive values are hidden, and unknown ones are " +
					"`(known after apply)`. A field that is null counts as absent. Not for a Secret. Fields that " +
					"derive from a sensitive value must be named in `sensitive_fields`.",
			},
			"field_manager": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString(defaultFieldManager),
				MarkdownDescription: "Name under which the server records the fields of the manifest. Two " +
					"configurations that write to one object need different names, otherwise each removes the fields " +
					"of the other. Default: `" + defaultFieldManager + "`.",
			},
			"force_conflicts": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(true),
				MarkdownDescription: "Take over fields that other managers own; the plan names the fields and the " +
					"managers. With `false`, the plan is an error instead. Default: `true`.",
			},
			"ignore_fields": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Fields to leave to others. The object is created with the manifest's values, " +
					"and later the fields stay as they are. If you edit only ignored fields, nothing changes. If you " +
					"edit others too, a warning says that the ignored ones aren't sent. [Paths with " +
					"wildcards](https://pkg.go.dev/github.com/ssaplan/primitives/projection#Pattern), JSON pointers " +
					"or JSONPath: `spec.replicas`, `metadata.annotations[~\"example.io/*\"]`, " +
					"`spec.template.spec.containers[name=\"app\"].image`.",
			},
			"adopt": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Field managers whose fields are taken over before the apply, such as " +
					"`kubectl-client-side-apply`. Their fields that the manifest lacks are then removed. `auto` " +
					"means all known tools. Without `adopt`, these fields stay, and a warning names them. Another " +
					"warning names managers that the object doesn't have.",
			},
			"clear": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Fields to remove from the object, no matter who owns them, unless the manifest " +
					"has them, such as `spec.strategy.rollingUpdate` for a change to `Recreate`. `auto` means the " +
					"fields that provably block the apply. The plan lists the removed fields and their owners.",
			},
			"lost_versions": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Versions that the CRD no longer has, such as `example.com/v1beta1`. The server " +
					"rejects every apply while its record of owners is in one of them. The apply moves the record to " +
					"the manifest's version first.",
			},
			"if_exists": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "What to do with an object that exists but isn't in the state: `take_over`, or " +
					"`refuse`, unless `field_manager` applied it before. With the default `field_manager`, which " +
					"every state uses, an object that this name applied may belong to another state: `refuse` " +
					"refuses every existing object, and `take_over` warns. The rule also covers an object that " +
					"appears between plan and apply. Default: `take_over`.",
			},
			"on_destroy": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "What a destroy does: `delete` the object, or `release` it: `field_manager` " +
					"stops owning the object, and all values stay. Apply a change of it before the destroy. Default: `delete`.",
			},
			"delete_protection": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "Refuse every plan that deletes or replaces the object, until an apply has set " +
					"this to `false`. Default: `false`.",
			},
			"sensitive_fields": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Fields whose values are never shown, as paths with wildcards, such as " +
					"`data.password`. Secrets and fields that a CRD marks with `format: password` are always hidden. " +
					"Messages of the server may quote such values, so only their field names and known phrases are " +
					"shown. A warning names paths that match neither the manifest nor the object.",
			},
			"version_change": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "What to do when the manifest names another version of the object's API group: " +
					"`replace` the object, or update it `in_place` if the server serves the same object in both " +
					"versions. The plan says if a replacement isn't needed. Default: `replace`.",
			},
			"propagation": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "What happens to the dependents of a deleted object, such as the pods of a Job: " +
					"`Background` and `Foreground` delete them, `Orphan` keeps them. Apply a change of it before the " +
					"destroy. Default: `Background`.",
			},
			"output_fields": schema.MapAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Fields of the live object to have in `outputs`, each with a name: `{ip = " +
					"\"status.loadBalancer.ingress[0].ip\"}`.",
			},
			"outputs": schema.MapAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "The values of `output_fields`, from the last apply or refresh. A string is as " +
					"it is, another value is JSON, an absent one is null, a sensitive one is `<redacted>`. `(known " +
					"after apply)` if the plan applies something.",
			},
			"cluster":  computedCluster(),
			"token_wo": tokenWOAttribute(),
			"id": schema.StringAttribute{Computed: true,
				MarkdownDescription: "The object, as an import ID: `shop/apps/v1/Deployment/web`."},
			"uid": schema.StringAttribute{Computed: true,
				MarkdownDescription: "The UID of the object. A destroy deletes only the object with this UID."},
			"manifest": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "The whole manifest as a YAML document that plans show. It replaces " +
					"`yaml_body`, and takes no Secret and no `sensitive_fields`. If you don't set it, it is the " +
					"content of `yaml_body`, with sensitive values redacted; null with `object` and `yaml_body_wo`. " +
					"It is known in every plan, except if `yaml_body` is unknown, or if the CRD doesn't exist yet " +
					"and may mark fields as sensitive.",
			},
			"taken_over": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "The UID of the object that existed when the resource was created, if " +
					"`field_manager` hadn't applied it; null otherwise.",
			},
			"reviewed": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "A digest of the changes that the last plan showed. The apply makes exactly " +
					"these changes or writes nothing.",
			},
			"reviewed_in": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "The cluster of the plan in `reviewed`: the UID of its namespace `kube-system`, " +
					"or a digest of its address if the user may not read the namespace. An apply in another cluster " +
					"writes nothing.",
			},
			"fields": schema.MapAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "The declared fields with the server's values, by path. List items are named by " +
					"key. A string that reads like a number, `true` or JSON is quoted: `\"5\"`. Sensitive values are " +
					"salted digests, which only show that a value changes.",
			},
			"other_owners": schema.MapAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "The other owners of declared fields, by path.",
			},
		},
		Blocks: map[string]schema.Block{
			"timeouts": timeouts.Block(ctx, timeouts.Opts{
				Create: true, CreateDescription: howLong(defaultCreateTimeout), Update: true,
				UpdateDescription: howLong(defaultUpdateTimeout), Delete: true,
				DeleteDescription: howLong(defaultDeleteTimeout) + " Apply a change of it before the destroy.",
			}),
		},
	}
}

// howLong describes a timeout.
func howLong(limit time.Duration) string {
	return fmt.Sprintf("A duration such as `30s` or `2h45m`. Default: %g minutes.", limit.Minutes())
}

// ValidateConfig finds what is wrong without a cluster.
func (r *objectResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest,
	resp *resource.ValidateConfigResponse) {
	var config object
	if resp.Diagnostics.Append(r.get(ctx, req.Config, &config)...); resp.Diagnostics.HasError() {
		return
	}
	if err := config.checkText(ctx); err != nil {
		resp.Diagnostics.AddError(wrongConfiguration, detail(err))
		return
	}
	if isKnown(ctx, config.text) {
		m, err := config.manifest()
		if err != nil {
			resp.Diagnostics.AddAttributeError(config.manifestPath(), wrongConfiguration, detail(err))
		}
		for _, w := range m.Warnings {
			text := w.InDocument()
			if config.isWriteOnly() { // which word it is tells the value
				text = fmt.Sprintf("line %d: a word is read as a boolean; put it into quotes", w.Source.Line)
			}
			resp.Diagnostics.AddAttributeWarning(config.manifestPath(),
				fmt.Sprintf("%s: could be read differently than you expect", m.Identity), text)
		}
	}
	for _, list := range []struct {
		at    path.Path
		texts types.List
	}{{ignoreFieldsPath, config.IgnoreFields}, {sensitiveFieldsPath, config.Sensitive}} {
		if isKnown(ctx, list.texts) {
			if _, err := patterns(ctx, list.at, list.texts); err != nil {
				resp.Diagnostics.AddAttributeError(list.at, wrongConfiguration, detail(err))
			}
		}
	}
	for _, choice := range []struct {
		at   path.Path
		text types.String
		of   []string
	}{{path.Root("if_exists"), config.IfExists, r.ways()},
		{path.Root("propagation"), config.Propagation, []string{"Background", "Foreground", "Orphan"}},
		{path.Root("on_destroy"), config.OnDestroy, []string{"delete", release}},
		{path.Root("version_change"), config.VersionChange, []string{"replace", inPlace}}} {
		if !choice.text.IsNull() && !choice.text.IsUnknown() && !slices.Contains(choice.of, choice.text.ValueString()) {
			resp.Diagnostics.AddAttributeError(choice.at, wrongConfiguration,
				fmt.Sprintf("%s: one of %s", choice.at, strings.Join(choice.of, ", ")))
		}
	}
	if err := config.checkOutputs(); err != nil {
		resp.Diagnostics.AddAttributeError(outputFieldsPath, wrongConfiguration, detail(err))
	}
	if cluster, err := withToken(ctx, config.Cluster, config.TokenWO); err != nil {
		resp.Diagnostics.AddAttributeError(clusterPath, wrongConfiguration, detail(err))
	} else if isNamed(cluster) && isKnown(ctx, cluster) {
		if _, err := clusterConfig(ctx, cluster); err != nil {
			resp.Diagnostics.AddAttributeError(clusterPath, wrongConfiguration, detail(err))
		}
	}
}

// settled reports whether everything is known that the plan depends on. Of a manifest that is kept nowhere, the version
// may tell enough.
func (o object) settled(ctx context.Context) bool {
	for _, value := range []attr.Value{o.WOVersion, o.FieldManager, o.ForceConflicts, o.IgnoreFields, o.Adopt, o.Clear,
		o.LostVersions, o.IfExists, o.Sensitive, o.Cluster} {
		if !isKnown(ctx, value) {
			return false
		}
	}
	return o.isWriteOnly() || isKnown(ctx, o.text)
}

// sameSettings reports whether the configuration says the same as the state of what is sent and shown. Fields to ignore
// are sent only when the object, or an item of a list, is made.
func (o object) sameSettings(ctx context.Context, prior object) bool {
	return (o.sameText(ctx, prior) || o.sameButIgnored(ctx, prior)) && prior.IgnoreFields.Equal(o.IgnoreFields) &&
		prior.Adopt.Equal(o.Adopt) && prior.Clear.Equal(o.Clear) && prior.LostVersions.Equal(o.LostVersions) &&
		prior.Sensitive.Equal(o.Sensitive) && prior.FieldManager.Equal(o.FieldManager)
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
		Manifest: m.Object, Unknown: o.unknown, Prior: prior, Ignore: ignore, Adopt: named,
		AdoptTools: len(named) < len(o.Adopt.Elements()), AllowVersionChange: o.VersionChange.ValueString() == inPlace,
		Existing: o.existing(), Subresource: o.Subresource.ValueString(), LostVersions: lost, Clear: clear,
		ClearBlocking: slices.Contains(o.Clear.Elements(), attr.Value(types.StringValue(auto))),
	}, nil
}

// request returns what to plan. A replacement deletes the old object by the propagation in the state.
func (p *planning) request(ctx context.Context) (ssaplan.Request, error) {
	request, err := p.planned.request(ctx, p.baseline())
	if p.prior != nil {
		request.Propagation = p.prior.propagation()
	}
	return request, err
}

// cleared returns the patterns of clear.
func (o object) cleared(ctx context.Context) (projection.Patterns, error) {
	named := slices.DeleteFunc(o.Clear.Elements(),
		func(value attr.Value) bool { return value.Equal(types.StringValue(auto)) })
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

var errNothingRemembered = errors.New(
	"the private state of the resource is lost: remove it from the state and import it again")

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
		diags.AddError("The private state can't be read", detail(err))
		return nil, diags
	}
	return state, diags
}

func remember(ctx context.Context, private privateState, state *explain.State) diag.Diagnostics {
	text, err := json.Marshal(state)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("The private state can't be written", detail(err))}
	}
	return private.SetKey(ctx, remembered, text)
}
