package immutability

import (
	"context"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// ProbeOptions adjust the requests of [Probe]. The zero value works.
type ProbeOptions struct {
	// FieldManager is the field manager of the dry runs. Default: none, the server takes it from the user agent.
	FieldManager string
	// IPAddresses is a client for ipaddresses.networking.k8s.io, to find out whether a cluster IP is free. Default:
	// none, a Service whose manifest sets another cluster IP is not replaceable.
	IPAddresses Getter
	// Propagation is the policy with which the old object will be deleted. The hazards depend on it. Default:
	// Background.
	Propagation metav1.DeletionPropagation
	// Definitions is a client for customresourcedefinitions.apiextensions.k8s.io, to read the rules of a CRD. Default:
	// none, a custom resource is not replaceable.
	Definitions Getter
	// Rules caches the rules of CRDs. Default: nothing is cached.
	Rules *Rules
	// Apply does a forced dry-run apply of the whole manifest. Set it if the rejected request left ignored fields out.
	// The missing fields may be the reason for the refusal, so a field is immutable only if the whole manifest is
	// refused for the same fields. Default: none, the rejected request had the whole manifest.
	Apply func(ctx context.Context) error
}

// Probe confirms or corrects the verdict of [Classify] by asking the server, and returns the verdict with the answers
// as evidence. manifest is what was applied, live is the object that it was applied to; neither is modified. It sends
// no request for verdicts that no answer could change (None, Directional, MetadataPrecondition, AdmissionDenied, and
// proven Invalid). Otherwise it sends one dry run if the create decides, and two or three in other cases.
// [ProbeOptions].Apply, if set, may be one more. To find leftovers it tries each field that may be in the way, with at
// most sixteen more dry runs.
//
// The create shows whether the manifest itself is valid. If it is, and not every cause is a known immutable field, the
// update of the whole manifest follows. If that update works, the object can be changed in place, and the refusal is a
// MergeLeftover. If the server rejects it for the same reason as the apply, the rejected field is immutable. If it
// rejects it for another reason, Probe sends a second update, which keeps the fields that only others have set. If that
// one works, the refusal is a MergeLeftover as well. If the server rejects both because of the same field, and the
// manifest changes its value, the field is immutable.
//
// If the server would refuse the create for other reasons (missing RBAC, policy, a terminating namespace), the verdict
// becomes uncertain and isn't replaceable: after the delete there would be no object. A full quota is no such reason if
// it counts objects and the delete makes room in it. If there is no answer (timeouts, internal errors), the verdict of
// the messages stays, and the evidence shows that. A verdict only becomes replaceable if the server has called the
// manifest valid. Volume claims, volumes, CRDs, namespaces and nodes become replaceable only if every message is known
// as well: an unknown message may come from a rule that protects their data.
//
// The dry run of a Service checks less than a create. So each cluster IP that the manifest sets and the live object
// doesn't have takes one more Get. Node ports are assumed to be in the default range, unless the live object shows
// another range.
//
// If the update of a custom resource is rejected, a rule of its CRD is the reason; reading the CRD takes one more Get.
// The refusal is Immutable only if the rule demands that the value, or parts of it, stay equal. For every other rule
// that looks at the old value ("can only be increased", "can't be unset") it is Directional. It is also Directional if
// the rule can't be read, can't be found by field and message, or isn't understood.
//
// If manifest and live object have the same values at every refused field, the verdict isn't replaceable, since a
// replacement would change nothing. That happens with the data of a ControllerRevision: a server compares it byte by
// byte, and an apply may write it in another order.
//
// If the manifest of a custom resource has a null that the schema doesn't allow, the verdict is Invalid without a
// request. A create would drop the null and accept the manifest, but the apply that creates the new object would reject
// it.
//
// Without a server or a manifest the verdict is returned unchanged. live may be nil; then no leftovers are found, and
// the hazards are those of the manifest.
func Probe(ctx context.Context, server Writer, manifest, live *unstructured.Unstructured, verdict Verdict,
	opts ProbeOptions) Verdict {
	if manifest == nil {
		return verdict
	}
	verdict = verdict.Locate(manifest, live, projection.FieldSet{})
	if verdict.refusesNull(manifest) {
		verdict.prove(RefusalInvalid)
	}
	if !verdict.worthAsking() || server == nil {
		return verdict
	}
	if live == nil {
		live = &unstructured.Unstructured{}
	}
	p := probe{dryRuns: dryRuns{server: server, manager: opts.FieldManager, manifest: manifest, live: live}, opts: opts}
	create := p.create(ctx)
	verdict = verdict.afterCreate(create)
	valid := create.Outcome == OutcomeValid
	if valid && verdict.Certainty != CertaintyProven {
		verdict = p.tellLeftovers(ctx, verdict)
	}
	if opts.Apply != nil && verdict.Replaceable() {
		verdict = p.confirmOfWhole(ctx, verdict)
	}
	if verdict.Replaceable() && p.changesNone(verdict.Fields) {
		verdict.doubt(CertaintyAssumed,
			"the manifest changes none of these fields: the server compares their stored form, and an apply rewrites it")
	}
	if valid && verdict.Refusal == RefusalImmutable && !verdict.allKnown() && !kinds.IsBuiltin(manifest.Object) {
		verdict = p.tellRules(ctx, create.resource, verdict)
	}
	if valid && verdict.Replaceable() && isService(manifest) {
		verdict = verdict.proveAddresses(ctx, manifest, live, opts.IPAddresses)
	}
	if verdict.Replaceable() {
		verdict.Hazards = p.hazards()
	}
	return verdict
}

// probe asks the server what decides the verdict.
type probe struct {
	dryRuns
	opts  ProbeOptions
	whole []cause // for which an update of the whole manifest was refused
}

// tellLeftovers finds out whether the apply is refused for what it leaves behind of the live object.
func (p *probe) tellLeftovers(ctx context.Context, v Verdict) Verdict {
	whole, updated := p.update(ctx, updateBody(p.manifest, p.live))
	v = v.afterUpdate(whole)
	p.whole = whole.invalid.causes
	if whole.Outcome == OutcomeValid {
		v = p.nameLeftovers(ctx, v, updated)
		v.Remedy = answer.LeftoverRemedy
		if len(v.Leftovers) > 0 {
			v.Remedy = removeByPatch(p.manifest, v.Leftovers) + orPut
		}
	}
	holdsOthers := kinds.HoldsOthers(kindOf(p.manifest).String())
	if v.Replaceable() && holdsOthers && !v.allKnown() {
		v.doubt(CertaintyAssumed,
			"an unknown message may come from a rule that protects data; decide yourself whether to replace the object")
	}
	isSettled := v.Certainty == CertaintyProven || whole.Outcome != OutcomeInvalid || v.sharesCause(whole.invalid)
	if isSettled || len(p.live.Object) == 0 {
		return v
	}
	merged, updated := p.update(ctx, mergedBody(p.manifest, p.live, v.causes))
	v = v.afterMerge(merged)
	if merged.Outcome == OutcomeValid {
		v = p.nameLeftovers(ctx, v, updated)
		v.Remedy = answer.MergeRemedy
		if len(v.Leftovers) > 0 {
			v.Remedy = removeByPatch(p.manifest, v.Leftovers)
		}
	}
	if !holdsOthers {
		v = v.afterTransitions(p.transitions(whole, merged))
	}
	return v
}

// changesNone reports whether the manifest has at each of the fields what the live object has. A field that isn't found
// may be changed.
func (p *probe) changesNone(fields []Field) bool {
	record := recordOf(p.live.Object)
	is, was := projection.NewManifest(p.manifest.Object, record), projection.NewObject(p.live.Object, record)
	return len(fields) > 0 && !slices.ContainsFunc(fields, func(f Field) bool {
		value, exists := is.Get(f.Path)
		before, existed := was.Get(f.Path)
		return len(f.Path) == 0 || !exists || !existed || !reflect.DeepEqual(value, before)
	})
}

// confirmOfWhole finds out whether the whole manifest is refused for something that a part of it was refused for.
func (p *probe) confirmOfWhole(ctx context.Context, v Verdict) Verdict {
	whole := readAnswer(p.opts.Apply(ctx))
	v.Evidence.Whole = whole.Answer
	v.Evidence.Requests++
	if !v.sharesCause(whole.invalid) {
		v.doubt(CertaintyAssumed, "the whole manifest isn't refused for that, so the ignored fields may be the cause")
	}
	return v
}

// tellRules finds out whether the rules that refuse a custom resource demand that it stays what it is.
func (p *probe) tellRules(ctx context.Context, resource string, v Verdict) Verdict {
	if p.opts.Definitions == nil {
		return v.directional(definitionUnread)
	}
	crd, err := p.opts.Definitions.Get(ctx, resource, metav1.GetOptions{})
	v.Evidence.Requests++
	if err != nil {
		return v.directional(definitionRefused + shorten(err.Error()).String())
	}
	version := p.manifest.GroupVersionKind().Version
	return v.afterRules(p.opts.Rules.of(crd, version), p.whole)
}

// transitions returns the fields that both updates were refused for and whose own value the manifest changes. With or
// without what others have set, the server doesn't let them become what the manifest declares.
func (p *probe) transitions(whole, merged reply) []Field {
	var fields []Field
	for _, c := range whole.invalid.causes {
		before, hadBefore := scalarAt(p.live, c.Field)
		after, hasAfter := scalarAt(p.manifest, c.Field)
		if hadBefore && hasAfter && before != after && slices.ContainsFunc(merged.invalid.causes, c.isLike) {
			fields = append(fields, Field{Text: foreign.Text(c.Field), Message: foreign.Text(c.Message())})
		}
	}
	return p.located(fields)
}

// scalarAt returns the text, number or boolean at a field that is in no list.
func scalarAt(obj *unstructured.Unstructured, field string) (any, bool) {
	v, _, _ := unstructured.NestedFieldNoCopy(obj.Object, strings.Split(field, ".")...) // nil with an error
	switch v.(type) {
	case string, int64, float64, bool:
		return v, true
	}
	return nil, false
}

// hazards returns the [Hazards] of the live object, and of the manifest for want of one.
func (p *probe) hazards() []Hazard {
	options := HazardOptions{Propagation: p.opts.Propagation}
	if len(p.live.Object) == 0 {
		return hazardsOf(kindOf(p.manifest), p.manifest, options)
	}
	return hazardsOf(kindOf(p.manifest), p.live, options)
}

// refusesNull reports whether a cause may be a null that the manifest has. The positions in what a server prints don't
// always tell which item it is, so the name of the field has to do.
func (v Verdict) refusesNull(manifest *unstructured.Unstructured) bool {
	return slices.ContainsFunc(v.causes,
		func(c cause) bool { return c.IsNull() && holdsNull(manifest.Object, c.Field) })
}

// holdsNull reports whether v has a null in a field with the name that a field of a server's text ends in.
func holdsNull(v any, field string) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if value == nil && strings.HasSuffix(field, name) || holdsNull(value, field) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return holdsNull(item, field) })
	}
	return false
}

