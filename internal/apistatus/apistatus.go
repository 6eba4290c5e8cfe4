// Package apistatus finds API statuses in errors.
package apistatus

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// All returns the API statuses in the tree of err, depth first: wrapped (%w), joined ([errors.Join]) or in apimachinery's
// Aggregate, of which errors.As finds only one or none.
func All(err error) []metav1.Status {
	switch e := err.(type) {
	case nil:
		return nil
	case *apierrors.StatusError:
		if e == nil { // its method Status would panic
			return nil
		}
		return []metav1.Status{e.Status()}
	case interface{ Status() metav1.Status }:
		return []metav1.Status{e.Status()}
	case interface{ Unwrap() []error }:
		return ofEach(e.Unwrap())
	case interface{ Errors() []error }: // apimachinery's Aggregate has no Unwrap
		return ofEach(e.Errors())
	}
	return All(errors.Unwrap(err))
}

func ofEach(errs []error) []metav1.Status {
	var found []metav1.Status
	for _, err := range errs {
		found = append(found, All(err)...)
	}
	return found
}
