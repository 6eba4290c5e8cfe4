package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

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

// Parse reads the documents of one file. Each becomes a manifest, a failure, or several of these if it is a list. A
// document without content is skipped.
func Parse(file string, stream []byte) (manifests []Manifest, failures []*Error) {
	manifests, failures, _ = Read(file, bytes.NewReader(stream), func(Manifest) bool { return true }) // which doesn't fail
	return manifests, failures
}

// Read does what [Parse] does, document by document. For manifests that aren't wanted, it returns only the identity and
// the source, without Object and Warnings. So it needs memory only for the wanted manifests and the largest document.
// err is the error of the stream; then no manifests are returned.
func Read(file string, stream io.Reader, wanted func(Manifest) bool) (manifests []Manifest, failures []*Error, err error) {
	p := parser{wanted: wanted}
	source := Source{File: file}
	for doc, err := range split(stream) {
		if err != nil {
			return nil, nil, err
		}
		if p.isFull() {
			p.fail(Source{File: file}, errTooMany)
			break
		}
		source.Document++
		source.Line = doc.line
		p.document(source, doc)
	}
	return p.manifests, p.failures, nil
}

// parser collects what it reads.
type parser struct {
	wanted    func(Manifest) bool
	manifests []Manifest
	failures  []*Error
}

// maxObjects is the number of documents and items up to which a file is read.
const maxObjects = 100_000

var errTooMany = fmt.Errorf("has more than %d objects; split it up", maxObjects)

func (p *parser) isFull() bool { return len(p.manifests)+len(p.failures) >= maxObjects }

func (p *parser) fail(source Source, err error) {
	p.failures = append(p.failures, &Error{Source: source, Problem: err.Error()})
}

func (p *parser) document(source Source, doc document) {
	e, err := decode(doc)
	if err != nil {
		p.fail(source, err)
		return
	}
	p.entry(source, e)
}

// entry takes what a document or an item of a list is: an object, or a list of such.
func (p *parser) entry(source Source, e entry) {
	obj, ok := e.value.(map[string]any)
	if !ok {
		p.fail(source, fmt.Errorf("expected an object with apiVersion, kind and metadata, found %s", sortOf(e.value)))
		return
	}
	if l, found := asList(obj); found {
		p.list(source, e, l)
		return
	}
	id, err := identity.Of(obj)
	if err != nil {
		p.fail(source, identityProblem(err))
		return
	}
	m := Manifest{Source: source, Identity: id, Object: &unstructured.Unstructured{Object: obj}}
	if p.wanted(m) {
		m.Warnings = e.warnings(source)
	} else {
		m.Object, m.Identity = nil, cloned(id)
	}
	p.manifests = append(p.manifests, m)
}

// cloned returns an identity that keeps no document in memory.
func cloned(id identity.Identity) identity.Identity {
	return identity.Identity{
		APIVersion: strings.Clone(id.APIVersion), Kind: strings.Clone(id.Kind), Namespace: strings.Clone(id.Namespace), Name: strings.Clone(id.Name),
	}
}

// identityProblem says what is wrong, and what to do about a field that is missing.
func identityProblem(err error) error {
	var field *identity.FieldError
	if !errors.As(err, &field) || field.Problem != "missing" {
		return errors.New(strings.TrimPrefix(err.Error(), "identity: "))
	}
	return fmt.Errorf("%s: missing; every object needs apiVersion, kind and metadata.name", field.Field)
}
