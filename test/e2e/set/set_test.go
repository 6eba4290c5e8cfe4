package set_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/lab"
)

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.NAME.example.com}
spec:
  group: NAME.example.com
  scope: Namespaced
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}%s}}}}}`

// application has everything that an application has, in an order that doesn't work.
var application = `
apiVersion: NAME.example.com/v1
kind: Gadget
metadata: {name: one, namespace: NAME-app}
spec: {size: 1}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: one, namespace: NAME-app}
data: {a: b}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAME-app}
spec:
  selector: {matchLabels: {a: b}}
  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: "web:1"}]}}
---` + fmt.Sprintf(definition, "") + `
---
apiVersion: v1
kind: Namespace
metadata: {name: NAME-app}`

// An application is planned as what it is, and applied in one run.
func TestOneRun(t *testing.T) {
	c := newCluster(t)
	application := c.set(t, set.Options{}, application)
	require.Equal(t, []string{
		"0 CustomResourceDefinition Create", "0 Namespace Create", "3 ConfigMap Deferred after Namespace",
		"4 Deployment Deferred after Namespace", "6 Gadget Deferred after CustomResourceDefinition",
	}, c.plan(t, application))
	require.Equal(t, []string{"CustomResourceDefinition Done", "Namespace Done", "ConfigMap Done", "Deployment Done", "Gadget Done"}, c.apply(t, application))
	for _, line := range c.plan(t, application) {
		require.Regexp(t, `NoOp|Namespace Update`, line) // a bare Namespace gets its label from the server
	}
	require.Len(t, c.apply(t, application), 5)
}

// A definition, and an object that uses a new field of it, come together. What else changes of the object is known
// before.
func TestNewField(t *testing.T) {
	c := newCluster(t)
	c.apply(t, c.set(t, set.Options{}, application))
	gadget := "apiVersion: NAME.example.com/v1\nkind: Gadget\nmetadata: {name: one, namespace: NAME-app}\nspec: {size: 2, color: red, shape: round}"
	newer := c.set(t, set.Options{}, gadget+"\n---\n"+fmt.Sprintf(definition, ", color: {type: string}, shape: {type: string}"))
	var shown *set.Item
	for item := range newer.Plan(t.Context()) {
		shown = item
	}
	require.NoError(t, shown.Err)
	require.Equal(t, ssaplan.DeferralSet, shown.Plan.Deferral)
	require.Equal(t, `[spec.color: + "red" spec.shape: + "round" spec.size: 1 -> 2]`, fmt.Sprint(shown.Plan.Changes))
	require.Empty(t, shown.Plan.Unknown)
	require.Equal(t, []string{"CustomResourceDefinition Done", "Gadget Done"}, c.apply(t, newer))
	require.Equal(t, []string{"0 CustomResourceDefinition NoOp", "6 Gadget NoOp"}, c.plan(t, newer))
}

const secondVersion = `
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}`

// A definition with a new version, and a remembered object that moves there, come together, while another manager stays
// at the old version.
func TestNewVersion(t *testing.T) {
	c := newCluster(t)
	c.planner = c.Planner(t, ssaplan.Options{FieldManager: manager, AllowVersionChange: true})
	states := map[string]*explain.State{}
	for result := range c.set(t, set.Options{}, application).Apply(t.Context()) {
		require.NoError(t, result.Err)
		state, err := result.Item.Plan.State(result.Made)
		require.NoError(t, err)
		states[state.Identity.Kind] = state
	}
	gadget := lab.Objectf(t, "{apiVersion: %[1]s.example.com/v1, kind: Gadget, metadata: {name: one, namespace: %[1]s-app, labels: {of: another}}}", c.name)
	uid := c.Apply(t, "another", gadget).GetUID()
	newer := "{apiVersion: NAME.example.com/v2, kind: Gadget, metadata: {name: one, namespace: NAME-app}, spec: {size: 2}}\n---" + fmt.Sprintf(definition, "") + secondVersion
	var requests []ssaplan.Request
	for _, document := range strings.Split(newer, "\n---\n") {
		manifest := lab.Object(t, strings.ReplaceAll(document, "NAME", c.name))
		requests = append(requests, ssaplan.Request{Manifest: manifest, Prior: states[manifest.GetKind()]})
	}
	s := set.New(c.planner, requests, set.Options{Replace: true})
	require.Equal(t, []string{"0 CustomResourceDefinition Update", "6 Gadget Deferred after CustomResourceDefinition"}, c.plan(t, s))
	for item := range s.Plan(t.Context()) {
		if item.Object.Kind == "Gadget" {
			require.Len(t, item.Plan.Changes, 1)
			require.Equal(t, "spec.size: 1 -> 2", item.Plan.Changes[0].Difference.String())
		}
	}
	require.Equal(t, []string{"CustomResourceDefinition Done", "Gadget Done"}, c.apply(t, s))
	live := c.Get(t, gadget)
	require.Equal(t, uid, live.GetUID(), "it is the same object")
	require.Equal(t, map[string]string{"of": "another"}, live.GetLabels())
	require.EqualValues(t, 2, live.Object["spec"].(map[string]any)["size"])
	require.Equal(t, []string{"0 CustomResourceDefinition NoOp", "6 Gadget NoOp"}, c.plan(t, s))
}

// TestMoveToANewVersion shows what an object loses in the move to a version that the set's definition begins to serve.
func TestMoveToANewVersion(t *testing.T) {
	c := newCluster(t)
	c.planner = c.Planner(t, ssaplan.Options{FieldManager: manager, AllowVersionChange: true})
	const color = ", color: {type: string}"
	gadget := func(version, spec string) string {
		return "\n---\n{apiVersion: NAME.example.com/" + version + ", kind: Gadget, metadata: {name: one, namespace: NAME}, spec: {" + spec + "}}"
	}
	c.apply(t, c.set(t, set.Options{}, fmt.Sprintf(definition, color)+gadget("v1", "size: 1, color: red")))
	s := c.set(t, set.Options{}, fmt.Sprintf(definition, color)+secondVersion+gadget("v2", "size: 2"))
	for item := range s.Plan(t.Context()) {
		require.NoError(t, item.Err)
		if item.Object.Kind == "Gadget" {
			require.Equal(t, `[spec.color: - "red" (dropped from the manifest) spec.size: 1 -> 2]`, fmt.Sprint(item.Plan.Changes))
		}
	}
	require.Equal(t, []string{"CustomResourceDefinition Done", "Gadget Done"}, c.apply(t, s))
}

// TestRefusedValues shows the values that a definition of the set makes valid, also in lists, and what else changes.
func TestRefusedValues(t *testing.T) {
	c := newCluster(t)
	const fields = `, mode: {type: string, enum: [%s]}, old: {type: string},
		list: {type: array, items: {type: object, properties: {name: {type: string}%s}}},
		keyed: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}%s}}}`
	all := func(enum, more, spec string) string {
		text := fmt.Sprintf(definition, fmt.Sprintf(fields, enum, more, more))
		return text + "\n---\n{apiVersion: NAME.example.com/v1, kind: Gadget, metadata: {name: one, namespace: NAME}, spec: {" + spec + "}}"
	}
	c.apply(t, c.set(t, set.Options{}, all(`"13"`, "", "size: 1, mode: '13', old: x, list: [{name: a}], keyed: [{name: a}, {name: b}]")))
	s := c.set(t, set.Options{}, all(`"17"`, ", hidden: {type: boolean}",
		"size: 2, mode: '17', list: [{name: a, hidden: true}], keyed: [{name: b, hidden: true}, {name: c, hidden: true}]"))
	for item := range s.Plan(t.Context()) {
		require.NoError(t, item.Err)
		if item.Object.Kind != "Gadget" {
			continue
		}
		require.Empty(t, item.Plan.Unknown)
		shown := fmt.Sprint(item.Plan.Changes)
		for _, want := range []string{
			`spec.mode: "13" -> "17"`, `spec.size: 1 -> 2`, `spec.list: [{"name":"a"}] -> [{"hidden":true,"name":"a"}]`,
			`spec.keyed[name="b"].hidden: + true`, `spec.keyed[name="c"]: + {"hidden":true,"name":"c"}`,
		} {
			require.Contains(t, shown, want)
		}
	}
	require.Equal(t, []string{"CustomResourceDefinition Done", "Gadget Done"}, c.apply(t, s))
}

// TestUnshown reports what an object gets from its new definition that no plan could show before.
func TestUnshown(t *testing.T) {
	c := newCluster(t)
	gadget := "\n---\n{apiVersion: NAME.example.com/v1, kind: Gadget, metadata: {name: one, namespace: NAME}, spec: {%s}}"
	c.apply(t, c.set(t, set.Options{}, fmt.Sprintf(definition, "")+fmt.Sprintf(gadget, "size: 1")))
	newer := c.set(t, set.Options{}, fmt.Sprintf(definition, ", paint: {type: object, properties: {color: {type: string}, coats: {type: integer, default: 2}}}")+
		fmt.Sprintf(gadget, "size: 2, paint: {color: red}"))
	for item := range newer.Plan(t.Context()) {
		if item.Object.Kind == "Gadget" {
			require.Equal(t, `[spec.paint: + {"color":"red"} spec.size: 1 -> 2]`, fmt.Sprint(item.Plan.Changes))
		}
	}
	var unshown []string
	require.Equal(t, []string{"CustomResourceDefinition Done", "Gadget Done"}, c.apply(t, newer, func(result *set.Result) {
		for _, change := range result.Unshown {
			unshown = append(unshown, change.String())
		}
	}))
	require.Equal(t, []string{"spec.paint.coats: + 2 (side effect of the server)"}, unshown)
}

// What changes in an object between a plan and its stage isn't applied over, and the run stops.
func TestSomethingElseThanShown(t *testing.T) {
	c := newCluster(t)
	c.apply(t, c.set(t, set.Options{}, application))
	gadget := "apiVersion: NAME.example.com/v1\nkind: Gadget\nmetadata: {name: one, namespace: NAME-app}\nspec: {size: 2, color: red}"
	newer := c.set(t, set.Options{}, gadget+"\n---\n"+fmt.Sprintf(definition, ", color: {type: string}"))
	c.plan(t, newer)
	live := lab.Objectf(t, "{apiVersion: %[1]s.example.com/v1, kind: Gadget, metadata: {name: one, namespace: %[1]s-app}}", c.name)
	c.Patch(t, "somebody", live, `{"spec":{"size":7}}`)
	var last *set.Result
	for result := range newer.Apply(t.Context()) {
		last = result
	}
	var changed *set.ChangedError
	require.ErrorAs(t, last.Err, &changed)
	require.Contains(t, fmt.Sprint(changed.Shown.Changes), "spec.size: 1 -> 2")
	require.Contains(t, changed.Now.Changes[len(changed.Now.Changes)-1].String(), "spec.size: 7 -> 2")
	require.EqualValues(t, 7, c.Get(t, live).Object["spec"].(map[string]any)["size"])
}

// What neither the server nor the set has is an error with the names that are near.
func TestTypos(t *testing.T) {
	c := newCluster(t)
	typos := `{apiVersion: apps/v1, kind: Deploymnt, metadata: {name: a}}
