// Package shard divides a set of manifests among processes, and puts together what each of them planned.
package shard

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan/manifest"
)

// Shard is a part of a set: that of number Index, from 0, of Count. The zero Shard is all of the set.
type Shard struct{ Index, Count int }

// Parse reads I/N, where I is from 1 to N; nothing is all of the set.
func Parse(text string) (s Shard, err error) {
	if text == "" {
		return s, nil
	}
	number, count, _ := strings.Cut(text, "/")
	i, errI := strconv.Atoi(number)
	n, errN := strconv.Atoi(count)
	if errI != nil || errN != nil || i < 1 || i > n {
		return s, fmt.Errorf("%q: expected the number of a shard and how many there are, such as 2/8", text)
	}
	return Shard{i - 1, n}, nil
}

// has reports whether an object is in the shard. It is in the same one whatever else there is, as long as there are as
// many shards.
func (s Shard) has(id identity.Identity) bool {
	sum := sha256.Sum256([]byte(textOf(id.Unversioned())))
	return binary.BigEndian.Uint64(sum[:8])%uint64(s.Count) == uint64(s.Index)
}

// textOf returns what names an object, for a digest.
func textOf(id identity.Identity) string {
	return id.APIVersion + "\n" + id.Kind + "\n" + id.Namespace + "\n" + id.Name
}

// Reading is the manifests of a set as they are read, of which most are forgotten at once.
type Reading struct {
	shard  Shard
	digest hash.Hash // of all that was read
}

// Read begins to read the manifests of the set.
func (s Shard) Read() *Reading { return &Reading{s, sha256.New()} }

// Wants reports whether a manifest can be one of the shard; see [manifest.Read], which shows it each as a whole.
func (r *Reading) Wants(m manifest.Manifest) bool {
	if r.shard.Count > 0 {
		text, _ := json.Marshal(m.Object.Object) // which was read from one
		sum := sha256.Sum256(text)
		r.digest.Write(sum[:])
	}
	return r.shard.MayNeed(m)
}

// Told returns what a report of the shard says of it, given the namespace of the manifests that name none; nil if the
// shard is all of the set, or if no manifests were read.
func (r *Reading) Told(defaultNamespace string) *render.Shard {
	if r == nil || r.shard.Count == 0 {
		return nil
	}
	sum := sha256.Sum256(append(r.digest.Sum(nil), defaultNamespace...))
	return &render.Shard{Number: r.shard.Index + 1, Count: r.shard.Count, Set: hex.EncodeToString(sum[:16])}
}

// MayNeed reports whether a manifest can be one of the shard: it is in it, or is a namespace or a definition.
func (s Shard) MayNeed(m manifest.Manifest) bool {
	return s.Count == 0 || isNamespace(m) || isDefinition(m) || s.has(m.Identity)
}

func isNamespace(m manifest.Manifest) bool {
	return m.Identity.APIVersion == "v1" && m.Identity.Kind == "Namespace"
}

func isDefinition(m manifest.Manifest) bool {
	return m.Identity.Group() == "apiextensions.k8s.io" && m.Identity.Kind == "CustomResourceDefinition"
}

// Of returns the manifests of the shard, and with them the namespaces that these are in, which is the default one for
// those that name none, and the definitions of their kinds, so that each shard is a set that can be planned. Those are
// in several shards.
func (s Shard) Of(manifests []manifest.Manifest, defaultNamespace string) (out []manifest.Manifest) {
	if s.Count == 0 {
		return manifests
	}
	own := make([]bool, len(manifests))
	namespaces, kinds := map[string]bool{}, map[schema.GroupKind]bool{}
	for i, m := range manifests {
		if own[i] = s.has(m.Identity); own[i] {
			namespaces[cmp.Or(m.Identity.Namespace, defaultNamespace)] = true
			kinds[schema.GroupKind{Group: m.Identity.Group(), Kind: m.Identity.Kind}] = true
		}
	}
	for i, m := range manifests {
		if own[i] || isNamespace(m) && namespaces[m.Identity.Name] || kinds[definedBy(m)] {
			out = append(out, m)
		}
	}
	return out
}

// definedBy returns the kind that a manifest defines, the zero one if it defines none.
func definedBy(m manifest.Manifest) (kind schema.GroupKind) {
	if isDefinition(m) {
		kind.Group, _, _ = unstructured.NestedString(m.Object.Object, "spec", "group")
		kind.Kind, _, _ = unstructured.NestedString(m.Object.Object, "spec", "names", "kind")
	}
	return kind
}
