package wire

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/ssaplan/internal/scale"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
)

// refusedDryRun is a dry run in a way that no server knows. A server that gets it refuses the request before it looks
// at the object.
var refusedDryRun = []string{metav1.DryRunAll, "Unknown"}

// absentUID is the uid of no object.
const absentUID = "00000000-0000-0000-0000-000000000000"

// ErrDropped says that a server didn't receive the dryRun of a request. Nothing was written.
var ErrDropped = errors.New(
	"the server didn't get the dryRun of a request that writes nothing: the client, or something in " +
		"front of the server, drops dryRun, so nothing can be planned through it")

// applies names the kind of request that checkApply checks. The name has the group and version, since another program
// can serve each version of a group.
func (r *Resource) applies() string { return "apply " + r.resource.GroupVersion().String() }

// patches names the kind of request that checkJSONPatch checks.
func (r *Resource) patches() string { return "patch " + r.resource.GroupVersion().String() }

// checkApply returns an error if the server doesn't receive the dryRun of an apply. It is called before a dry run is
// sent: without its dryRun, that apply would write.
func (r *Resource) checkApply(ctx context.Context, name string, body []byte, options metav1.PatchOptions,
	sub []string) error {
	return r.checkPatch(ctx, r.applies(),
		func(by *Resource) error { return by.askApply(ctx, name, body, options, sub) })
}

// checkJSONPatch is checkApply for a JSON patch.
func (r *Resource) checkJSONPatch(ctx context.Context, name string, options metav1.PatchOptions) error {
	return r.checkPatch(ctx, r.patches(), func(by *Resource) error { return by.askJSONPatch(ctx, name, options) })
}

// checkPatch asks whether the server receives the dryRun of a kind of patch. After a dryRun has arrived, checkPatch
// doesn't ask again for a while. The question doesn't count as a request of r. The server may refuse the question for
// another reason, which shows nothing about dryRun and is no error. Among refusals, only a denial by the authorizer is
// an error: the server would deny the patch, too.
func (r *Resource) checkPatch(ctx context.Context, kind string, ask func(by *Resource) error) error {
	err := r.server.dryRuns.check(ctx, kind, dryRunAge, func() error { return ask(r.Beside()) })
	if authresilience.Classify(err) != authresilience.ClassAuthorization &&
		slices.ContainsFunc(answer.Statuses(err), answer.IsRefusal) {
		return nil
	}
	return err
}

// askApply sends an apply with a dryRun that a server refuses, for an object that doesn't exist. A server that doesn't
// receive the dryRun refuses the apply for another reason, which is an error.
func (r *Resource) askApply(ctx context.Context, name string, body []byte, options metav1.PatchOptions,
	sub []string) error {
	absent, err := forNone(body, sub)
	if err != nil {
		return err
	}
	ctx, _ = warnings.Collect(ctx)
	options.DryRun = refusedDryRun
	_, err = r.patch(ctx, name, types.ApplyPatchType, absent, options, sub...)
	return dropped(err)
}

// askJSONPatch sends a JSON patch with a dryRun that a server refuses. The patch changes no object, whatever its uid.
func (r *Resource) askJSONPatch(ctx context.Context, name string, options metav1.PatchOptions) error {
	ctx, _ = warnings.Collect(ctx)
	options.DryRun = refusedDryRun
	_, err := r.patch(ctx, name, types.JSONPatchType,
		[]byte(`[{"op":"test","path":"/metadata/uid","value":"`+absentUID+`"}]`), options)
	return dropped(err)
}

// dropped evaluates the answer to a patch with a dryRun that a server refuses. It returns no error if the server
// refused the dryRun, and [ErrDropped] if the server looked at the object instead.
func dropped(err error) error {
	switch {
	case slices.ContainsFunc(answer.Statuses(err), answer.RefusesDryRun):
		return nil
	case err == nil, apierrors.IsConflict(err), apierrors.IsInvalid(err):
		return ErrDropped
	}
	return err
}

// forNone returns the body of an apply that writes nothing, whether the object is there or not.
func forNone(body []byte, sub []string) ([]byte, error) {
	var content map[string]any
	if json.Unmarshal(body, &content) != nil {
		return nil, errors.New("the plan's patch is not an object")
	}
	if err := scale.Check(strings.Join(sub, "/"), content); err != nil {
		return nil, err
	}
	if err := unstructured.SetNestedField(content, absentUID, "metadata", "uid"); err != nil {
		return nil, err
	}
	return json.Marshal(content)
}

// AskApply returns an error unless the server shows now that it receives the dryRun of an apply. The question counts as
// a request of r.
func (r *Resource) AskApply(ctx context.Context, name string, body []byte, options metav1.PatchOptions,
	sub ...string) error {
	return r.server.dryRuns.check(ctx, r.applies(), 0,
		func() error { return r.askApply(ctx, name, body, options, sub) })
}

// CheckDelete returns an error if the server doesn't receive the dryRun of a delete. It is called before a dry run is
// sent: without its dryRun, that delete would delete the object. CheckDelete sends a delete of an object that doesn't
// exist, with a dryRun that a server refuses. After a dryRun has arrived, CheckDelete doesn't ask again for a while.
// The question doesn't count as a request of r. The server may refuse the delete for another reason, which shows
// nothing about dryRun and is no error.
func (r *Resource) CheckDelete(ctx context.Context) error {
	err := r.server.dryRuns.check(ctx, "delete", dryRunAge, func() error {
		return r.Beside().askDelete(ctx)
	})
	if slices.ContainsFunc(answer.Statuses(err), answer.IsRefusal) {
		return nil
	}
	return err
}

func (r *Resource) askDelete(ctx context.Context) error {
	ctx, _ = warnings.Collect(ctx)
	options := metav1.DeleteOptions{DryRun: refusedDryRun, Preconditions: metav1.NewUIDPreconditions(absentUID)}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	err := r.Delete(ctx, fmt.Sprintf("absent-%x", random), options)
	switch {
	case slices.ContainsFunc(answer.Statuses(err), answer.RefusesDryRun):
		return nil
	case err == nil, authresilience.Classify(err) == authresilience.ClassNotFound:
		return ErrDropped
	}
	return err
}
