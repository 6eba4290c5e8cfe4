locals {
  stages = provider::ssaplan::manifest_stages(<<-EOT
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: lamps.shop.example.com}
    spec:
      group: shop.example.com
      names: {plural: lamps, kind: Lamp}
      scope: Namespaced
      versions:
      - name: v1
        served: true
        storage: true
        schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {color: {type: string}}}}}}
    ---
    apiVersion: shop.example.com/v1
    kind: Lamp
    metadata: {name: red, namespace: shop}
    spec: {color: red}
  EOT
  )
}

resource "ssaplan_object" "staged_first" {
  for_each  = local.stages.first
  yaml_body = each.value
}

resource "ssaplan_object" "staged_rest" {
  for_each   = local.stages.rest
  yaml_body  = each.value
  depends_on = [ssaplan_object.staged_first]
}
