package immutability_test

import (
	"os"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/test/lab"
)

// definition has a rule of each form.
var definition = sync.OnceValue(func() string {
	text, err := os.ReadFile(rulesFolder + "widgets.yaml")
	if err != nil {
		panic(err)
	}
	return string(text)
})

// tightenDefinition makes the definition stricter than the live object, whose unchanged fields stay acceptable.
func tightenDefinition(t *testing.T, c *cluster, _ *unstructured.Unstructured) {
	path := "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.ratcheted.pattern"
	loose := lab.Object(t, definition())
	strict := edited(t, loose, []string{path + "=^new$"})
	c.apply(t, strict)
	t.Cleanup(func() { c.apply(t, loose) })
	probe := edited(t, lab.Object(t, widget), []string{"metadata.name=probe", "spec.ratcheted=other"})
	lab.Eventually(t, "the definition is strict", func() bool {
		_, err := c.tryApply(t, probe, metav1.DryRunAll)
		return err != nil
	})
}
