// Package trialcreate sends the dry run of a create for a replacement. While the old object still has the name, it
// tries a stand-in: the new object under another name.
package trialcreate

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// Resource sends applies.
type Resource interface {
	Apply(ctx context.Context, name string, body []byte, options metav1.PatchOptions,
		subresources ...string) (*unstructured.Unstructured, error)
}

// isAlike reports whether two objects are of the same kind and in the same namespace.
func isAlike(a, b map[string]any) bool {
	first, second := &unstructured.Unstructured{Object: a}, &unstructured.Unstructured{Object: b}
	return first.GroupVersionKind() == second.GroupVersionKind() && first.GetNamespace() == second.GetNamespace()
}

// ErrTaken says that there is an object of the name already.
var ErrTaken = errors.New("there is an object of this name already")

// ErrNamed means that the server rejects the name of a stand-in. Names of this kind have a meaning: the name of an
// IPAddress is an address.
var ErrNamed = errors.New("no object of this kind can be tried under another name")

// Try returns the object as the server would create it by applying the manifest to nothing. If taken is true, another
// object has the name. Then Try sends a stand-in, and gives the result the name of the manifest.
//
// Kinds whose names have a meaning, such as an IPAddress, allow no stand-in, except for the kinds of [kinds.NameHead].
// If Try returns ErrTaken, the object exists already. Then it also returns the object as the apply would change it, if
// it can.
func Try(ctx context.Context, server Resource, manifest map[string]any, options metav1.PatchOptions,
	taken bool) (*unstructured.Unstructured, error) {
	original := (&unstructured.Unstructured{Object: manifest}).GetName()
	name := original
	if taken {
		manifest, name = Of(manifest)
	}
	manifest = unconditional(manifest)
	body, err := fastjson.Encode(manifest)
	if err != nil {
		return nil, err
	}
	options.DryRun = []string{metav1.DryRunAll}
	made, err := server.Apply(ctx, name, body, options)
	switch {
	case err != nil && taken && isAboutName(err):
		return nil, ErrNamed
	case err != nil:
		return nil, renamed(err, name, original)
	case !isAlike(made.Object, manifest):
		return nil, secrecy.Quoting(
			"the dry run of the create was answered with another object: check the proxies in front of the server",
			"%s %s in namespace %q", made.GetAPIVersion(), made.GetKind(), made.GetNamespace())
	case made.GetName() != name:
		return nil, ErrTaken
	case made.GetResourceVersion() != "" && taken:
		return nil, fmt.Errorf("the dry run created %q: something in front of the server drops dryRun: delete it",
			foreign.Text(name))
	case made.GetResourceVersion() != "":
		return made, ErrTaken
	case taken:
		made = &unstructured.Unstructured{Object: Restore(made.Object, name, original)}
	}
	return made, nil
}

// isAboutName reports whether a server refuses an object for nothing but its name.
func isAboutName(err error) bool {
	statuses := answer.Statuses(err)
	return len(statuses) > 0 && !slices.ContainsFunc(statuses, func(s metav1.Status) bool {
		return s.Details == nil || len(s.Details.Causes) == 0 ||
			slices.ContainsFunc(s.Details.Causes, func(c metav1.StatusCause) bool { return c.Field != "metadata.name" })
	})
}

// Disproves reports whether a failed trial proves that the server would also reject the new object after the old one is
// deleted. Then a replacement would lose the object.
//
// A manifest that doesn't fit the schema is a proof: some of these manifests can be created, but not applied. An
// invalid object is a proof, too, with two exceptions. A Service may be invalid because the old Service still has the
// ports and addresses. A stand-in may be invalid because of its name. But a custom resource with null is a proof even
// as a stand-in: the create that was tried earlier drops null, and an apply keeps null.
func Disproves(manifest map[string]any, err error, taken bool) bool {
	if slices.ContainsFunc(answer.Statuses(err),
		func(s metav1.Status) bool { _, problem := answer.WrongType(s); return problem != "" }) {
		return true
	}
	if !apierrors.IsInvalid(err) || manifest["kind"] == "Service" && manifest["apiVersion"] == "v1" {
		return false
	}
	return !taken || !kinds.IsBuiltin(manifest) && holdsNull(manifest)
}

func holdsNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for _, value := range v {
			if holdsNull(value) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, holdsNull)
	}
	return false
}

// renamed returns the server's error about a stand-in with the name of the object. So the error is the same each time,
// although each stand-in has a random name.
func renamed(err error, name, original string) error {
	var refused *apierrors.StatusError
	if !errors.As(err, &refused) {
		return err
	}
	status := refused.ErrStatus.DeepCopy()
	status.Message = strings.ReplaceAll(status.Message, name, original)
	if status.Details != nil {
		status.Details.Name = strings.ReplaceAll(status.Details.Name, name, original)
		for i := range status.Details.Causes {
			cause := &status.Details.Causes[i]
			cause.Message = strings.ReplaceAll(cause.Message, name, original)
		}
	}
	return &apierrors.StatusError{ErrStatus: *status}
}

// longest is the length of a name that every kind allows: that of a label.
const longest = 63

// unconditional returns the manifest without uid and resourceVersion. These fields identify the old object, and the new
// object is another one.
func unconditional(manifest map[string]any) map[string]any {
	metadata, _ := manifest["metadata"].(map[string]any)
	out, rest := map[string]any{}, map[string]any{}
	maps.Copy(out, manifest)
	maps.Copy(rest, metadata)
	for _, name := range kinds.Preconditions {
		delete(rest, name)
	}
	out["metadata"] = rest
	return out
}

// Of returns the manifest under a name that no object has, and that name. The manifest isn't modified; what is returned
// shares memory with it.
func Of(manifest map[string]any) (body map[string]any, name string) {
	body = map[string]any{}
	maps.Copy(body, manifest)
	old, _ := manifest["metadata"].(map[string]any)
	metadata := map[string]any{}
	maps.Copy(metadata, old)
	var random [5]byte
	_, _ = rand.Read(random[:]) // never fails
	suffix := "-" + hex.EncodeToString(random[:])
	original, _ := metadata["name"].(string)
	if head := headOf(manifest, original); head != nil {
		first, rest, _ := strings.Cut(original, ".")
		body = (&unstructured.Unstructured{Object: manifest}).DeepCopy().Object
		_ = unstructured.SetNestedField(body, first+suffix, head...)
		name = first + suffix + "." + rest
		_ = unstructured.SetNestedField(body, name, "metadata", "name")
		return body, name
	}
	name = strings.TrimRight(original[:min(len(original), longest-len(suffix))], ".-") + suffix
	metadata["name"] = name
	body["metadata"] = metadata
	return body, name
}

// Restore replaces the name of the stand-in by the original name, in all texts and keys of the object that the server
// made. For a kind of [kinds.NameHead], it also replaces the part of the name up to the first dot. It returns a copy.
func Restore(made map[string]any, name, original string) map[string]any {
	names := []string{name, original}
	if headOf(made, name) != nil {
		first, _, _ := strings.Cut(name, ".")
		was, _, _ := strings.Cut(original, ".")
		names = append(names, first, was)
	}
	out, _ := restored(made, strings.NewReplacer(names...)).(map[string]any)
	return out
}

// headOf returns the path of the field that repeats the name up to the first dot. It returns nil if the kind has no
// such field, or if the field has another value.
func headOf(obj map[string]any, name string) []string {
	u := &unstructured.Unstructured{Object: obj}
	head := kinds.NameHead(u.GetAPIVersion(), u.GetKind())
	first, _, _ := strings.Cut(name, ".")
	if value, _, _ := unstructured.NestedString(obj, head...); head == nil || value != first {
		return nil
	}
	return head
}

func restored(v any, names *strings.Replacer) any {
	switch v := v.(type) {
	case string:
		return names.Replace(v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, value := range v {
			out[names.Replace(key)] = restored(value, names)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = restored(item, names)
		}
		return out
	}
	return v
}
