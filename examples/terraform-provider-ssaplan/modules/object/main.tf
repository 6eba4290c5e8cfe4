# An object whose sensitive parts are shown nowhere. Terraform tells no provider which values are sensitive, so the module asks by
# issensitive() and names the fields: a value at the second level, such as data["password"], with all that is in it.

terraform {
  required_version = ">= 1.8"
  required_providers {
    ssaplan = { source = "example.com/ssaplan/ssaplan" }
  }
}

variable "manifest" {
  description = "The object, with apiVersion, kind and metadata."
  type        = any
}

variable "sensitive_fields" {
  description = "More fields whose values are shown nowhere."
  type        = list(string)
  default     = []
}

locals {
  marked = [
    for section, content in var.manifest :
    issensitive(content) || !can(keys(content))
    ? [for whole in [section] : whole if issensitive(jsonencode(content))]
    : [for name, value in content : "${section}[${jsonencode(name)}]" if issensitive(jsonencode(value))]
  ]
}

resource "ssaplan_object" "this" {
  yaml_body        = yamlencode(var.manifest)
  sensitive_fields = issensitive(var.manifest) ? tolist(["*"]) : tolist(concat(var.sensitive_fields, flatten(local.marked)))
}

output "id" {
  value = ssaplan_object.this.id
}

output "fields" {
  value = ssaplan_object.this.fields
}
