package controller_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/examples/operator/controller"
)

// lateCache is what informers have that heard of nothing since they were looked at: a Website and its children.
type lateCache struct {
	client.Reader
	website  *v1alpha1.Website
	children map[string]*unstructured.Unstructured
}

func (c lateCache) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *v1alpha1.Website:
		*into = *c.website.DeepCopy()
		return nil
	case *unstructured.Unstructured:
		if have := c.children[into.GetKind()]; have != nil {
			have.DeepCopyInto(into)
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: "children"}, key.Name)
}

// late is an operator that is called by the test, has just started, and has the informers of some moment.
type late struct {
	*world
	cache      lateCache
	reconciler *controller.Reconciler
}

// late lets an operator make the children of a Website, stops it, and returns one whose informers stand still there.
func (w *world) late(website *v1alpha1.Website) *late {
	w.Helper()
	o := w.operate()
	o.settle(website)
	o.stop()
	l := &late{world: w, cache: lateCache{website: website.DeepCopy(), children: map[string]*unstructured.Unstructured{}}}
	for kind := range kinds {
		l.cache.children[kind] = w.child(website, kind)
	}
	l.start()
	return l
}

// start starts the operator anew: it remembers nothing.
func (l *late) start() {
	l.Helper()
	manager, err := controller.NewManager(l.Server.Config(), l.managerOptions())
	require.NoError(l, err)
	l.reconciler, err = controller.New(manager, controller.Options{})
	require.NoError(l, err)
	l.reconciler.Cache = l.cache
	l.reconciler.Kit.Client, err = ctrlssaplan.FromClient(l.cache, manager.GetAPIReader(), manager.GetClient())
	require.NoError(l, err)
}

func (l *late) reconcile() {
	l.Helper()
	_, err := l.reconciler.Reconcile(l.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(l.cache.website)})
	require.NoError(l, err)
}

// The informer has what was before something happened, or before the operator itself wrote: the server decides.
func TestLateInformers(t *testing.T) {
	w := newWorld(t)
	for name, happens := range map[string]func(l *late, a *v1alpha1.Website){
		"drift": func(l *late, a *v1alpha1.Website) {
			l.patch(a, "ConfigMap", "night-shift", `{"data": {"COLOR": "red"}}`)
			l.reconcile()
			assert.Equal(t, "blue", l.at(a, "ConfigMap", "data", "COLOR"))
			assert.Contains(t, l.await(a, v1alpha1.Drifted, metav1.ConditionFalse, "Repaired").Message, `"night-shift"`)
		},
		"deletion": func(l *late, a *v1alpha1.Website) {
			require.NoError(t, l.admin.Delete(t.Context(), l.child(a, "ConfigMap")))
			l.reconcile()
			require.NotNil(t, l.child(a, "ConfigMap"))
		},
		"creation": func(l *late, _ *v1alpha1.Website) { clear(l.cache.children) },
		"status": func(l *late, _ *v1alpha1.Website) {
			l.cache.website.Status = v1alpha1.WebsiteStatus{}
			l.cache.website.ResourceVersion = "1"
		},
	} {
		a := w.website(name)
		l := w.late(a)
		happens(l, a)
		before := l.versions(a)
		l.start()
		l.reconcile()
		assert.Equal(t, before, l.versions(a), name)
	}
}

func TestLateInformerAndAutoscaler(t *testing.T) {
	w := newWorld(t)
	for _, policy := range []v1alpha1.ConflictPolicy{v1alpha1.ForceConflicts, v1alpha1.RefuseConflicts} {
		a := w.website(strings.ToLower(string(policy)), func(spec *v1alpha1.WebsiteSpec) {
			spec.Ignore = []v1alpha1.IgnoredFields{{Kind: "Deployment", Fields: []string{"spec.replicas"}}}
			spec.ConflictPolicy = policy
		})
		l := w.late(a)
		l.scale(a, "horizontal-pod-autoscaler", 7)
		l.reconcile()
		assert.EqualValues(t, 7, l.at(a, "Deployment", "spec", "replicas"), "%s: the informer knows no other owner yet", policy)
		l.awaitSynced(a)
	}
}
