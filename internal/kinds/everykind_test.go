package kinds

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/ssaplan/primitives/internal/rows"
)

// A new kind that Kubernetes brings has hazards, or is in testdata/harmless.yaml, with the kinds of all versions of
// client-go that are supported: without hazards, a plan says that deleting an
// object of the kind takes nothing along. TestReferenceFields and TestMapFields ask for the other facts of a kind.
func TestEveryBuiltinKindHasHazardsOrNone(t *testing.T) {
	askEachKind(t, "hazards in facts, or a reason in harmless.yaml", func(kind string) bool { return len(facts[kind]) > 0 }, "harmless")
}

// A new kind that Kubernetes brings is put into a stage, or into testdata/inlaststage.yaml. Otherwise it would be in
// the last stage silently, and what needs it would be planned first.
func TestEveryBuiltinKindHasAStage(t *testing.T) {
	staged := map[string]bool{}
	for _, stage := range Stages {
		for _, kind := range stage.Kinds {
			staged[kind] = true
		}
	}
	askEachKind(t, "a stage in Stages, or a reason in inlaststage.yaml", func(kind string) bool { return staged[kind] }, "inlaststage")
}

// askEachKind checks that each built-in kind either has a fact, or is in a file with the reason why it hasn't.
func askEachKind(t *testing.T, fact string, has func(kind string) bool, lacking string) {
	t.Helper()
	lacks := map[string]bool{}
	for _, reason := range rows.Read[struct {
		Why   string
		Kinds []string
	}](t, lacking) {
		for _, kind := range reason.Kinds {
			lacks[kind] = true
		}
	}
	found := 0
	for gvk, root := range scheme.Scheme.AllKnownTypes() {
		if !reflect.PointerTo(root).Implements(reflect.TypeFor[metav1.ObjectMetaAccessor]()) {
			continue
		}
		found++
		kind := gvk.GroupKind().String()
		assert.NotEqual(t, has(kind), lacks[kind], "%s: %s", kind, fact)
	}
	assert.Greater(t, found, 60)
}
