package immutability_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
)

func because(field string, typ metav1.CauseType, message string) metav1.StatusCause {
	return metav1.StatusCause{Field: field, Type: typ, Message: message}
}

const (
	invalidValue = metav1.CauseTypeFieldValueInvalid
	forbidden    = metav1.CauseTypeForbidden
)

// refused is the error of an update of an object named "x".
func refused(group, kind string, causes ...metav1.StatusCause) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity,
		Message: fmt.Sprintf("%s %q is invalid: …", schema.GroupKind{Group: group, Kind: kind}, "x"),
		Details: &metav1.StatusDetails{Group: group, Kind: kind, Name: "x", Causes: causes},
	}}
}

var (
	selector  = because("spec.selector", invalidValue, `Invalid value: {"matchLabels":{"app":"b"}}: field is immutable`)
	replicas  = because("spec.replicas", invalidValue, "Invalid value: -1: must be greater than or equal to 0")
	leftover  = because("spec.strategy.rollingUpdate", forbidden, "Forbidden: may not be specified when strategy `type` is 'Recreate'")
	staleUID  = because("metadata.uid", invalidValue, `Invalid value: "u": field is immutable`)
	shrinking = because("spec.resources.requests.storage", forbidden, "Forbidden: field can not be less than status.capacity")
	claimSpec = because("spec", forbidden, "Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n  core.PersistentVolumeClaimSpec{\n")
)

