package immutability_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/test/lab"
)

// definition has a rule of each form. Every rule with oldSelf is skipped on create.
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - {rule: "!has(oldSelf.once) || has(self.once)", message: once is required once set}
            - {rule: "!(has(self.this) && has(self.that))", message: this and that exclude each other}
            - {rule: "self.moved == oldSelf.moved", message: moved is immutable, fieldPath: .moved}
            properties:
              own:      {type: string, minLength: 1, x-kubernetes-validations: [{rule: self == oldSelf, message: the name of the thing is fixed for good}]}
              plain:    {type: string, minLength: 1, x-kubernetes-validations: [{rule: self == oldSelf}]}
              computed: {type: string, minLength: 1, x-kubernetes-validations: [{rule: self == oldSelf, messageExpression: "'stays ' + oldSelf"}]}
              invalid:  {type: string, maxLength: 9, x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable, reason: FieldValueInvalid}]}
              forbidden: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable, reason: FieldValueForbidden}]}
              required: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable, reason: FieldValueRequired}]}
              duplicate: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: self == oldSelf, message: is immutable, reason: FieldValueDuplicate}]}
              moved:    {type: string, default: a, maxLength: 9}
              once:     {type: string}
              this:     {type: string}
              that:     {type: string}
              size:     {type: integer, minimum: 1, x-kubernetes-validations: [{rule: self >= oldSelf, message: cannot shrink}]}
              object:
                type: object
                x-kubernetes-validations: [{rule: self == oldSelf, message: the object is immutable}]
                properties: {a: {type: integer, minimum: 0}}
              list:
                type: array
                maxItems: 5
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name:  {type: string}
                    value: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: self == oldSelf, message: value can't change}]}
              initial:
                type: string
                x-kubernetes-validations:
                - {rule: "oldSelf.hasValue() ? self == oldSelf.value() : self != 'legacy'", optionalOldSelf: true, message: initial is fixed at creation}
              ratcheted: {type: string}
              mode:     {type: string, enum: [fast, slow, "field is immutable"]}
`

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
		{name: "widget-required-once-set", before: widget, truth: replaceWorks, edit: []string{"-spec.once"}},
		{name: "widget-required-once-set-invalid", before: widget, truth: notValid, edit: []string{"-spec.once", "spec.size=0"}},
		{name: "widget-shrink", before: widget, truth: replaceWorks, edit: []string{"spec.size=2"}},
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
	loose := lab.Object(t, definition)
	strict := edited(t, loose, []string{path + "=^new$"})
	c.apply(t, strict)
	t.Cleanup(func() { c.apply(t, loose) })
	probe := edited(t, lab.Object(t, widget), []string{"metadata.name=probe", "spec.ratcheted=other"})
	lab.Eventually(t, "the definition is strict", func() bool {
		_, err := c.tryApply(t, probe, metav1.DryRunAll)
		return err != nil
	})
}
