package passwords

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// marksInDefinition returns the patterns of the passwords in the schema that a definition has for a version.
func marksInDefinition(definition map[string]any, version string) (projection.Patterns, error) {
	spec, _ := definition["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		v, _ := v.(map[string]any)
		if v["name"] != version {
			continue
		}
		schemas, _ := v["schema"].(map[string]any)
		if found, ok := schemas["openAPIV3Schema"].(map[string]any); ok {
			return secrecy.Passwords(found, nil), nil
		}
	}
	return nil, wire.ErrNoSchema
}

// marksInDocument returns the patterns of the passwords of each kind in a document.
func marksInDocument(text []byte, gv schema.GroupVersion) (map[string]projection.Patterns, error) {
	var document struct {
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	marks := map[string]projection.Patterns{}
	for _, found := range document.Components.Schemas {
		kinds, _ := found["x-kubernetes-group-version-kind"].([]any)
		for _, of := range kinds {
			of, _ := of.(map[string]any)
			if name, isText := of["kind"].(string); isText && of["group"] == gv.Group && of["version"] == gv.Version {
				marks[name] = secrecy.Passwords(found, document.Components.Schemas)
			}
		}
	}
	return marks, nil
}
