package ssaplantest

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/openapi"
)

// objectMeta is the schema of metadata as far as managing its fields takes it. A server has the same for every kind.
const objectMeta = `{"type": "object", "properties": {
	"name": {"type": "string"}, "generateName": {"type": "string"}, "namespace": {"type": "string"},
	"selfLink": {"type": "string"}, "uid": {"type": "string"}, "resourceVersion": {"type": "string"},
	"generation": {"type": "integer"}, "creationTimestamp": {"type": "string"}, "deletionTimestamp": {"type": "string"},
	"deletionGracePeriodSeconds": {"type": "integer"},
	"labels": {"type": "object", "additionalProperties": {"type": "string"}},
	"annotations": {"type": "object", "additionalProperties": {"type": "string"}},
	"finalizers": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
	"ownerReferences": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["uid"],
		"items": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": {
			"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "name": {"type": "string"}, "uid": {"type": "string"},
			"controller": {"type": "boolean"}, "blockOwnerDeletion": {"type": "boolean"}}}},
	"managedFields": {"type": "array", "x-kubernetes-list-type": "atomic", "items": {"type": "object", "properties": {
		"manager": {"type": "string"}, "operation": {"type": "string"}, "apiVersion": {"type": "string"},
		"time": {"type": "string"}, "fieldsType": {"type": "string"}, "subresource": {"type": "string"},
		"fieldsV1": {"type": "object"}}}}
}}`

// document is an OpenAPI document, in the form of a client that has one document. client-go makes a type converter of
// it, and no type of kube-openapi has to be named.
type document []byte

func (d document) Paths() (map[string]openapi.GroupVersion, error) {
	return map[string]openapi.GroupVersion{"": d}, nil
}

func (d document) Schema(string) ([]byte, error) { return d, nil }

func (d document) ServerRelativeURL() string { return "" }

// newConverter returns a converter that knows the schemas of kinds. Kinds of one group are in one converter, since the
// field manager converts between their versions.
func newConverter(kinds []map[string]any) (managedfields.TypeConverter, error) {
	schemas := map[string]any{"ObjectMeta": json.RawMessage(objectMeta)}
	for i, kind := range kinds {
		schemas[fmt.Sprintf("kind%d", i)] = kind
	}
	text, err := json.Marshal(map[string]any{
		"openapi": "3.0.0", "info": map[string]any{"title": "kinds", "version": "1"},
		"components": map[string]any{"schemas": schemas},
	})
	if err != nil {
		return nil, fmt.Errorf("ssaplantest: schemas: %w", err)
	}
	converter, err := openapi.NewTypeConverter(document(text), false)
	if err != nil {
		return nil, fmt.Errorf("ssaplantest: schemas: %w", err)
	}
	return converter, nil
}
