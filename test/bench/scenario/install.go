package scenario

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/test/bench/driver"
)

// Cluster is the server that is planned for.
type Cluster struct{ client dynamic.Interface }

// NewCluster prepares a server: with the namespace, and with the definition of the custom resources.
func NewCluster(ctx context.Context, client dynamic.Interface) (*Cluster, error) {
	c := &Cluster{client}
	namespace := parse("{apiVersion: v1, kind: Namespace, metadata: {name: " + Namespace + "}}")
	if err := errors.Join(c.apply(ctx, namespace), c.apply(ctx, parse(definitionYAML))); err != nil {
		return nil, err
	}
	return c, c.awaitDefinition(ctx)
}

// awaitDefinition returns when the server can apply custom resources, which takes a moment longer than serving them.
func (c *Cluster) awaitDefinition(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := c.apply(ctx, Gadget(0, 1<<10))
		if err == nil || ctx.Err() != nil || !apierrors.IsNotFound(err) && !apierrors.IsInternalError(err) {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// Apply applies n manifests.
func (c *Cluster) Apply(ctx context.Context, n int, manifest func(i int) *unstructured.Unstructured) error {
	return driver.Each(n, 8, func(i int) error { return c.apply(ctx, manifest(i)) })
}

// Get returns an object as it is on the server.
func (c *Cluster) Get(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return c.resource(object).Get(ctx, object.GetName(), metav1.GetOptions{})
}

func (c *Cluster) apply(ctx context.Context, object *unstructured.Unstructured) error {
	options := metav1.ApplyOptions{FieldManager: driver.Manager, Force: true}
	if _, err := c.resource(object).Apply(ctx, object.GetName(), object, options); err != nil {
		return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

func (c *Cluster) resource(object *unstructured.Unstructured) dynamic.ResourceInterface {
	resource := c.client.Resource(driver.Resource(object))
	if object.GetNamespace() == "" {
		return resource
	}
	return resource.Namespace(object.GetNamespace())
}
