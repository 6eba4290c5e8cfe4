package set_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/lab"
)

// TestChangedDefinition changes an object together with its definition. The plan has all values that the definition
// makes valid, and what else changes. That is so, too, for a field that a transition rule protects: if the definition
// lifts the rule, the plan is an update, also where objects to be replaced are; if it keeps the rule, the plan is a
// replacement. The run is finished, and reports what an object gets that no plan could show before.
func TestChangedDefinition(t *testing.T) {
	const (
		fixed = `x-kubernetes-validations: [{rule: "self == oldSelf"%s}]`
		mode  = ", mode: {type: string, %s}"
		kind  = ", kind: {type: string, %s}"
		parts = ", mode: {type: string}, kind: {type: string}, parts: {type: array, maxItems: 5, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], " +
			"items: {type: object, required: [name], properties: {name: {type: string}, mode: {type: string, maxLength: 9, %s}}}}"
		lists = ", mode: {type: string, enum: [%[1]s]}, old: {type: string}, " +
			"list: {type: array, items: {type: object, properties: {name: {type: string}%[2]s}}}, " +
			"keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], " +
			"items: {type: object, required: [name], properties: {name: {type: string}%[2]s}}}"
	)
	rule := func(more string) string { return fmt.Sprintf(fixed, more) }
	ofSpec := func(rules, fields string) string {
		return strings.Replace(fmt.Sprintf(definition, fields), "{spec: {type: object,", "{spec: {type: object, "+rules+",", 1)
	}
	all := func(crd, spec string) string {
		return crd + "\n---\n{apiVersion: NAME.example.com/v1, kind: Gadget, metadata: {name: one, namespace: NAME}, spec: {" + spec + "}}"
	}
	const before, after = "size: 1, mode: old, kind: a", "size: 2, mode: new, kind: a"
	const deferred = "Deferred after CustomResourceDefinition"
	const cant = " (can't change in place)"
	both := `[spec.mode: "old" -> "new" spec.size: 1 -> 2]`
	replaced := `[spec.mode: "old" -> "new"` + cant + ` spec.size: 1 -> 2]`
	isFree := fmt.Sprintf(definition, fmt.Sprintf(mode, "maxLength: 9")+fmt.Sprintf(kind, "maxLength: 9"))
	isFixed := fmt.Sprintf(definition, fmt.Sprintf(mode, rule(""))+fmt.Sprintf(kind, "maxLength: 9"))
	for name, row := range map[string]struct {
		old, new string
		was      string // the spec of the object, before if that is empty
		spec     string // of the object, as it is going to be
		action   string
		changes  string
		unshown  string
	}{
		"fields are new": {
			old: fmt.Sprintf(definition, ""), new: fmt.Sprintf(definition, ", color: {type: string}, shape: {type: string}"),
			was: "size: 1", spec: "size: 2, color: red, shape: round", action: deferred,
			changes: `[spec.color: + "red" spec.shape: + "round" spec.size: 1 -> 2]`,
		},
		"a new field has a default": {
			old: fmt.Sprintf(definition, ""),
			new: fmt.Sprintf(definition, ", paint: {type: object, properties: {color: {type: string}, coats: {type: integer, default: 2}}}"),
			was: "size: 1", spec: "size: 2, paint: {color: red}", action: deferred,
			changes: `[spec.paint: + {"color":"red"} spec.size: 1 -> 2]`, unshown: "spec.paint.coats: + 2 (side effect of the server)",
		},
		"values become valid, also in lists, and a field is dropped": {
			old:  fmt.Sprintf(definition, fmt.Sprintf(lists, `"13"`, "")),
			new:  fmt.Sprintf(definition, fmt.Sprintf(lists, `"17"`, ", hidden: {type: boolean}")),
			was:  "size: 1, mode: '13', old: x, list: [{name: a}], keyed: [{name: a}, {name: b}]",
			spec: "size: 2, mode: '17', list: [{name: a, hidden: true}], keyed: [{name: b, hidden: true}, {name: c, hidden: true}]", action: deferred,
			changes: `[spec.keyed[name="a"]: - {"name":"a"} (dropped from the manifest) spec.keyed[name="b"].hidden: + true ` +
				`spec.keyed[name="c"]: + {"hidden":true,"name":"c"} spec.list: [{"name":"a"}] -> [{"hidden":true,"name":"a"}] ` +
				`spec.mode: "13" -> "17" spec.old: - "x" (dropped from the manifest) spec.size: 1 -> 2]`,
		},
		"it is lifted": {old: isFixed, new: isFree, spec: after, action: deferred, changes: both},
		"it is lifted, with a message and a reason": {
			old: fmt.Sprintf(definition, fmt.Sprintf(mode, rule(", message: stays, reason: FieldValueForbidden"))+fmt.Sprintf(kind, "maxLength: 9")),
			new: isFree, spec: after, action: deferred, changes: both,
		},
		"it is lifted from the whole": {
			old: ofSpec(`x-kubernetes-validations: [{rule: "self.mode == oldSelf.mode"}]`, ", mode: {type: string}, kind: {type: string}"),
			new: isFree, spec: after, action: deferred, changes: both,
		},
		"it is lifted from the object": {
			old: strings.Replace(isFree, "{openAPIV3Schema: {", "{openAPIV3Schema: {x-kubernetes-validations: [{rule: 'self.spec.mode == oldSelf.spec.mode'}], ", 1),
			new: isFree, spec: after, action: deferred, changes: both,
		},
		"it is lifted, and nothing else changes": {
			old: isFixed, new: isFree, spec: "size: 1, mode: new, kind: a", action: deferred, changes: `[spec.mode: "old" -> "new"]`,
		},
		"it is lifted, and a field is new": {
			old: isFixed, new: strings.Replace(isFree, "mode:", "color: {type: string}, mode:", 1), spec: after + ", color: red",
			action: deferred, changes: `[spec.color: + "red" spec.mode: "old" -> "new" spec.size: 1 -> 2]`,
		},
		"it is lifted from an item, and a field is dropped": {
			old: fmt.Sprintf(definition, fmt.Sprintf(parts, rule(""))), new: fmt.Sprintf(definition, fmt.Sprintf(parts, "minLength: 1")),
			was:    "size: 1, parts: [{name: a, mode: old}, {name: b, mode: old}]",
			spec:   "parts: [{name: a, mode: old}, {name: b, mode: new}, {name: c, mode: new}]",
			action: deferred, changes: `[spec.parts[name="b"].mode: "old" -> "new" spec.parts[name="c"]: + {"mode":"new","name":"c"} (edited or changed by others) ` +
				`spec.size: - 1 (dropped from the manifest)]`,
		},
		"it stays": {
			old: isFixed, new: strings.Replace(isFixed, "maxLength: 9", "maxLength: 8", 1), spec: after, action: "Replace", changes: replaced,
		},
		"it stays with other words": {
			old: isFixed, new: fmt.Sprintf(definition, fmt.Sprintf(mode, rule(", message: stays"))+fmt.Sprintf(kind, "maxLength: 9")),
			spec: after, action: "Replace", changes: replaced,
		},
		"another one stays": {
			old:  fmt.Sprintf(definition, fmt.Sprintf(mode, rule(""))+fmt.Sprintf(kind, rule(""))),
			new:  fmt.Sprintf(definition, fmt.Sprintf(mode, "maxLength: 9")+fmt.Sprintf(kind, rule(""))),
			spec: "size: 2, mode: new, kind: b", action: "Replace",
			changes: `[spec.kind: "a" -> "b"` + cant + ` spec.mode: "old" -> "new"` + cant + ` spec.size: 1 -> 2]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			done := []string{"CustomResourceDefinition Done", "Gadget Done"}
			require.Equal(t, done, c.apply(t, c.set(t, set.Options{}, all(row.old, cmp.Or(row.was, before)))))
			upgrade := c.set(t, set.Options{Replace: true}, all(row.new, row.spec))
			for item := range upgrade.Plan(t.Context()) {
				if item.Object.Kind != "Gadget" {
					continue
				}
				require.NoError(t, item.Err)
				require.Equal(t, row.changes, fmt.Sprint(item.Plan.Changes))
				require.Empty(t, item.Plan.Unknown)
				require.Equal(t, row.action == deferred, item.Plan.Deferral == ssaplan.DeferralSet)
			}
			require.Equal(t, []string{"0 CustomResourceDefinition Update", "6 Gadget " + row.action}, c.plan(t, upgrade))
			unshown := ""
			require.Equal(t, done, c.apply(t, upgrade, func(result *set.Result) {
				for _, change := range result.Unshown {
					unshown += change.String()
				}
			}))
			require.Equal(t, row.unshown, unshown)
			require.Equal(t, []string{"0 CustomResourceDefinition NoOp", "6 Gadget NoOp"}, c.plan(t, upgrade))
		})
	}
}

// TestRewrittenRule writes a rule in other words that refuse the same, which shows only once the definition is served.
// What was shown is an update, so the object isn't replaced.
func TestRewrittenRule(t *testing.T) {
	c := newCluster(t)
	text := func(rule, spec string) string {
		return fmt.Sprintf(definition, ", mode: {type: string, x-kubernetes-validations: [{rule: \""+rule+"\"}]}") +
			"\n---\n{apiVersion: NAME.example.com/v1, kind: Gadget, metadata: {name: one, namespace: NAME}, spec: {" + spec + "}}"
	}
	c.apply(t, c.set(t, set.Options{}, text("self == oldSelf", "size: 1, mode: old")))
	upgrade := c.set(t, set.Options{Replace: true, Patience: 3 * time.Second}, text("self == oldSelf && self == oldSelf", "size: 2, mode: new"))
	require.Equal(t, []string{"0 CustomResourceDefinition Update", "6 Gadget Deferred after CustomResourceDefinition"}, c.plan(t, upgrade))
	require.Equal(t, []string{
		"CustomResourceDefinition Done", "Gadget NotSent: NAME.example.com/v1/Gadget NAME/one: the plan changed since it was shown; now Replace (" +
			"can't change in place: spec.mode): review the new plan",
	}, c.apply(t, upgrade))
}

// TestLessThanAReplacement has a rule lifted by another client during the run. The update that is left does less than
// the replacement that was shown: it is carried out if that was approved, and otherwise not.
func TestLessThanAReplacement(t *testing.T) {
	const crd = "{type: string, maxLength: %d, x-kubernetes-validations: [{rule: self == oldSelf}]}"
	text := func(length int, spec string) string {
		return fmt.Sprintf(definition, ", mode: "+fmt.Sprintf(crd, length)) +
			"\n---\n{apiVersion: NAME.example.com/v1, kind: Gadget, metadata: {name: one, namespace: NAME}, spec: {" + spec + "}}"
	}
	for name, row := range map[string]struct {
		replace bool
		patch   string // of the object, meanwhile
		want    string
	}{
		"approved":                          {true, "", "Gadget Done"},
		"left out":                          {false, "", "the plan changed since it was shown; now Update"},
		"approved, but the object is other": {true, `{"spec":{"size":7}}`, "the plan changed since it was shown; now Update"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.apply(t, c.set(t, set.Options{}, text(8, "size: 1, mode: old")))
			gadget := lab.Objectf(t, "{apiVersion: %[1]s.example.com/v1, kind: Gadget, metadata: {name: one, namespace: %[1]s}}", c.name)
			uid := c.Get(t, gadget).GetUID()
			upgrade := c.set(t, set.Options{Replace: row.replace}, text(9, "size: 2, mode: new"))
			require.Equal(t, []string{"0 CustomResourceDefinition Update", "6 Gadget Replace"}, c.plan(t, upgrade))
			lines := c.apply(t, upgrade, func(result *set.Result) {
				if result.Item.Object.Kind != "CustomResourceDefinition" {
					return
				}
				versions, err := json.Marshal(result.Made.Object["spec"].(map[string]any)["versions"])
				require.NoError(t, err)
				lifted := regexp.MustCompile(`,"x-kubernetes-validations":\[[^]]*\]`).ReplaceAllString(string(versions), "")
				c.Patch(t, "another", result.Made, `{"spec":{"versions":`+lifted+`}}`)
				require.Eventually(t, func() bool {
					plan, err := c.planner.Plan(t.Context(), ssaplan.Request{Manifest: lab.Objectf(t,
						"{apiVersion: %[1]s.example.com/v1, kind: Gadget, metadata: {name: one, namespace: %[1]s}, spec: {size: 2, mode: new}}", c.name)})
					return err == nil && plan.Action == ssaplan.ActionUpdate
				}, 20*time.Second, 100*time.Millisecond)
				if row.patch != "" {
					c.Patch(t, "another", gadget, row.patch)
				}
			})
			require.Contains(t, lines[1], row.want)
			require.Equal(t, uid, c.Get(t, gadget).GetUID())
		})
	}
}

// TestChangedPolicy changes an object together with an admission policy that denies updates of it. If the set lifts the
// denial, the object waits for the policy; a denial that the set adds isn't predicted. Neither makes a replacement.
func TestChangedPolicy(t *testing.T) {
	const policy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: NAME}
spec:
  matchConstraints: {resourceRules: [{apiGroups: ["", NAME.example.com], apiVersions: [v1], operations: [UPDATE], resources: [configmaps, gadgets]}]}
  validations: [{expression: "%s", message: "spec.mode: Invalid value: field is immutable"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: NAME}
spec: {policyName: NAME, validationActions: [Deny], matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME}}}}
---
`
	const gadget = "{apiVersion: NAME.example.com/v1, kind: Gadget, metadata: {name: one, namespace: NAME}, spec: {mode: MODE}}"
	const settings = "{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: NAME}, data: {mode: MODE}}"
	const free = "true"
	for name, row := range map[string]struct{ object, old, new, planned, applied string }{
		"lifted": {gadget, "object.spec == oldObject.spec", free, "6 Gadget Deferred after ValidatingAdmissionPolicy", "Gadget Done"},
		"lifted from a kind of an earlier stage": {
			settings, "object.data == oldObject.data", free, "6 ConfigMap Deferred after ValidatingAdmissionPolicy", "ConfigMap Done",
		},
		"added": {gadget, free, "object.spec == oldObject.spec", "6 Gadget Update", "Gadget NotSent: NAME.example.com/v1/Gadget NAME/one: denied by admission"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			text := func(rule, mode string) string {
				return fmt.Sprintf(definition, ", mode: {type: string}") + "\n---\n" + fmt.Sprintf(policy, rule) + strings.ReplaceAll(row.object, "MODE", mode)
			}
			now := lab.Object(t, strings.NewReplacer("NAME", c.name, "MODE", "new").Replace(row.object))
			awaitDenial := func() {
				force := true
				lab.Eventually(t, "the policy is in force", func() bool {
					_, err := c.TryApply(t, now, metav1.PatchOptions{FieldManager: "probe", Force: &force, DryRun: []string{metav1.DryRunAll}})
					return err != nil
				})
			}
			c.apply(t, c.set(t, set.Options{}, text(row.old, "old")))
			if row.old != free {
				awaitDenial()
			}
			patience := 30 * time.Second // until the server sees the lifted policy
			if row.new != free {
				patience = time.Second
			}
			changed := c.set(t, set.Options{Replace: true, Patience: patience}, text(row.new, "new"))
			require.Contains(t, c.plan(t, changed), row.planned)
			lines := c.apply(t, changed, func(result *set.Result) {
				if result.Item.Object.Kind == "ValidatingAdmissionPolicyBinding" && row.new != free {
					awaitDenial()
				}
			})
			require.Contains(t, lines[len(lines)-1], row.applied)
		})
	}
}
