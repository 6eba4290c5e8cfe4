package fieldowner

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/projection"
)

// What testdata holds was recorded from kube-apiserver 1.36.3:
//
//	live.json      a Deployment that deployer and mesh applied, and that others scaled, patched and updated
//	manifest.json  what newcomer then applied without force, and in vain
//	conflict.json  the answer
//	forced.json    the answer to a dry run of it with force, the selector left as it was
//	reduced.json   the answer to a dry run in which deployer sends fewer fields
//
// The owners of live.json:
var (
	recordedAt = time.Date(2026, 11, 20, 22, 9, 59, 0, time.UTC)

	deployer   = Owner{Manager: "deployer", Operation: OperationApply, APIVersion: "apps/v1", Time: recordedAt}
	mesh       = Owner{Manager: "mesh", Operation: OperationApply, APIVersion: "apps/v1", Time: recordedAt}
	autoscaler = Owner{Manager: "autoscaler", Operation: OperationUpdate, Subresource: "scale", APIVersion: "apps/v1"}
	controller = Owner{Manager: "kube-controller-manager", Operation: OperationUpdate, Subresource: "status", APIVersion: "apps/v1", Time: recordedAt}
	kubectlSet = Owner{Manager: "kubectl-set", Operation: OperationUpdate, APIVersion: "apps/v1", Time: recordedAt}
)

func recorded(t testing.TB, name string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	obj := &unstructured.Unstructured{}
	require.NoError(t, obj.UnmarshalJSON(text))
	return obj.Object
}

func recordedConflict(t testing.TB) *apierrors.StatusError {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "conflict.json"))
	require.NoError(t, err)
	var status metav1.Status
	require.NoError(t, json.Unmarshal(text, &status))
	return &apierrors.StatusError{ErrStatus: status}
}

// path parses the text form of a path.
func path(t testing.TB, text string) projection.Path {
	t.Helper()
	p, err := projection.ParsePath(text)
	require.NoError(t, err)
	return p
}

func fieldSet(t testing.TB, paths ...string) projection.FieldSet {
	t.Helper()
	var parsed []projection.Path
	for _, text := range paths {
		parsed = append(parsed, path(t, text))
	}
	return projection.NewFieldSet(parsed...)
}

// texts returns items as text.
func texts[T fmt.Stringer](items []T) []string {
	var out []string
	for _, item := range items {
		out = append(out, item.String())
	}
	return out
}

// textsOf returns the paths of a set as text.
func textsOf(set projection.FieldSet) []string { return texts(slices.Collect(set.All())) }

// decoded decodes an object as apimachinery does, with integers as int64.
func decoded(t testing.TB, text string) map[string]any {
	t.Helper()
	var obj map[string]any
	require.NoError(t, utiljson.Unmarshal([]byte(text), &obj))
	return obj
}
