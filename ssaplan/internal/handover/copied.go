package handover

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan/internal/precondition"
)

// withCopy returns made, the object that an apply of the body makes, with a copy of the body in an annotation, if the
// server puts one there; see [precondition.Copied]. The dry run was of another body, which has the given-up fields, or
// it was an update, which copies nothing. The body is decoded and encoded as a server does. Source: applyPatcher in
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
