output "ids" {
  value = keys(provider::ssaplan::manifests(<<-EOT
    {apiVersion: v1, kind: ConfigMap, metadata: {name: three, namespace: shop}}
    ---
    {apiVersion: v1, kind: ConfigMap, metadata: {name: four, namespace: shop}}
  EOT
  ))
}
