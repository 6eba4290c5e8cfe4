package set_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// manifest returns the object of a YAML text.
func manifest(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &obj.Object))
	return obj
}

// world is a server in memory with a planner.
type world struct {
	*testing.T
	server  *ssaplantest.Server
	planner *ssaplan.Planner
	clock   *clock.Fake
}

func newWorld(t *testing.T) *world {
	t.Helper()
	server, err := ssaplantest.NewServer(ssaplantest.Options{})
	require.NoError(t, err)
	planner, err := ssaplan.New(server.API(), ssaplan.Options{FieldManager: "set-test"})
	require.NoError(t, err)
	return &world{t, server, planner, &clock.Fake{LongestSleep: time.Millisecond, TimeUp: 100}}
}

// Context is that of the test, in which no sleep is long, and the time is up after many of them.
func (w *world) Context() context.Context {
	return clock.With(w.T.Context(), w.clock)
}

func (w *world) set(options set.Options, texts ...string) *set.Set {
	w.Helper()
	var requests []ssaplan.Request
	for _, text := range texts {
		requests = append(requests, ssaplan.Request{Manifest: manifest(w.T, text)})
	}
	return set.New(w.planner, requests, options)
}

// plan returns a line for each item: stage, kind, action or error, and what it comes after.
func (w *world) plan(s *set.Set) (lines []string) {
	for item := range s.Plan(w.Context()) {
		line := fmt.Sprintf("%d %s ", item.Stage, item.Object.Kind)
		if item.Err != nil {
			lines = append(lines, line+item.Err.Error())
			continue
		}
		line += string(item.Plan.Action)
		for _, other := range item.After {
			line += " after " + other.Kind
		}
		lines = append(lines, line)
	}
	return lines
}

// apply returns a line for each result: kind, outcome and error.
func (w *world) apply(ctx context.Context, s *set.Set) (lines []string) {
	for result := range s.Apply(ctx) {
		line := fmt.Sprintf("%s %s", result.Item.Object.Kind, result.Outcome)
		if result.Err != nil {
			line += ": " + result.Err.Error()
		}
		lines = append(lines, line)
	}
	return lines
}

