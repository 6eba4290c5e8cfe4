package manifest

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
)

// Manifest is one object that shall be applied.
type Manifest struct {
	Source   Source
	Identity identity.Identity
	Object   *unstructured.Unstructured
	// Warnings are about what could be read otherwise than it was meant.
	Warnings []Warning
}

// Source says where a document stands.
type Source struct {
	// File is the path as it was given, "stdin", or an address without its query.
	File string
	// Document counts the documents of the file that have content, from 1. It is 0 for the file as a whole.
	Document int
	// Line is the line of the document's first content, from 1. It is 0 for what stands in no file.
	Line int
}

// String returns the source as it is printed to people: "app.yaml: document 3 (line 41)".
func (s Source) String() string {
	switch {
	case s.Document == 0:
		return s.File
	case s.Line == 0:
		return fmt.Sprintf("%s: document %d", s.File, s.Document)
	}
	return fmt.Sprintf("%s: document %d (line %d)", s.File, s.Document, s.Line)
}

// Key names the document for a file that remembers it: "app.yaml#3". The line isn't part of it.
func (s Source) Key() string { return fmt.Sprintf("%s#%d", s.File, s.Document) }

// Error says why a document, or a whole file, can't be used.
type Error struct {
	Source Source
	// Object is the object that the document is about, zero if that isn't known.
	Object identity.Identity
	// Problem is one line without values of the document.
	Problem string
}

func (e *Error) Error() string {
	if e.Object == (identity.Identity{}) {
		return e.Source.String() + ": " + e.Problem
	}
	return fmt.Sprintf("%s: %s: %s", e.Source, e.Object, e.Problem)
}

// Parse reads the documents of one file, each of which is a manifest or an error. Without content there are none.
func Parse(file string, stream []byte) (manifests []Manifest, failures []*Error) {
	for i, doc := range split(stream) {
		source := Source{file, i + 1, doc.line}
		m, err := parseDocument(source, doc)
		if err != nil {
			failures = append(failures, &Error{Source: source, Problem: err.Error()})
			continue
		}
		manifests = append(manifests, m)
	}
	return manifests, failures
}

func parseDocument(source Source, doc document) (Manifest, error) {
	obj, warnings, err := decode(source, doc)
	if err != nil {
		return Manifest{}, err
	}
	if kind, _ := obj["kind"].(string); isList(kind, obj) {
		return Manifest{}, fmt.Errorf("kind: %q holds several objects; write each of its items as an object of its own", kind)
	}
	id, err := identity.Of(obj)
	if err != nil {
		return Manifest{}, identityProblem(err)
	}
	return Manifest{source, id, &unstructured.Unstructured{Object: obj}, warnings}, nil
}

func isList(kind string, obj map[string]any) bool {
	_, hasItems := obj["items"].([]any)
	return kind == "List" || strings.HasSuffix(kind, "List") && hasItems
}

// identityProblem says what is wrong, and what to do about a field that is missing.
func identityProblem(err error) error {
	var field *identity.FieldError
	if !errors.As(err, &field) || field.Problem != "missing" {
		return errors.New(strings.TrimPrefix(err.Error(), "identity: "))
	}
	return fmt.Errorf("%s: missing; every object needs apiVersion, kind and metadata.name", field.Field)
}
