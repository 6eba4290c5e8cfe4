package kit_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kuberuntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/record"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// An owning is a kit on a real server, without informers, and the conditions of its owners.
type owning struct {
	*testing.T
	*lab.Cluster
	kit    *ctrlssaplan.Kit
	events *record.FakeRecorder

	mu         sync.Mutex
	conditions map[string]*[]metav1.Condition // by the owner's name
}

func newOwning(t *testing.T, kinds ...schema.GroupVersionKind) *owning {
	o := &owning{T: t, Cluster: lab.New(t), events: record.NewFakeRecorder(1000), conditions: map[string]*[]metav1.Condition{}}
	kit, err := ctrlssaplan.NewForDynamic(o.Client, o.Mapper, kuberuntime.NewScheme(), ctrlssaplan.Options{
		FieldManager: "site-controller", Kinds: kinds, Events: o.events,
		NoOps: ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{ServerInterval: -1}),
		Conditions: func(owner client.Object) (*[]metav1.Condition, *int64) {
			o.mu.Lock()
			defer o.mu.Unlock()
			if o.conditions[owner.GetName()] == nil {
				o.conditions[owner.GetName()] = &[]metav1.Condition{}
			}
			return o.conditions[owner.GetName()], nil
		},
	})
	require.NoError(t, err)
	o.kit = kit
	return o
}

// owner makes an object that has children.
func (o *owning) owner(name string) *unstructured.Unstructured {
	return o.Apply(o, "installer", lab.Objectf(o, "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s, namespace: %s}}", name, o.Namespace))
}

func (o *owning) reconcile(owner *unstructured.Unstructured, children ...*unstructured.Unstructured) ctrl.Result {
	o.Helper()
	var wanted []ctrlssaplan.Child
	for _, child := range children {
		wanted = append(wanted, ctrlssaplan.Child{Object: child})
	}
	result, err := o.kit.Reconcile(o.Context(), owner, wanted, ctrlssaplan.Policy{})
	require.NoError(o, err)
	return result
}

// synced returns what an owner's condition Synced says.
func (o *owning) synced(owner string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range *o.conditions[owner] {
		if c.Type == ctrlssaplan.ConditionSynced {
			return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
		}
	}
	return ""
}

// The garbage collector would delete a child in another namespace: it looks for the owner there.
func TestWhatAnOwnerCantControl(t *testing.T) {
	o := newOwning(t)
	owner := o.owner("site")
	elsewhere := lab.Object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: there, namespace: default}}")
	everywhere := lab.Objectf(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: %s}}", o.Namespace)
	here := lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: here, namespace: %s}}", o.Namespace)
	require.Positive(t, o.reconcile(owner, elsewhere, everywhere, here).RequeueAfter)
	require.Nil(t, o.Lookup(t, elsewhere))
	require.Nil(t, o.Lookup(t, everywhere))
	require.NotNil(t, o.Lookup(t, here), "what only has to be there is made in any case")
	require.Equal(t, fmt.Sprintf(`False Refused: ConfigMap there: can't be controlled by this ConfigMap, which is in the namespace %[1]q: give it that namespace, or an owner without one; `+
		`ClusterRole %[1]s: can't be controlled by this ConfigMap, which is in the namespace %[1]q: give it that namespace, or an owner without one`, o.Namespace), o.synced("site"))

	world := o.Apply(t, "installer", lab.Objectf(t, "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: %s-owner}}", o.Namespace))
	require.Zero(t, o.reconcile(world, elsewhere, everywhere), "an owner in no namespace owns what is anywhere")
	t.Cleanup(func() {
		for _, obj := range []*unstructured.Unstructured{elsewhere, everywhere, world} {
			o.Delete(t, obj)
		}
	})
}

