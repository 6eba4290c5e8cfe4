package passwords

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// marksInVersion returns the patterns of the passwords in the schema that a CRD has for a version.
func marksInVersion(v kinds.Version) (projection.Patterns, error) {
	if v.Schema == nil {
		return nil, wire.ErrNoSchema
	}
	return secrecy.Passwords(v.Schema, nil), nil
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
		described, _ := found["x-kubernetes-group-version-kind"].([]any)
		for _, of := range described {
			of, _ := of.(map[string]any)
			if name, isText := of["kind"].(string); isText && of["group"] == gv.Group && of["version"] == gv.Version {
				marks[name] = secrecy.Passwords(found, document.Components.Schemas)
			}
		}
	}
	return marks, nil
}
