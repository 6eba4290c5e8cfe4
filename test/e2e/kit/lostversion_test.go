package kit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ctrlssaplan"
	"github.com/ssaplan/primitives/test/lab"
)

// A child whose record is in a version that is gone can't be applied, which says how the controller can have it moved.
func TestAChildOfALostVersion(t *testing.T) {
	o := newOwning(t)
	owner := o.owner("site")
	group := strings.ToLower(o.Namespace) + ".example.com"
	define := func(others ...string) {
		var versions []string
		for _, name := range append([]string{"v1"}, others...) {
			versions = append(versions, fmt.Sprintf("{name: %s, served: true, storage: %v, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}", name, name == "v1"))
		}
		o.Define(t, lab.Objectf(t, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gears.%[1]s}, spec: {group: %[1]s, scope: Namespaced, names: {plural: gears, singular: gear, kind: Gear}, versions: [%[2]s]}}", group, strings.Join(versions, ", ")))
	}
	define("v1beta1")
	child := ctrlssaplan.Child{Object: lab.Objectf(t, "{apiVersion: %s/v1, kind: Gear, metadata: {name: a, namespace: %s}, spec: {size: 1}}", group, o.Namespace)}
	reconcile := func() error {
		_, err := o.kit.Reconcile(t.Context(), owner, []ctrlssaplan.Child{child}, ctrlssaplan.Policy{})
		return err
	}
	require.NoError(t, reconcile())
	o.Apply(t, "flux", lab.Objectf(t, "{apiVersion: %s/v1beta1, kind: Gear, metadata: {name: a, namespace: %s}, spec: {color: red}}", group, o.Namespace))
	define()
	lab.Eventually(t, "the version is gone", func() bool {
		return authresilience.Classify(reconcile()) == authresilience.ClassLostVersion
	})
	require.Contains(t, o.synced("site"), "(Child.LostVersions)")
	child.LostVersions = []string{group + "/v1beta1"}
	require.NoError(t, reconcile())
	require.Contains(t, o.synced("site"), "True")
	child.LostVersions = nil
	require.NoError(t, reconcile())
}
