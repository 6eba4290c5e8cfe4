package wire

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/native"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// ErrNoLister says that a server of the caller can't list objects.
var ErrNoLister = errors.New("the server that the planner was made for can't list objects (server.Lister)")

var errNoObjectLister = errors.New(
	"the server that the planner was made for can't list whole objects (server.ObjectLister)")

// Count returns how many objects there are, and whether there are more that the server didn't count. It reads one of
// them.
func (r *Resource) Count(ctx context.Context) (n int, more bool, err error) {
	list, err := r.list(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return 0, false, err
	}
	n = len(list.Items)
	if remaining := list.GetRemainingItemCount(); remaining != nil {
		return n + int(*remaining), false, nil
	}
	return n, list.GetContinue() != "", nil
}

// First returns the metadata of the first objects, no more than n, and whether there are more.
func (r *Resource) First(ctx context.Context, n int64) (objects []unstructured.Unstructured, more bool, err error) {
	list, err := r.list(ctx, metav1.ListOptions{Limit: n})
	if err != nil {
		return nil, false, err
	}
	return list.Items, list.GetContinue() != "", nil
}

// Versions returns a digest that differs after each change of the objects. It reads the metadata of all objects.
func (r *Resource) Versions(ctx context.Context) (string, error) {
	const page, pages = 250, 1000 // the metadata of an object can take some 10 KB
	digest := sha256.New()
	options := metav1.ListOptions{Limit: page}
	for range pages {
		list, err := r.list(ctx, options)
		if err != nil {
			return "", err
		}
		for _, item := range list.Items {
			digest.Write([]byte(string(item.GetUID()) + " " + item.GetResourceVersion() + "\n"))
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return hex.EncodeToString(digest.Sum(nil)), nil
		}
	}
	return "", fmt.Errorf("the list of %s has no end", foreign.Text(r.object.Kind))
}

// list reads the metadata of objects.
func (r *Resource) list(ctx context.Context,
	options metav1.ListOptions) (list *unstructured.UnstructuredList, err error) {
	if !r.server.lists {
		return nil, ErrNoLister
	}
	err = r.send(ctx, "list", "", nil, func(ctx context.Context) error {
		list, err = r.objects.List(ctx, options)
		return err
	})
	if err == nil && !strings.HasSuffix(list.GetKind(), "List") {
		return nil, secrecy.Quoting(
			fmt.Sprintf("the answer is no list of %s: check the server's address", foreign.Text(r.object.Kind)),
			"kind %q", list.GetKind())
	}
	return list, err
}

// Page lists whole objects.
func (r *Resource) Page(ctx context.Context, options metav1.ListOptions) (p *native.Page, err error) {
	whole, ok := r.objects.(native.Pager)
	if !ok {
		return nil, errNoObjectLister
	}
	err = r.send(ctx, "list", "", nil, func(ctx context.Context) error {
		p, err = whole.Page(ctx, options)
		return err
	})
	return p, err
}

// Keep returns the object of an entry of a list, as a read would return it. It reports false if the entry holds no
// object.
func (r *Resource) Keep(ctx context.Context, l native.Listed) (*unstructured.Unstructured, bool) {
	whole, ok := r.objects.(native.Pager)
	if !ok {
		return nil, false
	}
	return whole.Keep(ctx, l)
}

// mostNamespaces is how many namespaces are listed.
const mostNamespaces = 500

// NamespaceNames returns the names of the server's namespaces, or of some if there are very many.
func (s *Server) NamespaceNames(ctx context.Context) (names []string, err error) {
	list, err := s.cluster(namespaceKind).list(ctx, metav1.ListOptions{Limit: mostNamespaces})
	if err != nil {
		return nil, err
	}
	for _, item := range list.Items {
		names = append(names, item.GetName())
	}
	return names, nil
}