---
{apiVersion: apps/v2, kind: Deployment, metadata: {name: a}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: kube-sytem}}
---
{apiVersion: NAME.example.com/v1, kind: Gadgt, metadata: {name: a}}
---
{apiVersion: NAME.example.com/v2, kind: Gadget, metadata: {name: a}}
---
{apiVersion: v1, kind: Nod, metadata: {name: a}}
---` + fmt.Sprintf(definition, "")
	lines := c.plan(t, c.set(t, set.Options{}, typos))
	for i, want := range []string{
		`0 CustomResourceDefinition Create`,
		`3 ConfigMap v1/ConfigMap kube-sytem/a: neither the server nor the set has a namespace "kube-sytem"; did you mean kube-system?`,
		`did you mean apps/v1 Deployment`, `did you mean apps/v1 Deployment`,
		`a kind Gadgt in NAME.example.com/v1; did you mean NAME.example.com/v1 Gadget`, `did you mean NAME.example.com/v1 Gadget`,
		`did you mean v1 Node`,
	} {
		require.Contains(t, lines[i], want)
	}
	require.Equal(t, "CustomResourceDefinition NotSent: apiextensions.k8s.io/v1/CustomResourceDefinition gadgets.NAME.example.com: left out: nothing is applied as long as "+
		"apps/v1/Deploymnt a can't be planned", c.apply(t, func() *set.Set { s := c.set(t, set.Options{}, typos); c.plan(t, s); return s }())[0])
	require.Contains(t, c.plan(t, c.set(t, set.Options{AllowMissing: true}, typos)), "6 Deploymnt Deferred")
}

// What needs an object that failed is left out, and says so.
func TestDependentsOfWhatFailed(t *testing.T) {
	c := newCluster(t)
	text := fmt.Sprintf(definition, ", size: {type: nonsense}") + `