// A child that is wanted in one version isn't what is left over of the kind in another one.
func TestVersionsOfAChildAreOne(t *testing.T) {
	o := newOwning(t, schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"})
	owner := o.owner("site")
	scaler := lab.Objectf(t, `{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: a, namespace: %s}, spec: {maxReplicas: 3,
		scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}}}`, o.Namespace)
	for range 3 {
		o.reconcile(owner, scaler)
		require.NotNil(t, o.Lookup(t, scaler))
	}
	other := scaler.DeepCopy()
	other.SetAPIVersion("autoscaling/v2")
	_, err := o.kit.Reconcile(t.Context(), owner, []ctrlssaplan.Child{{Object: scaler}, {Object: other}}, ctrlssaplan.Policy{})
	require.ErrorContains(t, err, "is twice among the children")
	o.reconcile(owner)
	require.Nil(t, o.Lookup(t, scaler), "it is found in the other version when it goes")
}

// Of two owners that want one child at the same time one has it, and the other one says so.
func TestTwoOwnersOfOneChild(t *testing.T) {
	o := newOwning(t)
	owners := []*unstructured.Unstructured{o.owner("one"), o.owner("two")}
	child := lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: child, namespace: %s}, data: {k: v}}", o.Namespace)
	for range 2 {
		var both sync.WaitGroup
		for _, owner := range owners {
			both.Go(func() {
				_, err := o.kit.Reconcile(t.Context(), owner.DeepCopy(), []ctrlssaplan.Child{{Object: child.DeepCopy()}}, ctrlssaplan.Policy{})
				t.Log(owner.GetName(), err)
			})
		}
		both.Wait()
	}
	live := o.Get(t, child)
	require.Len(t, live.GetOwnerReferences(), 1)
	has, lacks := "one", "two"
	if live.GetOwnerReferences()[0].Name == "two" {
		has, lacks = lacks, has
	}
	require.Equal(t, "True AsDeclared: ", o.synced(has))
	require.Contains(t, o.synced(lacks), "exists and is not controlled by this ConfigMap")
}

