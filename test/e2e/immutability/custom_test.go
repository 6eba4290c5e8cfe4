package immutability_test

import (
	"os"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/test/lab"
)

// definition has a rule of each form.
var definition = sync.OnceValue(func() string {
	text, err := os.ReadFile(rulesFolder + "widgets.yaml")
	if err != nil {
		panic(err)
	}
	return string(text)
})

const widget = `
apiVersion: example.com/v1
kind: Widget
spec:
  own: a
  plain: a
  computed: a
  invalid: a
  forbidden: a
  required: a
  duplicate: a
  moved: a
  once: a
  size: 3
  object: {a: 1}
  list: [{name: one, value: a}]
  initial: a
  ratcheted: old
`

func customResources() []pair {
	return []pair{
		{name: "widget-own-message", before: widget, truth: replaceWorks, edit: []string{"spec.own=b"}},
		{name: "widget-own-message-invalid", before: widget, truth: notValid, edit: []string{`spec.own=""`}},
		{name: "widget-no-message", before: widget, truth: replaceWorks, edit: []string{"spec.plain=b"}},
		{name: "widget-no-message-invalid", before: widget, truth: notValid, edit: []string{`spec.plain=""`}},
		{name: "widget-message-expression", before: widget, truth: replaceWorks, edit: []string{"spec.computed=b"}},
		{name: "widget-message-expression-invalid", before: widget, truth: notValid, edit: []string{`spec.computed=""`}},
		{name: "widget-reason-valueinvalid", before: widget, truth: replaceWorks, edit: []string{"spec.invalid=b"}},
		{name: "widget-reason-valueinvalid-invalid", before: widget, truth: notValid, edit: []string{"spec.invalid=bbbbbbbbbb"}},
		{name: "widget-reason-forbidden", before: widget, truth: replaceWorks, edit: []string{"spec.forbidden=b"}},
		{name: "widget-reason-forbidden-invalid", before: widget, truth: notValid, edit: []string{"spec.forbidden=bbbbbbbbbb"}},
		{name: "widget-reason-required", before: widget, truth: replaceWorks, edit: []string{"spec.required=b"}},
		{name: "widget-reason-required-invalid", before: widget, truth: notValid, edit: []string{"spec.required=bbbbbbbbbb"}},
		{name: "widget-reason-duplicate", before: widget, truth: replaceWorks, edit: []string{"spec.duplicate=b"}},
		{name: "widget-reason-duplicate-invalid", before: widget, truth: notValid, edit: []string{"spec.duplicate=bbbbbbbbbb"}},
		{name: "widget-fieldpath", before: widget, truth: replaceWorks, edit: []string{"spec.moved=b"}},
		{name: "widget-fieldpath-invalid", before: widget, truth: notValid, edit: []string{"spec.moved=bbbbbbbbbb"}},
		{name: "widget-required-once-set", before: widget, truth: oneWay, edit: []string{"-spec.once"}, accepted: []string{"spec.once=b"}},
		{name: "widget-required-once-set-invalid", before: widget, truth: notValid, edit: []string{"-spec.once", "spec.size=0"}},
		{name: "widget-shrink", before: widget, truth: oneWay, edit: []string{"spec.size=2"}, accepted: []string{"spec.size=4"}},
		{name: "widget-shrink-invalid", before: widget, truth: notValid, edit: []string{"spec.size=0"}},
		{name: "widget-object", before: widget, truth: replaceWorks, edit: []string{"spec.object.a=2"}},
		{name: "widget-object-invalid", before: widget, truth: notValid, edit: []string{"spec.object.a=-2"}},
		{name: "widget-list-item", before: widget, truth: replaceWorks, edit: []string{"spec.list[0].value=b"}},
		{name: "widget-list-item-invalid", before: widget, truth: notValid, edit: []string{"spec.list[0].value=bbbbbbbbbb"}},
		{name: "widget-optional-oldself", before: widget, truth: replaceWorks, edit: []string{"spec.initial=b"}},
		{name: "widget-optional-oldself-invalid", before: widget, truth: notValid, edit: []string{"spec.initial=legacy"}},
		{name: "widget-many", before: widget, truth: replaceWorks,
			edit: []string{"spec.own=b", "spec.plain=b", "spec.forbidden=b", "spec.required=b", "spec.duplicate=b", "spec.object.a=2"}},
		{name: "widget-type-hides-rules-invalid", before: widget, truth: notValid, // "some validation rules were not checked"
			edit: []string{"spec.own=b", "spec.forbidden=bbbbbbbbbb"}},
		{name: "widget-enum-invalid", before: widget, truth: notValid, edit: []string{"spec.mode=immutable"}},
		{name: "widget-ratcheted-invalid", before: widget, truth: notValid, prepare: tightenDefinition, // fine as it is, but not creatable
			edit: []string{"spec.own=b"}},
	}
}

// tightenDefinition makes the definition stricter than the live object, whose unchanged fields stay acceptable.
func tightenDefinition(t *testing.T, c *cluster, _ *unstructured.Unstructured) {
	path := "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.ratcheted.pattern"
	loose := lab.Object(t, definition())
	strict := edited(t, loose, []string{path + "=^new$"})
	c.apply(t, strict)
	t.Cleanup(func() { c.apply(t, loose) })
	probe := edited(t, lab.Object(t, widget), []string{"metadata.name=probe", "spec.ratcheted=other"})
	lab.Eventually(t, "the definition is strict", func() bool {
		_, err := c.tryApply(t, probe, metav1.DryRunAll)
		return err != nil
	})
}
