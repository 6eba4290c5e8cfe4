package set

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/write"
)

func TestAllOfIt(t *testing.T) {
	planner, server := newPlanner(t)
	ctx := quickly(t, &clock.Fake{})
	s := newSet(t, planner, Options{}, gadget("v1", "size: 1"), inNew, crd("", "v1"), namespace)
	assert.Equal(t, []string{
		"0 CustomResourceDefinition Create", "0 Namespace Create", "3 ConfigMap Deferred after Namespace", "6 Gadget Deferred after CustomResourceDefinition",
	}, plans(t, s))
	assert.Equal(t, []string{"CustomResourceDefinition Done", "Namespace Done", "ConfigMap Done", "Gadget Done"}, results(ctx, s))
	assert.Equal(t, []string{"0 CustomResourceDefinition NoOp", "0 Namespace NoOp", "3 ConfigMap NoOp", "6 Gadget NoOp"}, plans(t, s))
	sent := len(server.Requests())
	for result := range s.Apply(ctx) {
		assert.NoError(t, result.Err)
		assert.Nil(t, result.Made)
	}
	assert.Len(t, server.Requests(), sent, "what is known to be done isn't asked for again")
}

func TestPatienceOption(t *testing.T) {
	planner, _ := newPlanner(t)
	require.Equal(t, time.Minute, newSet(t, planner, Options{}).options.Patience)
	require.Equal(t, time.Second, newSet(t, planner, Options{Patience: time.Second}).options.Patience)
	require.Equal(t, time.Minute, NewRemoval(planner, nil, RemovalOptions{}).options.Patience)
	require.Equal(t, time.Second, NewRemoval(planner, nil, RemovalOptions{Patience: time.Second}).options.Patience)
	require.Equal(t, clock.Backoff{Next: 20 * time.Millisecond, Longest: time.Second}, pauses())
}

// The default stages list the common built-in kinds. All other kinds are in the last stage. The caller may modify the
// returned stages.
func TestDefaultStages(t *testing.T) {
	stages := DefaultStages()
	for kind, want := range map[string]int{
		"v1/Namespace": 0, "apiextensions.k8s.io/v1/CustomResourceDefinition": 0, "scheduling.k8s.io/v1/PriorityClass": 1, "v1/ServiceAccount": 2,
		"rbac.authorization.k8s.io/v1/Role": 2, "rbac.authorization.k8s.io/v1/RoleBinding": 3, "v1/Secret": 3, "apps/v1/Deployment": 4, "v1/Service": 4,
		"admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": 5, "example.com/v1/Service": 6, "networking.k8s.io/v1/Ingress": 6,
	} {
		i := strings.LastIndex(kind, "/")
		assert.Equal(t, want, stageOf(stages, bare(in(kind[:i], kind[i+1:], "", "a"))), kind)
	}
	stages[0].Name = "changed"
	assert.NotEqual(t, "changed", DefaultStages()[0].Name, "they are the caller's")
}

// What an object needs comes before it, in whatever stages a caller has. A stage that comes after the rest is the set's
// own: nothing is written behind the stages of the caller, and sets that share these don't share it.
func TestStagesOfACaller(t *testing.T) {
	planner, _ := newPlanner(t)
	mine := append(make([]Stage, 0, 9), Stage{Name: "all"}, Stage{Name: "not mine"})
	s := newSet(t, planner, Options{Stages: mine[:1]}, gadget("v1", "size: 1"), crd("", "v1"), namespace)
	assert.Equal(t, []string{"0 CustomResourceDefinition Create", "0 Namespace Create", "1 Gadget Deferred after CustomResourceDefinition"}, plans(t, s))
	assert.Equal(t, []string{"all", "further dependents"}, s.Stages())
	assert.Equal(t, "not mine", mine[1].Name)
}

