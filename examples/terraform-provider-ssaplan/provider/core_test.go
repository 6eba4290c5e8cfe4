package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/examples/terraform-provider-ssaplan/provider"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

const typeName = "ssaplan_object"

// core plays Terraform: it sends the requests of Terraform in Terraform's order, and checks the answers as Terraform
// does. It has one resource.
type core struct {
	typeName string
	server   tfprotov6.ProviderServer
	settings map[string]any
	schemas  *tfprotov6.GetProviderSchemaResponse
	schema   *tfprotov6.Schema // of the resource
	state    tftypes.Value     // null if there is no object
	private  []byte
	leaving  []byte           // the private state of the last plan to destroy the object
	said     *strings.Builder // everything that a user gets to see
}

func newCore(t *testing.T) *core {
	t.Helper()
	return newCoreOf(t, typeName, nil)
}

// newCoreOf has a resource of this type, and settings in the provider's configuration.
func newCoreOf(t *testing.T, typeName string, settings map[string]any) *core {
	t.Helper()
	c := &core{typeName: typeName, settings: settings, said: &strings.Builder{}}
	c.walk(t)
	c.state = tftypes.NewValue(c.schema.ValueType(), nil)
	return c
}

// newServer returns a server of the provider that isn't configured yet, and its schemas.
func newServer(t *testing.T) (tfprotov6.ProviderServer, *tfprotov6.GetProviderSchemaResponse) {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(provider.New())()
	require.NoError(t, err)
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	require.NoError(t, err)
	require.Empty(t, schemas.Diagnostics)
	return server, schemas
}

// walk creates and configures a new server of the provider, as Terraform starts a new process for each plan and each
// apply.
func (c *core) walk(t *testing.T) {
	t.Helper()
	server, schemas := newServer(t)
	settings := c.settings
	if settings == nil {
		settings = map[string]any{}
	}
	config := dynamic(t, value(t, schemas.Provider.ValueType(), settings))
	configured, err := server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: config})
	require.NoError(t, err)
	require.Empty(t, configured.Diagnostics)
	c.server, c.schemas, c.schema = server, schemas, schemas.ResourceSchemas[c.typeName]
}

// next is Terraform in its next run: another process with the same state.
func (c *core) next(t *testing.T) *core {
	t.Helper()
	n := newCoreOf(t, c.typeName, c.settings)
	n.state, n.private, n.said = c.state, c.private, c.said
	return n
}

func dynamic(t *testing.T, value tftypes.Value) *tfprotov6.DynamicValue {
	t.Helper()
	out, err := tfprotov6.NewDynamicValue(value.Type(), value)
	require.NoError(t, err)
	return &out
}

func (c *core) read(t *testing.T, value *tfprotov6.DynamicValue) tftypes.Value {
	t.Helper()
	out, err := value.Unmarshal(c.schema.ValueType())
	require.NoError(t, err)
	return out
}

// corePlan is what Terraform shows before it asks for approval.
type corePlan struct {
	action   string // NoOp, Create, Update or Replace
	config   tftypes.Value
	prior    tftypes.Value
	planned  tftypes.Value
	private  []byte
	warnings []string
	// again is the configuration as it is evaluated when the plan is carried out, if that isn't the same.
	again map[string]any
	// meanwhile happens between the last plan and the apply, if it isn't nil.
	meanwhile func()
}

// plan refreshes and plans.
func (c *core) plan(t *testing.T, config map[string]any) *corePlan {
	t.Helper()
	plan, err := c.tryPlan(t, config)
	require.NoError(t, err)
	return plan
}

func (c *core) tryPlan(t *testing.T, config map[string]any) (*corePlan, error) {
	t.Helper()
	c.walk(t)
	return c.tryPlanHere(t, config)
}

// tryPlanHere refreshes and plans in the process that is there.
func (c *core) tryPlanHere(t *testing.T, config map[string]any) (*corePlan, error) {
	t.Helper()
	warnings, err := c.refresh(t)
	if err != nil {
		return nil, err
	}
	plan, err := c.planRefreshed(t, value(t, c.schema.ValueType(), config))
	if err == nil {
		plan.warnings = append(warnings, plan.warnings...)
	}
	return plan, err
}

