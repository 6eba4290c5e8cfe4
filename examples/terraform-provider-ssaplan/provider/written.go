package provider

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
)

// named returns how many of the attributes are written that can have the manifest.
func (o object) named() (n int) {
	for _, value := range []attr.Value{o.YAMLBody, o.YAMLBodyWO, o.Object, o.Manifest} {
		if !value.IsNull() {
			n++
		}
	}
	return n
}

// takeText takes the manifest from the attribute that it is written in.
func (o *object) takeText(ctx context.Context, from object) (err error) {
	o.text, o.written, o.unknown = from.YAMLBody, from.Manifest, nil
	switch {
	case !from.YAMLBodyWO.IsNull():
		o.text = from.YAMLBodyWO
	case !from.Object.IsNull():
		o.text, o.unknown, err = textOf(ctx, from.Object)
	case o.text.IsNull():
		o.text = from.Manifest
	}
	return err
}

// manifestPath is the attribute that the manifest is written in, as far as a plan has it.
func (o object) manifestPath() path.Path {
	switch {
	case o.isWriteOnly():
		return path.Root("yaml_body_wo")
	case !o.Object.IsNull():
		return path.Root("object")
	case !o.written.IsNull():
		return path.Root("manifest")
	}
	return yamlBodyPath
}

// kept returns what a plan has for yaml_body: the manifest, unless it is kept elsewhere or nowhere.
func (o object) kept() types.String {
	if o.showsNone() {
		return types.StringNull()
	}
	return o.text
}

// showsNone reports whether the attribute manifest says nothing, because the attribute object says it, or because
// nothing is kept.
func (o object) showsNone() bool { return o.isWriteOnly() || !o.Object.IsNull() }

// undeclared returns the attribute manifest where it doesn't follow from yaml_body: as it was written, null if it says
// nothing, and else it is unknown.
func (o object) undeclared() types.String {
	if o.written.IsNull() && !o.showsNone() {
		return types.StringUnknown()
	}
	return o.written
}

// sameText reports whether the manifest says the same as that of the state. Of one that is kept nowhere the version
// tells.
func (o object) sameText(ctx context.Context, prior object) bool {
	if o.isWriteOnly() || prior.isWriteOnly() {
		return o.WOVersion.Equal(prior.WOVersion)
	}
	if len(o.unknown) > 0 || o.Object.IsNull() != prior.Object.IsNull() || prior.takeText(ctx, prior) != nil {
		return false
	}
	return sameManifest(prior.text.ValueString(), o.text.ValueString())
}

// textOf returns a manifest that is written as a value, and the fields of it that aren't known yet. It is unknown as a
// whole if it isn't known which object it is of; then the field is the one that says it.
func textOf(ctx context.Context, value types.Dynamic) (types.String, projection.Patterns, error) {
	written, err := value.ToTerraformValue(ctx)
	if err != nil {
		return types.StringUnknown(), nil, err
	}
	var r valueReader
	plain, err := r.read(written, nil)
	if err != nil {
		return types.StringUnknown(), nil, fmt.Errorf("object: %w", err)
	}
	var unknown projection.Patterns
	for _, at := range r.unknown {
		if slices.Contains([]string{"", "apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace"},
			at.String()) {
			return types.StringUnknown(), projection.Patterns{projection.PatternOf(at)}, nil
		}
		unknown = append(unknown, projection.PatternOf(at))
	}
	fields, isObject := plain.(map[string]any)
	if !isObject {
		return types.StringUnknown(), nil, errors.New("object: expected an object with apiVersion, kind and metadata")
	}
	if _, err := identity.Of(fields); err != nil {
		return types.StringUnknown(), nil, fmt.Errorf("object: %w", err)
	}
	text, err := yaml.Marshal(plain)
	return types.StringValue(string(text)), unknown, err
}

// mayBeAnother reports whether a field that names the object isn't known yet, so that it may become another one. Of
// what isn't known as a whole, as of a text, no more is thought than that it changes.
func (o object) mayBeAnother() bool {
	names := []string{"kind", "metadata", "metadata.name", "metadata.namespace"}
	return o.text.IsUnknown() &&
		slices.ContainsFunc(o.unknown, func(at projection.Pattern) bool { return slices.Contains(names, at.String()) })
}

// notKnown stands for a value that isn't known yet. It is never sent.
const notKnown = "(known after apply)"

// valueReader reads values of Terraform as those of an object, and notes which aren't known yet.
type valueReader struct{ unknown []projection.Path }

// read returns a value, and nil for null. An attribute that is null isn't there, as everywhere in Terraform.
func (r *valueReader) read(v tftypes.Value, at projection.Path) (any, error) {
	switch typ := v.Type(); {
	case !v.IsKnown():
		r.unknown = append(r.unknown, at)
		return notKnown, nil
	case v.IsNull():
		return nil, nil
	case typ.Is(tftypes.Object{}), typ.Is(tftypes.Map{}):
		return r.fields(v, at)
	case typ.Is(tftypes.Tuple{}), typ.Is(tftypes.List{}), typ.Is(tftypes.Set{}):
		return r.items(v, at)
	case typ.Is(tftypes.Bool):
		var is bool
		err := v.As(&is)
		return is, err
	case typ.Is(tftypes.Number):
		return number(v, at)
	}
	var text string
	err := v.As(&text)
	return text, err
}

func (r *valueReader) fields(v tftypes.Value, at projection.Path) (any, error) {
	var values map[string]tftypes.Value
	if err := v.As(&values); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for name, value := range values {
		field, err := r.read(value, at.Child(projection.Field(name)))
		if err != nil {
			return nil, err
		}
		if field != nil {
			out[name] = field
		}
	}
	return out, nil
}

func (r *valueReader) items(v tftypes.Value, at projection.Path) (any, error) {
	var values []tftypes.Value
	if err := v.As(&values); err != nil {
		return nil, err
	}
	out := make([]any, len(values))
	for i, value := range values {
		item, err := r.read(value, at.Child(projection.Index(i)))
		if err != nil {
			return nil, err
		}
		out[i] = item
	}
	return out, nil
}

// number returns an integer as one, since servers tell 3 from 3.0.
func number(v tftypes.Value, at projection.Path) (any, error) {
	var n big.Float
	if err := v.As(&n); err != nil {
		return nil, err
	}
	if !n.IsInt() {
		float, _ := n.Float64()
		return float, nil
	}
	integer, accuracy := n.Int64()
	if accuracy != big.Exact {
		return nil, fmt.Errorf("%s: is an integer of more than 64 bits: write it as a string", at)
	}
	return integer, nil
}

// planPart plans what is known of a manifest that has parts which aren't known yet, and reports whether there is no
// more to say. The attribute object shows both. Which fields there will be isn't predicted, since a map of Terraform
// keeps its keys.
func (p *planning) planPart(plan *ssaplan.Plan) bool {
	isPart := len(p.planned.unknown) > 0 && (plan.Deferral == ssaplan.DeferralUnknownValues || plan.Deferral == "") &&
		plan.Action != ssaplan.ActionReplace && plan.Action != ssaplan.ActionConflict
	if !isPart {
		return false
	}
	p.openAll()
	if plan.Live() != nil {
		p.takesOver(plan, "exists already", plan.Reason)
	}
	if p.prior != nil && plan.Deferral != "" {
		p.remark(plan.Object, "can only be planned in part", plan.Reason)
	}
	return true
}