// An object comes behind those to which it refers, in a later stage if it must, and else where it was. A CRD comes
// first nevertheless.
func TestBehindWhatItRefersTo(t *testing.T) {
	const (
		account  = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: %[1]s, namespace: default}, imagePullSecrets: [{name: %[1]s}]}"
		secret   = "{apiVersion: v1, kind: Secret, metadata: {name: %s, namespace: %s}}"
		stateful = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {serviceName: a, template: {spec: {serviceAccountName: a, resourceClaims: [{resourceClaimTemplateName: a}]}}}}"
		service  = "{apiVersion: v1, kind: Service, metadata: {name: %s, namespace: default}}"
		template = "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: a, namespace: default}}"
	)
	conversion := strings.Replace(crd("", "v1"), "versions:", "conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: b, namespace: default}}}}, versions:", 1)
	one := []Stage{{Name: "all"}}
	for name, row := range map[string]struct {
		stages []Stage
		texts  []string
		want   []string
	}{
		"a later stage": {nil, []string{
			fmt.Sprintf(account, "a"), fmt.Sprintf(account, "b"), fmt.Sprintf(secret, "a", "default"), fmt.Sprintf(secret, "b", "elsewhere"),
		}, []string{"2 ServiceAccount b", "3 Secret a", "3 ServiceAccount a", "3 Secret b"}},
		"within a stage": {nil, []string{fmt.Sprintf(service, "z"), stateful, fmt.Sprintf(service, "b"), fmt.Sprintf(service, "a"), template},
			[]string{"3 ResourceClaimTemplate a", "4 Service z", "4 Service a", "4 StatefulSet a", "4 Service b"}},
		"a caller's stage": {one, []string{stateful, fmt.Sprintf(account, "a"), template, fmt.Sprintf(service, "b"), fmt.Sprintf(secret, "a", "default")},
			[]string{"0 Secret a", "0 ServiceAccount a", "0 ResourceClaimTemplate a", "0 StatefulSet a", "0 Service b"}},
		"a definition": {nil, []string{fmt.Sprintf(service, "b"), conversion}, []string{"0 CustomResourceDefinition gadgets.example.com", "4 Service b"}},
	} {
		t.Run(name, func(t *testing.T) {
			planner, _ := newPlanner(t)
			var got []string
			for _, item := range items(t, newSet(t, planner, Options{Stages: row.stages, AllowMissing: true}, row.texts...)) {
				got = append(got, fmt.Sprintf("%d %s %s", item.Stage, item.Object.Kind, item.Object.Name))
			}
			assert.Equal(t, row.want, got)
		})
	}
}

// A set with ten times the objects, each of which refers to the one before, takes ten times as long to arrange.
func TestArrangeGrows(t *testing.T) {
	planner, _ := newPlanner(t)
	arrange := func(n int) float64 {
		requests := make([]ssaplan.Request, n)
		for i := range n {
			requests[i].Manifest = object(t, fmt.Sprintf("{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: g%d, namespace: default},"+
				"spec: {parentCompositePodGroupName: g%d}}", i, i+1))
		}
		return testing.AllocsPerRun(1, func() { New(planner, requests, Options{}) })
	}
	few, many := arrange(100), arrange(1000)
	assert.Less(t, many, 12*few)
}

func TestMissing(t *testing.T) {
	const newer = "{apiVersion: example.com/v2, kind: Gadget, metadata: {name: a}}"
	planner, _ := newPlanner(t)
	lines := plans(t, newSet(t, planner, Options{}, crd("", "v1"), namespace, "{apiVersion: v1, kind: Confgmap, metadata: {name: a}}", newer,
		strings.Replace(inNew, "new", "neww", 1), strings.Replace(inNew, "new", "elsewhere-altogether", 1)))
	assert.Contains(t, lines[2], "a namespace \"neww\"; did you mean new?")
	assert.True(t, strings.HasSuffix(lines[3], "neither the server nor the set has a namespace \"elsewhere-altogether\""), lines[3])
	assert.Contains(t, lines[4], "a kind Confgmap in v1")
	assert.Contains(t, lines[5], "did you mean example.com/v1 Gadget?")
	assert.Contains(t, plans(t, newSet(t, planner, Options{AllowMissing: true}, newer))[0], "6 Gadget Deferred")
	s := newSet(t, planner, Options{}, namespace, newer)
	plans(t, s)
	assert.Regexp(t, "nothing is applied as long as example.com/v2/Gadget .*a can't be planned$",
		results(quickly(t, &clock.Fake{}), s)[0])

	plan, err := planner.Plan(t.Context(), ssaplan.Request{Manifest: object(t, inNew)})
	require.NoError(t, err)
	assert.ErrorContains(t, Missing(t.Context(), planner, plan), "a namespace \"new\"")
	plan, err = planner.Plan(t.Context(), ssaplan.Request{Manifest: object(t, namespace)})
	require.NoError(t, err)
	assert.Nil(t, Missing(t.Context(), planner, plan))
}

