package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Deletable are the kinds whose objects can be listed and deleted, each in the version of its group that the server
// prefers.
type Deletable struct {
	Kinds []server.Kind // ordered by kind and group
	// Stale are the groups and versions whose server doesn't answer, so that their kinds may not be those of now.
	Stale []schema.GroupVersion
}

// groupList is what of an APIGroupDiscoveryList of apidiscovery.k8s.io/v2 counts here.
type groupList struct {
	Kind  string
	Items []struct {
		Metadata struct{ Name string }
		Versions []struct {
			Version, Freshness string
			Resources          []struct {
				Resource, Scope string
				ResponseKind    struct{ Group, Version, Kind string }
				Verbs           []string
			}
		}
	}
}

// discoverDeletable reads the documents that have the kinds of all groups: one for the core group, one for the others.
func discoverDeletable(ctx context.Context, client rest.Interface, sender sender) (Deletable, error) {
	var found Deletable
	for _, path := range []string{"/api", "/apis"} {
		list, err := readGroups(ctx, client, sender, path)
		if err != nil {
			return Deletable{}, err
		}
		found.add(list)
	}
	found.sort()
	return found, nil
}

func (d *Deletable) sort() {
	slices.SortFunc(d.Kinds, func(a, b server.Kind) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group))
	})
}

func readGroups(ctx context.Context, client rest.Interface, sender sender, path string) (list groupList, err error) {
	const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
	discovery := server.Observation{Verb: "discover", Object: identity.Identity{}}
	_, err = sender.send(ctx, discovery, func(ctx context.Context) error {
		body, err := bodyOf(client.Get().MaxRetries(0).AbsPath(path).SetHeader("Accept", aggregated).Do(ctx))
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

// add adds the kinds of the groups. Versions stand in the order of preference.
func (d *Deletable) add(list groupList) {
	for _, group := range list.Items {
		seen := map[string]bool{}
		for _, version := range group.Versions {
			gv := schema.GroupVersion{Group: group.Metadata.Name, Version: version.Version}
			if version.Freshness == "Stale" {
				d.Stale = append(d.Stale, gv)
			}
			for _, r := range version.Resources {
				if seen[r.Resource] || !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "delete") {
					continue
				}
				seen[r.Resource] = true
				d.Kinds = append(d.Kinds, server.Kind{
					GroupVersionKind: gv.WithKind(r.ResponseKind.Kind), Resource: r.Resource, Namespaced: r.Scope == "Namespaced",
				})
			}
		}
	}
}
