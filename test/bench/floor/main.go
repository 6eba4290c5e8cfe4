// Floor does with client-go's dynamic client what takes two requests for any planner: it reads the live object and has
// the server try the apply. It compares nothing, so it gives no answers.
package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/ssaplan/primitives/test/bench/driver"
)

func main() { driver.Main(prepare) }

func prepare(setup driver.Setup) (driver.Round, error) {
	objects, err := setup.Objects()
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(setup.Config)
	if err != nil {
		return nil, err
	}
	options := metav1.ApplyOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: driver.Manager, Force: true}
	return func(ctx context.Context) ([]bool, error) {
		return nil, driver.Each(len(objects), setup.Concurrency, func(i int) error {
			object := objects[i]
			resource := client.Resource(driver.Resource(object)).Namespace(object.GetNamespace())
			if _, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{}); err != nil {
				return err
			}
			_, err := resource.Apply(ctx, object.GetName(), object, options)
			return err
		})
	}, nil
}
