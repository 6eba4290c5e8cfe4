package attention

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// right is something that an object allows or can stop. Without its detail it tells no value of the object.
type right struct{ what, detail string }

// widened returns the rights that the planned object has and the live one doesn't.
func widened(plan *ssaplan.Plan) []string {
	group, _, versioned := strings.Cut(plan.Object.APIVersion, "/")
	if !versioned {
		group = "" // of the core
	}
	find := finders[group+"/"+plan.Object.Kind]
	if find == nil {
		find = added(podRights)
	}
	before, after := sides(plan)
	shown := find(before, plan.After.Object)
	if hides(plan) {
		shown = nil
	}
	return described(find(before, after), shown)
}

// hides reports whether there are values of the plan that it doesn't show.
func hides(plan *ssaplan.Plan) bool {
	return !plan.Before.Sensitive.Empty() || !plan.After.Sensitive.Empty() ||
		slices.ContainsFunc(plan.Changes, func(c explain.Change) bool { return c.Sensitive })
}

// described returns the texts of rights. Only a right in shown has its details. A webhook may have added the others to
// the object, so the plan doesn't know whether their details are sensitive.
func described(rights, shown []right) (texts []string) {
	for _, r := range rights {
		text := r.what
		if r.detail != "" && slices.Contains(shown, r) {
			text += ": " + r.detail
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts
}

// finder returns the rights of the second object that the first, nil for none, doesn't have.
type finder func(before, after map[string]any) []right

// added returns a finder that compares the rights of two objects one by one.
func added(rights func(object map[string]any) []right) finder {
	return func(before, after map[string]any) []right {
		had := rights(before)
		return slices.DeleteFunc(rights(after), func(r right) bool { return slices.Contains(had, r) })
	}
}

// sides returns the object as it is and as it is going to be: as a whole where the server told, else its declared
// fields. A replaced object is compared with the one that takes its place.
func sides(plan *ssaplan.Plan) (before, after map[string]any) {
	before, after = plan.Before.Object, plan.After.Object
	if live := plan.Live(); live != nil {
		before = live.Object
	}
	if result := plan.Result(); result != nil {
		after = result.Object
	}
	return before, after
}

// finders are by group and kind. All other kinds may have pods.
var finders = map[string]finder{
	"rbac.authorization.k8s.io/Role":                              roleRights,
	"rbac.authorization.k8s.io/ClusterRole":                       roleRights,
	"rbac.authorization.k8s.io/RoleBinding":                       added(bindingRights),
	"rbac.authorization.k8s.io/ClusterRoleBinding":                added(bindingRights),
	"admissionregistration.k8s.io/ValidatingWebhookConfiguration": added(webhookRights),
	"admissionregistration.k8s.io/MutatingWebhookConfiguration":   added(webhookRights),
	"/Namespace": namespaceRights,
}

// bindingRights are those of subjects to have the role.
func bindingRights(object map[string]any) (out []right) {
	role := fmt.Sprintf("%v %v", at(object, "roleRef", "kind"), at(object, "roleRef", "name"))
	for _, subject := range list(at(object, "subjects")) {
		name, kind := fmt.Sprint(at(subject, "name")), at(subject, "kind")
		if namespace := at(subject, "namespace"); namespace != nil {
			name = fmt.Sprintf("%v/%s", namespace, name)
		}
		out = append(out, right{"a role for a subject", fmt.Sprintf("%v %s gets %s", kind, name, role)})
	}
	return out
}

// webhookRights are those to stop writes when the webhook doesn't answer.
func webhookRights(object map[string]any) (out []right) {
	for _, hook := range list(at(object, "webhooks")) {
		if at(hook, "failurePolicy") == "Ignore" {
			continue // the server's default is to fail
		}
		var resources []string
		for _, rule := range list(at(hook, "rules")) {
			resources = append(resources, words(at(rule, "resources"))...)
		}
		slices.Sort(resources)
		out = append(out, right{"a webhook that fails closed",
			fmt.Sprintf("%v, for %s", at(hook, "name"), strings.Join(slices.Compact(resources), ", "))})
	}
	return out
}

// levels are those of the Pod Security Standards, the strictest first. A namespace without a label enforces none.
var levels = []string{"restricted", "baseline", "privileged"}

// namespaceRights are what a namespace that is there doesn't refuse any more.
func namespaceRights(before, after map[string]any) []right {
	was, is := level(before), level(after)
	if before == nil || is <= was {
		return nil
	}
	return []right{{"pods of another security level", levels[is] + " instead of " + levels[was]}}
}

// level returns which of the levels a namespace enforces. A server takes no others, and the last one for none.
func level(namespace map[string]any) int {
	name, _ := at(namespace, "metadata", "labels", "pod-security.kubernetes.io/enforce").(string)
	if i := slices.Index(levels, name); i >= 0 {
		return i
	}
	return len(levels) - 1
}

// at returns what stands at a path of names, nil if nothing does.
func at(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func list(v any) []any {
	items, _ := v.([]any)
	return items
}

// words returns the texts of a list.
func words(v any) (out []string) {
	for _, item := range list(v) {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
