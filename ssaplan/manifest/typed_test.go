package manifest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	apps "k8s.io/client-go/applyconfigurations/apps/v1"
	core "k8s.io/client-go/applyconfigurations/core/v1"
)

// Widget is a kind as authors of custom resources write it, with each sort of field.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec,omitempty"`
	Status            WidgetStatus `json:"status,omitempty"`
}

type WidgetSpec struct {
	Shared   `json:",inline"`
	*Extra   `json:",inline"`
	Size     int32                      `json:"size"`
	Paused   bool                       `json:"paused,omitempty"`
	Replicas *int32                     `json:"replicas,omitempty"`
	Parts    []Part                     `json:"parts"`
	Named    map[string]Part            `json:"named,omitempty"`
	Selector *metav1.LabelSelector      `json:"selector"`
	Port     intstr.IntOrString         `json:"port,omitempty"`
	Limit    resource.Quantity          `json:"limit,omitempty"`
	Since    metav1.Time                `json:"since,omitempty"`
	Template Template                   `json:"template"`
	Raw      runtime.RawExtension       `json:"raw,omitempty"`
	Any      any                        `json:"any,omitempty"`
	Labels   map[string]string          `json:"labels"`
	Strategy map[string]json.RawMessage `json:"-"`
	Bare     Part
	Count    uint64 `json:"count,omitempty"`
}

type (
	Shared struct {
		Color string `json:"color,omitempty"`
		Mode  Part   `json:"mode"`
	}
	Extra struct {
		Weight Part `json:"weight"`
	}
	Template struct {
		metav1.ObjectMeta `json:"metadata,omitempty"`
		Part              Part `json:"part"`
	}
	Part struct {
		Resources struct {
			Limits map[string]resource.Quantity `json:"limits,omitempty"`
		} `json:"resources"`
		Name string `json:"name,omitempty"`
	}
	WidgetStatus struct {
		Ready int32 `json:"ready"`
	}
)

func (w *Widget) DeepCopyObject() runtime.Object { c := *w; return &c }

func widgets() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "ex.io", Version: "v1", Kind: "Widget"}, &Widget{})
	return scheme
}

// text returns the manifest of a value as JSON.
func text(t *testing.T, object any) string {
	t.Helper()
	made, err := Of(object, widgets())
	require.NoError(t, err)
	text, err := json.Marshal(made.Object)
	require.NoError(t, err)
	return string(text)
}

func TestOfLeavesOutWhatNobodyWrote(t *testing.T) {
	var zero int32
	var limited Part
	limited.Resources.Limits = map[string]resource.Quantity{"cpu": resource.MustParse("0")}
	for _, tt := range []struct {
		why  string
		spec WidgetSpec
		want string
	}{
		{"nothing", WidgetSpec{}, ``},
		{"one field: required numbers come with it", WidgetSpec{Paused: true}, `,"spec":{"paused":true,"size":0}`},
		{"a pointer to zero", WidgetSpec{Replicas: &zero}, `,"spec":{"replicas":0,"size":0}`},
		{"a pointer to an empty struct", WidgetSpec{Selector: &metav1.LabelSelector{}}, `,"spec":{"selector":{},"size":0}`},
		{"an inlined field", WidgetSpec{Shared: Shared{Color: "red"}}, `,"spec":{"color":"red","size":0}`},
		{"an inlined pointer", WidgetSpec{Extra: &Extra{Weight: Part{Name: "x"}}}, `,"spec":{"size":0,"weight":{"name":"x"}}`},
		{"with nothing in it", WidgetSpec{Extra: &Extra{}}, `,"spec":{"size":0}`},
		{"an empty list that isn't nil", WidgetSpec{Parts: []Part{}}, `,"spec":{"parts":[],"size":0}`},
		{"an empty map that isn't nil", WidgetSpec{Labels: map[string]string{}}, `,"spec":{"labels":{},"size":0}`},
		{"empty texts in it", WidgetSpec{Labels: map[string]string{"a": ""}}, `,"spec":{"labels":{"a":""},"size":0}`},
		{"empty items of a list", WidgetSpec{Parts: []Part{{}, {Name: "x"}}}, `,"spec":{"parts":[{},{"name":"x"}],"size":0}`},
		{"empty items of a map", WidgetSpec{Named: map[string]Part{"a": {}, "b": {Name: "x"}}}, `,"spec":{"named":{"a":{},"b":{"name":"x"}},"size":0}`},
		{"a struct whose fields are all left out", WidgetSpec{Size: 1, Template: Template{Part: Part{Resources: struct {
			Limits map[string]resource.Quantity `json:"limits,omitempty"`
		}{map[string]resource.Quantity{}}}}}, `,"spec":{"size":1}`},
		{"a struct with something in it", WidgetSpec{Size: 1, Template: Template{Part: limited}}, `,"spec":{"size":1,"template":{"part":{"resources":{"limits":{"cpu":"0"}}}}}`},
		{"metadata of a template", WidgetSpec{Size: 1, Template: Template{ObjectMeta: metav1.ObjectMeta{Name: "x"}}}, `,"spec":{"size":1,"template":{"metadata":{"name":"x"}}}`},
		{"times, quantities and ports", WidgetSpec{Size: 1, Port: intstr.FromString("http"), Limit: resource.MustParse("0"), Since: metav1.NewTime(time.Unix(0, 0).UTC())},
			`,"spec":{"limit":"0","port":"http","since":"1970-01-01T00:00:00Z","size":1}`},
		{"raw JSON is as it is", WidgetSpec{Size: 1, Raw: runtime.RawExtension{Raw: []byte(`{"a":{},"b":null}`)}}, `,"spec":{"raw":{"a":{},"b":null},"size":1}`},
		{"values of any type", WidgetSpec{Size: 1, Any: &Part{}}, `,"spec":{"any":{},"size":1}`},
		{"unsigned numbers", WidgetSpec{Size: 1, Count: 1 << 60}, `,"spec":{"count":1152921504606846976,"size":1}`},
		{"no tag", WidgetSpec{Size: 1, Bare: Part{Name: "x"}}, `,"spec":{"Bare":{"name":"x"},"size":1}`},
	} {
		got := text(t, &Widget{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: tt.spec})
		assert.JSONEq(t, `{"apiVersion":"ex.io/v1","kind":"Widget","metadata":{"name":"a"}`+tt.want+`}`, got, tt.why)
	}
	got := text(t, &Widget{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: WidgetStatus{Ready: 1}})
	assert.JSONEq(t, `{"apiVersion":"ex.io/v1","kind":"Widget","metadata":{"name":"a"},"status":{"ready":1}}`, got, "a status with values was written")
}

