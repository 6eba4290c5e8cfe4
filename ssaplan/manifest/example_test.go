package manifest_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	core "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/ssaplan/primitives/ssaplan/manifest"
)

func ExampleParse() {
	const file = `apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {debug: "on", port: 0x50}
---
apiVersion: v1
kind: ConfigMapList
items:
- metadata: {name: one, namespace: shop}
- metadata: {name: two}
  data: {color: blue, color: red}
---
apiVersion: apps/v1
kind: DeploymentList
items:
- metadata: {name: web}
  spec: {paused: yes}
- metadata: {}
`
	manifests, failures := manifest.Parse("app.yaml", []byte(file))
	for _, m := range manifests {
		fmt.Println(m.Identity, "from", m.Source.Key(), m.Object.Object["data"])
		for _, w := range m.Warnings {
			fmt.Println("warning:", w)
		}
	}
	for _, f := range failures {
		fmt.Println(f)
	}
	// Output:
	// v1/ConfigMap settings from app.yaml#1 map[debug:on port:80]
	// apps/v1/Deployment web from app.yaml#3.items[0] <nil>
	// warning: app.yaml: document 3 items[0] (line 17): spec.paused: yes is read as true; write true, or put it into quotes
	// app.yaml: document 2 (line 6): line 11: items[1].data: the key "color" appears twice; keep one of them
	// app.yaml: document 3 items[1] (line 18): metadata.name: missing; every object needs apiVersion, kind and metadata.name
}

func ExampleOf() {
	// Apply configurations bring their kind; other types need a scheme, such as that of
	// k8s.io/client-go/kubernetes/scheme.
	settings := core.ConfigMap("settings", "shop").WithData(map[string]string{"color": "blue"})
	declared, err := manifest.Of(settings, nil)
	fmt.Println(declared.Object, err)

	_, err = manifest.Of(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "settings"}}, runtime.NewScheme())
	fmt.Println(err)

	labels := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "settings", Labels: map[string]string{"tier": ""}}}
	labels.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	declared, err = manifest.Of(labels, nil)
	fmt.Println(declared.Object, err) // and no creationTimestamp: null
	// Output:
	// map[apiVersion:v1 data:map[color:blue] kind:ConfigMap metadata:map[name:settings namespace:shop]] <nil>
	// ssaplan/manifest: *v1.PartialObjectMetadata: has no apiVersion and kind, and the scheme doesn't know its type; set them, or add the type to the scheme
	// map[apiVersion:v1 kind:ConfigMap metadata:map[labels:map[tier:] name:settings]] <nil>
}
