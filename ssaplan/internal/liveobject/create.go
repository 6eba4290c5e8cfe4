package liveobject

import (
	"context"
	"encoding/json"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan/internal/trialcreate"
)

// TryCreate returns the object as the server would create it by applying the manifest to nothing, as [trialcreate.Try]
// does. Unless the name is known to be taken, it first reads the object. If the object exists, the error is
// [trialcreate.ErrTaken]. So if the object exists after the dry run, exactly as it was tried, the dry run wrote it.
// That is an error, too.
func (t *Target) TryCreate(
	ctx context.Context, manifest map[string]any, options metav1.PatchOptions, taken bool,
) (*unstructured.Unstructured, error) {
	if !taken {
		there, err := t.Live(ctx)
		switch {
		case there != nil:
			return nil, trialcreate.ErrTaken
		// a caller with the permission to apply may lack the permission to read
		case err != nil && authresilience.Classify(err) != authresilience.ClassAuthorization:
			return nil, err
		}
	}
	made, err := trialcreate.Try(ctx, t.Resource, manifest, options, taken)
	if errors.Is(err, trialcreate.ErrTaken) && made != nil {
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
