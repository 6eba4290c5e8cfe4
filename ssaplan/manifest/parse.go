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

// Parse reads the documents of one file. Each becomes a manifest, a failure, or several of these if it is a list. A
// document without content is skipped.
func Parse(file string, stream []byte) (manifests []Manifest, failures []*Error) {
	// which doesn't fail
	manifests, failures, _ = Read(file, bytes.NewReader(stream), func(Manifest) bool { return true })
	return manifests, failures
}

// Read does what [Parse] does, document by document. For manifests that aren't wanted, it returns only the identity and
// the source, without Object and Warnings. So it needs memory only for the wanted manifests and the largest document.
// err is the error of the stream; then no manifests are returned.
func Read(file string, stream io.Reader,
	wanted func(Manifest) bool) (manifests []Manifest, failures []*Error, err error) {
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
		m.Warnings = booleanWarnings(source, e.node, e.start, id.Kind == "Secret")
	} else {
		m.Object, m.Identity = nil, cloned(id)
	}
	p.manifests = append(p.manifests, m)
}

// list takes the items of a list as if each stood alone.
func (p *parser) list(source Source, e entry, l list) {
	items, ok := l.items.([]any)
	if !ok && l.items != nil {
		p.fail(source, errNoItems)
		return
	}
	nodes := e.itemNodes(len(items))
	for i, item := range items {
		if p.isFull() {
			p.fail(source, errTooMany)
			return
		}
		at := source
		at.Item = strings.TrimPrefix(fmt.Sprintf("%s.items[%d]", source.Item, i), ".")
		if nodes[i] != nil && at.Line > 0 {
			at.Line = e.start + nodes[i].Line - 1
		}
		p.entry(at, entry{l.completed(item), nodes[i], e.start})
	}
}

var errNoItems = errors.New("items: expected a list of objects")

// cloned returns an identity that keeps no document in memory.
func cloned(id identity.Identity) identity.Identity {
	return identity.Identity{
		APIVersion: strings.Clone(id.APIVersion), Kind: strings.Clone(id.Kind), Namespace: strings.Clone(id.Namespace),
		Name: strings.Clone(id.Name),
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

// sortOf names the sort of a value.
func sortOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "true or false"
	}
	return "a number"
}