const (
	definition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.com},
		spec: {group: example.com, scope: Namespaced, names: {plural: gadgets, kind: Gadget}, versions: [{name: v1, served: true, storage: true,
		schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}}]}}`
	gadget    = "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: a, namespace: shop}, spec: {size: 1}}"
	namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {app: shop}}}"
	conf      = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}, data: {a: b}}"
)

func TestAllOfIt(t *testing.T) {
	w := newWorld(t)
	s := w.set(set.Options{}, gadget, conf, definition, namespace)
	assert.Equal(t, []string{
		"0 CustomResourceDefinition Create", "0 Namespace Create", "3 ConfigMap Deferred after Namespace", "6 Gadget Deferred after CustomResourceDefinition",
	}, w.plan(s))
	assert.Equal(t, []string{"CustomResourceDefinition Done", "Namespace Done", "ConfigMap Done", "Gadget Done"}, w.apply(w.Context(), s))
	assert.Equal(t, []string{"0 CustomResourceDefinition NoOp", "0 Namespace NoOp", "3 ConfigMap NoOp", "6 Gadget NoOp"}, w.plan(s))
	sent := len(w.server.Requests())
	for result := range s.Apply(w.Context()) {
		assert.NoError(t, result.Err)
		assert.Nil(t, result.Made)
	}
	assert.Len(t, w.server.Requests(), sent, "what is known to be done isn't asked for again")
}

// The default stages list the common built-in kinds. All other kinds are in the last stage. The caller may modify the
// returned stages.
func TestDefaultStages(t *testing.T) {
	stages := set.DefaultStages()
	for kind, want := range map[string]int{
		"v1/Namespace": 0, "apiextensions.k8s.io/v1/CustomResourceDefinition": 0, "scheduling.k8s.io/v1/PriorityClass": 1, "v1/ServiceAccount": 2,
		"rbac.authorization.k8s.io/v1/Role": 2, "rbac.authorization.k8s.io/v1/RoleBinding": 3, "v1/Secret": 3, "apps/v1/Deployment": 4, "v1/Service": 4,
		"admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": 5, "example.com/v1/Service": 6, "networking.k8s.io/v1/Ingress": 6,
	} {
		i := strings.LastIndex(kind, "/")
		obj := object(kind[:i], kind[i+1:], "", "a")
		found := len(stages) - 1
		for n, stage := range stages {
			if stage.Has(obj) {
				found = n
				break
			}
		}
		assert.Equal(t, want, found, kind)
	}
	own := stages
	own[0].Name = "changed"
	assert.NotEqual(t, "changed", set.DefaultStages()[0].Name, "they are the caller's")
}

// What an object needs comes before it, in whatever stages a host has.
func TestStagesOfAHost(t *testing.T) {
	w := newWorld(t)
	s := w.set(set.Options{Stages: []set.Stage{{Name: "all"}}}, gadget, definition, namespace)
	assert.Equal(t, []string{"0 CustomResourceDefinition Create", "0 Namespace Create", "1 Gadget Deferred after CustomResourceDefinition"}, w.plan(s))
	assert.Equal(t, []string{"all", "further dependents"}, s.Stages())
}

// A stage that comes after the rest is the set's own: nothing is written behind the stages of the host, and sets that
// share these don't share it.
func TestStagesOfAHostStayItsOwn(t *testing.T) {
	w := newWorld(t)
	mine := append(make([]set.Stage, 0, 9), set.Stage{Name: "all"}, set.Stage{Name: "not mine"})
	options := set.Options{Stages: mine[:1]}
	first := w.set(options, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: new}}`, `{apiVersion: v1, kind: Namespace, metadata: {name: new}}`)
	require.Equal(t, []string{"all", "further dependents"}, first.Stages())
	require.Equal(t, "not mine", mine[1].Name)
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
		group    = "{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: %s, namespace: default}, spec: {parentCompositePodGroupName: %s}}"
		pod      = "{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {schedulingGroup: {podGroupName: p}}}"
		podGroup = "{apiVersion: scheduling.k8s.io/v1alpha3, kind: PodGroup, metadata: {name: p, namespace: default}, spec: {parentCompositePodGroupName: g2}}"
	)
	conversion := strings.Replace(definition, "versions:", "conversion: {strategy: Webhook, webhook: {clientConfig: {service: {name: b, namespace: default}}}}, versions:", 1)
	one := []set.Stage{{Name: "all"}}
	for name, row := range map[string]struct {
		stages []set.Stage
		texts  []string
		want   []string
	}{
		"a later stage": {nil, []string{
			fmt.Sprintf(account, "a"), fmt.Sprintf(account, "b"), fmt.Sprintf(secret, "a", "default"), fmt.Sprintf(secret, "b", "elsewhere"),
		}, []string{"2 ServiceAccount b", "3 Secret a", "3 ServiceAccount a", "3 Secret b"}},
		"within a stage": {nil, []string{fmt.Sprintf(service, "z"), stateful, fmt.Sprintf(service, "b"), fmt.Sprintf(service, "a"), template},
			[]string{"3 ResourceClaimTemplate a", "4 Service z", "4 Service a", "4 StatefulSet a", "4 Service b"}},
		"a host's stage": {one, []string{stateful, fmt.Sprintf(account, "a"), template, fmt.Sprintf(service, "b"), fmt.Sprintf(secret, "a", "default")},
			[]string{"0 Secret a", "0 ServiceAccount a", "0 ResourceClaimTemplate a", "0 StatefulSet a", "0 Service b"}},
		"a circle": {nil, []string{pod, podGroup, fmt.Sprintf(group, "g1", "g2"), fmt.Sprintf(group, "g2", "g1"), fmt.Sprintf(group, "g3", "g3")},
			[]string{"4 CompositePodGroup g1", "4 CompositePodGroup g2", "4 PodGroup p", "4 Pod p", "4 CompositePodGroup g3"}},
		"a definition": {nil, []string{fmt.Sprintf(service, "b"), conversion}, []string{"0 CustomResourceDefinition gadgets.example.com", "4 Service b"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for item := range newWorld(t).set(set.Options{Stages: row.stages, AllowMissing: true}, row.texts...).Plan(t.Context()) {
				got = append(got, fmt.Sprintf("%d %s %s", item.Stage, item.Object.Kind, item.Object.Name))
			}
			assert.Equal(t, row.want, got)
		})
	}
}

