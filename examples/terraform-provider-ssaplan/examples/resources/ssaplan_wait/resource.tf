resource "ssaplan_object" "definition" {
  yaml_body = <<-EOT
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: backups.shop.example.com}
    spec:
      group: shop.example.com
      names: {plural: backups, kind: Backup}
      scope: Namespaced
      versions:
      - name: v1
        served: true
        storage: true
        schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  EOT
}

# What depends on this is made when the definition is served.
resource "ssaplan_wait" "definition" {
  object   = ssaplan_object.definition.id
  triggers = ssaplan_object.definition.fields
}

# Fields of a status are waited for by their values; "*" is any.
resource "ssaplan_wait" "names" {
  object = ssaplan_object.definition.id
  fields = {
    "status.acceptedNames.kind" = "Backup"
    "status.storedVersions[0]"  = "*"
  }
}
