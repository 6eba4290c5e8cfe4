package fieldowner

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// clientSide is an object that client-side apply wrote, in two versions of the API, and that others touched.
const clientSide = `{"apiVersion": "apps/v1", "spec": {"a": 1, "b": 2, "c": 3}, "metadata": {"resourceVersion": "7", "managedFields": [
	{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "apps/v1", "time": "2026-01-02T00:00:00Z",
		"fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:a": {}}, "f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}}}}},
	{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "apps/v1beta1", "time": "2026-01-01T00:00:00Z",
		"fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:b": {}, "f:old": {}}}},
	{"manager": "kubectl-client-side-apply", "operation": "Update", "subresource": "scale", "apiVersion": "apps/v1",
		"fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:c": {}}}},
	{"manager": "kubectl-edit", "operation": "Update", "apiVersion": "apps/v1",
		"fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:c": {}}}}]}}`

func TestMigrate(t *testing.T) {
	live := decoded(t, clientSide)
	patch, err := patchOf(Migrate(live, "my-tool", ClientSideApply))
	require.NoError(t, err)
	assert.JSONEq(t, `[
		{"op": "replace", "path": "/metadata/managedFields", "value": [
			{"manager": "my-tool", "operation": "Apply", "apiVersion": "apps/v1", "time": "2026-01-02T00:00:00Z", "fieldsType": "FieldsV1",
				"fieldsV1": {"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}}}, "f:spec": {"f:a": {}, "f:b": {}}}},
			{"manager": "kubectl-client-side-apply", "operation": "Update", "subresource": "scale", "apiVersion": "apps/v1",
				"fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:c": {}}}},
			{"manager": "kubectl-edit", "operation": "Update", "apiVersion": "apps/v1", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:c": {}}}}]},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}]`, string(patch),
		"both versions, of which the older has a field that isn't there any more; neither the subresource nor others")
	assert.Equal(t, decoded(t, clientSide), live, "the input stays as it is")
}

// TestMigrateFromAnOlderVersionFirst has the entry of the version at hand come second.
func TestMigrateFromAnOlderVersionFirst(t *testing.T) {
	live := decoded(t, `{"apiVersion": "apps/v1", "spec": {"a": 1, "b": 2}, "metadata": {"resourceVersion": "7", "managedFields": [
		{"manager": "one", "operation": "Update", "apiVersion": "apps/v1beta1", "fieldsV1": {"f:spec": {"f:a": {}, "f:old": {}}}},
		{"manager": "two", "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": {"f:spec": {"f:b": {}, "f:removed": {}}}}]}}`)
	patch, err := patchOf(Migrate(live, "my-tool", "one", "two"))
	require.NoError(t, err)
	entries := mustRead(t, patched(t, &unstructured.Unstructured{Object: live}, patch).Object).Entries()
	require.Len(t, entries, 1)
	assert.Equal(t, Owner{Manager: "my-tool", Operation: OperationApply, APIVersion: "apps/v1"}, entries[0].Owner)
	assert.Equal(t, []string{"spec.a", "spec.b", "spec.removed"}, textsOf(entries[0].Fields))
}

