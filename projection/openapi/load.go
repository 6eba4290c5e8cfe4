package openapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/client-go/openapi"
)

// load fetches and reads the document of a group and version.
func load(version openapi.GroupVersion) (*schema, error) {
	text, err := version.Schema("application/json")
	if err != nil {
		return nil, fmt.Errorf("get the schema %s: %w", version.ServerRelativeURL(), err)
	}
	converter, err := openapi.NewTypeConverter(document(text), false)
	if err != nil {
		return nil, fmt.Errorf("read the schema %s: %w", version.ServerRelativeURL(), err)
	}
	withStatus, err := statusKinds(text)
	if err != nil {
		return nil, fmt.Errorf("read the schema %s: %w", version.ServerRelativeURL(), err)
	}
	return &schema{converter, withStatus}, nil
}

// document is a client that has one document, so that client-go makes a converter of that document alone. This way no
// type of kube-openapi has to be named.
type document []byte

func (d document) Paths() (map[string]openapi.GroupVersion, error) {
	return map[string]openapi.GroupVersion{"": d}, nil
}

func (d document) Schema(string) ([]byte, error) { return d, nil }

func (d document) ServerRelativeURL() string { return "" }

// statusKinds returns the kinds of a document that have a status subresource.
func statusKinds(text []byte) (map[string]bool, error) {
	var document struct {
		Paths map[string]struct {
			Patch struct {
				Kind struct {
					Kind string `json:"kind"`
				} `json:"x-kubernetes-group-version-kind"`
			} `json:"patch"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	kinds := map[string]bool{}
	for path, operations := range document.Paths {
		if strings.HasSuffix(path, "/{name}/status") {
			kinds[operations.Patch.Kind.Kind] = true
		}
	}
	return kinds, nil
}
