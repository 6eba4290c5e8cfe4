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
	// Item counts the items of a document that is a list, from 1. It is 0 for every other document.
	Item int
}

// String returns the source as it is printed to people: "app.yaml: document 3 (line 41)".
func (s Source) String() string {
	switch {
	case s.Document == 0:
		return s.File
	case s.Item > 0:
		list := s
		list.Item = 0
		return fmt.Sprintf("%s: item %d", list, s.Item)
	case s.Line == 0:
		return fmt.Sprintf("%s: document %d", s.File, s.Document)
	}
	return fmt.Sprintf("%s: document %d (line %d)", s.File, s.Document, s.Line)
}

// Key names the document for a file that remembers it: "app.yaml#3", and "app.yaml#3.2" for an item of a list. The line isn't part of it.
func (s Source) Key() string {
	if s.Item > 0 {
		return fmt.Sprintf("%s#%d.%d", s.File, s.Document, s.Item)
	}
	return fmt.Sprintf("%s#%d", s.File, s.Document)
}

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

// Parse reads the documents of one file, each of which is a manifest, a list of manifests or an error. Without content there are none.
func Parse(file string, stream []byte) (manifests []Manifest, failures []*Error) {
	for i, doc := range split(stream) {
		source := Source{File: file, Document: i + 1, Line: doc.line}
		obj, warnings, err := decode(source, doc)
		if err != nil {
			failures = append(failures, &Error{Source: source, Problem: err.Error()})
			continue
		}
		for item, err := range objects(source, obj) {
			if err == nil {
				item.Identity, err = identity.Of(item.Object.Object)
				err = identityProblem(err)
			}
			if err != nil {
				failures = append(failures, &Error{Source: item.Source, Problem: err.Error()})
				continue
			}
			item.Warnings = warnings
			manifests = append(manifests, item)
		}
	}
	return manifests, failures
}

// identityProblem says what is wrong, and what to do about a field that is missing.
func identityProblem(err error) error {
	if err == nil {
		return nil
	}
	var field *identity.FieldError
	if !errors.As(err, &field) || field.Problem != "missing" {
		return errors.New(strings.TrimPrefix(err.Error(), "identity: "))
	}
	return fmt.Errorf("%s: missing; every object needs apiVersion, kind and metadata.name", field.Field)
}
