package immutability

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Server is what [Probe] needs of a client for the object's resource and namespace. The methods have the signatures of
// client-go's dynamic.ResourceInterface.
type Server interface {
	Create(ctx context.Context, obj *unstructured.Unstructured, options metav1.CreateOptions, subresources ...string) (*unstructured.Unstructured, error)
	Update(ctx context.Context, obj *unstructured.Unstructured, options metav1.UpdateOptions, subresources ...string) (*unstructured.Unstructured, error)
}

// ProbeOptions adjust the requests of [Probe]. The zero value works.
type ProbeOptions struct {
	// FieldManager is the manager that the dry runs are sent as. Default: none, the server takes it from the user agent.
	FieldManager string
}

// Probe confirms or corrects the verdict of [Classify] by asking the server, and returns the verdict with the answers as
// evidence. manifest is what was applied, live is the object that it was applied to; neither is modified. It spends no
// request on verdicts that another answer couldn't change (None, Directional, MetadataPrecondition, AdmissionDenied, and
// proven Invalid), one when the create settles it, and never more than two. Both are dry runs.
//
// The create tells whether the manifest is valid in itself. If it is, and not every cause is a known immutable field,
// the update of the whole manifest tells whether the object can be changed in place after all, which makes it a
// MergeLeftover.
//
// A create that the server would refuse for other reasons (missing rights, policy, a namespace that is terminating)
// makes the verdict uncertain, so that it isn't replaceable: after the delete there would be nothing. A full quota that
// the delete makes room in is no such reason. If there is no answer (timeouts, internal errors), the verdict stays what
// the texts made it, and the evidence says so. In no case does it become replaceable without the server having called
// the manifest valid.
func Probe(ctx context.Context, server Server, manifest, live *unstructured.Unstructured, verdict Verdict, opts ProbeOptions) Verdict {
	if !verdict.worthAsking() || server == nil || manifest == nil {
		return verdict
	}
	if live == nil {
		live = &unstructured.Unstructured{}
	}
	_, err := server.Create(ctx, createBody(manifest, live), metav1.CreateOptions{
		DryRun:          []string{metav1.DryRunAll},
		FieldManager:    opts.FieldManager,
		FieldValidation: metav1.FieldValidationStrict,
	})
	verdict = verdict.afterCreate(readCreate(err, manifest))
	if verdict.Evidence.Create.Outcome == Valid && verdict.Uncertain != "" {
		updated, err := server.Update(ctx, updateBody(manifest, live), metav1.UpdateOptions{
			DryRun:          []string{metav1.DryRunAll},
			FieldManager:    opts.FieldManager,
			FieldValidation: metav1.FieldValidationStrict,
		})
		verdict = verdict.afterUpdate(readAnswer(err), live, updated)
	}
	if verdict.Replaceable() {
		verdict.Hazards = Hazards(live)
	}
	return verdict
}

// worthAsking reports whether an answer of the server could change the verdict.
func (v Verdict) worthAsking() bool {
	switch v.Kind {
	case Immutable, MergeLeftover:
		return true
	case Invalid:
		return v.Uncertain != ""
	}
	return false
}

// afterCreate takes the answer of the dry-run create into account. A manifest that is valid in itself leaves no doubt
// when every cause is a known immutable field, since an update of the whole manifest would be refused like the apply;
// nor when one of them is a one-way rule.
func (v Verdict) afterCreate(r reply) Verdict {
	v.Evidence.Create = r.answer
	v.Evidence.Requests++
	switch r.answer.Outcome {
	case NotValid:
		v.Kind, v.Uncertain, v.Remedy = Invalid, "", ""
		v.Fields = r.verdict.Fields
	case Refused:
		v.Uncertain = "the server would refuse to create the object: " + r.answer.Message
	case Valid:
		if slices.Contains(v.Evidence.Families, OneWayRule) {
			v.Kind = Directional
		}
		if v.Kind == Directional || v.Kind == Immutable {
			v.Uncertain = ""
		}
	}
	return v
}

