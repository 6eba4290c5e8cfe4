package provider

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// decodeManifest reads yaml_body. No error quotes it, since it can hold secrets.
func decodeManifest(text string) (manifest.Manifest, error) {
	manifests, failures := manifest.Parse("yaml_body", []byte(text))
	switch {
	case len(manifests)+len(failures) > 1:
		return manifest.Manifest{}, errors.New("holds more than one object: make a resource for each, for example with for_each")
	case len(failures) == 1:
		return manifest.Manifest{}, errors.New(failures[0].Problem)
	case len(manifests) == 0:
		return manifest.Manifest{}, errors.New("holds no object: it needs apiVersion, kind and metadata.name")
	}
	return manifests[0], nil
}

// takeText takes the manifest from the attribute that it was written in.
func (o *object) takeText(config object) {
	o.text, o.written = config.YAMLBody, config.Manifest
	for _, other := range []types.String{config.YAMLBodyWO, config.Manifest} {
		if o.text.IsNull() {
			o.text = other
		}
	}
}

// manifestPath is the attribute that the manifest was written in, as far as a plan has it.
func (o object) manifestPath() path.Path {
	if o.isWriteOnly() {
		return path.Root("yaml_body_wo")
	}
	return yamlBodyPath
}

// manifest returns what the manifest says, which is known.
func (o object) manifest() (manifest.Manifest, error) {
	m, err := decodeManifest(o.text.ValueString())
	if err != nil {
		return m, fmt.Errorf("%s: %w", o.manifestPath(), err)
	}
	return m, nil
}

// sameManifest reports whether two texts of yaml_body say the same, whatever their order of keys, comments and layout.
func sameManifest(a, b string) bool {
	x, errX := decodeManifest(a)
	y, errY := decodeManifest(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x.Object, y.Object)
}

// sameText reports whether the manifest says the same as that of the state. Of one that is kept nowhere the version tells.
func (o object) sameText(prior object) bool {
	if o.isWriteOnly() || prior.isWriteOnly() {
		return o.WOVersion.Equal(prior.WOVersion)
	}
	return sameManifest(prior.YAMLBody.ValueString(), o.text.ValueString())
}

// undeclared returns the attribute manifest where it doesn't follow from yaml_body: as it was written, null if nothing is kept, and else it is
// unknown.
func (o object) undeclared() types.String {
	if o.written.IsNull() && !o.isWriteOnly() {
		return types.StringUnknown()
	}
	return o.written
}

// checkText returns what is wrong with the two ways to write the manifest. What is sensitive is hidden in yaml_body only.
func (o object) checkText() error {
	named := 0
	for _, value := range []attr.Value{o.YAMLBody, o.YAMLBodyWO, o.Manifest} {
		if !value.IsNull() {
			named++
		}
	}
	switch {
	case named != 1:
		return errors.New("name one of yaml_body, yaml_body_wo and manifest")
	case o.YAMLBodyWO.IsNull() != o.WOVersion.IsNull():
		return errors.New("yaml_body_wo and yaml_body_wo_version need each other")
	case o.Manifest.IsNull() || o.Manifest.IsUnknown():
		return nil
	case len(o.Sensitive.Elements()) > 0 || o.Sensitive.IsUnknown():
		return errors.New("manifest: is shown in plans: write it as yaml_body, since it has sensitive_fields")
	}
	m, err := decodeManifest(o.Manifest.ValueString())
	if err == nil && !projection.Sensitive(m.Object.Object).Empty() {
		err = errors.New("is shown in plans: write it as yaml_body, since it is a Secret")
	}
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	return nil
}

// declared returns the attribute manifest. It follows from the configuration and from what a definition marks as sensitive, so that it is the
// same before and after the object can be planned. While a definition may mark something that isn't known yet, it is unknown. The plan is nil if
// nobody could be asked.
func (o object) declared(ctx context.Context, plan *ssaplan.Plan) types.String {
	if !o.written.IsNull() || o.isWriteOnly() || o.text.IsUnknown() || !isKnown(ctx, o.Sensitive) {
		return o.undeclared()
	}
	m, err := o.manifest()
	hidden, patternErr := patterns(ctx, sensitiveFieldsPath, o.Sensitive)
	if err != nil || patternErr != nil {
		return types.StringUnknown() // which is an error elsewhere
	}
	shown, err := explain.Declared(m.Object.Object)
	if err != nil {
		return types.StringUnknown()
	}
	if len(hidden) > 0 { // tools keep copies in annotations
		hidden = slices.Concat(hidden, annotations)
	}
	shown = shown.Hiding(hidden)
	switch mayBeMarked := strings.Contains(m.Identity.Group(), "."); {
	case plan == nil && mayBeMarked, plan != nil && plan.Deferral == ssaplan.DeferralTypeNotServed:
		return types.StringUnknown()
	case plan != nil && mayBeMarked && plan.Deferral != "" && !plan.After.Sensitive.Empty():
		return types.StringUnknown() // of lists, more is hidden as long as no server names their items
	case plan != nil:
		shown.Sensitive = shown.Sensitive.Union(plan.After.Sensitive)
	}
	text, err := yaml.Marshal(shown.Redacted().Object)
	if err != nil {
		return types.StringUnknown()
	}
	return types.StringValue(string(text))
}

var annotations, _ = projection.ParsePatterns("metadata.annotations") // which is a pattern
