package manifest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
)

// Manifest is one object to apply.
type Manifest struct {
	Source   Source
	Identity identity.Identity
	Object   *unstructured.Unstructured
	// Warnings are about values that YAML may read in an unexpected way.
	Warnings []Warning
}

// Source is the place of an object in a file.
type Source struct {
	// File is the path as it was given, "stdin", or an address without its query.
	File string
	// Document counts the documents of the file that have content, from 1. It is 0 for the file as a whole.
	Document int
	// Item is the position of an item in a list, "items[2]"; "" for an object that isn't in a list.
	Item string
	// Line is the line of the object's first content, from 1. It is 0 for an object that isn't in a file.
	Line int
}

// String returns the source as it is printed to people: "app.yaml: document 3 (line 41)", "app.yaml: document 1
// items[2] (line 20)".
func (s Source) String() string {
	if s.Document == 0 {
		return s.File
	}
	text := fmt.Sprintf("%s: document %d", s.File, s.Document)
	if s.Item != "" {
		text += " " + s.Item
	}
	if s.Line > 0 {
		text += fmt.Sprintf(" (line %d)", s.Line)
	}
	return text
}

// Key returns the object's place as a key to store: "app.yaml#3", "app.yaml#1.items[2]". The line isn't part of it.
func (s Source) Key() string {
	key := fmt.Sprintf("%s#%d", s.File, s.Document)
	if s.Item != "" {
		key += "." + s.Item
	}
	return key
}

// Error says why an object, a document, or a whole file, can't be used.
type Error struct {
	Source Source
	// Object is the object that the document declares, zero if it isn't known.
	Object identity.Identity
	// Problem is one line without values of the document. It begins with the line of the file and the path of the
	// field, if they are known.
	Problem string
}

func (e *Error) Error() string {
	if e.Object == (identity.Identity{}) {
		return e.Source.String() + ": " + e.Problem
	}
	return fmt.Sprintf("%s: %s: %s", e.Source, e.Object, e.Problem)
}

// Warning describes a value in a document that YAML may read in an unexpected way.
type Warning struct {
	// Source is the source of the document, with the line that the warning is about.
	Source Source
	// Text is one line.
	Text string
}

func (w Warning) String() string { return fmt.Sprintf("%s: %s", w.Source, w.Text) }

// InDocument returns the warning without the document, to print it below the document's name.
func (w Warning) InDocument() string {
	if w.Source.Line == 0 {
		return w.Text
	}
	return fmt.Sprintf("line %d: %s", w.Source.Line, w.Text)
}
