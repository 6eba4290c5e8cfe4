package immutability

import (
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
)

// Writer is the part of a client that [Probe] needs, for the object's resource and namespace. The methods have the
// signatures of client-go's dynamic.ResourceInterface.
type Writer interface {
	Create(ctx context.Context, obj *unstructured.Unstructured, options metav1.CreateOptions,
		subresources ...string) (*unstructured.Unstructured, error)
	Update(ctx context.Context, obj *unstructured.Unstructured, options metav1.UpdateOptions,
		subresources ...string) (*unstructured.Unstructured, error)
}

// dryRuns sends dry runs for an object.
type dryRuns struct {
	server         Writer
	manager        string // the field manager
	manifest, live *unstructured.Unstructured
}

// create sends a dry-run create of the manifest.
func (d *dryRuns) create(ctx context.Context) reply {
	_, err := d.server.Create(ctx, createBody(d.manifest, d.live), metav1.CreateOptions{
		DryRun:          []string{metav1.DryRunAll},
		FieldManager:    d.manager,
		FieldValidation: metav1.FieldValidationStrict,
	})
	r := readCreate(err, d.manifest)
	if r.Outcome == OutcomeUnanswered {
		if r.Err = err; err == nil {
			r.Err = errors.New(r.Message.String())
		}
	}
	r.invalid.Fields = d.located(r.invalid.Fields)
	return r
}

// update sends a dry-run update with a body. It also returns the object in the server's answer.
func (d *dryRuns) update(ctx context.Context, body *unstructured.Unstructured) (reply, *unstructured.Unstructured) {
	updated, err := d.server.Update(ctx, body, metav1.UpdateOptions{
		DryRun:          []string{metav1.DryRunAll},
		FieldManager:    d.manager,
		FieldValidation: metav1.FieldValidationStrict,
	})
	return readAnswer(err), updated
}

// located returns fields of the manifest alone, as the server prints them, with their paths.
func (d *dryRuns) located(fields []Field) []Field {
	return newLocator(d.manifest.Object, nil, recordOf(d.live.Object)).locate(fields)
}

// createBody is the manifest as it would be created after the delete. What only one object can have, and the live one
// has, is left out: it is free once that is gone, but a dry run finds it taken.
func createBody(manifest, live *unstructured.Unstructured) *unstructured.Unstructured {
	body := manifest.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "managedFields"} {
		unstructured.RemoveNestedField(body.Object, "metadata", field)
	}
	switch body.GroupVersionKind().GroupKind().String() {
	case "Service":
		dropHeldPorts(serviceSpec(body), serviceSpec(live))
	case "PriorityClass.scheduling.k8s.io":
		if live.Object["globalDefault"] == true {
			delete(body.Object, "globalDefault")
		}
	}
	return body
}

// updateBody is the manifest as a replacement of this very live object: custom resources need the resourceVersion, and
// the uid keeps the answer from being about a successor.
func updateBody(manifest, live *unstructured.Unstructured) *unstructured.Unstructured {
	body := manifest.DeepCopy()
	unstructured.RemoveNestedField(body.Object, "metadata", "managedFields")
	body.SetResourceVersion(live.GetResourceVersion())
	body.SetUID(live.GetUID())
	return body
}

// mergedBody is the live object with the manifest merged into it in the way of a merge patch: what only others have set
// stays, but lists, and the maps that the causes are in, become those of the manifest.
func mergedBody(manifest, live *unstructured.Unstructured, causes []cause) *unstructured.Unstructured {
	body := updateBody(live, live)
	whole := func(at string) bool {
		return slices.ContainsFunc(causes, func(c cause) bool { return at == parent(c.Pattern()) })
	}
	mergeInto(body.Object, manifest.DeepCopy().Object, "", whole)
	return body
}

// mergeInto merges from into to, both at the path at. It keeps maps of from.
func mergeInto(to, from map[string]any, at string, whole func(at string) bool) {
	for key, value := range from {
		below := patternBelow(at, projection.Field(key))
		old, both := to[key].(map[string]any)
		added, isMap := value.(map[string]any)
		if both && isMap && !whole(below) {
			mergeInto(old, added, below, whole)
		} else {
			to[key] = value
		}
	}
}
