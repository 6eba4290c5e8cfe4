package projection_test

import (
	"context"
	"fmt"

	"github.com/ssaplan/primitives/projection"
)

func ExampleParsePath() {
	p, err := projection.ParsePath(`spec.template.spec.containers[name="app"].image`)
	fmt.Println(len(p), p, err)
	_, err = projection.ParsePath("spec..replicas")
	fmt.Println(err)
	// Output:
	// 6 spec.template.spec.containers[name="app"].image <nil>
	// projection: path "spec..replicas": at byte 5: expected a field name (write others as ["name"])
}

func ExampleProject() {
	set, _ := projection.ParseFieldsV1([]byte(`{"f:spec":{"f:replicas":{},"f:ports":{"k:{\"port\":80}":{".":{},"f:port":{}}}}}`))
	live := map[string]any{"spec": map[string]any{
		"paused": true,
		"ports":  []any{map[string]any{"port": int64(443)}, map[string]any{"port": int64(80), "name": "injected"}},
	}}
	p := projection.Project(live, set)
	fmt.Println(p.Object, p.Missing)
	// Output: map[spec:map[ports:[map[port:80]]]] [spec.replicas]
}

func ExampleProjection_Leaves() {
	deployment := object(`
spec:
  replicas: 3
  template: {spec: {containers: [{name: sidecar}, {name: app, image: web:1}]}}`)
	declared := set("spec.replicas", `spec.template.spec.containers[name="app"].image`, "spec.paused")
	for path, value := range projection.Project(deployment, declared).Leaves() {
		fmt.Println(path, "=", value)
	}
	// Output:
	// spec.replicas = 3
	// spec.template.spec.containers[name="app"].image = web:1
}

func ExampleDiff() {
	set, _ := projection.ParseFieldsV1([]byte(`{"f:spec":{"f:replicas":{},"f:ports":{
		"k:{\"port\":80}":{".":{},"f:port":{},"f:name":{}}, "k:{\"port\":443}":{".":{},"f:port":{}}}}}`))
	at := func(replicas int64, ports ...any) projection.Projection {
		return projection.Project(map[string]any{"spec": map[string]any{"replicas": replicas, "ports": ports}}, set)
	}
	http := map[string]any{"port": int64(80), "name": "http"}
	tls := map[string]any{"port": int64(443)}
	for _, c := range projection.Diff(at(3, http), at(5, tls, http)) {
		fmt.Println(c)
	}
	for _, c := range projection.Diff(at(3, http, tls), at(3, tls, http)) {
		fmt.Println(c)
	}
	// Output:
	// spec.ports[port=443]: + {"port":443}
	// spec.replicas: 3 -> 5
	// spec.ports[port=80]: moved from position 0 to 1
}

func ExampleDifference_sensitive() {
	set := projection.NewFieldSet(projection.Path{projection.Field("data"), projection.Field("password")})
	secret := func(password string) projection.Projection {
		return projection.Project(map[string]any{
			"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"password": password},
		}, set)
	}
	changes := projection.Diff(secret("b2xk"), secret("bmV3"))
	fmt.Printf("%s\n%#v\n", changes[0], changes[0])
	// Output:
	// data.password: "<redacted>" -> "<redacted: changed>"
	// data.password: "<redacted>" -> "<redacted: changed>"
}

func ExampleKey() {
	e, _ := projection.Key(map[string]any{"containerPort": 53, "protocol": "UDP"})
	ports := projection.Path{projection.Field("spec"), projection.Field("ports")}
	fmt.Println(ports.Child(e).Child(projection.Field("name")))
	// Output: spec.ports[containerPort=53,protocol="UDP"].name
}

func ExampleValue() {
	e, _ := projection.Value("example.com/keep")
	fmt.Println(projection.Path{projection.Field("metadata"), projection.Field("finalizers"), e})
	// Output: metadata.finalizers[="example.com/keep"]
}

func ExampleParseFieldsV1() {
	set, _ := projection.ParseFieldsV1([]byte(`{"f:data":{"f:config.yaml":{},"f:mode":{}}}`))
	fmt.Print(set)
	_, err := projection.ParseFieldsV1([]byte(`{"f:data":{"config.yaml":{}}}`))
	fmt.Println(err)
	// Output:
	// data["config.yaml"]
	// data.mode
	// projection: FieldsV1: entry "config.yaml" in data: expected ".", "f:", "k:", "v:" or "i:"
}

func ExampleFieldSet() {
	ours, _ := projection.ParseFieldsV1([]byte(`{"f:data":{"f:a":{},"f:b":{}}}`))
	theirs, _ := projection.ParseFieldsV1([]byte(`{"f:data":{"f:b":{},"f:c":{}}}`))
	fmt.Print("shared: ", ours.Intersection(theirs))
	fmt.Print("only ours: ", ours.Difference(theirs))
	fmt.Printf("all: %s\n", ours.Union(theirs).FieldsV1())
	// Output:
	// shared: data.b
	// only ours: data.a
	// all: {"f:data":{"f:a":{},"f:b":{},"f:c":{}}}
}

