package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/examples/operator/api/v1alpha1"
	"github.com/ssaplan/primitives/ssaplan"
)

// states remembers what was applied to the children, by Website and kind. It tells an edit of the Website from drift for
// certain. After a restart it is empty, and managedFields tell; only a field that somebody removed meanwhile then counts
// as edited. The zero states is empty.
type states struct {
	mu      sync.Mutex
	applied map[types.NamespacedName]map[string]*ssaplan.State
}

// of returns what was applied to a child of the Website, nil if that isn't known.
func (s *states) of(website *v1alpha1.Website, kind string) *ssaplan.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.applied[client.ObjectKeyFromObject(website)][kind]
}

func (s *states) set(website *v1alpha1.Website, kind string, state *ssaplan.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := client.ObjectKeyFromObject(website)
	if s.applied == nil {
		s.applied = map[types.NamespacedName]map[string]*ssaplan.State{}
	}
	if s.applied[key] == nil {
		s.applied[key] = map[string]*ssaplan.State{}
	}
	s.applied[key][kind] = state
}

// forget drops what is known of a Website that is gone.
func (s *states) forget(website types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.applied, website)
}