// No stage begins after one in which something failed, and nothing more is asked for, unless the caller goes on. Then
// what needs it is left out, and isn't waited for.
func TestWhatFailed(t *testing.T) {
	const role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}}"
	planner, server := newPlanner(t)
	server.Answer(forbids("namespaces"))
	lines := results(quickly(t, &clock.Fake{}), newSet(t, planner, Options{}, inNew, role, namespace))
	assert.Contains(t, lines[0], "Namespace Refused: ")
	assert.Equal(t, []string{
		"ClusterRole NotSent: rbac.authorization.k8s.io/v1/ClusterRole a: left out: something that comes before it failed",
		"ConfigMap NotSent: v1/ConfigMap new/a: left out: something that comes before it failed",
	}, lines[1:])
	for _, request := range server.Requests() {
		require.NotEqual(t, "configmaps", request.Resource.Resource)
	}

	a := newApplication(t, planner, Options{KeepGoing: true}, inNew, role, namespace)
	lines = a.apply(quickly(t, &a.fake))
	assert.Contains(t, lines[0], "Namespace Refused: ")
	assert.Equal(t, []string{"ClusterRole Done", "ConfigMap NotSent: v1/ConfigMap new/a: left out: it needs v1/Namespace new, which doesn't exist"}, lines[1:])
	assert.Empty(t, a.waited)
}

// A server enforces a created or changed webhook or policy with a delay. If another stage follows, Apply calls
// Options.Waiting for the object with the longest delay. It doesn't call Waiting for unchanged objects.
func TestPauseIsTold(t *testing.T) {
	const (
		webhook = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: a}}"
		policy  = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: a}}"
		ingress = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, namespace: default}, spec: {}}"
	)
	planner, _ := newPlanner(t)
	for _, why := range []string{"nothing comes after them", "they are there"} {
		a := newApplication(t, planner, Options{}, webhook, policy)
		a.apply(quickly(t, &a.fake))
		assert.Empty(t, a.waited, why)
	}
	planner, _ = newPlanner(t)
	a := newApplication(t, planner, Options{}, webhook, policy, ingress)
	a.apply(quickly(t, &a.fake))
	assert.Equal(t, []string{"ValidatingAdmissionPolicy: until the server enforces it, which no response confirms"}, a.waited)
}

