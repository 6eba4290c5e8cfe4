package ctrlssaplan

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrRestored says that the server has an older version of an object than the informers, since its etcd was restored
// from a backup. Informers don't notice that. So restart the controller after this error, for example by ending the
// process.
var ErrRestored = errors.New(
	"the server has an older version of it than the informers, so it was restored from a backup: restart the controller")

var errAnother = errors.New("the server has another object than the informers: it was re-created meanwhile")

// confirm returns an error unless the owner is on the server as the informers have it, or newer. The guards of the
// children don't tell that: of a child that isn't as the informers have it, the plan is made of what is there, for an
// owner that in the server's history may never have wanted that.
func (k *Kit) confirm(ctx context.Context, owner client.Object) error {
	now := owner.DeepCopyObject().(client.Object)
	err := k.Client.Read(ctx, now)
	if err == nil {
		err = follows(owner, now)
	}
	if err != nil {
		return fmt.Errorf("nothing is written for this owner: %w", err)
	}
	return nil
}

// isOtherHistory reports whether an error says that the informers have another owner than the server, of which there is
// nothing to report.
func isOtherHistory(err error) bool {
	return errors.Is(err, ErrRestored) || errors.Is(err, errAnother) || apierrors.IsNotFound(err)
}

// follows returns an error if an object doesn't come after another one in the history of a server.
func follows(before, now client.Object) error {
	switch {
	case before.GetUID() != now.GetUID():
		return errAnother
	case isOlder(now.GetResourceVersion(), before.GetResourceVersion()):
		return ErrRestored
	}
	return nil
}

// isOlder compares versions as servers count them. Of others nobody knows.
func isOlder(version, than string) bool {
	a, errA := strconv.ParseUint(version, 10, 64)
	b, errB := strconv.ParseUint(than, 10, 64)
	return errA == nil && errB == nil && a < b
}