// What refers to an object that comes later than its stage comes later too.
func TestBehindWhatIsPostponed(t *testing.T) {
	const policy = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: strict, labels: {a: b}}}"
	w := newWorld(t)
	w.server.Answer(func(r ssaplantest.Request) error {
		if r.Verb == "patch" && r.Resource.Resource == "storageclasses" {
			return apierrors.NewForbidden(r.Resource.GroupResource(), r.Name, errors.New("ValidatingAdmissionPolicy 'strict' with binding 'b' denied request: no"))
		}
		return nil
	})
	s := w.set(set.Options{}, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a, namespace: default}, spec: {storageClassName: a}}",
		"{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {volumes: [{persistentVolumeClaim: {claimName: a}}]}}",
		"{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}}", policy)
	var got []string
	for item := range s.Plan(t.Context()) {
		got = append(got, fmt.Sprintf("%d %s", item.Stage, item.Object.Kind))
	}
	assert.Equal(t, []string{"5 ValidatingAdmissionPolicy", "6 StorageClass", "6 PersistentVolumeClaim", "6 Pod"}, got)
}

// A set with ten times the objects, each of which refers to the one before, takes ten times as long to arrange.
func TestArrangeGrows(t *testing.T) {
	w := newWorld(t)
	arrange := func(n int) float64 {
		requests := make([]ssaplan.Request, n)
		for i := range n {
			requests[i].Manifest = manifest(t, fmt.Sprintf("{apiVersion: scheduling.k8s.io/v1alpha3, kind: CompositePodGroup, metadata: {name: g%d, namespace: default},"+
				"spec: {parentCompositePodGroupName: g%d}}", i, i+1))
		}
		return testing.AllocsPerRun(1, func() { set.New(w.planner, requests, set.Options{}) })
	}
	few, many := arrange(100), arrange(1000)
	assert.Less(t, many, 12*few)
}

func TestMissing(t *testing.T) {
	w := newWorld(t)
	lines := w.plan(w.set(set.Options{}, definition, namespace,
		"{apiVersion: v1, kind: Confgmap, metadata: {name: a}}", "{apiVersion: example.com/v2, kind: Gadget, metadata: {name: a}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shopp}}", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: elsewhere-altogether}}"))
	assert.Contains(t, lines[2], "a namespace \"shopp\"; did you mean shop?")
	assert.True(t, strings.HasSuffix(lines[3], "neither the server nor the set has a namespace \"elsewhere-altogether\""), lines[3])
	assert.Contains(t, lines[4], "a kind Confgmap in v1")
	assert.Contains(t, lines[5], "did you mean example.com/v1 Gadget?")
	assert.Contains(t, w.plan(w.set(set.Options{AllowMissing: true}, "{apiVersion: example.com/v2, kind: Gadget, metadata: {name: a}}"))[0], "6 Gadget Deferred")

	builtin := &set.MissingError{Object: identity.Identity{APIVersion: "apps/v9", Kind: "Deployment", Name: "a"}, Deferral: ssaplan.DeferralTypeNotServed}
	assert.True(t, builtin.IsFinal())
	builtin.Deferral = ssaplan.DeferralNamespaceNotFound
	assert.False(t, builtin.IsFinal())
	plan, err := w.planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, conf)})
	require.NoError(t, err)
	assert.ErrorContains(t, set.Missing(t.Context(), w.planner, plan), "a namespace \"shop\"")
	plan, err = w.planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, namespace)})
	require.NoError(t, err)
	assert.Nil(t, set.Missing(t.Context(), w.planner, plan))
}

// refuse has the server refuse each apply of a resource that isn't a dry run.
func (w *world) refuse(resource string) (stop func()) {
	return w.server.Answer(func(r ssaplantest.Request) error {
		if r.Verb == "patch" && !r.DryRun && r.Resource.Resource == resource {
			return apierrors.NewForbidden(r.Resource.GroupResource(), r.Name, errors.New("not today"))
		}
		return nil
	})
}

// No stage begins after one in which something failed, unless the host goes on; then what needs it is left out.
func TestWhatFailed(t *testing.T) {
	const role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}}"
	w := newWorld(t)
	w.refuse("namespaces")
	lines := w.apply(w.Context(), w.set(set.Options{}, conf, role, namespace))
	assert.Contains(t, lines[0], "Namespace Refused: ")
	assert.Equal(t, []string{
		"ClusterRole NotSent: rbac.authorization.k8s.io/v1/ClusterRole a: left out: something that comes before it failed",
		"ConfigMap NotSent: v1/ConfigMap shop/a: left out: something that comes before it failed",
	}, lines[1:])

	lines = w.apply(w.Context(), w.set(set.Options{KeepGoing: true}, conf, role, namespace))
	assert.Contains(t, lines[0], "Namespace Refused: ")
	assert.Equal(t, []string{"ClusterRole Done", "ConfigMap NotSent: v1/ConfigMap shop/a: left out: it needs v1/Namespace shop, which doesn't exist"}, lines[1:])
}

