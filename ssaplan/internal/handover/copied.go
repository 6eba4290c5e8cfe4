package handover

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
)

// withCopy returns the object that an apply of the body makes with the copy of the body that a server puts into it, if
// it does; see [precondition.Copied]. What was tried is another body, with the fields in it that are given up, or an
// update, which copies nothing. It is read and written as a server does. Source: applyPatcher in
// k8s.io/apiserver/pkg/endpoints/handlers, and buildLastApplied in k8s.io/apimachinery/pkg/util/managedfields/internal.
func withCopy(made *unstructured.Unstructured, body []byte, manager string) (*unstructured.Unstructured, error) {
	if !precondition.Copied(nil, made, manager) {
		return made, nil
	}
	sent := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(body, &sent.Object); err != nil {
		return nil, fmt.Errorf("the manifest is no object: %w", err)
	}
	annotations := sent.GetAnnotations()
	delete(annotations, kinds.LastApplied)
	sent.SetAnnotations(annotations)
	text, err := runtime.Encode(unstructured.UnstructuredJSONScheme, sent)
	if err != nil {
		return nil, err
	}
	out := made.DeepCopy()
	annotations = out.GetAnnotations() // as there is one of them
	annotations[kinds.LastApplied] = string(text)
	out.SetAnnotations(annotations)
	return out, nil
}
