// Package standin has a server try to create an object while the one that it replaces is still there: under another
// name.
package standin

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

// ErrNamed says that the server takes no stand-in, since in this kind the name has a meaning: that of an IPAddress is
// one.
var ErrNamed = errors.New("no object of this kind can be tried under another name")

// Try returns the object as the server would create it by applying the manifest to nothing. Taken says that another
// object has the name: then a stand-in is tried, and the result has the name all the same. Kinds whose names mean
// something, such as an IPAddress, can't be tried so, but for those of [kinds.NameHead]. With ErrTaken it returns the
// object that is there as the apply would make it, if it can.
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

// Disproves reports whether the refusal of a trial says that replacing the object would lose it: the server would
// refuse the new one, too. It does if the manifest doesn't fit the schema, which a create doesn't mind where an apply
// does. For a Service it doesn't, whose ports and addresses the old one has as long as it is there; nor for a stand-in,
// which is refused for its name, unless the manifest of a custom resource has null: a create of that, which has been
// tried before, drops it, and an apply doesn't.
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

// renamed returns what a server said of the stand-in as it would say it of the object: it is the same each time.
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

// unconditional returns the manifest without what says which object it is for: the new one is another.
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

// Restore puts the name back into what a server made of the stand-in, wherever it made use of it. It returns a copy.
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

// headOf returns where the object has the part of its name up to the first dot, nil if it has it nowhere else.
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
