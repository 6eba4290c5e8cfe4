package wire

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Kinds returns the kinds that the server serves, each as its apiVersion and kind with a blank between them.
func (s *Server) Kinds(ctx context.Context) (names []string, err error) {
	found, err := s.kinds.deletable(ctx)
	for _, kind := range found.Kinds {
		names = append(names, kind.GroupVersion().String()+" "+kind.Kind)
	}
	return names, err
}

var namespaceKind = server.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, Resource: "namespaces"}

// mostNamespaces is how many namespaces are listed.
const mostNamespaces = 500

// Namespaces returns the names of the server's namespaces, or of some if there are very many.
func (s *Server) Namespaces(ctx context.Context) (names []string, err error) {
	namespaces := s.Resource(namespaceKind, identity.Identity{APIVersion: "v1", Kind: "Namespace"})
	list, err := namespaces.list(ctx, metav1.ListOptions{Limit: mostNamespaces})
	if err != nil {
		return nil, err
	}
	for _, item := range list.Items {
		names = append(names, item.GetName())
	}
	return names, nil
}