func (c *core) refresh(t *testing.T) ([]string, error) {
	t.Helper()
	if c.state.IsNull() {
		return nil, nil
	}
	resp, err := c.server.ReadResource(t.Context(), &tfprotov6.ReadResourceRequest{
		TypeName: c.typeName, CurrentState: dynamic(t, c.state), Private: c.private,
	})
	require.NoError(t, err)
	warnings, err := c.diagnose(resp.Diagnostics)
	if err == nil {
		c.state, c.private = c.read(t, resp.NewState), resp.Private
		c.remember(t, c.state)
	}
	return warnings, err
}

// planChange plans against the state as it is, as with -refresh=false.
func (c *core) planChange(t *testing.T, config tftypes.Value) (*corePlan, error) {
	t.Helper()
	c.walk(t)
	return c.planRefreshed(t, config)
}

// planRefreshed plans in the process that is there; a replacement a second time, as a create.
func (c *core) planRefreshed(t *testing.T, config tftypes.Value) (*corePlan, error) {
	t.Helper()
	plan, replaced, err := c.planOnce(t, config, c.state, c.private)
	if err != nil || !replaced {
		return plan, err
	}
	second, _, err := c.planOnce(t, config, tftypes.NewValue(config.Type(), nil), plan.private)
	if err != nil {
		return nil, err
	}
	second.action, second.prior = "Replace", c.state
	second.warnings = append(plan.warnings, second.warnings...)
	return second, nil
}

func (c *core) planOnce(t *testing.T, config, prior tftypes.Value, private []byte) (plan *corePlan, replaced bool, err error) {
	t.Helper()
	resp, err := c.server.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: c.typeName, PriorState: dynamic(t, prior), Config: dynamic(t, config),
		ProposedNewState: dynamic(t, c.proposed(t, config, prior)), PriorPrivate: private,
	})
	require.NoError(t, err)
	warnings, err := c.diagnose(resp.Diagnostics)
	if err != nil {
		return nil, false, err
	}
	plan = &corePlan{config: config, prior: prior, planned: c.read(t, resp.PlannedState), private: resp.PlannedPrivate, warnings: warnings}
	c.checkPlanned(t, plan)
	c.remember(t, plan.planned)
	plan.action = "Update"
	if prior.IsNull() {
		plan.action = "Create"
	} else if plan.planned.Equal(prior) {
		plan.action = "NoOp"
	}
	return plan, c.replaces(t, plan, resp.RequiresReplace), nil
}

// replaces reports whether one of the attributes changes. Terraform ignores the others.
func (c *core) replaces(t *testing.T, plan *corePlan, paths []*tftypes.AttributePath) bool {
	t.Helper()
	for _, path := range paths {
		name := string(path.Steps()[0].(tftypes.AttributeName))
		if !plan.prior.IsNull() && !attribute(t, plan.prior, name).Equal(attribute(t, plan.planned, name)) {
			return true
		}
	}
	return false
}

// proposed merges config and prior state as Terraform does.
func (c *core) proposed(t *testing.T, config, prior tftypes.Value) tftypes.Value {
	t.Helper()
	merged := maps.Clone(attributes(t, c.stored(t, config)))
	for _, a := range c.schema.Block.Attributes {
		if merged[a.Name].IsNull() && a.Computed && !prior.IsNull() {
			merged[a.Name] = attribute(t, prior, a.Name)
		}
	}
	return tftypes.NewValue(config.Type(), merged)
}

// checkPlanned checks that the plan keeps to what is configured, or to the prior value if that means the same.
func (c *core) checkPlanned(t *testing.T, plan *corePlan) {
	t.Helper()
	computed := map[string]bool{}
	for _, a := range c.schema.Block.Attributes {
		computed[a.Name] = a.Computed
	}
	for name, configured := range attributes(t, c.stored(t, plan.config)) {
		planned := attribute(t, plan.planned, name)
		kept := !plan.prior.IsNull() && !configured.IsNull() && planned.Equal(attribute(t, plan.prior, name))
		if !planned.Equal(configured) && !kept && !(computed[name] && configured.IsNull()) {
			t.Errorf("Provider produced invalid plan: %s", name)
		}
	}
}

// stored returns the configuration without what is kept nowhere.
func (c *core) stored(t *testing.T, config tftypes.Value) tftypes.Value {
	t.Helper()
	kept, err := tftypes.Transform(config, func(at *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
		if name, isName := at.LastStep().(tftypes.AttributeName); isName && strings.HasSuffix(string(name), "_wo") {
			return tftypes.NewValue(v.Type(), nil), nil
		}
		return v, nil
	})
	require.NoError(t, err)
	return kept
}