// What isn't as it was shown isn't touched: neither what changed meanwhile, nor what wasn't shown at all.
func TestNothingElseThanShown(t *testing.T) {
	planner, server := newPlanner(t)
	install(t, planner, fmt.Sprintf(conf, "b"))
	s := newSet(t, planner, Options{}, fmt.Sprintf(conf, "c"), account)
	assert.Equal(t, []string{"2 ServiceAccount Create", "3 ConfigMap Update"}, plans(t, s))
	configMaps := server.Client().Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"})
	options := metav1.PatchOptions{FieldManager: "other"}
	_, err := configMaps.Namespace("shop").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"a":"z"}}`), options)
	require.NoError(t, err)
	var last *Result
	for result := range s.Apply(quickly(t, &clock.Fake{})) {
		last = result
	}
	var changed *ChangedError
	require.ErrorAs(t, last.Err, &changed)
	assert.Equal(t, `data.a: "b" -> "c"`, changed.Shown.Changes[0].String())
	assert.Contains(t, changed.Now.Changes[0].String(), `data.a: "z" -> "c"`)
	assert.Equal(t, write.OutcomeNotSent, last.Outcome)
	assert.Equal(t, write.OutcomeNotSent, write.OutcomeOf(changed))

	half := newSet(t, planner, Options{}, fmt.Sprintf(conf, "b"), pull)
	for range half.Plan(t.Context()) {
		break
	}
	assert.Contains(t, strings.Join(results(quickly(t, &clock.Fake{}), half), "\n"), "left out: it wasn't shown")
}

// A replacement is carried out only if all that it does was shown.
func TestNoOtherReplacementThanShown(t *testing.T) {
	for why, row := range map[string]struct {
		now     func(*ssaplan.Replacement)
		outcome write.Outcome
	}{
		"the same":             {func(*ssaplan.Replacement) {}, write.OutcomeDone},
		"fewer hazards":        {func(r *ssaplan.Replacement) { r.Hazards = r.Hazards[:0:0] }, write.OutcomeDone},
		"another hazard":       {func(r *ssaplan.Replacement) { r.Hazards = []immutability.Hazard{{Kind: "data"}} }, write.OutcomeNotSent},
		"another object":       {func(r *ssaplan.Replacement) { r.Old.Name = "c" }, write.OutcomeNotSent},
		"another UID":          {func(r *ssaplan.Replacement) { r.UID = "other" }, write.OutcomeNotSent},
		"another propagation":  {func(r *ssaplan.Replacement) { r.Propagation = metav1.DeletePropagationOrphan }, write.OutcomeNotSent},
		"other reasons for it": {func(r *ssaplan.Replacement) { r.Fields = nil }, write.OutcomeNotSent},
	} {
		planner, _ := newPlanner(t)
		was := install(t, planner, fmt.Sprintf(conf, "b"))[0]
		isShown := false
		edited := &scripted{Planner: planner, plan: func(_ ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
			if isShown && err == nil && plan.Replacement != nil {
				row.now(plan.Replacement)
			}
			return plan, err
		}}
		// The replacement is planned again, because the namespace is written before.
		renamed := ssaplan.Request{Manifest: object(t, strings.Replace(fmt.Sprintf(conf, "b"), "name: a", "name: b", 1))}
		renamed.Prior = &explain.State{Identity: was.Object, UID: was.UID}
		s := New(edited, []ssaplan.Request{{Manifest: object(t, namespace)}, renamed}, Options{Replace: true})
		require.Equal(t, []string{"0 Namespace Create", "3 ConfigMap Replace"}, plans(t, s), why)
		isShown = true
		var last *Result
		for result := range s.Apply(quickly(t, &clock.Fake{})) {
			last = result
		}
		require.Equal(t, row.outcome, last.Outcome, "%s: %v", why, last.Err)
		if row.outcome == write.OutcomeNotSent {
			require.ErrorAs(t, last.Err, new(*ChangedError), why)
		}
	}
}

// When the context ends, each object that wasn't reached has its error, and nothing more is sent.
func TestCancelled(t *testing.T) {
	planner, _ := newPlanner(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for result := range newSet(t, planner, Options{}, namespace, inNew, pull).Apply(ctx) {
		if n++; n == 1 {
			require.NoError(t, result.Err)
			cancel()
			continue
		}
		require.ErrorIs(t, result.Err, context.Canceled)
		require.Equal(t, write.OutcomeNotSent, result.Outcome)
	}
	require.Equal(t, 3, n)
}

// A manifest that is none is an error of its own, and holds up the rest as any other.
func TestNoManifest(t *testing.T) {
	for keepGoing, want := range map[bool]string{
		false: "left out: nothing is applied as long as", true: "Namespace Done",
	} {
		planner, _ := newPlanner(t)
		s := newSet(t, planner, Options{KeepGoing: keepGoing}, "", namespace)
		lines := plans(t, s)
		assert.Equal(t, "0 Namespace Create", lines[0])
		assert.Len(t, lines, 2)
		assert.Contains(t, results(quickly(t, &clock.Fake{}), s)[0], want)
	}
}

// An object that doesn't exist yet is waited for, as long as there is time.
func TestAwaitObjectThatIsMadeLater(t *testing.T) {
	planner, _ := newPlanner(t)
	ctx, id := quickly(t, &clock.Fake{}), in("v1", "Secret", "shop", "pull")
	ready := func(*unstructured.Unstructured) Readiness { return Readiness{Ready: true} }
	found := AwaitObject(ctx, planner, id, ready, time.Nanosecond, func(string) {})
	require.False(t, found.Ready || found.Failed)

	var waited []string
	found = AwaitObject(ctx, planner, id, ready, time.Minute, func(why string) {
		if waited = append(waited, why); len(waited) == 3 {
			install(t, planner, pull)
		}
	})
	require.True(t, found.Ready)
	require.Len(t, waited, 3)
	require.Contains(t, waited[0], "it doesn't exist")
}