// worthAsking reports whether an answer of the server could change the verdict.
func (v Verdict) worthAsking() bool {
	switch v.Refusal {
	case RefusalImmutable, RefusalMergeLeftover:
		return true
	case RefusalInvalid:
		return v.Certainty != CertaintyProven
	}
	return false
}

// afterCreate takes the answer of the dry-run create into account. A manifest that is valid in itself leaves no doubt
// when every cause is a known immutable field, since an update of the whole manifest would be refused like the apply;
// nor when one of them is a one-way rule.
func (v Verdict) afterCreate(r reply) Verdict {
	v.Evidence.Create = r.Answer
	v.Evidence.Requests++
	switch r.Outcome {
	case OutcomeInvalid:
		v.prove(RefusalInvalid)
		v.Remedy = ""
		v.OfNew = slices.DeleteFunc(slices.Clone(r.invalid.Fields),
			func(f Field) bool { return slices.ContainsFunc(v.Fields, f.isLike) })
	case OutcomeRefused:
		if v.Certainty == CertaintyProven {
			v.Certainty = CertaintyAssumed
		}
		v.doubt(v.Certainty, "the server would refuse to create the object: "+r.Message.String())
	case OutcomeValid:
		switch {
		case slices.Contains(v.Evidence.Texts, string(answer.OneWayRule)):
			v.prove(RefusalDirectional)
		case v.Refusal == RefusalImmutable:
			v.prove(RefusalImmutable)
		}
	}
	return v
}

