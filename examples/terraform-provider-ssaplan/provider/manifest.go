package provider

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/manifest"
	"github.com/ssaplan/primitives/ssaplan/redact"
)

// decodeManifest reads yaml_body. No error quotes it, since it can hold secrets.
func decodeManifest(text string) (manifest.Manifest, error) {
	manifests, failures := manifest.Parse("yaml_body", []byte(text))
	switch {
	case len(manifests)+len(failures) > 1:
		return manifest.Manifest{},
			errors.New("holds more than one object: make a resource for each, for example with for_each")
	case len(failures) == 1:
		return manifest.Manifest{}, errors.New(failures[0].Problem)
	case len(manifests) == 0:
		return manifest.Manifest{}, errors.New("holds no object: it needs apiVersion, kind and metadata.name")
	}
	return manifests[0], nil
}

// manifest returns what the manifest says, which is known.
func (o object) manifest() (manifest.Manifest, error) {
	m, err := decodeManifest(o.text.ValueString())
	if err != nil {
		return m, fmt.Errorf("%s: %w", o.manifestPath(), err)
	}
	return m, nil
}

// precondition says what to do about a conflict that the manifest itself asks for, as one does that was read from a
// cluster.
func precondition(manifest *unstructured.Unstructured, err error) string {
	if !apierrors.IsConflict(err) || manifest.GetUID() == "" && manifest.GetResourceVersion() == "" {
		return ""
	}
	return "\nThe manifest asks for the object as it was when its metadata.uid or metadata.resourceVersion was read: " +
		"remove them."
}

// lostVersion says what to do if nothing can be applied to the object because of a version that is gone.
func lostVersion(err error) string {
	if authresilience.Classify(err) != authresilience.ClassLostVersion {
		return ""
	}
	return "\nName that version in lost_versions. Of a patch with a subresource, do that in a resource for the " +
		"object itself."
}

// sameManifest reports whether two texts of yaml_body say the same, whatever their order of keys, comments and layout.
func sameManifest(a, b string) bool {
	x, errX := decodeManifest(a)
	y, errY := decodeManifest(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x.Object, y.Object)
}

// sameButIgnored reports whether the manifest differs from that of the state in fields to ignore only. It must be known
// that nothing else is sent.
func (o object) sameButIgnored(ctx context.Context, prior object) bool {
	before, now, ignore, err := o.withPrior(ctx, prior)
	if err != nil || len(ignore) == 0 {
		return false
	}
	before, _ = ignore.Remove(before)
	now, _ = ignore.Remove(now)
	return reflect.DeepEqual(before, now)
}

var errNotComparable = errors.New("the manifests can't be compared")

// withPrior returns the manifest of the state and the present one, which are written in the same way, and the fields to
// ignore.
func (o object) withPrior(ctx context.Context,
	prior object) (before, now map[string]any, ignore projection.Patterns, err error) {
	if o.isWriteOnly() || prior.isWriteOnly() || o.Object.IsNull() != prior.Object.IsNull() || len(o.unknown) > 0 {
		return nil, nil, nil, errNotComparable
	}
	if err := prior.takeText(ctx, prior); err != nil {
		return nil, nil, nil, err
	}
	x, errX := prior.manifest()
	y, errY := o.manifest()
	if err := errors.Join(errX, errY); err != nil {
		return nil, nil, nil, err
	}
	ignore, err = patterns(ctx, ignoreFieldsPath, o.IgnoreFields)
	return x.Object.Object, y.Object.Object, ignore, err
}

// checkText takes the manifest, and returns what is wrong with how the manifest is written. What is sensitive is hidden
// in yaml_body only.
func (o *object) checkText(ctx context.Context) error {
	switch {
	case o.named() == 1:
	case o.isPatch():
		return errors.New("name one of yaml_body, yaml_body_wo and object")
	default:
		return errors.New("name one of yaml_body, yaml_body_wo, object and manifest")
	}
	if err := o.takeText(ctx, *o); err != nil {
		return err
	}
	switch {
	case o.YAMLBodyWO.IsNull() != o.WOVersion.IsNull():
		return errors.New("yaml_body_wo and yaml_body_wo_version need each other")
	case !o.Manifest.IsNull() && (len(o.Sensitive.Elements()) > 0 || o.Sensitive.IsUnknown()):
		return errors.New("manifest: is shown in plans: write it as yaml_body, since it has sensitive_fields")
	case o.text.IsUnknown() || o.Manifest.IsNull() && o.Object.IsNull():
		return nil
	}
	m, err := o.manifest()
	if err == nil && (!projection.Sensitive(m.Object.Object).Empty() || len(redact.SecretsInside(m.Object)) > 0) {
		err = fmt.Errorf("%s: is shown in plans: write it as yaml_body, since it is a Secret, or has one",
			o.manifestPath())
	}
	return err
}

// declared returns the attribute manifest. It follows from the configuration and from what a definition marks as
// sensitive, so that it is the same before and after the object can be planned. While a definition may mark something
// that isn't known yet, it is unknown. The plan is nil if nobody could be asked.
func (o object) declared(ctx context.Context, plan *ssaplan.Plan) types.String {
	if !o.written.IsNull() || o.showsNone() || o.text.IsUnknown() || !isKnown(ctx, o.Sensitive) {
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
	// tools keep copies in annotations
	if hidden = slices.Concat(hidden, redact.SecretsInside(m.Object)); len(hidden) > 0 {
		hidden = slices.Concat(hidden, annotations)
	}
	shown = shown.WithSensitive(hidden)
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
