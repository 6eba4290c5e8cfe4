package ctrlssaplan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ssaplan/primitives/identity"
)

func TestAFightEndsWithTheWindow(t *testing.T) {
	var r remembered
	start := time.Unix(0, 0)
	for i := range maxRepairs {
		at := start.Add(time.Duration(i) * time.Minute)
		assert.False(t, r.fought(at), "repair %d", i+1)
		r.repairs = append(r.repairs, at)
	}
	assert.True(t, r.fought(start.Add(repairWindow-1)))
	assert.False(t, r.fought(start.Add(repairWindow)), "the oldest repair is out of the window")
}

// Children whose names change with each edit of an owner leave nothing behind.
func TestChildrenThatAreGoneAreForgotten(t *testing.T) {
	var m memory
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "owner"}}
	idOf := func(name string) identity.Identity {
		return identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "n", Name: name}
	}
	stays := m.of(owner, idOf("stays"))
	m.of(owner, idOf("gone"))
	m.keep(owner, map[identity.Identity]bool{idOf("stays"): true})
	assert.Len(t, m.byOwner[client.ObjectKeyFromObject(owner)], 1)
	assert.Same(t, stays, m.of(owner, idOf("stays")))
}
