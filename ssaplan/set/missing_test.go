package set

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan"
)

// A custom resource whose CRD comes with the set has the values that a caller predicts.
func TestPreview(t *testing.T) {
	for name, row := range map[string]struct {
		preview func(manifest *unstructured.Unstructured) error
		changes string
		reason  bool
		err     string
	}{
		"a default": {func(m *unstructured.Unstructured) error {
			return unstructured.SetNestedField(m.Object, "new", "spec", "mode")
		}, `[spec.mode: + "new" (side effect of the server)]`, true, ""},
		"no default": {func(*unstructured.Unstructured) error { return nil }, "[]", false, ""},
		"not valid": {
			func(*unstructured.Unstructured) error { return errors.New("too small") }, "", false,
			"example.com/v1/Gadget shop/a: predicted from gadgets.example.com of the same set: too small",
		},
	} {
		planner, _ := newPlanner(t)
		s := newSet(t, planner, Options{Preview: func(definition, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			require.Equal(t, "gadgets.example.com", definition.GetName())
			predicted := manifest.DeepCopy()
			return predicted, row.preview(predicted)
		}}, crd("", "v1"), gadget("v1", "size: 1"))
		item := items(t, s)[1]
		if row.err != "" {
			require.ErrorContains(t, item.Err, "too small", name)
			require.ErrorContains(t, item.Err, "predicted from", name)
			require.Nil(t, item.Plan, name)
			require.Empty(t, item.After, name)
			continue
		}
		require.NoError(t, item.Err, name)
		require.Equal(t, row.changes, fmt.Sprint(item.Plan.Changes), name)
		require.Contains(t, item.Plan.Reason, "CustomResourceDefinition gadgets.example.com of the same set defines it", name)
		require.Contains(t, item.Plan.Reason, "serve", name)
		require.Equal(t, row.reason, strings.HasSuffix(item.Plan.Reason, "; its defaults are predicted"), name)
		require.NotNil(t, item.Predicted, name)
	}
}

func TestReasonOfAMissingNamespace(t *testing.T) {
	planner, _ := newPlanner(t)
	reason := items(t, newSet(t, planner, Options{}, namespace, inNew))[1].Plan.Reason
	require.True(t, strings.HasSuffix(reason, "; the same set creates it"), reason)
	require.Contains(t, reason, "new")
}

// An object that moves to a version that the same set brings is compared in a version that is served.
func TestCompareOldVersion(t *testing.T) {
	const webhook = "conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1]}}, versions:"
	const none = "conversion: {strategy: None}, versions:"
	const predicted = ", and the changes are predicted from example.com/v1"
	refuse := func(request ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
		if request.Manifest.GetAPIVersion() == "example.com/v1" {
			return nil, errors.New("refused")
		}
		return plan, err
	}
	for name, row := range map[string]struct {
		before, after string
		spec          string
		plan          planEdit
		read          readEdit
		preview       string // a default of spec
		changes       string
		predicted     bool
		converted     bool
	}{
		"it can be tried": {
			before: "versions:", after: "versions:", spec: "size: 2",
			changes: `[spec.mode: - "old" (dropped from the manifest) spec.size: 1 -> 2]`, predicted: true,
		},
		"nothing changes": {before: "versions:", after: none, spec: "size: 1, mode: old", changes: "[]", predicted: true},
		"with a default": {
			before: none, after: none, spec: "size: 2", preview: "color",
			changes:   `[spec.mode: - "old" (dropped from the manifest) spec.size: 1 -> 2 spec.color: + "red" (side effect of the server)]`,
			predicted: true,
		},
		"with one it has": {
			before: none, after: none, spec: "size: 2", preview: "mode",
			changes: `[spec.mode: - "old" (dropped from the manifest) spec.size: 1 -> 2]`, predicted: true,
		},
		"it can't be tried": {
			before: "versions:", after: "versions:", spec: "size: 2", plan: refuse,
			changes: "[spec.size: 1 -> 2 (edited or changed by others)]", predicted: true,
		},
		"a conflict": {before: "versions:", after: "versions:", spec: "size: 2", plan: func(_ ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
			if plan != nil && plan.Object.APIVersion == "example.com/v1" {
				plan.Action = ssaplan.ActionConflict
			}
			return plan, err
		}, changes: "[spec.size: 1 -> 2 (edited or changed by others)]", predicted: true},
		"it can't be read either": {before: "versions:", after: "versions:", spec: "size: 2", plan: refuse, read: func(*ssaplan.Reading, error) (*ssaplan.Reading, error) {
			return nil, errors.New("down")
		}, changes: "[]"},
		"it doesn't exist": {before: "versions:", after: "versions:", spec: "size: 2", plan: refuse, read: func(r *ssaplan.Reading, err error) (*ssaplan.Reading, error) {
			r.Live = nil
			return r, err
		}, changes: "[]"},
		"it is going to be converted": {before: "versions:", after: webhook, spec: "size: 2", changes: "[]", converted: true},
		"it was converted":            {before: webhook, after: "versions:", spec: "size: 2", changes: "[]", converted: true},
	} {
		t.Run(name, func(t *testing.T) {
			planner, _ := newPlanner(t)
			install(t, planner, strings.Replace(crd("", "v1"), "versions:", row.before, 1), gadget("v1", "size: 1, mode: old"))
			edited := &scripted{Planner: planner, plan: row.plan, read: row.read}
			options := Options{}
			if row.preview != "" {
				options.Preview = func(_, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
					predicted := manifest.DeepCopy()
					return predicted, unstructured.SetNestedField(predicted.Object, "red", "spec", row.preview)
				}
			}
			s := newSet(t, edited, options, strings.Replace(crd("", "v1", "v2"), "versions:", row.after, 1), gadget("v2", row.spec))
			item := items(t, s)[1]
			require.NoError(t, item.Err)
			require.Equal(t, row.changes, fmt.Sprint(item.Plan.Changes))
			require.Equal(t, row.predicted, strings.HasSuffix(item.Plan.Reason, predicted), item.Plan.Reason)
			require.Contains(t, item.Plan.Reason, "of the same set defines it")
			require.Equal(t, row.converted, item.isConverted)
			require.Equal(t, row.converted, strings.Contains(fmt.Sprint(item.Plan.Warnings), "values of other fields are unknown until the server"))
		})
	}
}

