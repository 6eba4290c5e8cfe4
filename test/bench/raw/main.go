// Raw sends the two requests of a plan with nothing but HTTP and bodies made in advance, and compares the bytes of the
// answers. No planner can take less.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/test/bench/driver"
)

func main() { driver.Main(prepare) }

func prepare(setup driver.Setup) (driver.Round, error) {
	objects, err := setup.Objects()
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(setup.Config)
	if err != nil {
		return nil, err
	}
	urls, bodies := make([]string, len(objects)), make([][]byte, len(objects))
	for i, object := range objects {
		urls[i] = strings.TrimSuffix(setup.Config.Host, "/") + path(object)
		if bodies[i], err = object.MarshalJSON(); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context) ([]bool, error) {
		changed := make([]bool, len(objects))
		err := driver.Each(len(objects), setup.Concurrency, func(i int) error {
			live, err := send(ctx, client, http.MethodGet, urls[i], nil)
			if err != nil {
				return err
			}
			dryRun, err := send(ctx, client, http.MethodPatch, urls[i]+"?dryRun=All&force=true&fieldManager="+driver.Manager, bodies[i])
			changed[i] = !bytes.Equal(live, dryRun)
			return err
		})
		return changed, err
	}, nil
}

func path(object *unstructured.Unstructured) string {
	gvr := driver.Resource(object)
	root := "/apis/" + gvr.Group + "/" + gvr.Version
	if gvr.Group == "" {
		root = "/api/" + gvr.Version
	}
	return fmt.Sprintf("%s/namespaces/%s/%s/%s", root, object.GetNamespace(), gvr.Resource, object.GetName())
}

func send(ctx context.Context, client *http.Client, method, url string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/apply-patch+yaml")
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, url, response.Status, answer)
	}
	return answer, err
}