// afterUpdate takes the answer of the dry-run update into account, given that the manifest is valid in itself.
func (v Verdict) afterUpdate(r reply, live, updated *unstructured.Unstructured) Verdict {
	v.Evidence.Update = r.answer
	v.Evidence.Requests++
	switch {
	case r.answer.Outcome == Valid:
		v.Kind, v.Uncertain = MergeLeftover, ""
		v.Leftovers = leftovers(live, updated, v.causes)
		v.Remedy = remedyFor(v.Leftovers)
	case r.answer.Outcome == NotValid && v.sharesCause(r.verdict):
		v.Kind, v.Uncertain, v.Remedy = Immutable, "", ""
	case r.answer.Outcome == NotValid:
		v = v.undecided("an update of the whole manifest is refused too, but for other reasons")
	default:
		v = v.undecided("the dry-run update was not answered: " + r.answer.Message)
	}
	return v
}

// undecided is the verdict when the manifest is known to be valid in itself, and it isn't known whether a field is
// immutable or left over from a merge. A text about leftovers keeps its verdict.
func (v Verdict) undecided(why string) Verdict {
	if v.Kind != MergeLeftover {
		v.Kind = Immutable
	}
	v.Uncertain = "the manifest is valid, but a field that the apply leaves behind may be in the way; " + why
	return v
}

// sharesCause reports whether one of the causes is among the other verdict's: then it isn't a leftover of the merge that
// the server objects to.
func (v Verdict) sharesCause(other Verdict) bool {
	return slices.ContainsFunc(v.causes, func(a cause) bool {
		return slices.ContainsFunc(other.causes, a.sameAs)
	})
}

// createBody is the manifest as it would be created after the delete. The ports that the live object holds are left out:
// they are free once it is gone, but a dry run finds them taken.
func createBody(manifest, live *unstructured.Unstructured) *unstructured.Unstructured {
	body := manifest.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "managedFields"} {
		unstructured.RemoveNestedField(body.Object, "metadata", field)
	}
	if body.GroupVersionKind().GroupKind().String() == "Service" {
		dropHeldPorts(body.Object, live.Object)
	}
	return body
}

func dropHeldPorts(service, live map[string]any) {
	held := map[any]bool{}
	for _, port := range servicePorts(live) {
		held[integer(port["nodePort"])] = true
	}
	for _, port := range servicePorts(service) {
		if n := integer(port["nodePort"]); n != 0 && held[n] {
			delete(port, "nodePort")
		}
	}
	spec, _ := service["spec"].(map[string]any)
	liveSpec, _ := live["spec"].(map[string]any)
	if n := integer(spec["healthCheckNodePort"]); n != 0 && n == integer(liveSpec["healthCheckNodePort"]) {
		delete(spec, "healthCheckNodePort")
	}
}

// servicePorts returns the maps in spec.ports themselves, not copies.
func servicePorts(service map[string]any) []map[string]any {
	spec, _ := service["spec"].(map[string]any)
	list, _ := spec["ports"].([]any)
	var ports []map[string]any
	for _, item := range list {
		if port, ok := item.(map[string]any); ok {
			ports = append(ports, port)
		}
	}
	return ports
}

// integer reads a number as YAML and JSON decoders produce it; 0 for everything else.
func integer(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case int:
		return int64(n)
	case float64:
		return int64(n)
	}
	return 0
}

// updateBody is the manifest as a replacement of this very live object: custom resources need the resourceVersion, and
// the uid keeps the answer from being about a successor.
func updateBody(manifest, live *unstructured.Unstructured) *unstructured.Unstructured {
	body := manifest.DeepCopy()
	unstructured.RemoveNestedField(body.Object, "metadata", "managedFields")
	body.SetResourceVersion(live.GetResourceVersion())
	body.SetUID(live.GetUID())
	return body
}
