package wire

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/ssaplan/internal/scale"
)

// refusedDryRun is a dry run in a way that no server knows. A server that gets it refuses the request before it looks at the
// object.
var refusedDryRun = []string{metav1.DryRunAll, "Unknown"}

// absentUID is the uid of no object.
const absentUID = "00000000-0000-0000-0000-000000000000"

// errDropped says that a server didn't get the dryRun of a request. Nothing was written.
var errDropped = errors.New("the server didn't get the dryRun of a request that writes nothing: the client, or something in " +
	"front of the server, drops dryRun, so nothing can be planned through it")

// TryUnread is [Target.Try] for a live object that the caller may not read. Nobody could tell afterwards whether that dry run
// wrote. So it finds out first whether the server gets the dryRun of an apply: it sends one that a server refuses, for an
// object that isn't there. A server that isn't told of the dryRun refuses that, which is an error.
func (t *Target) TryUnread(ctx context.Context, body []byte, options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	absent, err := t.forNone(body)
	if err != nil {
		return nil, err
	}
	quiet, _ := CollectWarnings(ctx)
	_, err = t.Apply(quiet, nil, absent, options, refusedDryRun...)
	switch {
	case slices.ContainsFunc(answer.Statuses(err), answer.RefusesDryRun):
		return t.Try(ctx, nil, body, options)
	case err == nil, apierrors.IsConflict(err), apierrors.IsInvalid(err):
		return nil, errDropped
	}
	return nil, err
}

// forNone returns the body of an apply that writes nothing, whether the object is there or not.
func (t *Target) forNone(body []byte) ([]byte, error) {
	var content map[string]any
	if json.Unmarshal(body, &content) != nil {
		return nil, errors.New("the plan's patch is not an object")
	}
	if err := scale.Check(t.subresource, content); err != nil {
		return nil, err
	}
	if err := unstructured.SetNestedField(content, absentUID, "metadata", "uid"); err != nil {
		return nil, err
	}
	return json.Marshal(content)
}

// CheckDelete returns an error if the server doesn't get the dryRun of a delete, before one deletes what it was to try. It
// sends a delete of an object that isn't there, with a dryRun that a server refuses. Once one has arrived, no more are sent;
// it doesn't count as a request of r. A server that refuses the delete for another reason doesn't tell.
func (r *Resource) CheckDelete(ctx context.Context) error {
	if r.server.getsDryRun.Load() {
		return nil
	}
	ctx, _ = CollectWarnings(ctx)
	options := metav1.DeleteOptions{DryRun: refusedDryRun, Preconditions: metav1.NewUIDPreconditions(absentUID)}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	beside := r.server.Resource(r.resource, r.object)
	err := beside.Delete(ctx, fmt.Sprintf("absent-%x", random), options)
	switch {
	case slices.ContainsFunc(answer.Statuses(err), answer.RefusesDryRun):
		r.server.getsDryRun.Store(true)
		return nil
	case err == nil, authresilience.Classify(err) == authresilience.ClassNotFound:
		return errDropped
	case slices.ContainsFunc(answer.Statuses(err), answer.IsRefusal):
		return nil
	}
	return err
}
