terraform {
  required_providers {
    ssaplan = {
      source = "example.com/ssaplan/ssaplan"
    }
  }
}

variable "cluster_token" {
  type      = string
  ephemeral = true
}

# Evaluated in each run and kept nowhere: another token is no change.
provider "ssaplan" {
  cluster = {
    host                   = "https://cluster.example.com"
    cluster_ca_certificate = file("${path.module}/ca.pem")
    token                  = var.cluster_token
  }
}
