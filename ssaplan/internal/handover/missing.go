package handover

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Missing returns the managers that are among the tools, own one of the fields of the live object or something in it,
// and from which nothing is going to be taken over.
func (w Wanted) Missing(live *unstructured.Unstructured, fields []projection.Path,
	tools []fieldowner.Tool) (managers []string) {
	if live == nil || w.Applier.Subresource != "" {
		return nil
	}
	owners, err := fieldowner.Read(live.Object)
	if err != nil {
		return nil
	}
	missing := Wanted{Applier: w.Applier, Tools: tools}
	for _, p := range fields {
		for _, o := range owners.Below(p) {
			if missing.takes(o) && !w.takes(o) && !slices.Contains(managers, string(o.Manager)) {
				managers = append(managers, string(o.Manager))
			}
		}
	}
	return managers
}

// Advice says to take over from the managers.
func Advice(managers []string) string {
	names := make([]string, len(managers))
	for i, m := range managers {
		names[i] = fmt.Sprintf("%q", foreign.Text(m))
	}
	return fmt.Sprintf("adopt the fields of %s: those that the manifest lacks are then removed",
		strings.Join(names, " and "))
}
