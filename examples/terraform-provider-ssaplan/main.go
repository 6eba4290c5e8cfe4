// Command terraform-provider-ssaplan is a Terraform provider that applies Kubernetes objects by server-side apply, and
// whose plans say what the API server will do.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/ssaplan/primitives/examples/terraform-provider-ssaplan/provider"
)

func main() {
	err := providerserver.Serve(context.Background(), provider.New, providerserver.ServeOpts{Address: provider.Address})
	if err != nil {
		log.Fatal(err)
	}
}
