package passwords

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

// byPath is a transport that answers by the path of the request, and with 403 where it has nothing.
type byPath map[string]string

func (b byPath) RoundTrip(request *http.Request) (*http.Response, error) {
	body, found := b[request.URL.Path]
	b["asked "+request.URL.Path] += "."
	if !found {
		body = wiretest.Forbidden
	}
	response := wiretest.Response(request, body)
	if strings.Contains(body, `"NotFound"`) {
		response.StatusCode = http.StatusNotFound
	}
	return response, nil
}

// fieldsOf returns the passwords of a server whose requests a transport answers.
func fieldsOf(t *testing.T, transport http.RoundTripper, options Options) *Fields {
	return New(wire.New(wiretest.Client(t, transport), wire.Options{}), options)
}

// printed returns patterns, one a line.
func printed(patterns projection.Patterns) string {
	texts := make([]string, len(patterns))
	for i, p := range patterns {
		texts[i] = p.String()
	}
	return strings.Join(texts, "\n")
}

// diskDefinition returns the definition of a Disk with some versions.
func diskDefinition(t *testing.T, versions string) (definition map[string]any) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal([]byte(`spec: {group: example.com, names: {kind: Disk}, versions: [`+versions+`]}`), &definition))
	return definition
}

// The passwords of a kind come from its definition, or from the document of all schemas. If neither can be read, all
// fields are passwords.
func TestPasswords(t *testing.T) {
	const (
		list       = "/apis/example.com/v1"
		definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/disks.example.com"
		document   = "/openapi/v3/apis/example.com/v1"
		served     = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.com/v1","resources":[{"name":"disks","kind":"Disk"}]}`
		schemas    = `{"properties":{"spec":{"properties":{"key":{"format":"password"}}}}`
		crd        = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"disks.example.com"},"spec":{"versions":[`
		among      = `,"x-kubernetes-group-version-kind":[{"group":"example.com","version":"v1","kind":"Disk"}]}`
		notFound   = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"details":{"name":"disks.example.com","kind":"customresourcedefinitions"}}`
	)
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Disk"}
	for why, row := range map[string]struct {
		answers byPath
		want    string
	}{
		"the definition":                         {byPath{definition: crd + `{"name":"v0"},{"name":"v1","schema":{"openAPIV3Schema":` + schemas + `}}}]}}`}, "spec.key"},
		"a definition without the version":       {byPath{definition: crd + `{"name":"v0","schema":{"openAPIV3Schema":` + schemas + `}}}]}}`}, "*"},
		"no definition, as of an aggregated API": {byPath{definition: notFound, document: `{"components":{"schemas":{"com.example.Disk":` + schemas + among + `}}}`}, "spec.key"},
		"a schema in parts, as of an aggregated API": {byPath{definition: notFound, document: `{"components":{"schemas":{"com.example.DiskSpec":{"properties":{"key":{"format":"password"}}},` +
			`"com.example.Disk":{"properties":{"spec":{"allOf":[{"$ref":"#/components/schemas/com.example.DiskSpec"}]}}` + among + `}}}`}, "spec.key"},
		"neither a definition nor a document": {byPath{definition: notFound}, "*"},
		"the document of schemas":             {byPath{document: `{"components":{"schemas":{"other":{},"com.example.Disk":` + schemas + among + `}}}`}, "spec.key"},
		"a document without the kind":         {byPath{document: `{"components":{"schemas":{"other":` + schemas + `}}}}`}, "*"},
		"a document that isn't one":           {byPath{document: `<html>`}, "*"},
		"neither":                             {byPath{}, "*"},
	} {
		row.answers[list] = served
		fields := fieldsOf(t, row.answers, Options{})
		for range 2 {
			_, err := fields.Find(t.Context(), kind)
			require.NoError(t, err, why)
			require.Equal(t, row.want, printed(fields.Of(kind)), why)
		}
		require.Equal(t, ".", row.answers["asked "+definition], "it isn't asked again soon: %s", why)
	}
	two := byPath{
		list:       `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.com/v1","resources":[{"name":"disks","kind":"Disk"},{"name":"tapes","kind":"Tape"}]}`,
		definition: crd + `{"name":"v1","schema":{"openAPIV3Schema":` + schemas + `}}}]}}`,
		document:   `{"components":{"schemas":{"com.example.Tape":{"properties":{"pin":{"format":"password"}},"x-kubernetes-group-version-kind":[{"group":"example.com","version":"v1","kind":"Tape"}]}}}}`,
	}
	fields := fieldsOf(t, two, Options{})
	for _, name := range []string{"Disk", "Tape"} {
		_, err := fields.Find(t.Context(), schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: name})
		require.NoError(t, err)
	}
	require.Equal(t, "pin", fields.Of(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Tape"})[0].String())
	require.Equal(t, [2]string{".", "."}, [2]string{two["asked "+definition], two["asked "+document]})
	require.Empty(t, two["asked "+strings.ReplaceAll(definition, "disks", "tapes")], "the document has the other kinds")

	// The marks of a definition that is about to be applied are added to those of the served one, whichever is learned
	// first.
	disk := diskDefinition(t, `{name: v1, schema: {openAPIV3Schema: {properties: {pin: {format: password}}}}}`)
	for _, comesFirst := range []bool{false, true} {
		fields = fieldsOf(t, two, Options{})
		if comesFirst {
			fields.LearnDefinition(disk)
		}
		_, err := fields.Find(t.Context(), kind)
		require.NoError(t, err)
		if !comesFirst {
			require.Equal(t, "spec.key", printed(fields.Of(kind)))
			fields.LearnDefinition(disk)
		}
		require.Equal(t, "spec.key\npin", printed(fields.Of(kind)))
	}
	fields.LearnDefinition(diskDefinition(t, `{name: v1}`))
	require.True(t, fields.MarksUnknown(kind), "a definition without a schema marks all, also of a kind that is served")

	answers := byPath{list: served, "/api/v1": wiretest.Discovery}
	fields = fieldsOf(t, answers, Options{})
	_, err := fields.Find(t.Context(), wiretest.ConfigMap)
	require.NoError(t, err)
	require.Empty(t, fields.Of(wiretest.ConfigMap))
	require.Len(t, answers, 3, "nothing is asked about the kinds of Kubernetes")
}

// The marks of a kind that the server doesn't serve aren't known, unless a definition was given.
func TestPasswordsOfKindsThatAreNotServed(t *testing.T) {
	answers := byPath{"/apis/example.com/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.com/v1","resources":[]}`, "/api/v1": wiretest.Discovery}
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Disk"}
	fields := fieldsOf(t, answers, Options{})
	require.True(t, fields.MarksUnknown(kind), "before anything is asked")
	require.False(t, fields.MarksUnknown(wiretest.ConfigMap))
	misspelt := schema.GroupVersionKind{Version: "v1", Kind: "secret"}
	for _, kind := range []schema.GroupVersionKind{kind, misspelt} {
		_, err := fields.Find(t.Context(), kind)
		require.True(t, meta.IsNoMatchError(err), err)
	}
	require.True(t, fields.MarksUnknown(kind))
	require.True(t, fields.MarksUnknown(misspelt))
	inside := schema.GroupVersionKind{Version: "v1", Kind: "Secrets"}
	fields.LearnCarried(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"apiVersion": "v1", "kind": "Secrets", "metadata": map[string]any{"name": "s"}},
	}})
	require.True(t, fields.MarksUnknown(inside))
	fields.LearnDefinition(diskDefinition(t, `{name: v1, schema: {openAPIV3Schema: {properties: {key: {format: password}}}}}, {name: v2}`))
	require.Equal(t, "key", printed(fields.Of(kind)))
	require.True(t, fields.MarksUnknown(schema.GroupVersionKind{Group: "example.com", Version: "v2", Kind: "Disk"}), "a version without a schema")
	open := fieldsOf(t, answers, Options{ShowValuesOf: []schema.GroupKind{kind.GroupKind()}})
	require.False(t, open.MarksUnknown(kind))
}
