package immutability_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/rows"
)

func TestHazards(t *testing.T) {
	tests := rows.Read[struct {
		Name, Live string
		Want       []immutability.Hazard
		Why        string
	}](t, "hazards")
	for _, tt := range tests {
		t.Run(tt.Name, func(t *testing.T) {
			assert.Equal(t, tt.Want, immutability.Hazards(object(t, tt.Live), immutability.HazardOptions{}), tt.Why)
		})
	}
	assert.Nil(t, immutability.Hazards(nil, immutability.HazardOptions{}))
}

// The propagation policy that is sent decides what becomes of dependents, and a deletion for good promises no new
// object.
func TestHazardsFollowFromTheDeletion(t *testing.T) {
	const job = `{apiVersion: batch/v1, kind: Job, metadata: {name: x, uid: u, ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: c, uid: v}]}}`
	const dependents = "objects that name this one as their owner "
	for _, tt := range []struct {
		why     string
		options immutability.HazardOptions
		want    []immutability.Hazard
	}{
		{"a replacement, as it is by default", immutability.HazardOptions{}, []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the pods stop before the new object starts new ones"},
			{Kind: immutability.HazardOwner, Message: "CronJob c owns the object: it may create it again before you do, and the new object only has an owner if the manifest names it"},
			{Kind: immutability.HazardDependents, Message: dependents + "are deleted with it"},
		}},
		{"in the foreground the object goes last", immutability.HazardOptions{Propagation: metav1.DeletePropagationForeground, ForGood: true}, []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the pods stop"},
			{Kind: immutability.HazardOwner, Message: "CronJob c owns the object: it may create it again"},
			{Kind: immutability.HazardBlocked, Message: "the object stays until its dependents are gone that block its deletion"},
			{Kind: immutability.HazardDependents, Message: dependents + "are deleted before it"},
		}},
		{"orphans go on", immutability.HazardOptions{Propagation: metav1.DeletePropagationOrphan}, []immutability.Hazard{
			{Kind: immutability.HazardInterruption, Message: "the pods keep running, beside those that the new object starts"},
			{Kind: immutability.HazardOwner, Message: "CronJob c owns the object: it may create it again before you do, and the new object only has an owner if the manifest names it"},
			{Kind: immutability.HazardDependents, Message: dependents + "remain without an owner; the new object doesn't own them unless its controller adopts them"},
		}},
	} {
		assert.Equal(t, tt.want, immutability.Hazards(object(t, job), tt.options), tt.why)
	}
}

// TestHazardsUnread checks the hazards of an object that wasn't read. Hazards that depend on its content are only
// possible.
func TestHazardsUnread(t *testing.T) {
	for _, tt := range rows.Read[struct {
		Kind schema.GroupKind
		Want []immutability.Hazard
		Why  string
	}](t, "unread") {
		assert.Equal(t, tt.Want, immutability.HazardsUnread(tt.Kind, "x", immutability.HazardOptions{}), tt.Why)
	}
}

func TestUnnamedLoss(t *testing.T) {
	data, other := immutability.Hazard{Kind: immutability.HazardData, Message: "a"}, immutability.Hazard{Kind: immutability.HazardData, Message: "b"}
	contents := immutability.Hazard{Kind: immutability.HazardContents, Message: "c"}
	blocked := immutability.Hazard{Kind: immutability.HazardBlocked, Message: "d"}
	for _, tt := range []struct {
		found, named, want []immutability.Hazard
		why                string
	}{
		{[]immutability.Hazard{data, blocked, contents}, nil, []immutability.Hazard{data, contents}, "what is blocked is not lost"},
		{[]immutability.Hazard{data, contents}, []immutability.Hazard{other}, []immutability.Hazard{contents}, "the kind is named, in whatever words"},
		{[]immutability.Hazard{data}, []immutability.Hazard{contents, blocked}, []immutability.Hazard{data}, "other kinds are"},
		{[]immutability.Hazard{blocked}, nil, nil, "nothing is lost"},
	} {
		assert.Equal(t, tt.want, immutability.UnnamedLoss(tt.found, tt.named), tt.why)
	}
}
