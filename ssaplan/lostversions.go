package ssaplan

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/handover"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

const (
	// mostLooked is the maximum number of custom resources whose managedFields are checked for a removed version.
	mostLooked = 500
	// mostNamed is the maximum number of custom resources that a warning names.
	mostNamed = 5
)

// lostVersions returns warnings about custom resources whose managedFields have a version that the plan removes from
// their CRD. After the removal, the server rejects every apply to them. It also returns the number of requests that it
// sent.
func (t trial) lostVersions(ctx context.Context, plan *Plan) (warnings []foreign.Text, requests int) {
	if !kinds.IsDefinition(content(t.live)) || plan.Action != ActionUpdate || t.request.Subresource != "" {
		return nil, 0
	}
	lost := kinds.LostVersions(content(t.live), content(t.answer))
	if len(lost) == 0 {
		return nil, 0
	}
	versions := foreign.Text(strings.Join(lost, ", "))
	objects, more, requests, err := t.customResources(ctx)
	if err != nil {
		return []foreign.Text{foreign.Textf(
			"can't check whether managedFields of objects name %s, which the CRD drops: %v", versions,
			t.redactError(err))}, requests
	}
	named := stuckIn(lost, objects)
	if more {
		named = append(named, fmt.Sprintf("maybe others than the first %d objects", mostLooked))
	}
	if len(named) > 0 {
		warnings = append(warnings, foreign.Textf("the CRD drops %s, but managedFields of these objects name it: %s; "+
			"nothing can be applied to them until the entries are moved to another version (Request.LostVersions; "+
			"in kubectl ssaplan --lost-version, in Terraform lost_versions)", versions,
			foreign.Text(strings.Join(named, ", "))))
	}
	return warnings, requests
}

// customResources returns the metadata of the first custom resources of the CRD, whether there are more, and the number
// of requests.
func (t trial) customResources(
	ctx context.Context) (objects []unstructured.Unstructured, more bool, requests int, err error) {
	kind := wire.Defined(kinds.DefinitionOf(t.live.Object))
	if kind.Version == "" {
		return nil, false, 0, nil
	}
	ctx, _ = warnings.Collect(ctx) // warnings about a deprecated version don't belong to the plan of the CRD
	object := identity.Identity{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind}
	resource := t.server.Resource(kind, object)
	objects, more, err = resource.First(ctx, mostLooked)
	return objects, more, resource.Requests(), err
}

// stuckIn returns the names of objects with entries of managedFields in one of the versions, and the managers of these
// entries.
func stuckIn(versions []string, objects []unstructured.Unstructured) (names []string) {
	stuck := 0
	for _, obj := range objects {
		owners := handover.InVersions(&obj, versions...)
		if len(owners) == 0 {
			continue
		}
		if stuck++; stuck <= mostNamed {
			name := strings.TrimPrefix(obj.GetNamespace()+"/"+obj.GetName(), "/")
			names = append(names, fmt.Sprintf("%s of %s", foreign.Text(name), strings.Join(owners, " and ")))
		}
	}
	if stuck > mostNamed {
		names = append(names, fmt.Sprintf("%d more", stuck-mostNamed))
	}
	return names
}
