// Package precondition adds the uid and the resourceVersion of an object to requests, so that the server carries out a
// request only on the object and the version that were seen. It also checks answers: whether an answer is about that
// object, whether a write was only tried, and whether a dry run was carried out.
package precondition

import (
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// AbsentVersion is a resourceVersion that no object has. An apply with it creates the object or fails. If the object
// doesn't exist, the server ignores the version, and the answer to a dry run has it. If the object exists, the server
// answers 409.
const AbsentVersion = "1"

// Complete returns an error unless an object in an answer has the uid and the resourceVersion that guard a write.
func Complete(obj *unstructured.Unstructured) error {
	for name, value := range map[string]string{"resourceVersion": obj.GetResourceVersion(),
		"uid": string(obj.GetUID())} {
		if value == "" {
			return fmt.Errorf("the answer has no metadata.%s that is a string, so nothing could be written safely: "+
				"check the proxies in front of the server", name)
		}
	}
	return nil
}

// Another returns an error if two objects have the same resourceVersion and different uids. The result is nil if one of
// the objects is nil. A new object of the same name is no explanation: a server gives each version to one object.
func Another(seen, now *unstructured.Unstructured) error {
	if seen == nil || now == nil || now.GetResourceVersion() != seen.GetResourceVersion() ||
		now.GetUID() == seen.GetUID() {
		return nil
	}
	return secrecy.Quoting("the answer is another object of the same version: check the proxies in front of the server",
		"its uid is %q and not %q", now.GetUID(), seen.GetUID())
}

// Outdated returns the error with which a server refuses a request for another version of the object.
func Outdated(resource schema.GroupResource, name string) error {
	return apierrors.NewConflict(resource, name, errors.New("the object has been modified"))
}

// IsOutdated reports whether an error says that the object has another version than the one in the request.
func IsOutdated(err error) bool { return authresilience.Classify(err) == authresilience.ClassOutdated }