func TestClassifyKinds(t *testing.T) {
	withDetails := func(code int32, reason metav1.StatusReason, message, kind string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: code, Reason: reason, Message: message,
			Details: &metav1.StatusDetails{Kind: kind, Name: "x", Causes: []metav1.StatusCause{selector}},
		}}
	}
	tests := []struct {
		name        string
		err         error
		kind        immutability.Refusal
		replaceable bool
		why         string
	}{
		{"nil", nil, immutability.RefusalNone, false, "nothing was refused"},
		{"no API error", errors.New("spec.selector: field is immutable"), immutability.RefusalNone, false, "only a server's status counts"},
		{"nil status error", (*apierrors.StatusError)(nil), immutability.RefusalNone, false, "a nil pointer in an interface is no error of the server"},
		{"immutable", refused("apps", "Deployment", selector), immutability.RefusalImmutable, true, "a known text, and all else is checked too"},
		{"immutable, twice", refused("apps", "Deployment", selector, selector), immutability.RefusalImmutable, true, "servers repeat causes"},
		{"immutable, unchecked", refused("scheduling.k8s.io", "PriorityClass", because("value", forbidden, "Forbidden: may not be changed in an update.")),
			immutability.RefusalImmutable, false, "the new value may be reserved, which the update doesn't check"},
		{"invalid", refused("apps", "Deployment", replicas), immutability.RefusalInvalid, false, "no create accepts it"},
		{"immutable and invalid", refused("apps", "Deployment", selector, replicas), immutability.RefusalInvalid, false, "every cause has to be immutable"},
		{"invalid and immutable", refused("apps", "Deployment", replicas, selector), immutability.RefusalInvalid, false, "in whatever order"},
		{"immutable and leftover", refused("apps", "Deployment", selector, leftover), immutability.RefusalMergeLeftover, false, "every cause has to be immutable"},
		{"leftover", refused("apps", "Deployment", leftover), immutability.RefusalMergeLeftover, false, "a default may be in the way"},
		{"metadata", refused("apps", "Deployment", staleUID, selector), immutability.RefusalMetadataPrecondition, false, "the manifest carries another object's uid"},
		{"metadata of any kind", refused("example.com", "Widget", staleUID), immutability.RefusalMetadataPrecondition, false, "metadata rules are the same for all kinds"},
		{"directional", refused("", "PersistentVolumeClaim", shrinking), immutability.RefusalDirectional, false, "the data would be lost"},
		{"immutable and directional", refused("", "PersistentVolumeClaim", claimSpec, shrinking), immutability.RefusalDirectional, false, "the data would be lost"},
		{"custom resource", refused("example.com", "Widget", because("spec.a", invalidValue, `Invalid value: "b": field is immutable`)),
			immutability.RefusalInvalid, false, "its texts are free: the author may call anything immutable"},
		{"custom resource named like a built-in kind", refused("example.com", "Deployment", selector), immutability.RefusalInvalid, false, "the group tells them apart"},
		{"definition's group", refused("apiextensions.k8s.io", "CustomResourceDefinition", because("spec.group", invalidValue, `Invalid value: "b": field is immutable`)),
			immutability.RefusalInvalid, false, "the group is part of the name"},
		{"no causes", refused("apps", "Deployment"), immutability.RefusalInvalid, false, "nothing is known"},
		{"no details", &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonInvalid, Code: 422, Message: "field is immutable"}},
			immutability.RefusalInvalid, false, "the message as a whole isn't read"},
		{"no reason", withDetails(422, "", "deployments is invalid", "Deployment"), immutability.RefusalInvalid, false, "the code tells what it is about"},
		{"no reason, another code", withDetails(400, "", "deployments is invalid", "Deployment"), immutability.RefusalNone, false, "not about the content"},
		{"another reason", withDetails(422, metav1.StatusReasonBadRequest, "deployments is invalid", "Deployment"), immutability.RefusalNone, false, "the reason counts before the code"},
		{"options", refused("meta.k8s.io", "PatchOptions", because("force", forbidden, "Forbidden: may not be specified for non-apply patch")),
			immutability.RefusalNone, false, "the request is wrong, not the object"},
		{"not found", withDetails(404, metav1.StatusReasonNotFound, "field is immutable", "deployments"), immutability.RefusalNone, false, "not about the content"},
		{"conflict", withDetails(409, metav1.StatusReasonConflict, "field is immutable", "deployments"), immutability.RefusalNone, false, "not about the content"},
		{"rights", withDetails(403, metav1.StatusReasonForbidden, `deployments "x" is forbidden: User "jane" cannot patch resource "deployments" in API group "apps"`, "deployments"),
			immutability.RefusalNone, false, "authorization isn't admission"},
		{"escalation", withDetails(403, metav1.StatusReasonForbidden, `deployments "x" is forbidden: user "jane" (groups=[]) is attempting to grant RBAC permissions not currently held`, "deployments"),
			immutability.RefusalNone, false, "nor is the check for escalation"},
		{"quota", withDetails(403, metav1.StatusReasonForbidden, `deployments "x" is forbidden: exceeded quota: q, requested: a=1, used: a=1, limited: a=1`, "deployments"),
			immutability.RefusalAdmissionDenied, false, "an admission plugin refused"},
		{"policy", withDetails(422, metav1.StatusReasonInvalid, `deployments "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: field is immutable`, "deployments"),
			immutability.RefusalAdmissionDenied, false, "the policy chose reason and text"},
		{"webhook", withDetails(422, metav1.StatusReasonInvalid, `admission webhook "w.example.com" denied the request: spec.selector: field is immutable`, "Deployment"),
			immutability.RefusalAdmissionDenied, false, "the webhook forged the causes"},
		{"webhook without text", withDetails(500, "", `admission webhook "w.example.com" denied the request without explanation`, ""),
			immutability.RefusalAdmissionDenied, false, "whatever the code"},
		{"webhook that can't dry-run", withDetails(400, metav1.StatusReasonBadRequest, `admission webhook "w.example.com" does not support dry run`, ""),
			immutability.RefusalNone, false, "it didn't deny"},
		{"proxy", &apierrors.StatusError{ErrStatus: apierrors.NewGenericServerResponse(422, "patch", schema.GroupResource{}, "x", "field is immutable", 0, true).ErrStatus},
			immutability.RefusalNone, false, "client-go made the status up"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := immutability.Classify(tt.err)
			assert.Equal(t, tt.kind, got.Refusal, tt.why)
			assert.Equal(t, tt.replaceable, got.Replaceable(), tt.why)
		})
	}
}

func TestClassifySeveralErrors(t *testing.T) {
	one, other := refused("apps", "Deployment", selector), refused("", "Secret", because("type", invalidValue, `Invalid value: "b": field is immutable`))
	got := immutability.Classify(errors.Join(one, other))
	assert.False(t, got.Replaceable(), "which object would be replaced?")
	assert.NotEmpty(t, got.Uncertain)
	assert.Len(t, got.Fields, 2)

	got = immutability.Classify(errors.Join(one, apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "x", errors.New("modified"))))
	assert.False(t, got.Replaceable(), "the other error isn't explained")
}