func ExamplePredictDeclared() {
	manifest := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"},
		"spec": map[string]any{"size": int64(3), "parts": []any{map[string]any{"name": "a"}}},
	}
	// A live object whose managers reveal nothing of use, and then the last resort.
	schema, _ := projection.LearnSchema(map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"})
	d, err := projection.PredictDeclared(context.Background(), manifest, schema, projection.NoSchema{})
	fmt.Println(d.Skipped[0], err)
	fmt.Print(d.Fields)
	// Output:
	// projection: no schema: no owner of spec has revealed its type <nil>
	// spec.parts
	// spec.size
}

func ExampleLearnSchema() {
	live := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"managedFields": []any{map[string]any{
			"manager": "someone", "operation": "Apply", "apiVersion": "example.com/v1",
			"fieldsV1": map[string]any{"f:spec": map[string]any{"f:parts": map[string]any{
				`k:{"name":"a"}`: map[string]any{".": map[string]any{}, "f:name": map[string]any{}},
			}}},
		}}},
		"spec": map[string]any{"parts": []any{map[string]any{"name": "a"}}},
	}
	schema, err := projection.LearnSchema(live)
	if err != nil {
		fmt.Println(err)
		return
	}
	fields, err := schema.Declared(context.Background(), map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"spec": map[string]any{"parts": []any{map[string]any{"name": "b", "size": int64(2)}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(fields)
	// Output:
	// spec.parts[name="b"]
	// spec.parts[name="b"].name
	// spec.parts[name="b"].size
}

func ExampleNoSchema() {
	fields, _ := projection.NoSchema{}.Declared(context.Background(), map[string]any{
		"spec": map[string]any{"containers": []any{map[string]any{"name": "app"}}},
	})
	fmt.Print(fields) // the list as a whole, since nothing says that it has keys
	// Output: spec.containers
}

func ExampleResetFields() {
	fields := projection.NewFieldSet(projection.Path{projection.Field("spec")}, projection.Path{projection.Field("status")})
	fmt.Print(fields.Tracked(projection.ResetFields("apps/v1", "Deployment")))
	// Output: spec
}

func ExampleNormalize() {
	manifest, steps := projection.Normalize(map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s", "generation": int64(2)},
		"stringData": map[string]any{"user": "admin"},
	}, "")
	for _, step := range steps {
		fmt.Println(step)
	}
	fmt.Println(manifest["data"])
	// Output:
	// metadata.generation: dropped: only the server writes it
	// stringData.user: moved to data.user: the server doesn't track what it makes of stringData
	// map[user:YWRtaW4=]
}

func ExampleFindIneffective() {
	manifest := map[string]any{"spec": map[string]any{"replicas": int64(3)}, "status": map[string]any{"ready": true}}
	answer := map[string]any{"spec": map[string]any{"replicas": int64(3)}}
	declared, _ := projection.ParseFieldsV1([]byte(`{"f:spec":{"f:replicas":{}}}`))
	for _, unkept := range projection.FindIneffective(manifest, answer, declared) {
		fmt.Println(unkept)
	}
	// Output: status: untracked
}

func ExampleParsePattern() {
	p, _ := projection.ParsePattern(`spec.template.spec.containers[name~"istio-*"]`)
	for _, text := range []string{
		`spec.template.spec.containers[name="istio-proxy"].image`,
		`spec.template.spec.containers[name="app"].image`,
	} {
		path, _ := projection.ParsePath(text)
		fmt.Println(p.Match(path))
	}
	// Output:
	// true
	// false
}

func ExamplePatterns_Split() {
	declared, _ := projection.ParseFieldsV1([]byte(`{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:replicas":{},"f:paused":{}}}`))
	ignore, _ := projection.ParsePatterns("spec.replicas", "metadata.labels.*")
	kept, ignored := ignore.Split(declared)
	fmt.Print("kept:\n", kept, "ignored:\n", ignored)
	// Output:
	// kept:
	// spec.paused
	// ignored:
	// metadata.labels.a
	// spec.replicas
}

func ExamplePatterns_Remove() {
	ignore, _ := projection.ParsePatterns(`spec.containers[*].image`)
	rest, removed := ignore.Remove(map[string]any{"spec": map[string]any{"containers": []any{
		map[string]any{"name": "app", "image": "app:1"},
	}}})
	fmt.Println(rest, removed)
	// Output: map[spec:map[containers:[map[name:app]]]] [spec.containers[0].image]
}

func ExampleOutline() {
	live := map[string]any{"data": map[string]any{"a": "1"}, "metadata": map[string]any{"name": "c", "uid": "1234"}}
	dryRun := map[string]any{"data": map[string]any{"a": "1", "b": "2"}, "metadata": map[string]any{"name": "c", "uid": "1234"}}
	all, err := projection.Outline(live, dryRun)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(all)
	fmt.Println(projection.Diff(projection.Project(live, all), projection.Project(dryRun, all)))
	// Output:
	// data.a
	// data.b
	// metadata.name
	// [data.b: + "2"]
}

func ExampleProjection_Redacted() {
	secret := map[string]any{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"password": "c2VjcmV0"}}
	set := projection.NewFieldSet(projection.Path{projection.Field("data")})
	p := projection.Project(secret, set)
	fmt.Println(p.Redacted().Object, p)
	// Output: map[data:map[password:<redacted>]] {"data":{"password":"<redacted>"}}
}

