output "name" {
  value = provider::ssaplan::manifest_decode("{apiVersion: v1, kind: ConfigMap, metadata: {name: five}}").metadata.name
}