---
{apiVersion: NAME.example.com/v1, kind: Gadget, metadata: {name: a, namespace: NAME}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: good, namespace: NAME}}`
	going := c.set(t, set.Options{KeepGoing: true}, text)
	c.plan(t, going)
	lines := c.apply(t, going)
	require.Contains(t, lines[0], "CustomResourceDefinition NotSent: ")
	require.Equal(t, "ConfigMap Done", lines[1])
	require.Equal(t, "Gadget NotSent: NAME.example.com/v1/Gadget NAME/a: left out: it needs apiextensions.k8s.io/v1/CustomResourceDefinition "+
		"gadgets.NAME.example.com, which doesn't exist", lines[2])
}

// definitionWithCA has a conversion webhook with a CA bundle that is none.
const definitionWithCA = definition + `
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {caBundle: Cg==, service: {name: a, namespace: b}}}}`

// TestUnusableDefinition applies a definition that is never Established, as its CA bundle comes from a controller
// later. That is named, and holds up only what needs the definition, and not what comes after: it may have the
// controller.
func TestUnusableDefinition(t *testing.T) {
	conversion := fmt.Sprintf(definitionWithCA, "")
	const conf = "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: NAME}}"
	const gadget = "\n---\n{apiVersion: NAME.example.com/v1, kind: Gadget, metadata: {name: a, namespace: NAME}}"
	for name, row := range map[string]struct {
		text      string
		keepGoing bool
		want      []string
	}{
		"nothing needs it": {conversion + conf, false, []string{"CustomResourceDefinition Done", "ConfigMap Done"}},
		"something needs it": {conversion + conf + gadget, false, []string{
			"CustomResourceDefinition Done", "ConfigMap Done", "Gadget NotSent: NAME.example.com/v1/Gadget NAME/a: left out: it needs " +
				"apiextensions.k8s.io/v1/CustomResourceDefinition gadgets.NAME.example.com: " +
				"it isn't Established yet: InvalidCABundle: The conversion webhook CABundle is invalid",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			var unusable []string
			s := c.set(t, set.Options{KeepGoing: row.keepGoing, Patience: 2 * time.Second, Unusable: func(object identity.Identity, why string) {
				unusable = append(unusable, object.Kind+": "+why)
			}}, row.text)
			c.plan(t, s)
			require.Equal(t, row.want, c.apply(t, s))
			require.Equal(t, []string{
				"CustomResourceDefinition: it isn't Established yet: InvalidCABundle: The conversion webhook CABundle is invalid",
			}, unusable)
		})
	}
}

// TestCABundleFromTheSet applies a definition with an object that needs it, and what makes a controller give it a CA
// bundle, in one run.
func TestCABundleFromTheSet(t *testing.T) {
	c := newCluster(t)
	const text = definitionWithCA + "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: injector, namespace: NAME}}" +
		"\n---\n{apiVersion: NAME.example.com/v1, kind: Gadget, metadata: {name: a, namespace: NAME}, spec: {size: 1}}"
	s := c.set(t, set.Options{}, fmt.Sprintf(text, ""))
	c.plan(t, s)
	var lines []string
	for result := range s.Apply(t.Context()) {
		lines = append(lines, result.Item.Object.Kind+" "+string(result.Outcome))
		if result.Item.Object.Kind == "ConfigMap" {
			crd := lab.Objectf(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.%s.example.com}}", c.name)
			c.Patch(t, "injector", crd, `{"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":"`+newWebhook(t).ca+`"}}}}}`)
		}
	}
	require.Equal(t, []string{"CustomResourceDefinition Done", "ConfigMap Done", "Gadget Done"}, lines)
}