func TestOwnershipPatches(t *testing.T) {
	giveUp := func(paths ...string) func(map[string]any) (Handover, error) {
		return func(obj map[string]any) (Handover, error) {
			return GiveUp(obj, Applier{Manager: "me"}, fieldSet(t, paths...))
		}
	}
	const live = `{"spec": {"a": 1, "b": 2}, "metadata": {"resourceVersion": "7", "managedFields": [
		{"manager": "me", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:spec": {"f:a": {}, "f:b": {"f:x": {}}}}},
		{"manager": "old", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:spec": {"f:c": {}}}},
		{"manager": "old", "operation": "Update", "subresource": "status", "apiVersion": "v1", "fieldsV1": {"f:status": {}}},
		{"manager": "me", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:spec": {"f:b": {}}}}]}}`
	for _, row := range []struct {
		why    string
		change func(obj map[string]any) (Handover, error)
		want   []string
	}{
		{"migrate an applier", func(obj map[string]any) (Handover, error) { return Migrate(obj, "me", "old") },
			[]string{`"me" (Apply) spec.a spec.b.x spec.c`, `"me" (Update) spec.b`, `"old" (Update of status) status`}},
		{"migrate one's own updates", func(obj map[string]any) (Handover, error) { return Migrate(obj, "me", "me") },
			[]string{`"me" (Apply) spec.a spec.b spec.b.x`, `"old" (Apply) spec.c`, `"old" (Update of status) status`}},
		{"migrate nobody", func(obj map[string]any) (Handover, error) { return Migrate(obj, "me", "nobody") }, nil},
		{"migrate from no names", func(obj map[string]any) (Handover, error) { return Migrate(obj, "me") }, nil},
		{"rename", func(obj map[string]any) (Handover, error) { return Rename(obj, "old", "me") },
			[]string{`"me" (Apply) spec.a spec.b.x spec.c`, `"me" (Update) spec.b`, `"me" (Update of status) status`}},
		{"rename nobody", func(obj map[string]any) (Handover, error) { return Rename(obj, "nobody", "me") }, nil},
		{"give up a field and what is below it", giveUp("spec.b"),
			[]string{`"me" (Apply) spec.a`, `"me" (Update) spec.b`, `"old" (Apply) spec.c`, `"old" (Update of status) status`}},
		{"give up everything", giveUp("spec.a", "spec.b", "spec.z"),
			[]string{`"me" (Update) spec.b`, `"old" (Apply) spec.c`, `"old" (Update of status) status`}},
		{"give up what one doesn't own", giveUp("spec.c"), nil},
	} {
		t.Run(row.why, func(t *testing.T) {
			obj := &unstructured.Unstructured{Object: decoded(t, live)}
			handover, err := row.change(obj.Object)
			require.NoError(t, err)
			patch, err := handover.Patch()
			require.NoError(t, err)
			if row.want == nil {
				assert.Nil(t, patch)
				assert.Nil(t, handover.Object())
				assert.True(t, handover.Empty())
				return
			}
			foretold := handover.Object()
			assert.Equal(t, patched(t, obj, patch).Object, foretold)
			assert.Equal(t, decoded(t, live), obj.Object, "the input stays as it is")
			var got []string
			for _, e := range mustRead(t, foretold).Entries() {
				got = append(got, e.Owner.String()+" "+strings.Join(textsOf(e.Fields), " "))
			}
			assert.Equal(t, row.want, got)
		})
	}
}

func patchOf(handover Handover, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return handover.Patch()
}

func TestPatchOfNobodyClearsTheRecord(t *testing.T) {
	live := decoded(t, `{"a": 1, "metadata": {"resourceVersion": "7"}}`)
	addEntry(t, live, "me", `{"f:a": {}}`)
	patch, err := patchOf(GiveUp(live, Applier{Manager: "me"}, fieldSet(t, "a")))
	require.NoError(t, err)
	var operations []map[string]any
	require.NoError(t, json.Unmarshal(patch, &operations))
	assert.Equal(t, []any{map[string]any{}}, operations[0]["value"], "of a custom resource, a server keeps the record for an empty list")
}

// TestRelease checks that Release removes the entries of one manager from managedFields, and no other entries.
func TestRelease(t *testing.T) {
	live := decoded(t, clientSide)
	handover, err := Release(live, ClientSideApply)
	require.NoError(t, err)
	entries := mustRead(t, handover.Object()).Entries()
	require.Len(t, entries, 1)
	assert.Equal(t, Owner{Manager: "kubectl-edit", Operation: OperationUpdate, APIVersion: "apps/v1"}, entries[0].Owner)
	none, err := Release(live, "somebody")
	require.NoError(t, err)
	assert.True(t, none.Empty())
	_, err = Release(decoded(t, `{"metadata": {"managedFields": [1], "resourceVersion": "7"}}`), "a")
	assert.Error(t, err)
}

func TestPatchErrors(t *testing.T) {
	_, err := Migrate(decoded(t, `{"metadata": {"managedFields": []}}`), "me", "old")
	assert.EqualError(t, err, "fieldowner: the object has no resourceVersion to guard a patch with")
	_, err = Rename(decoded(t, `{"metadata": {"managedFields": [1], "resourceVersion": "7"}}`), "a", "b")
	assert.EqualError(t, err, "fieldowner: managedFields[0]: expected a map, got int64")
}

func TestClientSideAppliers(t *testing.T) {
	assert.Equal(t, []string{ClientSideApply}, ClientSideAppliers(mustRead(t, decoded(t, clientSide))))
	assert.Empty(t, ClientSideAppliers(mustRead(t, recorded(t, "live.json"))))
}
