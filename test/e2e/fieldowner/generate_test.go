package fieldowner_test

import (
	"maps"
	"math/rand/v2"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is a kind of object of which random manifests can be made.
type kind struct {
	resource    schema.GroupVersionResource
	apiVersions []string
	kind        string
	// content makes a random part of a manifest, without its identity. Every choice of fields is valid for an object
	// that exists, most of them for one that doesn't.
	content func(m maker) map[string]any
	// hasScale and hasStatus say which subresources the kind has.
	hasScale, hasStatus bool
}

var kinds = []kind{
	{resource: configMaps, apiVersions: []string{"v1"}, kind: "ConfigMap", content: maker.configMap},
	{resource: services, apiVersions: []string{"v1"}, kind: "Service", content: maker.service, hasStatus: true},
	{resource: deployments, apiVersions: []string{"apps/v1"}, kind: "Deployment", content: maker.deployment, hasScale: true, hasStatus: true},
	{resource: widgets, apiVersions: []string{"owners.example.com/v1", "owners.example.com/v2"}, kind: "Widget", content: maker.widget,
		hasScale: true, hasStatus: true},
	{resource: gadgets, apiVersions: []string{"owners.example.com/v1"}, kind: "Gadget", content: maker.gadget},
}

// maker makes random content. Values come from few, so that managers often agree and often don't.
type maker struct{ *rand.Rand }

type fieldMap = map[string]any

func pick[T any](m maker, choices ...T) T { return choices[m.IntN(len(choices))] }

// manifest makes a random manifest for the object called name.
func (m maker) manifest(k kind, apiVersion, name string) fieldMap {
	content := k.content(m)
	metadata := m.fields(fieldMap{
		"labels":      m.fields(fieldMap{"a": m.value(), "a.b": m.value(), "a.b/c": m.value()}),
		"annotations": m.fields(fieldMap{"x": m.value(), "x.io/y.z": m.value()}),
		"finalizers":  m.some("x.io/one", "x.io/two"),
	})
	if k.resource == widgets || k.resource == gadgets {
		dropEmpty(metadata) // see TestEmptyMetadataOfCustomResources
	}
	metadata["name"] = name
	content["apiVersion"], content["kind"], content["metadata"] = apiVersion, k.kind, metadata
	return content
}

// fields takes each field or leaves it out, except those that are required.
func (m maker) fields(choices fieldMap, required ...string) fieldMap {
	out := fieldMap{}
	for _, name := range slices.Sorted(maps.Keys(choices)) {
		if slices.Contains(required, name) || m.IntN(5) < 2 {
			out[name] = choices[name]
		}
	}
	return out
}

// dropEmpty takes empty maps and lists out of a map.
func dropEmpty(fields fieldMap) {
	maps.DeleteFunc(fields, func(_ string, v any) bool {
		m, isMap := v.(fieldMap)
		l, isList := v.([]any)
		return isMap && len(m) == 0 || isList && len(l) == 0
	})
}

func (m maker) value() any { return pick(m, "v1", "v2") }

// some returns a random choice of values in random order.
func (m maker) some(values ...any) []any {
	out := []any{}
	for _, i := range m.Perm(len(values)) {
		if m.IntN(2) == 0 {
			out = append(out, values[i])
		}
	}
	return out
}

func (m maker) configMap() fieldMap {
	return fieldMap{"data": m.fields(fieldMap{"a": m.value(), "a.b": m.value(), "config.yaml": m.value(), "empty": ""})}
}

func (m maker) service() fieldMap {
	port := func(number int64, protocol, name string) fieldMap {
		p := m.fields(fieldMap{"port": number, "name": name, "protocol": protocol, "targetPort": pick[any](m, number, "http"),
			"appProtocol": m.value()}, "port", "name")
		if protocol != "TCP" {
			p["protocol"] = protocol
		}
		return p
	}
	spec := m.fields(fieldMap{
		"ports":           append(m.some(port(80, "UDP", "dns"), port(443, "TCP", "tls")), port(80, "TCP", "http")),
		"selector":        fieldMap{"app": m.value()},
		"sessionAffinity": pick(m, "None", "ClientIP"),
		"externalIPs":     m.some("192.0.2.1", "192.0.2.2"),
	}, "ports")
	return fieldMap{"spec": spec}
}

func (m maker) deployment() fieldMap {
	labels := fieldMap{"app": "web"}
	pod := m.fields(fieldMap{
		"containers":                    append(m.some(m.container("proxy"), m.container("log")), m.container("app")),
		"nodeSelector":                  m.fields(fieldMap{"zone": m.value(), "disk": m.value()}),
		"tolerations":                   m.some(fieldMap{"key": "k1", "operator": "Exists"}, fieldMap{"key": "k2", "value": m.value()}),
		"imagePullSecrets":              m.some(fieldMap{"name": "s1"}, fieldMap{"name": "s2"}),
		"securityContext":               m.fields(fieldMap{"runAsUser": int64(m.IntN(2))}),
		"terminationGracePeriodSeconds": pick(m, int64(30), int64(5)),
		"volumes": m.some(fieldMap{"name": "tmp", "emptyDir": fieldMap{}},
			fieldMap{"name": "conf", "configMap": m.fields(fieldMap{"name": "c", "optional": true}, "name")}),
	}, "containers")
	spec := m.fields(fieldMap{
		"replicas":             int64(m.IntN(3)),
		"paused":               m.IntN(2) == 0,
		"revisionHistoryLimit": pick(m, int64(10), int64(3)),
		"minReadySeconds":      int64(m.IntN(2)),
		"selector":             fieldMap{"matchLabels": labels},
		"template":             fieldMap{"metadata": fieldMap{"labels": labels}, "spec": pod},
	}, "selector", "template")
	return fieldMap{"spec": spec}
}

func (m maker) container(name string) fieldMap {
	return m.fields(fieldMap{
		"name":            name,
		"image":           m.value(),
		"args":            m.some("-v", "-x"),
		"imagePullPolicy": pick(m, "Always", "IfNotPresent"),
		"resources":       fieldMap{"limits": m.fields(fieldMap{"cpu": pick(m, "1", "1000m"), "memory": pick(m, "1Gi", "1024Mi")})},
		"env":             m.some(fieldMap{"name": "E1", "value": m.value()}, fieldMap{"name": "E2"}, fieldMap{"name": "E3", "value": "x"}),
		"ports": m.some(fieldMap{"containerPort": int64(80)}, fieldMap{"containerPort": int64(80), "protocol": "UDP", "name": pick(m, "p1", "p2")},
			fieldMap{"containerPort": int64(443), "protocol": "TCP"}),
		"securityContext": m.fields(fieldMap{"runAsUser": int64(m.IntN(2))}),
	}, "name", "image")
}

func (m maker) widget() fieldMap {
	return fieldMap{"spec": m.fields(fieldMap{
		"replicas": int64(m.IntN(3)),
		"mode":     pick(m, "auto", "manual"),
		"ratio":    pick[any](m, int64(1), 1.5),
		"limit":    pick[any](m, int64(5), "5", "5%"),
		"note":     pick[any](m, "v1", nil),
		"conf":     m.fields(fieldMap{"a": m.value(), "a.b": m.value()}),
		"selector": m.fields(fieldMap{"a": m.value(), "b": m.value()}),
		"args":     m.some("-v", "-x"),
		"tags":     m.some("x", "y.z", "é<"),
		"free":     m.fields(fieldMap{"a": m.value(), "list": m.some(int64(1), fieldMap{"k": m.value()}), "m": m.fields(fieldMap{"x": m.value()})}),
		"ports": m.some(m.fields(fieldMap{"port": int64(80), "protocol": "TCP", "weight": pick(m, int64(10), int64(20)), "path": m.value()}, "port"),
			m.fields(fieldMap{"port": int64(80), "protocol": "UDP", "path": m.value()}, "port", "protocol"),
			m.fields(fieldMap{"port": int64(443), "path": m.value()}, "port")),
		"items": m.some(m.item("a"), m.item("b.c"), m.item("")),
	})}
}

func (m maker) item(name string) fieldMap {
	return m.fields(fieldMap{"name": name, "conf": m.fields(fieldMap{"x": m.value(), "y": m.value()}), "tags": m.some("t1", "t2")}, "name")
}

func (m maker) gadget() fieldMap {
	return m.fields(fieldMap{
		"spec": m.fields(fieldMap{
			"a": m.value(), "n": pick[any](m, int64(1), "1", 1.5, true), "m": m.fields(fieldMap{"x": m.value(), "y.z": m.value()}),
			"list": m.some("x", fieldMap{"k": m.value()}), "deep": fieldMap{"er": m.fields(fieldMap{"a": m.value()})},
		}),
		"status": m.fields(fieldMap{"s": m.value()}),
		"top":    m.value(),
	}, "spec")
}