// apply does what was planned, if the provider still plans the same.
func (c *core) apply(t *testing.T, plan *corePlan) []string {
	t.Helper()
	warnings, err := c.tryApply(t, plan)
	require.NoError(t, err)
	return warnings
}

func (c *core) tryApply(t *testing.T, plan *corePlan) ([]string, error) {
	t.Helper()
	var warnings []string
	if plan.action == "NoOp" {
		return nil, nil
	}
	if plan.action == "Replace" {
		deleted, err := c.destroy(t)
		if err != nil {
			return deleted, err
		}
		warnings = deleted
	}
	final, err := c.planChange(t, plan.config)
	if err != nil {
		return warnings, err
	}
	if final.action != plan.action && !(plan.action == "Replace" && final.action == "Create") && final.action != "NoOp" {
		return append(warnings, final.warnings...), fmt.Errorf("Provider produced inconsistent final plan: %s instead of %s", final.action, plan.action)
	}
	var wrong []string
	for name, planned := range attributes(t, plan.planned) {
		wrong = append(wrong, incompatible(planned, attribute(t, final.planned, name), tftypes.NewAttributePath().WithAttributeName(name)))
	}
	if all := strings.TrimSpace(strings.Join(wrong, " ")); all != "" {
		return append(warnings, final.warnings...), fmt.Errorf("Provider produced inconsistent final plan: %s", all)
	}
	if final.action == "NoOp" {
		return warnings, nil
	}
	if plan.again != nil {
		final.config = value(t, c.schema.ValueType(), plan.again)
	}
	if plan.meanwhile != nil {
		plan.meanwhile()
	}
	resp, err := c.server.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: c.typeName, PriorState: dynamic(t, final.prior), PlannedState: dynamic(t, final.planned),
		Config: dynamic(t, final.config), PlannedPrivate: final.private,
	})
	require.NoError(t, err)
	said, err := c.diagnose(resp.Diagnostics)
	c.state, c.private = c.read(t, resp.NewState), resp.Private
	c.remember(t, c.state)
	if err == nil {
		require.True(t, c.state.IsFullyKnown(), "Provider returned unknown values after apply")
		if wrong := incompatible(final.planned, c.state, tftypes.NewAttributePath()); wrong != "" {
			t.Errorf("Provider produced inconsistent result after apply: %s", wrong)
		}
	}
	return append(warnings, said...), err
}

// planDestroyToo plans to destroy the object in the process that is there.
func (c *core) planDestroyToo(t *testing.T) ([]string, error) {
	t.Helper()
	nothing := dynamic(t, tftypes.NewValue(c.schema.ValueType(), nil))
	resp, err := c.server.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: c.typeName, PriorState: dynamic(t, c.state), Config: nothing, ProposedNewState: nothing, PriorPrivate: c.private,
	})
	require.NoError(t, err)
	c.leaving = resp.PlannedPrivate
	return c.diagnose(resp.Diagnostics)
}

// destroy deletes the object, and forgets it unless that failed.
func (c *core) destroy(t *testing.T) ([]string, error) {
	t.Helper()
	c.walk(t)
	warnings, err := c.planDestroyToo(t)
	if err != nil {
		return warnings, err
	}
	null := dynamic(t, tftypes.NewValue(c.schema.ValueType(), nil))
	resp, err := c.server.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName: c.typeName, PriorState: dynamic(t, c.state), PlannedState: null, Config: null, PlannedPrivate: c.leaving,
	})
	require.NoError(t, err)
	said, err := c.diagnose(resp.Diagnostics)
	if err == nil {
		c.state, c.private = tftypes.NewValue(c.schema.ValueType(), nil), nil
	}
	return append(warnings, said...), err
}

// importID takes an object into the state, and refreshes it.
func (c *core) importID(t *testing.T, id string) error {
	t.Helper()
	resp, err := c.server.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: c.typeName, ID: id})
	require.NoError(t, err)
	if _, err := c.diagnose(resp.Diagnostics); err != nil {
		return err
	}
	require.Len(t, resp.ImportedResources, 1)
	c.state, c.private = c.read(t, resp.ImportedResources[0].State), resp.ImportedResources[0].Private
	_, err = c.refresh(t)
	require.False(t, c.state.IsNull(), "Cannot import non-existent remote object")
	return err
}

