# Applied to the cluster of KUBECONFIG. Try after the first apply: scale the deployment with kubectl, change the image,
# rename the config map, change the selector, and look at what the plan says.

terraform {
  required_providers {
    ssaplan = { source = "example.com/ssaplan/ssaplan" }
  }
}

variable "namespace" {
  type    = string
  default = "ssaplan-example"
}

resource "ssaplan_object" "namespace" {
  yaml_body = <<-EOT
    apiVersion: v1
    kind: Namespace
    metadata: {name: ${var.namespace}}
  EOT
}

resource "ssaplan_object" "settings" {
  yaml_body = yamlencode({
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "settings", namespace = var.namespace }
    data       = { currency = "EUR" }
  })
  depends_on = [ssaplan_object.namespace]
}

resource "ssaplan_object" "web" {
  yaml_body  = templatefile("${path.module}/web.yaml", { namespace = var.namespace })
  depends_on = [ssaplan_object.namespace]

  # With an autoscaler: ignore_fields = ["spec.replicas"]
}

# A definition and an object of it in one run: the object is planned when it is applied.
resource "ssaplan_object" "backup_definition" {
  yaml_body = <<-EOT
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: backups.example.com}
    spec:
      group: example.com
      names: {plural: backups, kind: Backup}
      scope: Namespaced
      versions:
      - name: v1
        served: true
        storage: true
        schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  EOT
}

resource "ssaplan_object" "backup" {
  yaml_body = <<-EOT
    apiVersion: example.com/v1
    kind: Backup
    metadata: {name: nightly, namespace: ${var.namespace}}
    spec: {schedule: "0 3 * * *"}
  EOT
  depends_on = [ssaplan_object.namespace, ssaplan_object.backup_definition]
}

output "web" {
  value = ssaplan_object.web.fields
}
