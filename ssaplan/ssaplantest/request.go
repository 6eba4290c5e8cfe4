package ssaplantest

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Request is a request of a client to a [Server].
type Request struct {
	// Verb is get, list, create, update, patch or delete.
	Verb     string
	Resource schema.GroupVersionResource
	// Namespace is empty for cluster-scoped kinds and for lists of all namespaces. Name is empty for lists, and for a
	// create with generateName.
	Namespace, Name string
	// Subresource is status or scale, or empty.
	Subresource string
	// PatchType is the form of a patch, such as types.ApplyPatchType; empty for other verbs.
	PatchType    types.PatchType
	FieldManager string
	// Force says whether an apply is forced.
	Force  bool
	DryRun bool
}

func (r Request) isApply() bool { return r.PatchType == types.ApplyPatchType }

// String returns one line: the verb and the object. For a server-side apply, the verb is apply.
func (r Request) String() string {
	text := r.Verb
	if r.isApply() {
		text = "apply"
	}
	if r.DryRun {
		text = "try " + text
	}
	text += " " + r.Resource.GroupResource().String() + " "
	if r.Namespace != "" {
		text += r.Namespace + "/"
	}
	text += r.Name
	if r.Subresource != "" {
		text += "/" + r.Subresource
	}
	return text
}

// message is a request with what the client sends besides.
type message struct {
	Request
	body       []byte               // JSON or YAML
	validation string               // fieldValidation, of a write
	deletion   metav1.DeleteOptions // of a delete
	wrong      field.ErrorList      // the errors in the options
}
