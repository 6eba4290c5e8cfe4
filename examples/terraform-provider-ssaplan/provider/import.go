package provider

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity/importid"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// ImportState takes an object into the state, with a manifest of the fields that the ID selects. Terraform tells nothing
// but the ID, so the cluster is the one of KUBECONFIG.
func (r *objectResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	imported, err := importObject(ctx, req.ID)
	if err != nil {
		resp.Diagnostics.AddError("The object can't be imported", err.Error())
		return
	}
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, yamlBodyPath, imported.yamlBody)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("field_manager"), imported.state.Manager)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, path.Root("force_conflicts"), true)...)
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, idPath, importID(imported.state.Identity))...)
	resp.Diagnostics.Append(remember(ctx, resp.Private, imported.state)...)
}

type importedObject struct {
	yamlBody string
	state    *explain.State
}

func importObject(ctx context.Context, text string) (*importedObject, error) {
	id, err := importid.Parse(text)
	if err != nil {
		return nil, err
	}
	config, err := environmentConfig()
	if err != nil {
		return nil, err
	}
	live, err := find(ctx, config, id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, authresilience.Redact(err))
	}
	manifest, err := fieldowner.NewManifest(live.Object, id.Selection)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	if manifest.Fields.Empty() {
		return nil, fmt.Errorf("%s: the object has no such fields; look with kubectl get --show-managed-fields who owns what", text)
	}
	return newImported(live, manifest, id.Selection)
}

// newImported remembers the selected fields as if they had been applied. Those of one manager are imported as that
// manager's, so that going on under its name changes nothing.
func newImported(live *unstructured.Unstructured, manifest fieldowner.Manifest, selection fieldowner.Selection) (*importedObject, error) {
	manager := defaultFieldManager
	if selection.Manager != "" {
		manager = selection.Manager
	}
	body, err := yaml.Marshal(manifest.Object)
	if err != nil {
		return nil, err
	}
	state, err := explain.NewImportedState(manifest, live.Object, manager)
	if err != nil {
		return nil, err
	}
	return &importedObject{string(body), state}, nil
}

// find reads the object that an import ID names.
func find(ctx context.Context, config *rest.Config, id importid.ID) (*unstructured.Unstructured, error) {
	mapping, err := mappingOf(config, id)
	if err != nil {
		return nil, err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	objects := client.Resource(mapping.Resource)
	switch {
	case mapping.Scope.Name() == meta.RESTScopeNameRoot && id.Namespace != "":
		return nil, fmt.Errorf("a %s is in no namespace: leave %q out", id.Kind, id.Namespace)
	case mapping.Scope.Name() == meta.RESTScopeNameRoot:
		return objects.Get(ctx, id.Name, metav1.GetOptions{})
	case id.Namespace == "":
		return nil, errors.New("the namespace is missing: " + importid.Form)
	}
	return objects.Namespace(id.Namespace).Get(ctx, id.Name, metav1.GetOptions{})
}

// mappingOf finds the resource of a kind. One without a group is whichever the server prefers.
func mappingOf(config *rest.Config, id importid.ID) (*meta.RESTMapping, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	kind := schema.GroupVersionKind{Group: id.Group, Version: id.Version, Kind: id.Kind}
	if id.Version == "" {
		if kind, err = mapper.KindFor(schema.GroupVersionResource{Group: id.Group, Resource: id.Kind}); err != nil {
			return nil, err
		}
	}
	return mapper.RESTMapping(kind.GroupKind(), kind.Version)
}
