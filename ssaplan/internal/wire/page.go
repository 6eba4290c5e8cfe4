package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// page is a part of a list of objects.
type page struct {
	items []listed
	next  string // the continue token; empty after the last page
	left  int    // how many objects come after this page, 0 if the server doesn't say
}

// listed is an object as a list has it.
type listed struct {
	namespace, name string
	// Either the object, or the text that a read of it would be answered with.
	object *unstructured.Unstructured
	text   []byte
}

// decodedSize is how large an object is taken to be that the client has decoded.
const decodedSize = 8 << 10

// size is how long the object was in the answer.
func (l listed) size() int {
	if l.object != nil {
		return decodedSize
	}
	return len(l.text)
}

// pager is what lists whole objects, and may leave it to keep to decode them.
type pager interface {
	page(ctx context.Context, options metav1.ListOptions) (*page, error)
	keep(ctx context.Context, l listed) (*unstructured.Unstructured, bool)
}

var _ pager = (*directObjects)(nil)

// page lists whole objects.
func (r *Resource) page(ctx context.Context, options metav1.ListOptions) (p *page, err error) {
	whole, ok := r.objects.(pager)
	if !ok {
		return nil, errNoObjectLister
	}
	err = r.send(ctx, "list", "", nil, func(ctx context.Context) error {
		p, err = whole.page(ctx, options)
		return err
	})
	return p, err
}

// keep returns the object of a list as if it had been read. It reports false if it isn't one.
func (r *Resource) keep(ctx context.Context, l listed) (*unstructured.Unstructured, bool) {
	whole, ok := r.objects.(pager)
	if !ok {
		return nil, false
	}
	return whole.keep(ctx, l)
}

func (r *directObjects) keep(ctx context.Context, l listed) (*unstructured.Unstructured, bool) {
	doc, plain := fastjson.Decode(l.text, sharedRecords(ctx))
	if !plain || !isObject(doc.Object) {
		return nil, false
	}
	r.read, r.live = doc, &unstructured.Unstructured{Object: doc.Object}
	return r.live, true
}

func (r *directObjects) page(ctx context.Context, options metav1.ListOptions) (*page, error) {
	result := r.send(ctx, r.client.Get(), "", &options, nil)
	body, err := result.Raw()
	if err != nil {
		return nil, result.Error()
	}
	return newPage(body, r.namespace == "")
}

var errNoList = errors.New("the answer is no list of objects")

// newPage takes a list apart. Which namespace an object is in is looked for in lists of all namespaces alone.
func newPage(body []byte, everywhere bool) (*page, error) {
	var head struct {
		Kind, APIVersion string
		Metadata         struct {
			Continue           string
			RemainingItemCount int
		}
	}
	var items []byte
	ok := fastjson.Fields(body, func(name, value []byte) bool {
		var err error
		switch string(name) {
		case "kind":
			err = json.Unmarshal(value, &head.Kind)
		case "apiVersion":
			err = json.Unmarshal(value, &head.APIVersion)
		case "metadata":
			err = json.Unmarshal(value, &head.Metadata)
		case "items":
			items = value
		}
		return err == nil
	})
	kind, isList := strings.CutSuffix(head.Kind, "List")
	if !ok || !isList {
		return nil, errNoList
	}
	p := &page{next: head.Metadata.Continue, left: head.Metadata.RemainingItemCount}
	ok = fastjson.Items(items, func(item []byte) bool {
		if l, ok := newListed(item, everywhere, kind, head.APIVersion); ok {
			p.items = append(p.items, l)
		}
		return true
	})
	if !ok {
		return nil, errNoList
	}
	return p, nil
}

// newListed returns an item of a list. Servers leave the apiVersion and kind of built-in kinds to the list, and put
// them in front in the answer to a read. It reports false for an item without a plain name.
func newListed(item []byte, everywhere bool, kind, apiVersion string) (listed, bool) {
	var namespace, name []byte
	typed := false
	fastjson.Fields(item, func(field, value []byte) bool {
		typed = typed || string(field) == "kind"
		if string(field) != "metadata" {
			return true
		}
		fastjson.Fields(value, func(field, value []byte) bool {
			switch string(field) {
			case "name":
				name = bytes.Trim(value, `"`)
			case "namespace":
				namespace = bytes.Trim(value, `"`)
			}
			return name == nil || everywhere && namespace == nil
		})
		return false // what comes after it isn't looked at
	})
	if len(name) == 0 || bytes.IndexByte(name, '\\') >= 0 || bytes.IndexByte(namespace, '\\') >= 0 {
		return listed{}, false
	}
	text := make([]byte, 0, len(item)+len(kind)+len(apiVersion)+32)
	if !typed {
		text = append(text, `{"kind":"`+kind+`","apiVersion":"`+apiVersion+`",`...)
		item = item[1:]
	}
	return listed{namespace: string(namespace), name: string(name), text: append(append(text, item...), '\n')}, true
}