// diagnose returns the warnings, and the errors as one.
func (c *core) diagnose(diagnostics []*tfprotov6.Diagnostic) ([]string, error) {
	var warnings, errs []string
	for _, d := range diagnostics {
		text := d.Summary + "\n" + d.Detail
		fmt.Fprintln(c.said, text)
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			errs = append(errs, text)
		} else {
			warnings = append(warnings, text)
		}
	}
	if errs != nil {
		return warnings, fmt.Errorf("%s", strings.Join(errs, "\n"))
	}
	return warnings, nil
}

// remember notes what Terraform would print of a value: everything that isn't marked as sensitive.
func (c *core) remember(t *testing.T, value tftypes.Value) {
	t.Helper()
	if value.IsNull() {
		return
	}
	for _, a := range c.schema.Block.Attributes {
		if !a.Sensitive {
			fmt.Fprintln(c.said, a.Name, attribute(t, value, a.Name))
		}
	}
}

// incompatible returns where actual isn't what was planned. What is unknown in the plan can become anything.
func incompatible(planned, actual tftypes.Value, path *tftypes.AttributePath) string {
	if !planned.IsKnown() {
		return ""
	}
	var wanted, made []tftypes.Value
	if !planned.IsNull() && !actual.IsNull() && actual.IsKnown() && planned.As(&wanted) == nil && actual.As(&made) == nil && len(wanted) == len(made) {
		for i, value := range wanted {
			if wrong := incompatible(value, made[i], path.WithElementKeyInt(i)); wrong != "" {
				return wrong
			}
		}
		return ""
	}
	var want, got map[string]tftypes.Value
	if planned.IsNull() || actual.IsNull() || !actual.IsKnown() || planned.As(&want) != nil || actual.As(&got) != nil {
		if planned.Equal(actual) {
			return ""
		}
		return path.String()
	}
	for name, value := range want {
		made, exists := got[name]
		if !exists {
			return path.WithElementKeyString(name).String() + " is missing"
		}
		if wrong := incompatible(value, made, path.WithElementKeyString(name)); wrong != "" {
			return wrong
		}
	}
	for name := range got {
		if _, exists := want[name]; !exists {
			return path.WithElementKeyString(name).String() + " is new"
		}
	}
	return ""
}

func attributes(t *testing.T, object tftypes.Value) map[string]tftypes.Value {
	t.Helper()
	var out map[string]tftypes.Value
	require.NoError(t, object.As(&out))
	return out
}

func attribute(t *testing.T, object tftypes.Value, name string) tftypes.Value {
	t.Helper()
	return attributes(t, object)[name]
}

// unknown is a value that Terraform doesn't know yet.
type unknown struct{}

// value returns a Go value as one of Terraform; what a map doesn't have is null.
func value(t *testing.T, typ tftypes.Type, v any) tftypes.Value {
	t.Helper()
	if _, ok := v.(unknown); ok {
		return tftypes.NewValue(typ, tftypes.UnknownValue)
	}
	if v == nil {
		return tftypes.NewValue(typ, nil)
	}
	if typ.Is(tftypes.DynamicPseudoType) {
		return written(v)
	}
	switch typ := typ.(type) {
	case tftypes.Object:
		given, _ := v.(map[string]any)
		out := map[string]tftypes.Value{}
		for name, of := range typ.AttributeTypes {
			out[name] = value(t, of, given[name])
		}
		return tftypes.NewValue(typ, out)
	case tftypes.List:
		out := []tftypes.Value{}
		texts, _ := v.([]string)
		items, _ := v.([]any)
		for _, text := range texts {
			items = append(items, text)
		}
		for _, item := range items {
			out = append(out, value(t, typ.ElementType, item))
		}
		return tftypes.NewValue(typ, out)
	case tftypes.Map:
		out := map[string]tftypes.Value{}
		texts, _ := v.(map[string]string)
		items, _ := v.(map[string]any)
		for name, item := range texts {
			out[name] = value(t, typ.ElementType, item)
		}
		for name, item := range items {
			out[name] = value(t, typ.ElementType, item)
		}
		return tftypes.NewValue(typ, out)
	}
	return tftypes.NewValue(typ, v)
}

