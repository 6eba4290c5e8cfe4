package wire

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// passwordsAge is how old the knowledge may be which fields are passwords.
const passwordsAge = time.Minute

// everything is the pattern of all fields of an object of whose definition nothing is known.
const everything = "*"

// Passwords returns the fields of a kind that its definition marks with the format password, as far as it was located with
// [Options.Passwords].
func (s *Server) Passwords(kind schema.GroupVersionKind) projection.Patterns {
	found, _ := s.passwords.Load(kind)
	patterns, _ := found.(projection.Patterns)
	return patterns
}

// learn finds out which fields of a kind are passwords. Only the definitions of custom resources are read: the kinds of
// Kubernetes mark none. If the definition can't be read, all fields are.
func (s *Server) learn(ctx context.Context, kind schema.GroupVersionKind, resource schema.GroupVersionResource) {
	if !strings.Contains(kind.Group, ".") {
		return
	}
	seen, err := s.views.of("passwords of "+kind.String()).look(ctx, passwordsAge, func(ctx context.Context) (view, error) {
		definition, err := s.schemaOf(ctx, kind, resource)
		if err != nil {
			return view{}, err
		}
		return view{prints: prints(secrecy.Passwords(definition))}, nil
	})
	texts := seen.prints
	if err != nil {
		texts = map[string]string{everything: ""}
	}
	var patterns projection.Patterns
	for text := range texts {
		if p, err := projection.ParsePattern(text); err == nil { // as it was one before
			patterns = append(patterns, p)
		}
	}
	s.passwords.Store(kind, patterns)
}

func prints(patterns projection.Patterns) map[string]string {
	texts := map[string]string{}
	for _, p := range patterns {
		texts[p.String()] = ""
	}
	return texts
}

// schemaOf returns the schema of a kind, nil if it isn't a custom resource. The definition knows first. Who may not read that
// may read the document of all schemas of the group and version.
func (s *Server) schemaOf(ctx context.Context, kind schema.GroupVersionKind, resource schema.GroupVersionResource) (map[string]any, error) {
	definitions := s.Resource(schema.GroupVersionResource{}, identity.Identity{}).Definitions()
	definition, err := definitions.Get(ctx, resource.GroupResource().String(), metav1.GetOptions{})
	switch class := authresilience.Classify(err); {
	case err == nil:
		return schemaIn(definition.Object, kind.Version)
	case class == authresilience.ClassNotFound, class == authresilience.ClassTypeNotServed:
		return nil, nil
	}
	text, documentErr := s.kinds.schemas(ctx, kind.GroupVersion())
	if documentErr != nil {
		return nil, errors.Join(err, documentErr)
	}
	return schemaAmong(text, kind)
}

// errNoSchema says that a definition, or a document, has no schema of a kind.
var errNoSchema = errors.New("no schema of the kind")

// schemaIn returns the schema of a version from a definition.
func schemaIn(definition map[string]any, version string) (map[string]any, error) {
	spec, _ := definition["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		v, _ := v.(map[string]any)
		if v["name"] != version {
			continue
		}
		schemas, _ := v["schema"].(map[string]any)
		if found, ok := schemas["openAPIV3Schema"].(map[string]any); ok {
			return found, nil
		}
	}
	return nil, errNoSchema
}

// schemaAmong returns the schema of a kind from a document.
func schemaAmong(text []byte, kind schema.GroupVersionKind) (map[string]any, error) {
	var document struct {
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	for _, found := range document.Components.Schemas {
		kinds, _ := found["x-kubernetes-group-version-kind"].([]any)
		for _, of := range kinds {
			of, _ := of.(map[string]any)
			if of["group"] == kind.Group && of["version"] == kind.Version && of["kind"] == kind.Kind {
				return found, nil
			}
		}
	}
	return nil, errNoSchema
}

func (d *discoveredKinds) schemas(ctx context.Context, gv schema.GroupVersion) ([]byte, error) {
	return d.document(ctx, "/openapi/v3"+pathOf(gv))
}

// schemas has none: a host's client can't be asked for what is no object.
func (m mappedKinds) schemas(context.Context, schema.GroupVersion) ([]byte, error) {
	return nil, errNoSchema
}
