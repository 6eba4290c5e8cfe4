package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Versions implements [server.Versioner]. The text for a group and version is the URL of its OpenAPI document, which
// has a digest. The document has all that the schemas say, rules and defaults included.
func (d *Documents) Versions(ctx context.Context) (version string, schemas map[schema.GroupVersion]string, err error) {
	text, err := d.document(ctx, "/version")
	if err != nil && !isUnseen(err) {
		return "", nil, err
	}
	version = string(text)
	text, err = d.document(ctx, "/openapi/v3")
	switch {
	case isUnseen(err):
		return version, nil, nil
	case err != nil:
		return "", nil, err
	}
	var list struct {
		Paths map[string]struct {
			URL string `json:"serverRelativeURL"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(text, &list); err != nil || len(list.Paths) == 0 {
		return "", nil, errors.New("the answer is no list of OpenAPI documents: check the server's address")
	}
	for path, document := range list.Paths {
		if gv, ok := gvOf(path); ok {
			if schemas == nil {
				schemas = map[schema.GroupVersion]string{}
			}
			schemas[gv] = document.URL
		}
	}
	return version, schemas, nil
}

// isUnseen reports whether a document can't be read because the caller may not, or because there is none.
func isUnseen(err error) bool {
	class := authresilience.Classify(err)
	return apierrors.IsForbidden(err) || class == authresilience.ClassTypeNotServed ||
		class == authresilience.ClassNotFound
}

// gvOf returns the group and version of a path without its first slash, such as apis/apps/v1, and whether it is one.
func gvOf(path string) (schema.GroupVersion, bool) {
	parts := strings.Split(path, "/")
	switch {
	case len(parts) == 2 && parts[0] == "api":
		return schema.GroupVersion{Version: parts[1]}, true
	case len(parts) == 3 && parts[0] == "apis":
		return schema.GroupVersion{Group: parts[1], Version: parts[2]}, true
	}
	return schema.GroupVersion{}, false
}

// Schemas implements [server.SchemaReader].
func (d *Documents) Schemas(ctx context.Context, gv schema.GroupVersion) ([]byte, error) {
	text, err := d.document(ctx, "/openapi/v3"+pathOf(gv))
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return text, err
}

// document reads what is no object.
func (d *Documents) document(ctx context.Context, path string) (text []byte, err error) {
	err = d.send(ctx, server.Observation{Verb: "discover"}, func(ctx context.Context) error {
		text, err = BodyOf(d.client.Get().MaxRetries(0).AbsPath(path).Do(ctx))
		return err
	})
	return text, err
}
