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
	const color = ", color: {type: string}" // which the new version lacks
	older := strings.Replace(strings.Replace(application, "spec: {size: 1}", "spec: {size: 1, color: red}", 1),
		fmt.Sprintf(definition, ""), fmt.Sprintf(definition, color), 1)
	for result := range c.set(t, set.Options{}, older).Apply(t.Context()) {
		require.NoError(t, result.Err)
		state, err := result.Item.Plan.State(result.Made)
		require.NoError(t, err)
		states[state.Identity.Kind] = state
	}
	gadget := lab.Objectf(t, "{apiVersion: %[1]s.example.com/v1, kind: Gadget, metadata: {name: one, namespace: %[1]s-app, labels: {of: another}}}", c.name)
	uid := c.Apply(t, "another", gadget).GetUID()
	newer := "{apiVersion: NAME.example.com/v2, kind: Gadget, metadata: {name: one, namespace: NAME-app}, spec: {size: 2}}\n---" + fmt.Sprintf(definition, color) + secondVersion
	var requests []ssaplan.Request
	for _, document := range strings.Split(newer, "\n---\n") {
		manifest := lab.Object(t, strings.ReplaceAll(document, "NAME", c.name))
		requests = append(requests, ssaplan.Request{Manifest: manifest, Prior: states[manifest.GetKind()]})
	}
	s := set.New(c.planner, requests, set.Options{Replace: true})
	require.Equal(t, []string{"0 CustomResourceDefinition Update", "6 Gadget Deferred after CustomResourceDefinition"}, c.plan(t, s))
	for item := range s.Plan(t.Context()) {
		if item.Object.Kind == "Gadget" {
			require.Len(t, item.Plan.Changes, 2)
			require.Equal(t, `spec.color: - "red"`, item.Plan.Changes[0].Difference.String())
			require.Equal(t, "spec.size: 1 -> 2", item.Plan.Changes[1].Difference.String())
		}
	}
	require.Equal(t, []string{"CustomResourceDefinition Done", "Gadget Done"}, c.apply(t, s))
	live := c.Get(t, gadget)
	require.Equal(t, uid, live.GetUID(), "it is the same object")
	require.Equal(t, map[string]string{"of": "another"}, live.GetLabels())
	require.Equal(t, map[string]any{"size": int64(2)}, live.Object["spec"])
	require.Equal(t, []string{"0 CustomResourceDefinition NoOp", "6 Gadget NoOp"}, c.plan(t, s))
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
}

// definitionWithCA has a conversion webhook with a CA bundle that is none.
const definitionWithCA = definition + `
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {caBundle: Cg==, service: {name: a, namespace: b}}}}`

// TestUnusableDefinition applies a definition that is never Established, as its CA bundle comes from a controller
// later. That is named, and holds up only what needs the definition, and not what comes after: it may have the
// controller.
func TestUnusableDefinition(t *testing.T) {
	c := newCluster(t)
	const why = "it isn't Established yet: InvalidCABundle: The conversion webhook CABundle is invalid"
	const text = definitionWithCA + "\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: NAME}}" +
		"\n---\n{apiVersion: NAME.example.com/v1, kind: Gadget, metadata: {name: a, namespace: NAME}}"
	var unusable []string
	s := c.set(t, set.Options{Patience: 2 * time.Second, Unusable: func(object identity.Identity, why string) {
		unusable = append(unusable, object.Kind+": "+why)
	}}, fmt.Sprintf(text, ""))
	c.plan(t, s)
	require.Equal(t, []string{
		"CustomResourceDefinition Done", "ConfigMap Done", "Gadget NotSent: NAME.example.com/v1/Gadget NAME/a: left out: it needs " +
			"apiextensions.k8s.io/v1/CustomResourceDefinition gadgets.NAME.example.com: " + why,
	}, c.apply(t, s))
	require.Equal(t, []string{"CustomResourceDefinition: " + why}, unusable)
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
