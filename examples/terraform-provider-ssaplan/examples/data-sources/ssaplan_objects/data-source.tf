data "ssaplan_objects" "web" {
  api_version    = "v1"
  kind           = "ConfigMap"
  namespace      = "shop"
  label_selector = "app=web"
}

output "names" {
  value = keys(data.ssaplan_objects.web.objects)
}
