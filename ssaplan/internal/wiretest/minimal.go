package wiretest

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/ssaplan/server"
)

// Minimal is a server of a caller that can do nothing beside what it has to. It answers all requests with one answer.
type Minimal struct {
	Answer server.Response
	Err    error
	Kind   server.Kind
	Refs   []server.Ref // of the requests
}

func (m *Minimal) Resolve(_ context.Context, kind schema.GroupVersionKind) (server.Kind, error) {
	return m.Kind, m.Err
}

func (m *Minimal) respond(of server.Ref) (server.Response, error) {
	m.Refs = append(m.Refs, of)
	return m.Answer, m.Err
}

func (m *Minimal) Get(_ context.Context, of server.Ref) (server.Response, error) {
	return m.respond(of)
}

func (m *Minimal) Patch(_ context.Context, of server.Ref, _ types.PatchType, _ []byte,
	_ metav1.PatchOptions) (server.Response, error) {
	return m.respond(of)
}

func (m *Minimal) Create(_ context.Context, of server.Ref, _ *unstructured.Unstructured,
	_ metav1.CreateOptions) (server.Response, error) {
	return m.respond(of)
}

func (m *Minimal) Update(_ context.Context, of server.Ref, _ *unstructured.Unstructured,
	_ metav1.UpdateOptions) (server.Response, error) {
	return m.respond(of)
}

func (m *Minimal) Delete(_ context.Context, of server.Ref, _ metav1.DeleteOptions) (server.Response, error) {
	return m.respond(of)
}

// Capable is a server of a caller that can do more.
type Capable struct {
	Minimal
	Version        string
	SchemaVersions map[schema.GroupVersion]string
	Text           []byte // of all schemas
}

func (c *Capable) List(_ context.Context, _ server.Kind, _ string,
	options metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	left := int64(2)
	if options.Continue != "" {
		return &metav1.PartialObjectMetadataList{}, c.Err
	}
	return &metav1.PartialObjectMetadataList{
		ListMeta: metav1.ListMeta{Continue: "x", RemainingItemCount: &left},
		Items:    []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}},
	}, c.Err
}

func (c *Capable) Kinds(context.Context) ([]server.Kind, []schema.GroupVersion, error) {
	return []server.Kind{c.Kind}, nil, c.Err
}

func (c *Capable) Versions(context.Context) (string, map[schema.GroupVersion]string, error) {
	return c.Version, c.SchemaVersions, c.Err
}

func (c *Capable) Schemas(context.Context, schema.GroupVersion) ([]byte, error) { return c.Text, c.Err }
