package provider

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
)

// The state of a resource with a token that is kept nowhere names the same cluster as its configuration.
func TestClaimsWithoutTheToken(t *testing.T) {
	cluster := func(token types.String) types.Object {
		return types.ObjectValueMust(map[string]attr.Type{"host": types.StringType, "token": types.StringType},
			map[string]attr.Value{"host": types.StringValue("https://cluster"), "token": token})
	}
	id := identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "shop", Name: "settings"}
	var c claims
	require.NoError(t, c.apply(cluster(types.StringValue("secret")), id, "terraform", false))
	require.ErrorContains(t, c.destroy(cluster(types.StringNull()), id), "one resource of this run destroys it")
}
