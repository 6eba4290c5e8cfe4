package review

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// Cluster identifies a cluster. A reviewed plan needs it because an object that doesn't exist yet has no UID, so its
// plan would be the same in every cluster.
type Cluster struct {
	// UID is the UID of the namespace kube-system. It is empty if the caller may not read it, or if the server has no
	// such namespace.
	UID string `json:"uid,omitempty"`
	// Address is the SHA-256 of the cluster's address, since an address may contain a password.
	Address string `json:"address"`
}

// ClusterOf asks the server which cluster the planner plans for; address is the address of the server. It is an error
// if the server doesn't answer, and none if it denies the request.
func ClusterOf(ctx context.Context, planner *ssaplan.Planner, address string) (Cluster, error) {
	system := identity.Identity{APIVersion: "v1", Kind: "Namespace", Name: "kube-system"}
	reading, err := planner.Read(ctx, &explain.State{Identity: system})
	if err != nil {
		return Cluster{}, err
	}
	c := Cluster{Address: fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(strings.TrimRight(address, "/"))))}
	if reading.Live != nil {
		c.UID = string(reading.Live.GetUID())
	}
	return c, nil
}

// Is reports whether both are the same cluster, as far as is known. It compares the UIDs, since a cluster may have
// several addresses. It compares the addresses only if one of the UIDs isn't known.
func (c Cluster) Is(other Cluster) bool {
	if c.UID != "" && other.UID != "" {
		return c.UID == other.UID
	}
	return c.Address == other.Address
}

// Key returns a string for callers that can only compare strings: the UID, or the address if the UID isn't known.
// Different clusters have different keys. The same cluster has two keys if only one of two callers may read the UID.
func (c Cluster) Key() string {
	if c.UID == "" {
		return fmt.Sprintf("address %q, since the namespace kube-system can't be read", c.Address)
	}
	return fmt.Sprintf("namespace kube-system %q", c.UID)
}

// String returns the cluster as text for a message.
func (c Cluster) String() string {
	if c.UID == "" {
		return c.Key()
	}
	return fmt.Sprintf("%s, address %q", c.Key(), c.Address)
}
