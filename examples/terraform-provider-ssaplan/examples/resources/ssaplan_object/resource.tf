resource "ssaplan_object" "web" {
  yaml_body     = <<-EOT
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web, namespace: shop}
    spec:
      replicas: 2
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers:
          - name: app
            image: web:1
  EOT
  ignore_fields = ["spec.replicas"] # an autoscaler's
}

# One resource for each document of a file. The keys are IDs, so that another document moves none.
resource "ssaplan_object" "all" {
  for_each  = provider::ssaplan::manifests(file("${path.module}/all.yaml"))
  yaml_body = each.value
}
