package driver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// Raw sends requests about the manifests with nothing but HTTP and bodies made in advance.
type Raw struct {
	client *http.Client
	lists  []string // of the manifests: the URLs of their kinds in their namespaces
	urls   []string
	bodies [][]byte
}

// Raw returns what to send for the manifests.
func (s Setup) Raw() (*Raw, error) {
	objects, err := s.Objects()
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(s.Config)
	if err != nil {
		return nil, err
	}
	r := &Raw{client: client}
	for _, object := range objects {
		body, err := object.MarshalJSON()
		if err != nil {
			return nil, err
		}
		list := strings.TrimSuffix(s.Config.Host, "/") + path(object)
		r.lists, r.urls, r.bodies = append(r.lists, list), append(r.urls, list+"/"+object.GetName()),
			append(r.bodies, body)
	}
	return r, nil
}

// Len returns the number of manifests.
func (r *Raw) Len() int { return len(r.urls) }

// Get reads the object of a manifest.
func (r *Raw) Get(ctx context.Context, i int) ([]byte, error) {
	return r.send(ctx, http.MethodGet, r.urls[i], nil)
}

// DryRun applies a manifest as a dry run.
func (r *Raw) DryRun(ctx context.Context, i int) ([]byte, error) {
	return r.send(ctx, http.MethodPatch,
		r.urls[i]+"?dryRun=All&force=true&fieldValidation=Ignore&fieldManager="+Manager, r.bodies[i])
}

// List reads the first page of the objects of a manifest's kind in its namespace.
func (r *Raw) List(ctx context.Context, i, limit int) ([]byte, error) {
	return r.send(ctx, http.MethodGet, fmt.Sprintf("%s?limit=%d", r.lists[i], limit), nil)
}

func path(object *unstructured.Unstructured) string {
	gvr := Resource(object)
	root := "/apis/" + gvr.Group + "/" + gvr.Version
	if gvr.Group == "" {
		root = "/api/" + gvr.Version
	}
	return fmt.Sprintf("%s/namespaces/%s/%s", root, object.GetNamespace(), gvr.Resource)
}

func (r *Raw) send(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/apply-patch+yaml")
	response, err := r.client.Do(request)
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
