package lab

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Object decodes YAML or JSON as clients do, so that integers stay integers.
func Object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err, text)
	obj := &unstructured.Unstructured{}
	require.NoError(t, json.Unmarshal(data, &obj.Object), text)
	return obj
}

// Objectf decodes YAML after it was formatted as with [fmt.Sprintf].
func Objectf(t testing.TB, format string, args ...any) *unstructured.Unstructured {
	t.Helper()
	return Object(t, fmt.Sprintf(format, args...))
}

// Objects decodes the documents of a YAML file.
func Objects(t testing.TB, text string) (objects []*unstructured.Unstructured) {
	t.Helper()
	for _, document := range strings.Split(text, "\n---\n") {
		objects = append(objects, Object(t, document))
	}
	return objects
}
