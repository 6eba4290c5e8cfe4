package client

// This file lists whole objects. It splits a list into the texts of its items, which are decoded only when they are
// planned.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/client/internal/jsondoc"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
	"github.com/ssaplan/primitives/ssaplan/internal/native"
)

var _ native.Pager = (*directObjects)(nil)

func (r *directObjects) Keep(ctx context.Context, l native.Listed) (*unstructured.Unstructured, bool) {
	doc, plain := jsondoc.Decode(l.Text, sharedRecords(ctx))
	if !plain || !isObject(doc.Object) {
		return nil, false
	}
	r.read, r.live = doc, &unstructured.Unstructured{Object: doc.Object}
	return r.live, true
}

func (r *directObjects) Page(ctx context.Context, options metav1.ListOptions) (*native.Page, error) {
	result := r.send(ctx, r.client.Get(), "", &options, nil)
	body, err := result.Raw()
	if err != nil {
		return nil, result.Error()
	}
	return newPage(body, r.namespace == "")
}

var errNoList = errors.New("the answer is no list of objects")

// newPage splits a list into its items. everywhere is true for a list of all namespaces: only its items get a
// Namespace.
func newPage(body []byte, everywhere bool) (*native.Page, error) {
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
	p := &native.Page{Next: head.Metadata.Continue, Left: head.Metadata.RemainingItemCount}
	ok = fastjson.Items(items, func(item []byte) bool {
		if l, ok := newListed(item, everywhere, kind, head.APIVersion); ok {
			p.Items = append(p.Items, l)
		}
		return true
	})
	if !ok {
		return nil, errNoList
	}
	return p, nil
}

// newListed returns an item of a list. The text of the item is the same as in the answer to a Get of the object. For
// built-in kinds, a list has the apiVersion and kind only once. newListed adds them at the beginning of the item, as in
// the answer to a Get. It returns false if the name is missing or contains an escape.
func newListed(item []byte, everywhere bool, kind, apiVersion string) (native.Listed, bool) {
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
		return false // the other fields aren't needed
	})
	if len(name) == 0 || bytes.IndexByte(name, '\\') >= 0 || bytes.IndexByte(namespace, '\\') >= 0 {
		return native.Listed{}, false
	}
	text := make([]byte, 0, len(item)+len(kind)+len(apiVersion)+32)
	if !typed {
		text = append(text, `{"kind":"`+kind+`","apiVersion":"`+apiVersion+`",`...)
		item = item[1:]
	}
	return native.Listed{Namespace: string(namespace), Name: string(name), Text: append(append(text, item...), '\n')},
		true
}
