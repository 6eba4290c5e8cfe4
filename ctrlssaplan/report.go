package ctrlssaplan

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// statusAttempts is how often the kit writes a status if the owner changes meanwhile.
const statusAttempts = 3

// report writes the status if that changes it, and events for what was written and for what is newly in the way. The
// informer's owner may be old; then the server rejects the write, and the owner is read again. Got is the owner before
// the caller changed it, nil if that isn't known.
func (k *Kit) report(ctx context.Context, owner, got client.Object, outcomes []outcome) error {
	count(outcomes)
	k.announceWrites(owner, outcomes)
	wanted := owner.DeepCopyObject().(client.Object)
	for attempt := 1; ; attempt++ {
		seen, err := k.seen(ctx, wanted, attempt > 1)
		if err != nil {
			return client.IgnoreNotFound(err)
		}
		if got == nil && isSameEdition(seen, wanted) {
			got = seen
		}
		var unclear []projection.Path
		if attempt > 1 || !isSameEdition(seen, wanted) {
			if unclear, err = k.rebase(owner, got, wanted, seen); err != nil {
				return err
			}
		}
		had := k.setConditions(owner, seen, outcomes)
		if err = k.writeStatus(ctx, owner, seen); err == nil {
			conditions, _ := k.options.Conditions(owner)
			k.announceConditions(owner, *conditions, had)
			if len(unclear) > 0 {
				err = apierrors.NewConflict(schema.GroupResource{}, owner.GetName(), fmt.Errorf(
					"the owner is older than what others wrote to its status, and has other values there: %s",
					foreign.Text(lines(unclear))))
			}
			return err
		}
		if !apierrors.IsConflict(err) || attempt == statusAttempts {
			return client.IgnoreNotFound(err)
		}
	}
}

// setConditions sets the kit's conditions of an owner, given the owner as it was seen last, and returns the conditions
// that it had. Those of others stay as they are.
func (k *Kit) setConditions(owner, seen client.Object, outcomes []outcome) (had []metav1.Condition) {
	conditions, observed := k.options.Conditions(owner)
	last, _ := k.options.Conditions(seen)
	had = slices.Clone(*conditions)
	for _, condition := range *last {
		i := slices.IndexFunc(had, func(c metav1.Condition) bool { return c.Type == condition.Type })
		switch {
		case !isKits(condition.Type):
		case i < 0:
			had = append(had, condition)
		default:
			had[i] = condition
		}
	}
	if *conditions = nextConditions(had, owner.GetGeneration(), outcomes); observed != nil {
		*observed = owner.GetGeneration()
	}
	return had
}
