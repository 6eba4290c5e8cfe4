package controller

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// A child that was repaired maxRepairs times within repairWindow is left for now: somebody else is as stubborn.
const (
	maxRepairs   = 5
	repairWindow = 10 * time.Minute
)

// memory is what the operator remembers of the children, by Website and kind. A restart loses it, which costs little. The
// zero memory is empty.
type memory struct {
	mu       sync.Mutex
	children map[types.NamespacedName]map[string]*remembered
}

// remembered is what is known of one child. It belongs to the one goroutine that reconciles the Website.
type remembered struct {
	// applied is what was applied last. It tells an edit of the Website from drift for certain. Without it managedFields
	// tell, and only a field that somebody removed then counts as edited.
	applied *explain.State
	// repairs are the times of the latest repairs of drift.
	repairs []time.Time
}

// of returns what is known of a child of the Website, to be read and changed.
func (m *memory) of(website *v1alpha1.Website, kind string) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := client.ObjectKeyFromObject(website)
	if m.children == nil {
		m.children = map[types.NamespacedName]map[string]*remembered{}
	}
	if m.children[key] == nil {
		m.children[key] = map[string]*remembered{}
	}
	if m.children[key][kind] == nil {
		m.children[key][kind] = &remembered{}
	}
	return m.children[key][kind]
}

// forget drops what is known of a Website that is gone.
func (m *memory) forget(website types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.children, website)
}

// fought reports whether the child was repaired so often lately that repairing it again would be a fight.
func (r *remembered) fought(now time.Time) bool {
	r.repairs = slices.DeleteFunc(r.repairs, func(at time.Time) bool { return now.Sub(at) >= repairWindow })
	return len(r.repairs) >= maxRepairs
}
