data "ssaplan_manifests" "both" {
  content = <<-EOT
    {apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: shop}}
    ---
    {apiVersion: v1, kind: ConfigMap, metadata: {name: two, namespace: shop}}
  EOT
}

resource "ssaplan_object" "both" {
  for_each  = data.ssaplan_manifests.both.manifests
  yaml_body = each.value
}
