package set

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/ssaplan/primitives/ssaplan"
)

// denies is a server that refuses objects of a kind.
func denies(kind, message string) planEdit {
	return func(request ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
		if err == nil && plan.Object.Kind == kind && len(request.Unknown) == 0 {
			return nil, apierrors.NewForbidden(schema.GroupResource{}, plan.Object.Name, errors.New(message))
		}
		return plan, err
	}
}

// An object that the server refuses comes after an object of the set if that one changes, or an earlier one that it may
// need, and has to do with the refusal.
func TestRefusedUntil(t *testing.T) {
	const (
		conf  = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}"
		quota = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: %s}}"
		hook  = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: %[1]s}, webhooks: [{name: %[1]s.example.com}]}"
		named = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: %[1]s, labels: {a: b}}, webhooks: [{name: %[1]s.example.com}]}"
		no    = `admission webhook "a.example.com" denied the request: see "b.example.com"`
		other = "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a, namespace: shop}}"
		class = "{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: a}}"
		first = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: b, namespace: shop}}"
		mine  = "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a, namespace: shop}}"
	)
	one := []Stage{{Name: "all"}}
	confsFirst := []Stage{{Name: "maps", Has: func(obj *unstructured.Unstructured) bool { return obj.GetKind() == "ConfigMap" }}, {Name: "rest"}}
	for name, row := range map[string]struct {
		stages []Stage
		there  []string // before
		texts  []string
		kind   string // that is refused
		why    string
		want   string // stage and what it comes after, "" if it stays refused
	}{
		"the quota is new":               {nil, nil, []string{conf, fmt.Sprintf(quota, "shop")}, "ConfigMap", overQuota, "3 [v1/ResourceQuota shop/q]"},
		"the quota is new, in one stage": {one, nil, []string{fmt.Sprintf(quota, "shop"), conf}, "ConfigMap", overQuota, "0 [v1/ResourceQuota shop/q]"},
		"the quota comes later": {
			confsFirst, nil, []string{conf, fmt.Sprintf(quota, "shop")}, "ConfigMap", overQuota, "2 [v1/ResourceQuota shop/q]",
		},
		"the quota stays": {
			nil, []string{fmt.Sprintf(quota, "shop")}, []string{conf, fmt.Sprintf(quota, "shop")}, "ConfigMap", overQuota, "",
		},
		"the quota is of other objects": {nil, nil, []string{conf, fmt.Sprintf(quota, "default")}, "ConfigMap", overQuota, ""},
		"the webhook is new": {
			nil, nil, []string{mine, fmt.Sprintf(hook, "a")}, "Gadget", no,
			"6 [admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration a]",
		},
		"the webhook stays": {
			nil, []string{fmt.Sprintf(hook, "a"), class}, []string{mine, class, fmt.Sprintf(hook, "a")}, "Gadget", no, "",
		},
		"the webhook may need another": {
			nil, []string{fmt.Sprintf(hook, "a")}, []string{mine, other, fmt.Sprintf(hook, "a")}, "Gadget", no,
			"6 [admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration a]",
		},
		"what changes doesn't come first": {nil, []string{fmt.Sprintf(hook, "a")}, []string{first, mine, fmt.Sprintf(hook, "a")}, "Gadget", no, ""},
		"another webhook changes": {nil, []string{fmt.Sprintf(hook, "a"), fmt.Sprintf(hook, "b")}, []string{mine, fmt.Sprintf(hook, "a"), fmt.Sprintf(named, "b")}, "Gadget", no,
			"6 [admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration b]"},
		"another webhook comes later": {
			confsFirst, nil, []string{conf, fmt.Sprintf(hook, "b")}, "ConfigMap", no,
			"2 [admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration b]",
		},
		"the webhook isn't in the set": {nil, nil, []string{mine, other, fmt.Sprintf(hook, "c")}, "Gadget", no, ""},
	} {
		t.Run(name, func(t *testing.T) {
			planner, _ := newPlanner(t)
			install(t, planner, append(row.there, crd("", "v1"))...)
			edited := &scripted{Planner: planner, plan: denies(row.kind, row.why)}
			got := ""
			for _, item := range items(t, newSet(t, edited, Options{Stages: row.stages}, row.texts...)) {
				if item.Object.Kind == row.kind && item.Err == nil {
					got = fmt.Sprint(item.Stage, " ", item.After)
				}
			}
			require.Equal(t, row.want, got)
		})
	}
	planner, _ := newPlanner(t)
	require.Empty(t, New(planner, []ssaplan.Request{{}}, Options{}).regarded(t.Context(), &Item{}), "no manifest")
}

// Whether a CRD lifts rules is known only from the CRD before and after.
func TestLifts(t *testing.T) {
	g := newGadgets(t)
	replacement := g.replacement("2")
	replacement.Replacement.Refusal = invalid(field.Invalid(field.NewPath("spec", "mode"), "string", "failed rule: self == oldSelf"))
	install(t, g.planner, withRule(crd("", "v1")))
	s := newSet(t, g.planner, Options{}, crd("", "v1"), gadget("v1", "size: 1"))
	update := items(t, s)[0]
	fresh, _ := newPlanner(t)
	create := items(t, newSet(t, fresh, Options{}, crd("", "v1")))[0]
	for name, row := range map[string]struct {
		item *Item
		want bool
	}{
		"it has the rule no more": {update, true}, "it isn't planned": {&Item{Err: errors.New("refused")}, false},
		"it isn't known": {&Item{Plan: unanswered(t, g.server, s)}, false},
		"it is new":      {create, false}, "it doesn't change": {unchanged, false},
	} {
		s.items[0] = row.item
		_, ok := s.lifts(replacement)
		require.Equal(t, row.want, ok, name)
	}
	s.items[0], replacement.Action = update, ssaplan.ActionUpdate
	_, ok := s.lifts(replacement)
	require.False(t, ok, "it is no replacement")
}
