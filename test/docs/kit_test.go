package docs_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// SiteReconciler creates a ConfigMap for each Site.
type SiteReconciler struct {
	cache client.Reader // reads from the informers
	kit   *ctrlssaplan.Kit
}

var configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

func newSiteReconciler(manager ctrl.Manager) (*SiteReconciler, error) {
	kit, err := ctrlssaplan.New(manager, ctrlssaplan.Options{
		FieldManager: "site-controller",
		Kinds:        []schema.GroupVersionKind{configMaps},
		Conditions: func(owner client.Object) (*[]metav1.Condition, *int64) {
			status := &owner.(*Site).Status
			return &status.Conditions, &status.ObservedGeneration
		},
	})
	if err != nil {
		return nil, err
	}
	return &SiteReconciler{cache: manager.GetCache(), kit: kit}, nil
}

func (r *SiteReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	site := &Site{}
	if err := r.cache.Get(ctx, request.NamespacedName, site); err != nil {
		r.kit.Forget(request.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	return r.kit.Reconcile(ctx, site, []ctrlssaplan.Child{{Object: configMapOf(site)}}, ctrlssaplan.Policy{})
}

func (r *SiteReconciler) setup(manager ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(manager).For(&Site{}).Owns(ctrlssaplan.OfKind(configMaps)).Complete(r)
}

func configMapOf(site *Site) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name},
		Data:       map[string]string{"mode": site.Spec.Mode},
	}
}

const siteDefinition = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: sites.docs.example.com}, spec: {
	group: docs.example.com, scope: Namespaced, names: {plural: sites, singular: site, kind: Site}, versions: [{name: v1, served: true, storage: true,
	subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {mode: {type: string}}},
	status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}]}}`

// Site is the owner of a ConfigMap.
type Site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Mode string `json:"mode"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration int64              `json:"observedGeneration,omitempty"`
		Conditions         []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitempty"`
}

func (s *Site) DeepCopyObject() runtime.Object {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = append([]metav1.Condition(nil), s.Status.Conditions...)
	return &out
}

// SiteList is a list of Sites.
type SiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Site `json:"items"`
}

func (l *SiteList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Site))
	}
	return &out
}

// The code of ctrlssaplan/README.md, with a real manager and API server.
func Example_kit() {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	lab.Connect(example{}, config).Define(example{}, yamlObject(siteDefinition))
	scheme := runtime.NewScheme()
	must(0, clientgoscheme.AddToScheme(scheme))
	group := schema.GroupVersion{Group: "docs.example.com", Version: "v1"}
	scheme.AddKnownTypes(group, &Site{}, &SiteList{})
	metav1.AddToGroupVersion(scheme, group)
	manager := must(ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}}))
	must(0, must(newSiteReconciler(manager)).setup(manager))
	go func() { must(0, manager.Start(ctx)) }()

	children := objects("kit", "", "v1", "configmaps")
	apply(objects("kit", group.Group, group.Version, "sites"), "user",
		yamlObject(`{apiVersion: docs.example.com/v1, kind: Site, metadata: {name: shop}, spec: {mode: dark}}`))
	mode := func() string {
		child, err := children.Get(ctx, "shop", metav1.GetOptions{})
		if err != nil {
			return ""
		}
		return child.Object["data"].(map[string]any)["mode"].(string)
	}
	lab.Eventually(example{}, "the mode is dark", func() bool { return mode() == "dark" })
	patch(children, "kubectl", "shop", `{"data": {"mode": "light"}}`)
	lab.Eventually(example{}, "the mode is dark", func() bool { return mode() == "dark" })
	fmt.Println(mode())
	// Output: dark
}
