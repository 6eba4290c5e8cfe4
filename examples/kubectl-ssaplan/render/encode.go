package render

import (
	"bytes"
	"encoding/json"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
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

// encode returns v as indented JSON with a newline at the end, in which what can't be seen is escaped.
func encode(v any) ([]byte, error) {
	var text, indented bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	line := foreign.VisibleJSON(strings.TrimSuffix(text.String(), "\n"))
	if err := json.Indent(&indented, []byte(line), "", "  "); err != nil {
		return nil, err
	}
	indented.WriteByte('\n')
	return indented.Bytes(), nil
}

// asYAML converts what a JSON method returned.
func asYAML(text []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(text)
}
