package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// groupList has the fields of an APIGroupDiscoveryList of apidiscovery.k8s.io/v2 that this package needs.
type groupList struct {
	Kind  string
	Items []struct {
		Metadata struct{ Name string }
		Versions []struct {
			Version, Freshness string
			Resources          []listedResource
		}
	}
}

type listedResource struct {
	Resource, Scope string
	ResponseKind    struct{ Group, Version, Kind string }
	Verbs           []string
}

// kind returns the kind of a resource in a group and version.
func (r listedResource) kind(gv schema.GroupVersion) server.Kind {
	return server.Kind{GroupVersionKind: gv.WithKind(r.ResponseKind.Kind), Resource: r.Resource,
		Namespaced: r.Scope == "Namespaced"}
}

// Kinds implements [server.Discoverer]. It reads the documents that have the kinds of all groups: one for the core
// group, one for the others.
func (d *Documents) Kinds(ctx context.Context) (kinds []server.Kind, unanswered []schema.GroupVersion, err error) {
	for _, path := range []string{"/api", "/apis"} {
		list, err := d.readGroups(ctx, path)
		if err != nil {
			return nil, nil, err
		}
		more, stale := list.deletable()
		kinds, unanswered = append(kinds, more...), append(unanswered, stale...)
	}
	return kinds, unanswered, nil
}

func (d *Documents) readGroups(ctx context.Context, path string) (list groupList, err error) {
	const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	discovery := server.Observation{Verb: "discover", Object: identity.Identity{}}
	err = d.send(ctx, discovery, func(ctx context.Context) error {
		body, err := BodyOf(d.client.Get().MaxRetries(0).AbsPath(path).SetHeader("Accept", aggregated).Do(ctx))
		if err != nil {
			return err
		}
		return json.Unmarshal(body, &list)
	})
	if err == nil && list.Kind != "APIGroupDiscoveryList" {
		err = fmt.Errorf("the answer is no list of all kinds but %q", list.Kind)
	}
	return list, err
}

// deletable returns the kinds of the groups whose objects can be listed and deleted, and the groups and versions whose
// server doesn't answer. Versions stand in the order of preference.
func (l groupList) deletable() (kinds []server.Kind, stale []schema.GroupVersion) {
	for _, group := range l.Items {
		seen := map[string]bool{}
		for _, version := range group.Versions {
			gv := schema.GroupVersion{Group: group.Metadata.Name, Version: version.Version}
			if version.Freshness == "Stale" {
				stale = append(stale, gv)
			}
			for _, r := range version.Resources {
				if seen[r.Resource] || !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "delete") {
					continue
				}
				seen[r.Resource] = true
				kinds = append(kinds, r.kind(gv))
			}
		}
	}
	return kinds, stale
}
