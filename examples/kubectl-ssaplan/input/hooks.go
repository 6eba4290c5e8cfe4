package input

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// The annotations by which a chart says that Helm runs an object at some moment of a release, and doesn't apply it with
// the others.
//
// Source: helm.sh/helm, pkg/release, hook.go.
const (
	hookAnnotation       = "helm.sh/hook"
	hookWeightAnnotation = "helm.sh/hook-weight"
	hookDeleteAnnotation = "helm.sh/hook-delete-policy"
)

// Hook says when Helm runs an object, in a few words: "pre-upgrade, weight -5, deleted before-hook-creation". It is
// empty for an object that is no hook. Whatever the annotation says makes a hook of it: what Helm doesn't know
// (crd-install, nothing at all) it leaves out, too.
func Hook(m manifest.Manifest) string {
	if m.Object == nil {
		return ""
	}
	annotations, _, _ := unstructured.NestedFieldNoCopy(m.Object.Object, "metadata", "annotations")
	values, _ := annotations.(map[string]any) // which need not be texts
	events, isHook := values[hookAnnotation]
	if !isHook {
		return ""
	}
	text := words(events)
	if text == "" {
		text = "no event"
	}
	if weight := words(values[hookWeightAnnotation]); weight != "" && weight != "0" {
		text += ", weight " + weight
	}
	if policy := words(values[hookDeleteAnnotation]); policy != "" {
		text += ", deleted " + policy
	}
	return text
}

// words returns a list with commas as it is printed.
func words(value any) string {
	if value == nil {
		return ""
	}
	var parts []string
	for part := range strings.SplitSeq(fmt.Sprint(value), ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return foreign.Visible(strings.Join(parts, ", "))
}
