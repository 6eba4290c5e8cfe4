package ctrlssaplan

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// A child that was repaired maxRepairs times within repairWindow is left for now: somebody else is as stubborn.
const (
	maxRepairs   = 5
	repairWindow = 10 * time.Minute
)

// memory is what the kit remembers of the children, by owner. A restart loses it, which costs little. The
// zero memory is empty.
type memory struct {
	mu      sync.Mutex
	byOwner map[types.NamespacedName]map[identity.Identity]*remembered
}

// remembered is what is known of one child. It belongs to the one goroutine that reconciles the owner.
type remembered struct {
	// applied is what was applied last. It tells an edit from drift for certain. Without it managedFields
	// tell, and only a field that somebody removed then counts as edited.
	applied *explain.State
	// repairs are the times of the latest repairs of drift since the owner had this edition, see [editionOf].
	repairs []time.Time
	edition string
	// warned are the warnings of the last plan.
	warned []foreign.Text
}

// of returns what is known of a child of an owner, to be read and changed. An edit of the owner ends every fight about
// its children: somebody has acted, maybe because of it.
func (m *memory) of(owner client.Object, id identity.Identity) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(owner)
	if m.byOwner == nil {
		m.byOwner = map[types.NamespacedName]map[identity.Identity]*remembered{}
	}
	if m.byOwner[key] == nil {
		m.byOwner[key] = map[identity.Identity]*remembered{}
	}
	if m.byOwner[key][id] == nil {
		m.byOwner[key][id] = &remembered{}
	}
	r := m.byOwner[key][id]
	if edition := editionOf(owner); r.edition != edition {
		r.edition, r.repairs = edition, nil
	}
	return r
}

// keep drops what is known of all other children of an owner.
func (m *memory) keep(owner client.Object, children map[identity.Identity]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.byOwner[client.ObjectKeyFromObject(owner)],
		func(id identity.Identity, _ *remembered) bool { return !children[id] })
}

// editionOf returns a text that is another one after each edit of an owner: its generation, or a digest of all that
// would count for one if its kind has none, as ConfigMaps.
func editionOf(owner client.Object) string {
	if generation := owner.GetGeneration(); generation != 0 {
		return strconv.FormatInt(generation, 10)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(owner)
	if err != nil {
		return ""
	}
	edited := maps.Clone(content)
	delete(edited, "metadata")
	delete(edited, "status")
	text, _ := json.Marshal(edited) // which an object always has
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// forget drops what is known of an owner that is gone.
func (m *memory) forget(owner types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byOwner, owner)
}

// fought reports whether the child was repaired so often lately that repairing it again would be a fight.
func (r *remembered) fought(now time.Time) bool {
	r.repairs = slices.DeleteFunc(r.repairs, func(at time.Time) bool { return now.Sub(at) >= repairWindow })
	return len(r.repairs) >= maxRepairs
}
