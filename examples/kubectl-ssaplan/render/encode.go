package render

import (
	"bytes"
	"encoding/json"

	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/identity"
)

type objectJSON struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
}

func objectToJSON(id identity.Identity) objectJSON {
	return objectJSON{id.APIVersion, id.Kind, id.Namespace, id.Name}
}

// encode returns v as indented JSON with a newline at the end.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(v)
	return b.Bytes(), err
}

// asYAML converts what a JSON method returned.
func asYAML(text []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(text)
}
