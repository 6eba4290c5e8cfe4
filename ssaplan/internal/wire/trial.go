package wire

import (
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/ssaplan/internal/standin"
)

// TryCreate returns the object as the server would create it by applying the manifest to nothing, as [standin.Try]
// does. Unless the name is known to be taken, it reads first whether there is such an object, which is
// [standin.ErrTaken]. So one that appears in the dry run just as it was to be tried is known to be written by that,
// which is another error.
func (t *Target) TryCreate(
	ctx context.Context, manifest map[string]any, options metav1.PatchOptions, taken bool,
) (*unstructured.Unstructured, error) {
	if !taken {
		there, err := t.Live(ctx)
		switch {
		case there != nil:
			return nil, standin.ErrTaken
		case err != nil && authresilience.Classify(err) != authresilience.ClassAuthorization: // who may apply may be unable to read
			return nil, err
		}
	}
	made, err := standin.Try(ctx, t.Resource, manifest, options, taken)
	if errors.Is(err, standin.ErrTaken) && made != nil {
		body, failure := json.Marshal(manifest)
		if failure == nil {
			_, failure = t.Relook(ctx, nil, made, body, options)
		}
		if failure != nil {
			return nil, failure
		}
	}
	if err != nil {
		return nil, err
	}
	return made, nil
}

// Recorded returns the live object with the record of owners that a server makes of one that has none, when it is
// applied for the first time. Nothing else tells which lists have items of their own, and which lists and maps have one
// owner. An object that has a record, or of which the server doesn't tell, is returned as it is. It is asked once for
// an object.
func (t *Target) Recorded(ctx context.Context, live *unstructured.Unstructured, options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	if live == nil || t.subresource != "" || len(live.GetManagedFields()) > 0 {
		return live, nil
	}
	if t.unrecorded == live {
		return t.recorded, nil
	}
	nothing := &unstructured.Unstructured{Object: map[string]any{}}
	nothing.SetGroupVersionKind(live.GroupVersionKind())
	nothing.SetName(live.GetName())
	nothing.SetNamespace(live.GetNamespace())
	body, err := nothing.MarshalJSON()
	if err != nil {
		return nil, err
	}
	made, err := t.TryPinned(ctx, live, body, options)
	if slices.ContainsFunc(answer.Statuses(err), answer.IsRefusal) {
		return live, nil
	}
	if err != nil {
		return nil, err
	}
	t.unrecorded, t.recorded = live, live.DeepCopy()
	t.recorded.SetManagedFields(made.GetManagedFields())
	return t.recorded, nil
}

// Whole returns what tries by force to apply the body, which has all of a manifest, to the live object; nil unless that
// is needed, since the server refused a part of it.
func (t *Target) Whole(isNeeded bool, live *unstructured.Unstructured, body []byte, options metav1.PatchOptions) func(context.Context) error {
	if !isNeeded {
		return nil
	}
	force := true
	options.Force = &force
	return func(ctx context.Context) error {
		_, err := t.Try(ctx, live, body, options)
		return err
	}
}