// written returns a value as a configuration has it that writes it: with the types of what is in it.
func written(v any) tftypes.Value {
	switch v := v.(type) {
	case map[string]any:
		typesOf, values := map[string]tftypes.Type{}, map[string]tftypes.Value{}
		for name, item := range v {
			values[name] = written(item)
			typesOf[name] = values[name].Type()
		}
		return tftypes.NewValue(tftypes.Object{AttributeTypes: typesOf}, values)
	case []any:
		var typesOf []tftypes.Type
		var values []tftypes.Value
		for _, item := range v {
			values = append(values, written(item))
			typesOf = append(typesOf, values[len(values)-1].Type())
		}
		return tftypes.NewValue(tftypes.Tuple{ElementTypes: typesOf}, values)
	case string:
		return tftypes.NewValue(tftypes.String, v)
	case bool:
		return tftypes.NewValue(tftypes.Bool, v)
	case unknown:
		return tftypes.NewValue(tftypes.DynamicPseudoType, tftypes.UnknownValue)
	case nil:
		return tftypes.NewValue(tftypes.DynamicPseudoType, nil)
	}
	return tftypes.NewValue(tftypes.Number, v)
}

// rows returns a computed map; unknown rows are "?". The whole map being unknown is one row "?".
func rows(t *testing.T, object tftypes.Value, name string) map[string]string {
	t.Helper()
	out := map[string]string{}
	m := attribute(t, object, name)
	if !m.IsKnown() {
		return map[string]string{"?": "?"}
	}
	var values map[string]tftypes.Value
	require.NoError(t, m.As(&values))
	for row, v := range values {
		text := "?"
		if v.IsKnown() {
			require.NoError(t, v.As(&text))
		}
		out[row] = text
	}
	return out
}

// applied returns Terraform after its first run.
func applied(t *testing.T, config map[string]any) *core {
	t.Helper()
	tf := newCore(t)
	plan := tf.plan(t, config)
	require.Equal(t, "Create", plan.action)
	tf.apply(t, plan)
	tf.nothingLeft(t, config)
	return tf.next(t)
}

// nothingLeft checks that another run finds nothing to do.
func (c *core) nothingLeft(t *testing.T, config map[string]any) {
	t.Helper()
	plan, err := c.next(t).tryPlanHere(t, config)
	require.NoError(t, err)
	require.Equal(t, "NoOp", plan.action, "fields %v, owners %v", rows(t, plan.planned, "fields"), rows(t, plan.planned, "other_owners"))
	require.Empty(t, plan.warnings)
}

// loses makes the credentials in the state others, as if those of the last run had become these.
func (c *core) loses(t *testing.T, block map[string]any) {
	t.Helper()
	state := maps.Clone(attributes(t, c.state))
	state["cluster"] = value(t, state["cluster"].Type(), block)
	c.state = tftypes.NewValue(c.state.Type(), state)
}

// remembers is what the provider keeps in the private state.
func (c *core) remembers(t *testing.T) explain.State {
	t.Helper()
	var private map[string][]byte
	require.NoError(t, json.Unmarshal(c.private, &private))
	var state explain.State
	require.NoError(t, json.Unmarshal(private["ssaplan"], &state))
	return state
}

// data returns what a data source has, as it is sent.
func (c *core) data(t *testing.T, typeName string, config map[string]any) (string, error) {
	t.Helper()
	resp, err := c.server.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{
		TypeName: typeName, Config: dynamic(t, value(t, c.schemas.DataSourceSchemas[typeName].ValueType(), config)),
	})
	require.NoError(t, err)
	warnings, err := c.diagnose(resp.Diagnostics)
	require.Empty(t, warnings)
	return string(resp.State.MsgPack), err
}

// opened returns the error of opening an ephemeral resource.
func (c *core) opened(t *testing.T, typeName string, config map[string]any) error {
	t.Helper()
	resp, err := c.server.OpenEphemeralResource(t.Context(), &tfprotov6.OpenEphemeralResourceRequest{
		TypeName: typeName, Config: dynamic(t, value(t, c.schemas.EphemeralResourceSchemas[typeName].ValueType(), config)),
	})
	require.NoError(t, err)
	_, err = c.diagnose(resp.Diagnostics)
	return err
}