func TestClassifyFields(t *testing.T) {
	tests := []struct {
		name  string
		kind  string
		cause metav1.StatusCause
		want  immutability.Field
		why   string
	}{
		{"value left out", "Deployment.apps", selector, immutability.Field{Text: "spec.selector", Message: "Invalid value: field is immutable"}, "values are user data"},
		{"secret value of a custom resource", "Widget.example.com", because("spec.token", invalidValue, `Invalid value: "hunter2: it's \"me\"": token is fixed: ask ops`),
			immutability.Field{Text: "spec.token", Message: "Invalid value: token is fixed: ask ops"}, "quotes in the value don't end it"},
		{"number", "Widget.example.com", because("spec.size", invalidValue, "Invalid value: 4: cannot shrink"), immutability.Field{Text: "spec.size", Message: "Invalid value: cannot shrink"}, ""},
		{"value omitted", "Widget.example.com", because("spec", invalidValue, "Invalid value: once is required: always"),
			immutability.Field{Text: "spec", Message: "Invalid value: once is required: always"}, "the server leaves out values of objects"},
		{"value only", "Widget.example.com", because("spec.dup", metav1.CauseTypeFieldValueDuplicate, `Duplicate value: "hunter2"`), immutability.Field{Text: "spec.dup", Message: "Duplicate value"}, "the rule's text is lost"},
		{"label only", "Widget.example.com", because("spec.a", metav1.CauseTypeFieldValueRequired, "Required value"), immutability.Field{Text: "spec.a", Message: "Required value"}, ""},
		{"JSON", "Widget.example.com", because("spec.a", invalidValue, `Invalid value: {"a":"}: x","b":[1,2]}: no`), immutability.Field{Text: "spec.a", Message: "Invalid value: no"}, "brackets in quotes don't count"},
		{"Go syntax", "Widget.example.com", because("spec.a", invalidValue, `Invalid value: core.Spec{A:"x: y", B:(*int32)(0xc000)}: no`), immutability.Field{Text: "spec.a", Message: "Invalid value: no"}, "as printed up to 1.33"},
		{"broken value", "Widget.example.com", because("spec.a", invalidValue, `Invalid value: {"a": "hunter2`), immutability.Field{Text: "spec.a", Message: "Invalid value"}, "what can't be read isn't shown"},
		{"diff", "PersistentVolumeClaim", claimSpec, immutability.Field{Text: "spec", Message: "Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"}, "diffs hold user data"},
		{"unknown form", "Widget.example.com", because("spec.a", "", "no label here\nand more"), immutability.Field{Text: "spec.a", Message: "no label here"}, ""},
		{"root", "Widget.example.com", because("<nil>", invalidValue, "Invalid value: null: some validation rules were not checked"), immutability.Field{Text: "", Message: "Invalid value: some validation rules were not checked"}, "the object as a whole"},
		{"too big", "ConfigMap", because("[]", metav1.CauseTypeTooLong, "Too long: may not be more than 1048576 bytes"), immutability.Field{Text: "", Message: "Too long: may not be more than 1048576 bytes"}, "the object as a whole"},
		{"volumeMode", "PersistentVolume", because("volumeMode", invalidValue, `Invalid value: "Block": field is immutable`), immutability.Field{Text: "spec.volumeMode", Message: "Invalid value: field is immutable"}, "the server forgets spec"},
		{"nodeAffinity", "PersistentVolume", because("nodeAffinity", invalidValue, `Invalid value: null: field is immutable, except for updating from beta label to GA`),
			immutability.Field{Text: "spec.nodeAffinity", Message: "Invalid value: field is immutable, except for updating from beta label to GA"}, "the server forgets spec"},
		{"volume source", "PersistentVolume", because("spec.persistentvolumesource", forbidden, "Forbidden: spec.persistentvolumesource is immutable after creation\n-a\n+b"),
			immutability.Field{Text: "spec", Message: "Forbidden: spec.persistentvolumesource is immutable after creation"}, "the source is inlined"},
		{"attachRequired", "CSIDriver.storage.k8s.io", because("spec.attachedRequired", invalidValue, "Invalid value: false: field is immutable"), immutability.Field{Text: "spec.attachRequired", Message: "Invalid value: field is immutable"}, "misspelled by the server"},
		{"same name elsewhere", "Widget.example.com", because("volumeMode", invalidValue, `Invalid value: "b": no`), immutability.Field{Text: "volumeMode", Message: "Invalid value: no"}, "an oddity belongs to its kind"},
		{"downwardAPI", "Deployment.apps", because("spec.template.spec.volumes[10].downwarAPI", forbidden, "Forbidden: may not specify more than 1 volume type"),
			immutability.Field{Text: "spec.template.spec.volumes[10].downwardAPI", Message: "Forbidden: may not specify more than 1 volume type"}, "misspelled by the server"},
		{"annotation", "PersistentVolumeClaim", because("metadata.annotations.volume.beta.kubernetes.io/storage-class", invalidValue, `Invalid value: "b": field is immutable`),
			immutability.Field{Text: `metadata.annotations["volume.beta.kubernetes.io/storage-class"]`, Message: "Invalid value: field is immutable"}, "the key has dots"},
		{"event", "Event", because("involvedObject", invalidValue, `Invalid value: {"Kind":"Pod"}: field is immutable`), immutability.Field{Text: "regarding", Message: "Invalid value: field is immutable"}, "only events.k8s.io has the rule, and calls the field so"},
		{"core event", "Event", because("involvedObject", invalidValue, `Invalid value: {"Kind":"Pod"}: no`), immutability.Field{Text: "involvedObject", Message: "Invalid value: no"}, "other texts are the core group's too"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			gk := schema.ParseGroupKind(tt.kind)
			got := immutability.Classify(refused(gk.Group, gk.Kind, tt.cause, tt.cause))
			assert.Equal(t, []immutability.Field{tt.want}, got.Fields, tt.why)
		})
	}
}