// afterUpdate takes the answer of the dry-run update into account, given that the manifest is valid in itself.
func (v Verdict) afterUpdate(r reply) Verdict {
	v.Evidence.Update = r.Answer
	v.Evidence.Requests++
	switch {
	case r.Outcome == OutcomeValid:
		v.prove(RefusalMergeLeftover)
	case r.Outcome == OutcomeInvalid && (v.sharesCause(r.invalid) || v.hasFixed()):
		v.prove(RefusalImmutable)
		v.Remedy = ""
	case r.Outcome == OutcomeInvalid:
		v = v.undecided("an update of the whole manifest is refused too, but for other reasons")
		if v.Remedy == answer.LeftoverRemedy {
			v.Remedy = answer.MergeRemedy
		}
	default:
		v = v.undecided("the dry-run update was not answered: " + r.Message.String())
	}
	return v
}

// afterMerge takes the answer to a second dry-run update into account, which leaves what only others have set. Where
// that update works, the first was refused for what it would have taken from them. A refusal proves nothing: items of
// lists, which others may have added, are missing in it as well.
func (v Verdict) afterMerge(r reply) Verdict {
	v.Evidence.Merge = r.Answer
	v.Evidence.Requests++
	if r.Outcome == OutcomeValid {
		v.prove(RefusalMergeLeftover)
	}
	return v
}

// afterTransitions takes the fields into account that no update changes as the manifest does, which is valid in itself.
func (v Verdict) afterTransitions(fields []Field) Verdict {
	if len(fields) > 0 {
		v.prove(RefusalImmutable)
		v.Fields, v.Remedy = slices.Concat(fields, v.Fields), ""
	}
	return v
}

// undecided is the verdict when the manifest is known to be valid in itself, and it isn't known whether a field is
// immutable or left over from a merge. A text about leftovers keeps its verdict.
func (v Verdict) undecided(why string) Verdict {
	if v.Refusal != RefusalMergeLeftover {
		v.Refusal = RefusalImmutable
	}
	v.doubt(CertaintyAssumed, "the manifest is valid, but a field that the apply leaves behind may be in the way; "+why)
	return v
}