// A definition that can't be used in time is waited for, and what needs it is left out.
func TestPatience(t *testing.T) {
	w := newWorld(t)
	applied := false
	w.server.Answer(func(r ssaplantest.Request) error {
		if r.Resource.Resource != "customresourcedefinitions" {
			return nil
		}
		if applied = applied || r.Verb == "patch" && !r.DryRun; applied && r.Verb == "get" {
			return apierrors.NewServiceUnavailable("starting")
		}
		return nil
	})
	told := map[string]bool{}
	options := set.Options{KeepGoing: true, Patience: 50 * time.Millisecond, Waiting: func(of identity.Identity, why string) {
		assert.Contains(t, why, "starting")
		told[of.Kind] = true
	}}
	lines := w.apply(w.Context(), w.set(options, definition, namespace, gadget))
	assert.Equal(t, []string{"CustomResourceDefinition Done", "Namespace Done"}, lines[:2])
	assert.Equal(t, "Gadget Done", lines[2], "the server has it all the same")
	assert.Equal(t, map[string]bool{"CustomResourceDefinition": true}, told)
}

// A server enforces a created or changed webhook or policy with a delay. If another stage follows, Apply calls
// Options.Waiting for the object with the longest delay. It doesn't call Waiting for unchanged objects.
func TestPauseIsTold(t *testing.T) {
	const (
		webhook = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: a}}"
		policy  = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: a}}"
		ingress = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, namespace: default}, spec: {}}"
	)
	w := newWorld(t)
	var told []string
	options := set.Options{Patience: 10 * time.Millisecond, Waiting: func(of identity.Identity, why string) { told = append(told, of.Kind+": "+why) }}
	w.apply(w.Context(), w.set(options, webhook, policy))
	assert.Empty(t, told, "nothing comes after them")
	w.apply(w.Context(), w.set(options, webhook, policy))
	assert.Empty(t, told, "they are there")

	w = newWorld(t)
	w.apply(w.Context(), w.set(options, webhook, policy, ingress))
	assert.Equal(t, []string{"ValidatingAdmissionPolicy: until the server enforces it, which no response confirms"}, told)
}

// What isn't as it was shown isn't touched: neither what changed meanwhile, nor what wasn't shown at all.
func TestNothingElseThanShown(t *testing.T) {
	w := newWorld(t)
	w.apply(w.Context(), w.set(set.Options{}, namespace, conf))
	s := w.set(set.Options{}, strings.Replace(conf, "{a: b}", "{a: c}", 1), "{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: shop}}")
	assert.Equal(t, []string{"2 ServiceAccount Create", "3 ConfigMap Update"}, w.plan(s))
	maps, err := w.server.Mapper().RESTMapping(manifest(t, conf).GroupVersionKind().GroupKind(), "v1")
	require.NoError(t, err)
	_, err = w.server.Client().Resource(maps.Resource).Namespace("shop").Patch(t.Context(), "a", "application/merge-patch+json", []byte(`{"data":{"a":"z"}}`), patchOptions)
	require.NoError(t, err)
	var last *set.Result
	for result := range s.Apply(w.Context()) {
		last = result
	}
	var changed *set.ChangedError
	require.ErrorAs(t, last.Err, &changed)
	assert.Equal(t, `data.a: "b" -> "c"`, changed.Shown.Changes[0].String())
	assert.Contains(t, changed.Now.Changes[0].String(), `data.a: "z" -> "c"`)
	assert.Equal(t, write.OutcomeNotSent, last.Outcome)
	assert.Equal(t, write.OutcomeNotSent, write.OutcomeOf(changed))

	half := w.set(set.Options{}, conf, "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop}}")
	for range half.Plan(t.Context()) {
		break
	}
	assert.Contains(t, strings.Join(w.apply(w.Context(), half), "\n"), "left out: it wasn't shown")
}

// replacing is a Planner that plans another replacement once one was shown.
type replacing struct {
	set.Planner
	now func(*ssaplan.Replacement) // nil until then
}

