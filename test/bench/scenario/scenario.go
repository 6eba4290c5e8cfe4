// Package scenario makes the objects that are planned, and puts them on a server.
package scenario

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Namespace is where all objects live.
const Namespace = "bench"

// Kind is a kind of objects to plan.
type Kind struct {
	Name string
	// Make returns manifest number i.
	Make func(i int) *unstructured.Unstructured
	// Edit changes a value of a manifest.
	Edit func(*unstructured.Unstructured)
}

// Kinds are those of the comparison.
var Kinds = []Kind{
	{"Deployment", deployment, setting("5", "spec", "replicas")},
	{"custom resource", func(i int) *unstructured.Unstructured { return Gadget(i, 2<<10) },
		setting("edited", "spec", "text", "key-00000")},
	{"ConfigMap 500 KB", func(i int) *unstructured.Unstructured { return ConfigMap(i, 500<<10) },
		setting("edited", "data", "part-1")},
}

func setting(value string, path ...string) func(*unstructured.Unstructured) {
	return func(object *unstructured.Unstructured) {
		var v any
		if err := yaml.Unmarshal([]byte(value), &v); err != nil {
			panic(err) // the values are literals in this package
		}
		if number, ok := v.(float64); ok {
			v = int64(number)
		}
		if err := unstructured.SetNestedField(object.Object, v, path...); err != nil {
			panic(err)
		}
	}
}

func deployment(i int) *unstructured.Unstructured {
	return parse(fmt.Sprintf(deploymentYAML, i))
}

// deploymentYAML is what a Deployment of an application looks like: a container with a sidecar, settings, probes and
// volumes.
const deploymentYAML = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-%05[1]d
  namespace: bench
  labels: {app: web-%05[1]d, app.kubernetes.io/name: web, app.kubernetes.io/part-of: shop, team: checkout}
  annotations: {example.com/owner: checkout@example.com, example.com/runbook: "https://runbooks.example.com/web"}
spec:
  replicas: 3
  revisionHistoryLimit: 5
  selector: {matchLabels: {app: web-%05[1]d}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template:
    metadata:
      labels: {app: web-%05[1]d, app.kubernetes.io/name: web, team: checkout}
      annotations: {prometheus.io/scrape: "true", prometheus.io/port: "9090"}
    spec:
      serviceAccountName: web
      terminationGracePeriodSeconds: 45
      securityContext: {runAsNonRoot: true, runAsUser: 10001, fsGroup: 10001}
      containers:
      - name: app
        image: registry.example.com/shop/web:1.42.%[1]d
        args: [--listen=:8080, --metrics=:9090, --log-format=json]
        ports: [{name: http, containerPort: 8080}, {name: metrics, containerPort: 9090}]
        env:
        - {name: LOG_LEVEL, value: info}
        - {name: CURRENCY, value: EUR}
        - {name: CACHE_SIZE, value: "512"}
        - {name: DATABASE_HOST, value: db.shop.svc}
        - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
        - {name: DATABASE_PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}
        resources: {requests: {cpu: 250m, memory: 256Mi}, limits: {memory: 512Mi}}
        readinessProbe: {httpGet: {path: /ready, port: http}, periodSeconds: 5}
        livenessProbe: {httpGet: {path: /live, port: http}, initialDelaySeconds: 10}
        volumeMounts: [{name: config, mountPath: /etc/web}, {name: tmp, mountPath: /tmp}]
      - name: proxy
        image: registry.example.com/mesh/proxy:2.7.1
        ports: [{name: mesh, containerPort: 15001}]
        env: [{name: MESH, value: shop}, {name: ZONE, value: a}]
        resources: {requests: {cpu: 50m, memory: 64Mi}}
        volumeMounts: [{name: tmp, mountPath: /tmp}]
      volumes:
      - {name: config, configMap: {name: web}}
      - {name: tmp, emptyDir: {}}
`

// Gadget returns a custom resource of about size bytes, of which its managedFields take little.
func Gadget(i, size int) *unstructured.Unstructured {
	object := parse(fmt.Sprintf(gadgetYAML, i))
	random := rand.New(rand.NewPCG(uint64(i), uint64(size)))
	texts := map[string]any{}
	const line = 1000
	for n := 0; n*line < size-line/2; n++ {
		texts[fmt.Sprintf("key-%05d", n)] = prose(random, line)
	}
	if len(texts) == 0 {
		texts["key-00000"] = prose(random, size)
	}
	if err := unstructured.SetNestedMap(object.Object, texts, "spec", "text"); err != nil {
		panic(err)
	}
	return object
}

const gadgetYAML = `
apiVersion: bench.example.com/v1
kind: Gadget
metadata: {name: gadget-%05d, namespace: bench, labels: {team: checkout}}
spec:
  size: 3
  ports: [{port: 80, protocol: TCP, name: http}, {port: 53, protocol: TCP}, {port: 53, protocol: UDP}]
`

const definitionYAML = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.bench.example.com}
spec:
  group: bench.example.com
  names: {kind: Gadget, plural: gadgets, singular: gadget, listKind: GadgetList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
              text: {type: object, additionalProperties: {type: string}}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [port, protocol]
                items:
                  type: object
                  required: [port, protocol]
                  properties: {port: {type: integer}, protocol: {type: string}, name: {type: string}}
`

// ConfigMap returns a ConfigMap with about size bytes of text in 5 parts.
func ConfigMap(i, size int) *unstructured.Unstructured {
	random := rand.New(rand.NewPCG(uint64(i), uint64(size)))
	data := map[string]any{}
	for part := range 5 {
		data[fmt.Sprintf("part-%d", part)] = prose(random, size/5)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "data": data,
		"metadata": map[string]any{"name": fmt.Sprintf("texts-%05d", i), "namespace": Namespace},
	}}
}

var words = strings.Fields(
	"the planner asks a server what it would do and shows who owns which field of each object before \"anything\" is " +
		"written: name=value, path/to/file; 10.0.0.1 <none> & more")

// prose returns text of about size bytes that compresses like text does.
func prose(random *rand.Rand, size int) string {
	var text strings.Builder
	for text.Len() < size {
		text.WriteString(words[random.IntN(len(words))])
		if random.IntN(12) == 0 {
			text.WriteByte('\n')
		} else {
			text.WriteByte(' ')
		}
	}
	return text.String()[:size]
}

func parse(text string) *unstructured.Unstructured {
	json, err := yaml.YAMLToJSON([]byte(text))
	object := &unstructured.Unstructured{}
	if err == nil {
		err = object.UnmarshalJSON(json)
	}
	if err != nil {
		panic(err) // the texts are literals in this package
	}
	return object
}
