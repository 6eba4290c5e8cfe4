package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
)

// Mapped resolves kinds with a RESTMapper, as [Server] requires. Embed it to implement a Server. A mapper with a Reset
// method is reset when it doesn't know a kind. A mapper takes no context, so its requests don't stop when the context
// ends.
type Mapped struct{ Mapper meta.RESTMapper }

// Resolve implements [Server].
func (m Mapped) Resolve(_ context.Context, kind schema.GroupVersionKind) (Kind, error) {
	found, err := m.find(kind)
	if meta.IsNoMatchError(err) && m.reset() { // the kind may have been installed since the mapper last looked
		found, err = m.find(kind)
	}
	return found, err
}

// Answered returns err, the error of a request, which may be nil. If the error says "page not found", the mapper is out
// of date, and Answered resets it.
func (m Mapped) Answered(err error) error {
	if authresilience.Classify(err) == authresilience.ClassTypeNotServed {
		m.reset()
	}
	return err
}

func (m Mapped) reset() bool {
	resettable, ok := m.Mapper.(meta.ResettableRESTMapper)
	if ok {
		resettable.Reset()
	}
	return ok
}

func (m Mapped) find(kind schema.GroupVersionKind) (Kind, error) {
	var versions []string
	if kind.Version != "" {
		versions = []string{kind.Version}
	} else if kind.Group == "" {
		group, err := m.group(kind)
		if err != nil {
			return Kind{}, err
		}
		kind.Group = group
	}
	mapping, err := m.Mapper.RESTMapping(kind.GroupKind(), versions...)
	if err != nil {
		return Kind{}, err
	}
	found := Kind{mapping.GroupVersionKind, mapping.Resource.Resource,
		mapping.Scope.Name() == meta.RESTScopeNameNamespace}
	if kind.Version != "" && found.Version != kind.Version { // a mapper for several versions may return another version
		return Kind{}, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: versions}
	}
	return found, nil
}

// group returns the first group that has the kind. A mapper can't look up the groups of a kind. It can look up
// resources, so group uses the usual resource name of the kind.
func (m Mapped) group(kind schema.GroupVersionKind) (string, error) {
	found, err := m.Mapper.KindFor(schema.GroupVersionResource{Resource: strings.ToLower(kind.Kind)})
	var several *meta.AmbiguousResourceError
	if errors.As(err, &several) && len(several.MatchingKinds) > 0 { // in the mapper's order
		found, err = several.MatchingKinds[0], nil
	}
	if err == nil && found.Kind != kind.Kind {
		err = &meta.NoKindMatchError{GroupKind: kind.GroupKind()}
	}
	return found.Group, err
}

// ListMetadata implements [Lister] with a page of whole objects. It is for clients that can't list metadata only.
func ListMetadata(ctx context.Context, from ObjectLister, kind Kind, namespace string,
	options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	list, err := from.ListObjects(ctx, kind, namespace, options)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(list.GetKind(), "List") {
		return nil, errors.New("the answer is no list: check the server's address")
	}
	page := &metav1.PartialObjectMetadataList{Items: make([]metav1.PartialObjectMetadata, len(list.Items))}
	page.ResourceVersion, page.Continue = list.GetResourceVersion(), list.GetContinue()
	page.RemainingItemCount = list.GetRemainingItemCount()
	for i, item := range list.Items {
		head := map[string]any{"apiVersion": item.GetAPIVersion(), "kind": item.GetKind(),
			"metadata": item.Object["metadata"]}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(head, &page.Items[i]); err != nil {
			return nil, fmt.Errorf("metadata: %w", err)
		}
	}
	return page, nil
}
