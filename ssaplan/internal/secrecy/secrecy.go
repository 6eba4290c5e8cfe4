// Package secrecy takes the sensitive values of objects out of what servers say.
package secrecy

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection"
)

// Hide returns err with the sensitive values of the objects taken out of what the server says in it. Servers quote
// values in what they say of invalid fields. What is wrapped is hidden too, so that the class can be told and nothing else.
func Hide(err error, objects ...*unstructured.Unstructured) error {
	if err == nil {
		return nil
	}
	secrets := Of(objects...)
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status == nil {
		object, rest, found := strings.Cut(err.Error(), ": ")
		if !found {
			return redacted(err, secrets.Hide(object), err)
		}
		return redacted(err, object+": "+secrets.Hide(rest), err) // the object keeps its name
	}
	hidden := &apierrors.StatusError{ErrStatus: *status.ErrStatus.DeepCopy()}
	hidden.ErrStatus.Message = secrets.Hide(hidden.ErrStatus.Message)
	if details := hidden.ErrStatus.Details; details != nil {
		for i := range details.Causes {
			details.Causes[i].Message = secrets.Hide(details.Causes[i].Message)
		}
	}
	if hidden.ErrStatus.String() == status.ErrStatus.String() {
		return err
	}
	// What stands around the server's words names the object, and stays.
	return redacted(err, strings.ReplaceAll(err.Error(), status.Error(), hidden.Error()), hidden)
}

func redacted(err error, text string, wrapped error) error {
	if text == err.Error() {
		return err
	}
	return answer.Redacted(wrapped, text)
}

// Secrets are sensitive values in the forms in which a server may quote them, long ones first, so that no part of one stays
// behind.
type Secrets []string

// Hide returns the text without the secrets. Short ones count only where they are quoted, as servers do: elsewhere taking
// them out would tell what they are.
func (s Secrets) Hide(text string) string {
	const short = 6
	for _, secret := range s {
		if len(secret) < short {
			text = strings.ReplaceAll(text, fmt.Sprintf("%q", secret), `"<redacted>"`)
		} else {
			text = strings.ReplaceAll(text, secret, "<redacted>")
		}
	}
	return text
}

// Of returns the sensitive values of the objects.
func Of(objects ...*unstructured.Unstructured) Secrets {
	var found []string
	add := func(_ projection.Path, v any) any {
		found = appendTexts(found, v)
		return nil
	}
	for _, obj := range objects {
		if obj != nil {
			sensitive := projection.Sensitive(obj.Object)
			projection.Project(obj.Object, sensitive).ReplaceSensitive(add)
		}
	}
	found = slices.DeleteFunc(found, func(s string) bool { return s == "" })
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	return found
}

// appendTexts appends the text of v, decoded if it is base64, and of all that is in it.
func appendTexts(found []string, v any) []string {
	switch v := v.(type) {
	case map[string]any:
		for key, item := range v {
			found = appendTexts(append(found, key), item)
		}
	case []any:
		for _, item := range v {
			found = appendTexts(found, item)
		}
	default:
		text := fmt.Sprint(v)
		found = append(found, text)
		if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
			found = append(found, string(decoded))
		}
	}
	return found
}

// HideIn takes the values out of what the server said of the fields.
func (s Secrets) HideIn(verdict *immutability.Verdict) {
	verdict.Fields = slices.Clone(verdict.Fields)
	for i := range verdict.Fields {
		verdict.Fields[i].Message = s.Hide(verdict.Fields[i].Message)
	}
	verdict.Uncertain = s.Hide(verdict.Uncertain)
}
