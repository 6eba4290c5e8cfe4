package review

import (
	"context"
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Cluster is by what a cluster is known again. An object that is there has a UID, but one that is to be created has
// none, so its plan would do the same in every cluster.
type Cluster struct {
	// UID is that of the namespace kube-system, empty if it isn't known: not everybody may read it, and not every
	// server has it.
	UID string `json:"uid,omitempty"`
	// Address is the [Digest] of the address by which the cluster was reached, which may hold a password.
	Address string `json:"address"`
}

// ClusterOf asks which cluster a planner plans for, whose requests go to the address. It is an error if the server
// doesn't answer, and none if it refuses.
func ClusterOf(ctx context.Context, planner *ssaplan.Planner, address string) (Cluster, error) {
	system := identity.Identity{APIVersion: "v1", Kind: "Namespace", Name: "kube-system"}
	reading, err := planner.Read(ctx, &explain.State{Identity: system})
	if err != nil {
		return Cluster{}, err
	}
	c := Cluster{Address: Digest([]byte(strings.TrimRight(address, "/")))}
	if reading.Live != nil {
		c.UID = string(reading.Live.GetUID())
	}
	return c, nil
}

// Is reports whether two are the same cluster as far as is known. UIDs decide, since a cluster may have several
// addresses and other ones in time: the addresses count only where one of the UIDs isn't known.
func (c Cluster) Is(other Cluster) bool {
	if c.UID != "" && other.UID != "" {
		return c.UID == other.UID
	}
	return c.Address == other.Address
}

// Key returns a text for hosts that can do nothing but compare texts: the UID, or the address where that isn't known.
// Other clusters have other keys, but so has the same one for two callers of whom only one may read the UID.
func (c Cluster) Key() string {
	if c.UID == "" {
		return fmt.Sprintf("address %q, since the namespace kube-system can't be read", c.Address)
	}
	return fmt.Sprintf("namespace kube-system %q", c.UID)
}

// String names the cluster in a message.
func (c Cluster) String() string {
	if c.UID == "" {
		return c.Key()
	}
	return fmt.Sprintf("%s, address %q", c.Key(), c.Address)
}