func TestVerdictsExplainThemselves(t *testing.T) {
	got := immutability.Classify(refused("apps", "Deployment", selector))
	assert.Equal(t, "texts: field is immutable", got.Evidence.String())
	assert.Empty(t, got.Uncertain)

	got = immutability.Classify(refused("apps", "Deployment", replicas))
	assert.Equal(t, "none", got.Evidence.String())
	assert.Equal(t, "no known message about immutable fields; a dry-run create would show whether the manifest is valid in itself", got.Uncertain)

	got = immutability.Classify(refused("", "PersistentVolumeClaim", shrinking))
	assert.Equal(t, "volumes don't shrink: keep the size, or move the data to a new, smaller claim", got.Remedy)

	var zero immutability.Verdict
	assert.False(t, zero.Replaceable())
}

func TestVerdictString(t *testing.T) {
	field := immutability.Field{Text: "spec.a", Message: "no"}
	leftover := []projection.Path{{projection.Field("x")}, {projection.Field("y")}}
	for _, tt := range []struct {
		verdict immutability.Verdict
		want    string
		why     string
	}{
		{immutability.Verdict{Refusal: immutability.RefusalInvalid, Fields: []immutability.Field{field, {Message: "all wrong"}}},
			"invalid: spec.a: no; all wrong", "no advice"},
		{immutability.Verdict{Refusal: immutability.RefusalInvalid, Fields: []immutability.Field{field}, Uncertain: "a guess"},
			"invalid: spec.a: no (uncertain: a guess)", "a doubt"},
		{immutability.Verdict{Refusal: immutability.RefusalInvalid, Fields: []immutability.Field{field}, Remedy: "do it"},
			"invalid: spec.a: no; do it", "a remedy"},
		{immutability.Verdict{Refusal: immutability.RefusalMergeLeftover, Fields: []immutability.Field{field}, Leftovers: leftover, Remedy: "do it", Uncertain: "a guess"},
			"a field that the manifest doesn't mention is in the way: spec.a: no; in the way: x, y; do it (uncertain: a guess)", "everything"},
		{immutability.Verdict{Refusal: immutability.RefusalImmutable, Certainty: immutability.CertaintyAssumed, Fields: []immutability.Field{field}},
			"can't change in place, and it isn't known whether replacing it works: spec.a: no", "not proven"},
		{immutability.Verdict{Refusal: immutability.RefusalImmutable, Certainty: immutability.CertaintyProven, Fields: []immutability.Field{field}},
			"can't change in place, and replacing it works: spec.a: no", "proven"},
	} {
		assert.Equal(t, tt.want, tt.verdict.String(), tt.why)
	}
}