func ExampleSensitive() {
	fmt.Print(projection.Sensitive(map[string]any{"apiVersion": "v1", "kind": "Secret"}))
	// Output:
	// data
	// metadata.annotations
	// stringData
}

// Differing returns only the fields that differ between two objects. A diff of the undeclared ones shows the side
// effects of the server.
func ExampleDiffering() {
	before := object(`{spec: {replicas: 3, paused: false, strategy: {type: RollingUpdate}}}`)
	after := object(`{spec: {replicas: 5, paused: false, strategy: {type: Recreate}}}`)
	declared := set("spec.replicas")
	others, _ := projection.Differing(before, after, declared)
	fmt.Println(projection.Diff(projection.Project(before, others), projection.Project(after, others)))
	// Output: [spec.strategy.type: "RollingUpdate" -> "Recreate"]
}

func ExampleGet() {
	deployment := object(`{spec: {template: {spec: {containers: [{name: sidecar}, {name: app, image: "web:1"}]}}}}`)
	image, _ := projection.ParsePath(`spec.template.spec.containers[name="app"].image`)
	fmt.Println(projection.Get(deployment, image))
	fmt.Println(projection.Pointer(deployment, image))
	// Output:
	// web:1 true
	// /spec/template/spec/containers/1/image true
}

func ExampleSet() {
	service := map[string]any{"spec": map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}}
	name, _ := projection.ParsePath(`spec.ports[port=443].name`)
	changed, err := projection.Set(service, name, "https")
	fmt.Println(changed, err)

	port, _ := projection.ParsePath(`spec.ports[port=80].port`)
	_, err = projection.Set(service, port, int64(8080))
	fmt.Println(err)
	// Output:
	// map[spec:map[ports:[map[port:80] map[name:https port:443]]]] <nil>
	// projection: set spec.ports[port=80].port: the item is named by another value
}

// A server, or a patch, points to a place by its position. In a plan it has the name that the field set has for it.
func ExampleParsePointer() {
	live := object(`{spec: {containers: [{name: sidecar}, {name: app, image: "web:1"}]}}`)
	owned := set(`spec.containers[name="app"].image`)
	fmt.Println(projection.ParsePointer(live, "/spec/containers/1/image", owned))
	_, err := projection.ParsePointer(live, "/spec/containers/1/args", owned)
	fmt.Println(err)
	// Output:
	// spec.containers[name="app"].image <nil>
	// projection: JSON pointer "/spec/containers/1/args": the object has no spec.containers[name="app"].args
}

// Many values of one object: its lists are searched once.
func ExampleObject() {
	pod := object(`{spec: {containers: [{name: a, image: "a:1"}, {name: b, image: "b:1"}]}}`)
	images := set(`spec.containers[name="a"].image`, `spec.containers[name="b"].image`, `spec.containers[name="c"].image`)
	o := projection.NewObject(pod, images)
	for path := range images.All() {
		image, exists := o.Get(path)
		fmt.Println(path, image, exists)
	}
	// Output:
	// spec.containers[name="a"].image a:1 true
	// spec.containers[name="b"].image b:1 true
	// spec.containers[name="c"].image <nil> false
}

// What a person wrote with positions, for a manifest that leaves out a key field with a default, is the path of a set.
func ExampleObject_Resolve() {
	manifest := object(`{spec: {ports: [{port: 53}, {port: 53, protocol: UDP}]}}`)
	declared := set(`spec.ports[port=53,protocol="TCP"].port`, `spec.ports[port=53,protocol="UDP"].port`,
		`spec.ports[port=53,protocol="UDP"].protocol`)
	o := projection.NewManifest(manifest, declared)
	for _, text := range []string{"spec.ports[0].port", "spec.ports[1].port", `spec.ports[protocol="UDP"]`} {
		written, _ := projection.ParsePath(text)
		fmt.Println(o.Resolve(written))
	}
	// Output:
	// spec.ports[port=53,protocol="TCP"].port
	// spec.ports[port=53,protocol="UDP"].port
	// spec.ports[port=53,protocol="UDP"]
}
