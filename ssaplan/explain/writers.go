package explain

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/internal/managedfields"
	"github.com/ssaplan/primitives/projection"
)

// writers returns the tools that wrote to the live object, each with its fields that remain in the answer. It omits
// fields that are ignored or that the server would set again.
func (in Input) writers(owners fieldowner.Ownership, answer map[string]any,
	unsent projection.FieldSet) []fieldowner.Writer {
	if in.Live == nil {
		return nil
	}
	out := owners.Writers(in.asAnnotated(answer), in.applier(), in.tools())
	if len(out) == 0 {
		return nil
	}
	sensitive := in.Sensitive.OfEveryItem()
	all := projection.NewObject(answer, owners.Fields(nil))
	kept := owners.Fields(func(o fieldowner.Owner) bool {
		_, isTool := fieldowner.ToolOf(o, in.tools())
		return !isTool || in.applier().Is(o)
	})
	for i := range out {
		stays := slices.DeleteFunc(out[i].Stays, func(p projection.Path) bool {
			return unsent.Covers(p) || !unsent.Under(p).Empty() || isSetAgain(answer, all, kept, p)
		})
		out[i].Stays = redactedPaths(stays, sensitive)
	}
	return out
}

// appliedAnnotation is the path of the annotation in which client-side apply stores its manifest.
var appliedAnnotation = []string{"metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"}

// asAnnotated returns the answer with the annotation as the live object has it, which shows what client-side apply
// wrote. If kubectl is the field manager of the apply, the server updates the annotation. Source:
// k8s.io/apimachinery/pkg/util/managedfields/internal/lastappliedupdater.go.
func (in Input) asAnnotated(answer map[string]any) map[string]any {
	was, _, _ := unstructured.NestedString(in.Live, appliedAnnotation...)
	is, exists, _ := unstructured.NestedString(answer, appliedAnnotation...)
	if !exists || was == "" || was == is {
		return answer
	}
	out := (&unstructured.Unstructured{Object: answer}).DeepCopy().Object
	_ = unstructured.SetNestedField(out, was, appliedAnnotation...) // can't fail: the annotation is a string
	return out
}

// knownWriters returns the writers of a live object that an apply doesn't change. It reads managedFields only if they
// have an entry of a tool.
func (in Input) knownWriters() []fieldowner.Writer {
	if !in.hasToolWritten() {
		return nil
	}
	owners, err := in.Records.Read(in.Live)
	if err != nil {
		return nil // the earlier explanation could read the managedFields
	}
	return in.writers(owners, in.Live, unsent(namedAs(in.Ignored, in.Live, owners.Fields(nil))))
}

// hasToolWritten reports whether the live object's managedFields have an entry of a tool.
func (in Input) hasToolWritten() bool {
	tools := in.tools()
	for entry := range managedfields.All(in.Live) {
		if _, is := fieldowner.ToolOf(fieldowner.Owner(entry.Owner), tools); is {
			return true
		}
	}
	return false
}
