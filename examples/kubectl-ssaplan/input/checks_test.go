package input

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// stream returns manifests, each a line long, of objects that are written as apiVersion, kind, namespace and name, with
// a hyphen for no namespace.
func stream(objects ...string) []manifest.Manifest {
	var docs []string
	for _, o := range objects {
		f := strings.Fields(o)
		doc := fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {namespace: %s, name: %s}}\n", f[0], f[1], f[2], f[3])
		docs = append(docs, strings.Replace(doc, "namespace: -, ", "", 1))
	}
	manifests, _ := manifest.Parse("f", []byte(strings.Join(docs, "---\n")))
	return manifests
}

func TestUnique(t *testing.T) {
	tests := []struct {
		name          string
		first, second string
		same          bool
	}{
		{"equal", "v1 ConfigMap x a", "v1 ConfigMap x a", true},
		{"default namespace", "v1 ConfigMap - a", "v1 ConfigMap prod a", true},
		{"another version", "apps/v1 Deployment x a", "apps/v1beta1 Deployment x a", true},
		{"another group", "apps/v1 Deployment x a", "example.com/v1 Deployment x a", false},
		{"core is a group", "v1 Event x a", "events.k8s.io/v1 Event x a", false},
		{"another kind", "v1 ConfigMap x a", "v1 Secret x a", false},
		{"another name", "v1 ConfigMap x a", "v1 ConfigMap x A", false},
		{"another namespace", "v1 ConfigMap x a", "v1 ConfigMap y a", false},
		{"not the default namespace", "v1 ConfigMap - a", "v1 ConfigMap default a", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			manifests := stream(tt.first, tt.second)
			unique, failures := Unique(manifests, "prod")
			if !tt.same {
				assert.Equal(t, manifests, unique)
				assert.Empty(t, failures)
				return
			}
			assert.Equal(t, manifests[:1], unique)
			if assert.Len(t, failures, 1) {
				assert.EqualError(t, failures[0], "f: document 2 (line 3): "+manifests[1].Identity.String()+
					": the same object as in f: document 1 (line 1); keep one of them")
			}
		})
	}
}

func TestInNamespace(t *testing.T) {
	manifests := stream("v1 ConfigMap - a", "v1 ConfigMap prod b", "v1 ConfigMap test c")
	inside, failures := InNamespace(manifests, "prod")
	assert.Equal(t, manifests[:2], inside)
	if assert.Len(t, failures, 1) {
		assert.EqualError(t, failures[0], `f: document 3 (line 5): v1/ConfigMap test/c: metadata.namespace: "test" is not the namespace that -n asks for, "prod"; leave out one of them`)
	}
}