func TestOfApplyConfigurations(t *testing.T) {
	made, err := Of(apps.Deployment("web", "shop").WithSpec(apps.DeploymentSpec().WithReplicas(0).WithStrategy(apps.DeploymentStrategy()).
		WithTemplate(core.PodTemplateSpec().WithSpec(core.PodSpec().WithContainers(core.Container().WithName("c"))))), nil)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "web", "namespace": "shop"},
		"spec": map[string]any{"replicas": int64(0), "strategy": map[string]any{},
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c"}}}}},
	}, made.Object, "all of it was written")
}

func TestOfFillsInTheKind(t *testing.T) {
	twice := widgets()
	twice.AddKnownTypeWithName(schema.GroupVersionKind{Group: "ex.io", Version: "v2", Kind: "Widget"}, &Widget{})
	for _, tt := range []struct {
		why       string
		set       metav1.TypeMeta
		scheme    *runtime.Scheme
		want, err string
	}{
		{"from the scheme", metav1.TypeMeta{}, widgets(), "ex.io/v1/Widget", ""},
		{"set", metav1.TypeMeta{APIVersion: "x/v3", Kind: "Y"}, widgets(), "x/v3/Y", ""},
		{"set, and no scheme needed", metav1.TypeMeta{APIVersion: "x/v3", Kind: "Y"}, nil, "x/v3/Y", ""},
		{"half set", metav1.TypeMeta{Kind: "Widget"}, widgets(), "ex.io/v1/Widget", ""},
		{"which one is set", metav1.TypeMeta{APIVersion: "ex.io/v2"}, twice, "ex.io/v2/Widget", ""},
		{"which one isn't", metav1.TypeMeta{}, twice, "", "the scheme knows its type as [ex.io/v1, Kind=Widget ex.io/v2, Kind=Widget]; set apiVersion and kind"},
		{"as another", metav1.TypeMeta{Kind: "Gadget"}, widgets(), "", "the scheme knows its type as [ex.io/v1, Kind=Widget]; set apiVersion and kind"},
		{"unknown", metav1.TypeMeta{}, runtime.NewScheme(), "", "has no apiVersion and kind, and the scheme doesn't know its type; set them, or add the type to the scheme"},
		{"no scheme", metav1.TypeMeta{}, nil, "", "has no apiVersion and kind; set them, or give the scheme of its type"},
	} {
		widget := &Widget{TypeMeta: tt.set}
		made, err := Of(widget, tt.scheme)
		if tt.err != "" {
			assert.EqualError(t, err, "ssaplan/manifest: *manifest.Widget: "+tt.err, tt.why)
			continue
		}
		require.NoError(t, err, tt.why)
		assert.Equal(t, tt.want, made.GetAPIVersion()+"/"+made.GetKind(), tt.why)
		assert.Equal(t, tt.set, widget.TypeMeta, "the value isn't modified")
	}
}

func TestOfUnstructured(t *testing.T) {
	live := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "K", "status": map[string]any{}}}
	made, err := Of(live, nil)
	require.NoError(t, err)
	assert.Equal(t, live, made, "what is in it was written")
	made.SetName("x")
	assert.Empty(t, live.GetName(), "it is a copy")
}

func TestOfErrors(t *testing.T) {
	for _, tt := range []struct {
		value any
		err   string
	}{
		{nil, "ssaplan/manifest: expected a pointer to an object, got <nil>"},
		{(*Widget)(nil), "ssaplan/manifest: expected a pointer to an object, got *manifest.Widget"},
		{Widget{}, "ssaplan/manifest: expected a pointer to an object, got manifest.Widget"},
		{new(int), "ssaplan/manifest: *int: is no object in JSON"},
		{&struct {
			F chan int `json:"f"`
		}{make(chan int)}, "ssaplan/manifest: *struct { F chan int \"json:\\\"f\\\"\" }: json: unsupported type: chan int"},
	} {
		_, err := Of(tt.value, nil)
		assert.ErrorContains(t, err, tt.err)
	}
}
