# The namespace is made by others, and stays when this is destroyed.
resource "ssaplan_patch" "team" {
  yaml_body = <<-EOT
    apiVersion: v1
    kind: Namespace
    metadata: {name: shop, labels: {team: web}}
  EOT
}
