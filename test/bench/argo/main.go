// Argo plans with the server-side diff of Argo CD's GitOps engine. Argo CD has the live objects from watching them;
// here each is read, as the other tools do.
package main

import (
	"context"

	"github.com/argoproj/argo-cd/gitops-engine/pkg/diff"
	utils "github.com/argoproj/argo-cd/gitops-engine/pkg/utils/io"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/argo-cd/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/test/bench/driver"
)

func main() { driver.Main(prepare) }

func prepare(setup driver.Setup) (driver.Round, error) {
	objects, err := setup.Objects()
	if err != nil {
		return nil, err
	}
	utils.TempDir = setup.Dir
	// The engine sends its dry runs with clients of its own making, so the requests for an object are counted
	// beforehand.
	requests, err := count(setup, objects[0])
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(setup.Config)
	config.WrapTransport = nil
	differ, err := newDiffer(config)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) ([]bool, error) {
		setup.Requests.Add(requests * int64(len(objects)))
		changed := make([]bool, len(objects))
		err := driver.Each(len(objects), setup.Concurrency, func(i int) (err error) {
			changed[i], err = differ.differs(ctx, objects[i])
			return err
		})
		return changed, err
	}, nil
}

// count returns how many requests an object takes that isn't the first.
func count(setup driver.Setup, object *unstructured.Unstructured) (int64, error) {
	var first int64
	all, err := setup.CountAt(func(server string) error {
		differ, err := newDiffer(&rest.Config{Host: server, QPS: -1})
		if err != nil {
			return err
		}
		before := setup.Requests.Load()
		if _, err := differ.differs(context.Background(), object); err != nil {
			return err
		}
		first = setup.Requests.Load() - before
		_, err = differ.differs(context.Background(), object)
		return err
	})
	return all - first, err
}

type differ struct {
	client  dynamic.Interface
	options []diff.Option
}

func newDiffer(config *rest.Config) (*differ, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	engine := &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}}
	_, parser, err := engine.LoadOpenAPISchema(config)
	if err != nil {
		return nil, err
	}
	applier, _, err := engine.ManageServerSideDiffDryRuns(config)
	if err != nil {
		return nil, err
	}
	return &differ{client, []diff.Option{
		diff.WithLogr(logr.Discard()), diff.WithManager(driver.Manager), diff.WithGVKParser(parser),
		diff.WithServerSideDiff(true), diff.WithServerSideDryRunner(diff.NewK8sServerSideDryRunner(applier)),
	}}, nil
}

func (d *differ) differs(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	live, err := d.client.Resource(driver.Resource(object)).Namespace(object.GetNamespace()).Get(ctx, object.GetName(),
		metav1.GetOptions{})
	if err != nil {
		return false, err
	}
	result, err := diff.ServerSideDiff(object, live, d.options...)
	if err != nil {
		return false, err
	}
	return result.Modified, nil
}
