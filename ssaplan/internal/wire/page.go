package wire

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/internal/native"
)

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

// Keep returns the object of a list as if it had been read. It reports false if it isn't one.
func (r *Resource) Keep(ctx context.Context, l native.Listed) (*unstructured.Unstructured, bool) {
	whole, ok := r.objects.(native.Pager)
	if !ok {
		return nil, false
	}
	return whole.Keep(ctx, l)
}
