package provider_test

// The manifests that scripts name.

const configMap = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: NAMESPACE}
data: {color: blue, size: "5"}
`

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAMESPACE}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: "web:1", resources: {limits: {cpu: 1000m}}, ports: [{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]}
      - {name: proxy, image: "proxy:1"}
`

const patchOfDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAMESPACE, labels: {team: shop}}
spec: {replicas: 7}
`

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.NAMESPACE.example.com}
spec:
  group: NAMESPACE.example.com
  names: {plural: gadgets, kind: Gadget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`

const gadget = `{apiVersion: NAMESPACE.example.com/v1, kind: Gadget, metadata: {name: one, namespace: NAMESPACE}, spec: {size: 9007199254740993}}`
