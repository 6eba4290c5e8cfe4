package projection_test

import (
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

func ExampleChange_sensitive() {
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
