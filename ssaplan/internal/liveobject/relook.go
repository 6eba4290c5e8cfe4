package liveobject

import (
	"context"
	"errors"
	"reflect"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/managedfields"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// Relook reads the object after a dry run whose answer has another version than live. live is the object that was read
// right before the dry run, nil if there was none. Others may have written in between. But if the object now has
// exactly the values that the dry run tried, the dry run wrote them, and that is an error. The exception is a server
// that confirms that it receives the dryRun of such requests: then another run of the same program wrote them. An
// object that is older than what was seen of it comes from a cache, which is an error, too.
func (t *Target) Relook(ctx context.Context, live, answer *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	now, err := t.Live(ctx)
	if err == nil {
		err = t.Verify(ctx, live, answer, now, body, options)
	}
	if err == nil && older(now, answer) {
		err = fromCache(answer, now)
	}
	if err != nil {
		return nil, err
	}
	return now, nil
}

// Verify makes the checks of [Target.Relook] on an object that the caller has read, maybe before the answer.
func (t *Target) Verify(ctx context.Context, live, answer, now *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions) error {
	if now == nil {
		return nil
	}
	if wrote(live, answer, now, fieldowner.Applier{Manager: options.FieldManager, Subresource: t.subresource}) {
		switch err := t.ask(ctx, t.Beside(), body, options); {
		case errors.Is(err, wire.ErrDropped):
			return precondition.DryRunWrote(now)
		case err != nil:
			return secrecy.Quoting(
				"the dry run wrote, or another client wrote the same at that moment: the object has the values that "+
					"it tried, and "+
					"the server may not receive dryRun", "resourceVersion %q", now.GetResourceVersion())
		}
	}
	for _, then := range []*unstructured.Unstructured{answer, now} {
		if older(then, live) {
			return fromCache(live, then)
		}
	}
	return nil
}

// fromCache says that the server's second answer is older than the first.
func fromCache(first, then *unstructured.Unstructured) error {
	return secrecy.Quoting(
		"the second of the server's answers is the older one: something in front of the server answers from a cache",
		"resourceVersion %q and then %q", first.GetResourceVersion(), then.GetResourceVersion())
}

// wrote reports whether the object now equals the answer to a dry run of the applier, and didn't before. The same entry
// of the applier in managedFields is enough, since controllers change an object as soon as it is written.
func wrote(live, answer, now *unstructured.Unstructured, applier fieldowner.Applier) bool {
	before, tried, after := recordOf(live, applier), recordOf(answer, applier), recordOf(now, applier)
	if explain.Equal(now.Object, answer.Object) {
		return before == nil || !reflect.DeepEqual(before, tried) || !sameButStatus(live, answer)
	}
	return tried != nil && !reflect.DeepEqual(before, tried) && reflect.DeepEqual(tried, after)
}

// recordOf returns the applier's entry in the managedFields of an object, nil if it has none.
func recordOf(obj *unstructured.Unstructured, applier fieldowner.Applier) map[string]any {
	if obj == nil {
		return nil
	}
	for entry := range managedfields.All(obj.Object) {
		if applier.Is(fieldowner.Owner(entry.Owner)) {
			return entry.Whole
		}
	}
	return nil
}

// older reports whether a is certainly an earlier version of the object that b is.
func older(a, b *unstructured.Unstructured) bool {
	if a == nil || b == nil || a.GetUID() != b.GetUID() {
		return false
	}
	versionA, errA := strconv.ParseUint(a.GetResourceVersion(), 10, 64)
	versionB, errB := strconv.ParseUint(b.GetResourceVersion(), 10, 64)
	return errA == nil && errB == nil && versionA < versionB
}
