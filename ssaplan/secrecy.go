package ssaplan

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
)

// hideSecrets returns err with the sensitive values of the objects taken out of its text. Servers quote values in what
// they say of invalid fields. The error still wraps err, so that its class can be told.
func hideSecrets(err error, objects ...*unstructured.Unstructured) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, secret := range secretsIn(objects) {
		text = strings.ReplaceAll(text, secret, "<redacted>")
	}
	if text == err.Error() {
		return err
	}
	return &redactedError{text, err}
}

// redactedError stands for an error whose text holds secrets.
type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string    { return e.text }
func (e *redactedError) Unwrap() error    { return e.err }
func (e *redactedError) GoString() string { return fmt.Sprintf("%q", e.text) }

// secretsIn returns the sensitive values of the objects in the forms in which a server may quote them, long ones first,
// so that no part of one stays behind.
func secretsIn(objects []*unstructured.Unstructured) []string {
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