// A child of a kind that isn't served yet waits, and the others don't.
func TestAChildBeforeItsDefinition(t *testing.T) {
	o := newOwning(t)
	owner := o.owner("site")
	early := lab.Objectf(t, "{apiVersion: %[1]s.example.com/v1, kind: Bird, metadata: {name: a, namespace: %[1]s}}", o.Namespace)
	here := lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: here, namespace: %s}}", o.Namespace)
	require.Positive(t, o.reconcile(owner, early, here).RequeueAfter)
	require.NotNil(t, o.Lookup(t, here))
	require.Contains(t, o.synced("site"), "False Deferred: Bird a: ")
	o.Define(t, lab.Objectf(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: birds.%[1]s.example.com}, spec: {
		group: %[1]s.example.com, scope: Namespaced, names: {plural: birds, singular: bird, kind: Bird}, versions: [{name: v1, served: true, storage: true,
		schema: {openAPIV3Schema: {type: object}}}]}}`, o.Namespace))
	require.Zero(t, o.reconcile(owner, early, here))
	require.NotNil(t, o.Lookup(t, early))
}

// Another client deletes the child after each replacement, and creates it again with another value. After five
// replacements the kit leaves the child as it is for a while, as it does after five repairs of a field. An edit of the
// declared value still replaces the child.
func TestAFightOfReplacementsIsLeft(t *testing.T) {
	o := newOwning(t)
	owner := o.owner("site")
	wanted := func(value string) *unstructured.Unstructured {
		return lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: fixed, namespace: %s}, immutable: true, data: {k: %s}}", o.Namespace, value)
	}
	reconcile := func(value string, policy ctrlssaplan.Policy) ctrl.Result {
		result, err := o.kit.Reconcile(t.Context(), owner, []ctrlssaplan.Child{{Object: wanted(value)}}, policy)
		require.NoError(t, err)
		return result
	}
	value := func() string {
		value, _, _ := unstructured.NestedString(o.Get(t, wanted("")).Object, "data", "k")
		return value
	}
	anew := func() {
		other := wanted("theirs")
		other.SetOwnerReferences(o.Get(t, other).GetOwnerReferences())
		o.Delete(t, other)
		o.Apply(t, "night-shift", other)
	}
	replace := ctrlssaplan.Policy{Replace: true}
	reconcile("a", replace)
	anew()
	require.Positive(t, reconcile("a", ctrlssaplan.Policy{Replace: true, Drift: ctrlssaplan.DriftReport}).RequeueAfter)
	require.Equal(t, "theirs", value(), "what drifted is reported")
	for range 5 {
		require.Zero(t, reconcile("a", replace))
		require.Equal(t, "a", value())
		anew()
	}
	require.Positive(t, reconcile("a", replace).RequeueAfter)
	require.Equal(t, "theirs", value())
	require.Contains(t, o.synced("site"), "left for now, after 5 repairs within 10m0s")
	require.Zero(t, reconcile("b", replace), "an edit is another matter")
	require.Equal(t, "b", value())
}

// A field in the way is cleared if the child says so, by name or because it is proven to be in the way.
func TestClearedFieldsOfAChild(t *testing.T) {
	o := newOwning(t)
	owner := o.owner("site")
	const deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: %s}, spec: {strategy: {type: %s}, selector: {matchLabels: {a: b}}, " +
		"template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a}]}}}}"
	reconcile := func(child ctrlssaplan.Child) string {
		_, err := o.kit.Reconcile(t.Context(), owner, []ctrlssaplan.Child{child}, ctrlssaplan.Policy{})
		require.NoError(t, err)
		return o.synced("site")
	}
	strategy := func() any {
		return o.Get(t, lab.Objectf(t, deployment, o.Namespace, "Recreate")).Object["spec"].(map[string]any)["strategy"]
	}
	require.Contains(t, reconcile(ctrlssaplan.Child{Object: lab.Objectf(t, deployment, o.Namespace, "RollingUpdate")}), "True")
	recreate := ctrlssaplan.Child{Object: lab.Objectf(t, deployment, o.Namespace, "Recreate")}
	require.Contains(t, reconcile(recreate), "False", "a server's default is in the way")
	recreate.ClearBlocking = true
	require.Contains(t, reconcile(recreate), "True")
	require.Equal(t, map[string]any{"type": "Recreate"}, strategy())

	settings := ctrlssaplan.Child{Object: lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: %s}, data: {a: b}}", o.Namespace)}
	require.Contains(t, reconcile(settings), "True")
	o.Apply(t, "other", lab.Objectf(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: %s}, data: {c: d}}", o.Namespace))
	settings.Clear = []string{"data.c"}
	require.Contains(t, reconcile(settings), "True")
	require.Equal(t, map[string]any{"a": "b"}, o.Get(t, settings.Object.(*unstructured.Unstructured)).Object["data"])
}

// A policy that acts only outside of dry runs has the server do something else than was planned, which an event says.
func TestAChildThatIsNotAsPlanned(t *testing.T) {
	o := newOwning(t)
	owner := o.owner("site")
	for _, text := range []string{
		`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: kit-%[1]s}, spec: {
			matchConditions: [{name: in-earnest, expression: '!(has(request.dryRun) && request.dryRun)'}],
			matchConstraints: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}},
				resourceRules: [{apiGroups: [''], apiVersions: [v1], operations: ['*'], resources: [configmaps], resourceNames: [child]}]},
			failurePolicy: Fail, reinvocationPolicy: Never,
			mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: 'Object{data: {"token": "issued"}}'}}]}}`,
		`{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicyBinding, metadata: {name: kit-%[1]s}, spec: {policyName: kit-%[1]s}}`,
	} {
		made := o.Apply(t, "installer", lab.Objectf(t, text, o.Namespace))
		t.Cleanup(func() { o.Delete(t, made) })
	}
	round := 0
	lab.Eventually(t, "the policy is in force", func() bool {
		round++
		o.reconcile(owner, lab.Objectf(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: child, namespace: %s}, data: {round: "%d", token: ""}}`, o.Namespace, round))
		for len(o.events.Events) > 0 {
			if strings.HasSuffix(<-o.events.Events, `; not as planned: data.token: "" -> "issued"`) {
				return true
			}
		}
		return false
	})
}
