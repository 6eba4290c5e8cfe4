package wire

import (
	"context"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/ssaplan/server"
)

// Documents reads what is no object with a REST client of the caller: the list of kinds, the version and the schemas.
type Documents struct{ kinds *discoveredKinds }

// NewDocuments returns the documents of a REST client. Requests are not sent again.
func NewDocuments(client rest.Interface) Documents {
	return Documents{&discoveredKinds{client: client, sender: Options{ThrottleRetries: -1}.sender()}}
}

// Kinds is that of [server.Discoverer].
func (d Documents) Kinds(ctx context.Context) ([]server.Kind, []schema.GroupVersion, error) {
	found, err := d.kinds.deletable(ctx)
	return found.Kinds, found.Stale, err
}

// Versions is that of [server.Versioner].
func (d Documents) Versions(ctx context.Context) (string, map[schema.GroupVersion]string, error) {
	seen, err := d.kinds.definitions(ctx)
	if err != nil {
		return "", nil, err
	}
	version := seen.prints[""]
	if len(seen.unseen) > 0 {
		version = ""
	}
	var schemas map[schema.GroupVersion]string
	for path, text := range seen.prints {
		if gv, ok := gvOf(path); ok {
			if schemas == nil {
				schemas = map[schema.GroupVersion]string{}
			}
			schemas[gv] = text
		}
	}
	return version, schemas, nil
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

// Schemas is that of [server.SchemaReader].
func (d Documents) Schemas(ctx context.Context, gv schema.GroupVersion) ([]byte, error) {
	text, err := d.kinds.schemas(ctx, gv)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return text, err
}
