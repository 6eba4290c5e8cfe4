package provider

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// ImportState takes an object into the state, with a manifest of the fields that the ID selects. Terraform tells
// nothing but the ID, so the cluster is the provider's.
func (r *objectResource) ImportState(ctx context.Context, req resource.ImportStateRequest,
	resp *resource.ImportStateResponse) {
	imported, err := r.planners.importObject(ctx, req.ID)
	if err != nil {
		resp.Diagnostics.AddError("The object can't be imported", detail(err))
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, yamlBodyPath, imported.yamlBody)...)
	if imported.showable {
		resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("manifest"), imported.yamlBody)...)
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("field_manager"), imported.state.Manager)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("force_conflicts"), true)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, clusterPath, emptyCluster(ctx))...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, idPath, importID(imported.state.Identity))...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("uid"), imported.state.UID)...)
	resp.Diagnostics.Append(remember(ctx, resp.Private, imported.state)...)
}

type importedObject struct {
	yamlBody string
	// showable says that nothing in it is sensitive. Terraform generates no configuration of what is.
	showable bool
	state    *explain.State
}

func (p *planners) importObject(ctx context.Context, text string) (*importedObject, error) {
	id, err := importid.Parse(text)
	if err != nil {
		return nil, err
	}
	if !isKnown(ctx, p.cluster) {
		return nil, errors.New("the cluster of the provider's configuration isn't known yet")
	}
	config, err := clusterConfig(ctx, p.cluster)
	if err != nil {
		return nil, err
	}
	planner, err := newPlanner(config, ssaplan.Options{
		FieldManager: defaultFieldManager, RequireNamespace: true, Observe: logRequest,
		ThrottleRetries: throttleRetries,
		ShowValuesOf:    p.showValuesOf,
	})
	if err != nil {
		return nil, err
	}
	imported, err := planner.Import(ctx, id)
	if err != nil {
		return nil, err
	}
	body, err := yaml.Marshal(imported.Manifest.Object)
	if err != nil {
		return nil, err
	}
	return &importedObject{string(body), imported.Sensitive.Empty(), imported.State}, nil
}

// importID returns the attribute id of an object.
func importID(id identity.Identity) types.String {
	return types.StringValue(importid.ID{
		Group: id.Group(), Version: id.Version(), Kind: id.Kind, Namespace: id.Namespace, Name: id.Name,
	}.String())
}