// It isn't compared if nothing is known of its CRD, and not again after the plan.
func TestCompareOldVersionWithoutItsCRD(t *testing.T) {
	planner, _ := newPlanner(t)
	install(t, planner, crd("", "v1"), gadget("v1", "size: 1"))
	for name, edit := range map[string]func(s *Set, item *Item){
		"it is applied already":  func(s *Set, _ *Item) { s.ran = true },
		"the object has no plan": func(_ *Set, item *Item) { item.Plan = nil },
		"the CRD stays":          func(s *Set, _ *Item) { s.items[0].Plan.Action = ssaplan.ActionNoOp },
		"the CRD has no plan":    func(s *Set, _ *Item) { s.items[0] = &Item{Err: errors.New("refused")} },
		"the CRD doesn't exist":  func(s *Set, _ *Item) { s.items[0] = planned(0, ssaplan.ActionCreate) },
	} {
		s := newSet(t, planner, Options{}, crd("", "v1", "v2"), gadget("v2", "size: 2"))
		item := items(t, s)[1]
		item.Plan.Reason = "not compared"
		edit(s, item)
		s.compareOldVersion(t.Context(), item, 0)
		if item.Plan != nil {
			require.Equal(t, "not compared", item.Plan.Reason, name)
		}
		require.False(t, item.isConverted, name)
	}
}

// A value is redacted if it is in the version that is served, or in that of the manifest.
func TestCompareOldVersionRedacts(t *testing.T) {
	planner, _ := newPlanner(t)
	install(t, planner, crd("", "v1"), gadget("v1", "size: 1, mode: old"))
	for name, inVersion := range map[string]bool{"in the served version": true, "in neither": false} {
		edited := &scripted{Planner: planner, plan: func(request ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
			if err == nil && request.Manifest.GetAPIVersion() == "example.com/v1" {
				for i := range plan.Changes {
					plan.Changes[i].Sensitive = inVersion
				}
				for i := range plan.Dropped {
					plan.Dropped[i].Sensitive = inVersion
				}
			}
			return plan, err
		}}
		item := items(t, newSet(t, edited, Options{}, crd("", "v1", "v2"), gadget("v2", "size: 2")))[1]
		require.NotEmpty(t, item.Plan.Dropped, name)
		for _, change := range item.Plan.Changes {
			require.Equal(t, inVersion, change.Sensitive, name)
		}
		for _, dropped := range item.Plan.Dropped {
			require.Equal(t, inVersion, dropped.Sensitive, name)
		}
	}
}

func TestConverts(t *testing.T) {
	for strategy, want := range map[string]bool{"": false, "None": false, "Webhook": true} {
		require.Equal(t, want, converts(object(t, "{spec: {conversion: {strategy: '"+strategy+"'}}}")), strategy)
	}
	require.True(t, converts(nil), "it isn't known")
}
