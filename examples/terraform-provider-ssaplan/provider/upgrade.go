package provider

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// schemaVersion is the version of the states that this release writes, the same for all resources. It grows when an
// attribute means something else or is named otherwise; what is only new or gone needs no other version.
const schemaVersion = 1

// upgraders read the states of all versions before. Each does all steps from its version on.
func upgraders() map[int64]resource.StateUpgrader {
	return map[int64]resource.StateUpgrader{0: {StateUpgrader: func(ctx context.Context,
		req resource.UpgradeStateRequest, resp *resource.UpgradeStateResponse) {
		if err := upgrade(ctx, req, resp, nameVersionChange); err != nil {
			resp.Diagnostics.AddError("The state can't be read", detail(err))
		}
	}}}
}

// nameVersionChange is the step to version 1: allow_version_change = true became version_change = "in_place".
func nameVersionChange(state map[string]any) {
	if state["allow_version_change"] == true {
		state["version_change"] = inPlace
	}
}

// upgrade changes a state as it was stored. What the schema has no more is left out, and what is new in it is null.
func upgrade(ctx context.Context, req resource.UpgradeStateRequest, resp *resource.UpgradeStateResponse,
	steps ...func(map[string]any)) error {
	var state map[string]any
	if err := json.Unmarshal(req.RawState.JSON, &state); err != nil {
		return err
	}
	for _, step := range steps {
		step(state)
	}
	text, err := json.Marshal(state)
	if err != nil {
		return err
	}
	raw := tfprotov6.RawState{JSON: text}
	options := tfprotov6.UnmarshalOpts{ValueFromJSONOpts: tftypes.ValueFromJSONOpts{IgnoreUndefinedAttributes: true}}
	if resp.State.Raw, err = raw.UnmarshalWithOpts(resp.State.Schema.Type().TerraformType(ctx), options); err != nil {
		return fmt.Errorf("version %d: %w", schemaVersion, err)
	}
	return nil
}

// UpgradeState is that of ssaplan_patch, too.
func (r *objectResource) UpgradeState(context.Context) map[int64]resource.StateUpgrader {
	return upgraders()
}

// UpgradeState changes nothing yet.
func (r *waitResource) UpgradeState(context.Context) map[int64]resource.StateUpgrader {
	return upgraders()
}
