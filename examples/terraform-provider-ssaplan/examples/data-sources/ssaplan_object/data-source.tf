data "ssaplan_object" "namespace" {
  id = "Namespace/shop"
}

output "phase" {
  value = data.ssaplan_object.namespace.object.status.phase
}