func (p *replacing) PlanAll(ctx context.Context, requests []ssaplan.Request) iter.Seq2[*ssaplan.Plan, error] {
	return func(yield func(*ssaplan.Plan, error) bool) {
		for plan, err := range p.Planner.PlanAll(ctx, requests) {
			if p.now != nil && err == nil && plan.Replacement != nil {
				p.now(plan.Replacement)
			}
			if !yield(plan, err) {
				return
			}
		}
	}
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
		w := newWorld(t)
		w.apply(w.Context(), w.set(set.Options{}, namespace, conf))
		plan, err := w.planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, conf)})
		require.NoError(t, err)
		live, err := w.planner.Apply(t.Context(), plan)
		require.NoError(t, err)
		state, err := plan.State(live)
		require.NoError(t, err)
		request := ssaplan.Request{Manifest: manifest(t, strings.Replace(conf, "name: a", "name: b", 1)), Prior: state}
		planner := &replacing{Planner: w.planner}
		// The replacement is planned again, because something is written before.
		before := ssaplan.Request{Manifest: manifest(t, strings.Replace(namespace, "name: shop", "name: other", 1))}
		s := set.New(planner, []ssaplan.Request{before, request}, set.Options{Replace: true})
		require.Equal(t, []string{"0 Namespace Create", "3 ConfigMap Replace"}, w.plan(s), why)
		planner.now = row.now
		var last *set.Result
		for result := range s.Apply(w.Context()) {
			last = result
		}
		require.Equal(t, row.outcome, last.Outcome, "%s: %v", why, last.Err)
		if row.outcome == write.OutcomeNotSent {
			require.ErrorAs(t, last.Err, new(*set.ChangedError), why)
		}
	}
}

// When the context ends, each object that wasn't reached has its error, and nothing more is sent.
func TestCancelled(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for result := range w.set(set.Options{}, namespace, conf, "{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: shop}}").Apply(ctx) {
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
	w := newWorld(t)
	s := set.New(w.planner, []ssaplan.Request{{}, {Manifest: manifest(t, namespace)}}, set.Options{})
	lines := w.plan(s)
	assert.Equal(t, "0 Namespace Create", lines[0])
	assert.Len(t, lines, 2)
	assert.Contains(t, w.apply(w.Context(), s)[0], "left out: nothing is applied as long as")
	going := set.New(w.planner, []ssaplan.Request{{}, {Manifest: manifest(t, namespace)}}, set.Options{KeepGoing: true})
	w.plan(going)
	assert.Equal(t, "Namespace Done", w.apply(w.Context(), going)[0])
}

// The plan is made as soon as the namespace is there, and says what is missing if it doesn't come in time.
func TestAwaitPlan(t *testing.T) {
	w := newWorld(t)
	request := ssaplan.Request{Manifest: manifest(t, conf)}
	short, cancel := context.WithCancel(w.Context())
	var looks atomic.Int32 // from two goroutines
	heal := w.server.Answer(func(r ssaplantest.Request) error {
		if looks.Add(1) == 10 {
			cancel()
		}
		return nil
	})
	plan, err := set.AwaitPlan(short, w.planner, request)
	heal()
	require.NoError(t, err)
	assert.Equal(t, ssaplan.DeferralNamespaceNotFound, plan.Deferral)

	looks.Store(0)
	heal = w.server.Answer(func(r ssaplantest.Request) error {
		if looks.Add(1) == 10 {
			go w.apply(w.Context(), w.set(set.Options{}, namespace))
		}
		return nil
	})
	plan, err = set.AwaitPlan(w.Context(), w.planner, request)
	heal()
	require.NoError(t, err)
	assert.Equal(t, ssaplan.ActionCreate, plan.Action)

	w.server.AnswerNext("patch", errors.New("down"))
	_, err = set.AwaitPlan(t.Context(), w.planner, request)
	require.ErrorContains(t, err, "down", "another failure isn't waited for")
}

// An object that doesn't exist yet is waited for, as long as there is time.
func TestAwaitObjectThatIsMadeLater(t *testing.T) {
	w := newWorld(t)
	text := "{apiVersion: v1, kind: ConfigMap, metadata: {name: late, namespace: default}}"
	id, err := identity.Of(manifest(t, text).Object)
	require.NoError(t, err)
	ready := func(*unstructured.Unstructured) set.Readiness { return set.Readiness{Ready: true} }
	found := set.AwaitObject(w.Context(), w.planner, id, ready, time.Nanosecond, func(string) {})
	require.False(t, found.Ready || found.Failed)

	var waited []string
	found = set.AwaitObject(w.Context(), w.planner, id, ready, time.Minute, func(why string) {
		if waited = append(waited, why); len(waited) == 3 {
			plan, err := w.planner.Plan(t.Context(), ssaplan.Request{Manifest: manifest(t, text)})
			require.NoError(t, err)
			_, err = w.planner.Apply(t.Context(), plan)
			require.NoError(t, err)
		}
	})
	require.True(t, found.Ready)
	require.Len(t, waited, 3)
	require.Contains(t, waited[0], "it doesn't exist")
}
