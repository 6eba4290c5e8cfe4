package fieldowner_test

import (
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
)

// live is a Deployment that "deployer" applied, whose replicas an autoscaler owns.
var live = object(`{
	"apiVersion": "apps/v1", "kind": "Deployment",
	"metadata": {"name": "web", "namespace": "default", "resourceVersion": "7", "managedFields": [
		{"manager": "deployer", "operation": "Apply", "apiVersion": "apps/v1", "time": "2026-01-02T03:04:05Z", "fieldsV1": {"f:spec": {
			"f:paused": {}, "f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"app\"}": {".": {}, "f:name": {}, "f:image": {}}}}}}}},
		{"manager": "hpa", "operation": "Update", "subresource": "scale", "apiVersion": "apps/v1", "fieldsV1": {"f:spec": {"f:replicas": {}}}}
	]},
	"spec": {"replicas": 5, "paused": true, "revisionHistoryLimit": 10,
		"template": {"spec": {"containers": [{"name": "app", "image": "app:1"}]}}}}`)

// dryRun is the answer to an apply of "deployer" with force, that sets the replicas and no longer sends paused.
var dryRun = object(`{
	"apiVersion": "apps/v1", "kind": "Deployment",
	"metadata": {"name": "web", "namespace": "default", "resourceVersion": "7", "managedFields": [
		{"manager": "deployer", "operation": "Apply", "apiVersion": "apps/v1", "time": "2026-01-02T04:00:00Z", "fieldsV1": {"f:spec": {
			"f:replicas": {}, "f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"app\"}": {".": {}, "f:name": {}, "f:image": {}}}}}}}}
	]},
	"spec": {"replicas": 2, "revisionHistoryLimit": 10,
		"template": {"spec": {"containers": [{"name": "app", "image": "app:1"}]}}}}`)

func object(text string) map[string]any {
	var obj map[string]any
	if err := utiljson.Unmarshal([]byte(text), &obj); err != nil {
		panic(err)
	}
	return obj
}

func fields(paths ...string) projection.FieldSet {
	all := make([]projection.Path, len(paths))
	for i, text := range paths {
		all[i], _ = projection.ParsePath(text)
	}
	return projection.NewFieldSet(all...)
}

func ExampleRead() {
	ownership, err := fieldowner.Read(live)
	if err != nil {
		fmt.Println(err)
	}
	for path, owners := range ownership.All() {
		fmt.Println(path, owners)
	}
	// Output:
	// spec.paused ["deployer" (Apply)]
	// spec.replicas ["hpa" (Update of scale)]
	// spec.template.spec.containers[name="app"] ["deployer" (Apply)]
	// spec.template.spec.containers[name="app"].image ["deployer" (Apply)]
	// spec.template.spec.containers[name="app"].name ["deployer" (Apply)]
}

func ExampleRead_broken() {
	_, err := fieldowner.Read(object(`{"metadata": {"managedFields": [
		{"manager": "hpa", "operation": "Update", "subresource": "scale", "fieldsV1": {"spec": {}}}]}}`))
	fmt.Println(err)
	// Output:
	// fieldowner: managedFields of "hpa" (Update of scale): projection: FieldsV1: entry "spec" in the top level: expected ".", "f:", "k:", "v:" or "i:"
}

func ExampleOwnership_Of() {
	ownership, _ := fieldowner.Read(live)
	for _, text := range []string{"spec.replicas", "spec", "spec.revisionHistoryLimit"} {
		path, _ := projection.ParsePath(text)
		fmt.Println(text, "of:", ownership.Of(path), "below:", ownership.Below(path))
	}
	// Output:
	// spec.replicas of: ["hpa" (Update of scale)] below: ["hpa" (Update of scale)]
	// spec of: [] below: ["deployer" (Apply) "hpa" (Update of scale)]
	// spec.revisionHistoryLimit of: [] below: []
}

func ExampleOwnership_Fields() {
	ownership, _ := fieldowner.Read(live)
	fmt.Print(ownership.Fields(fieldowner.By("hpa")))
	// Output: spec.replicas
}

func ExampleCompare() {
	before, _ := fieldowner.Read(live)
	after, _ := fieldowner.Read(dryRun)
	for _, change := range fieldowner.Compare(before, after, fieldowner.Applier{Manager: "deployer"}) {
		fmt.Println(change)
	}
	// Output:
	// spec.paused: given up
	// spec.replicas: taken from "hpa" (Update of scale)
}

func ExampleOwnership_Dropped() {
	before, _ := fieldowner.Read(live)
	after, _ := fieldowner.Read(dryRun)
	fmt.Println(before.Dropped(after, live, dryRun, fieldowner.Applier{Manager: "deployer"}))
	// Output: [spec.paused: deleted]
}

func ExampleConflictsFromError() {
	err := fmt.Errorf("applying default/web: %w", apierrors.NewApplyConflict([]metav1.StatusCause{{
		Type:    metav1.CauseTypeFieldManagerConflict,
		Message: `conflict with "hpa" with subresource "scale" using apps/v1`,
		Field:   ".spec.replicas",
	}}, "Apply failed with 1 conflict: …"))
	conflicts := fieldowner.ConflictsFromError(err, live)
	fmt.Println(conflicts)
	text, _ := json.Marshal(conflicts)
	fmt.Println(string(text))
	// Output:
	// [spec.replicas: owned by "hpa" (Update of scale)]
	// [{"path":"spec.replicas","manager":"hpa","operation":"Update","subresource":"scale","apiVersion":"apps/v1"}]
}

func ExamplePredictConflicts() {
	manifest := object(`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 2}}`)
	conflicts, err := fieldowner.PredictConflicts(live, manifest, fields("spec.replicas"), fieldowner.Applier{Manager: "deployer"})
	fmt.Println(conflicts, err)
	// Output: [spec.replicas: owned by "hpa" (Update of scale)] <nil>
}

// An object that was never applied has no managedFields. A server treats all its fields as owned by another manager.
func ExamplePredictConflicts_withoutRecord() {
	created := object(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"color": "red", "size": "1"}}`)
	manifest := object(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"color": "blue", "size": "1"}}`)
	conflicts, err := fieldowner.PredictConflicts(created, manifest, fields("data.color", "data.size"), fieldowner.Applier{Manager: "deployer"})
	fmt.Println(conflicts, err)
	// Output: [data.color: owned by "before-first-apply" (Update)] <nil>
}

func ExampleNewManifest() {
	for _, selection := range []fieldowner.Selection{
		{},
		{Strategy: fieldowner.UnownedFields},
		{Strategy: fieldowner.ManagerFields, Manager: "deployer"},
	} {
		manifest, err := fieldowner.NewManifest(live, selection)
		text, _ := json.Marshal(manifest.Object["spec"])
		fmt.Println(string(text), err)
	}
	// Output:
	// {"paused":true,"replicas":5,"revisionHistoryLimit":10,"template":{"spec":{"containers":[{"image":"app:1","name":"app"}]}}} <nil>
	// {"revisionHistoryLimit":10} <nil>
	// {"paused":true,"template":{"spec":{"containers":[{"image":"app:1","name":"app"}]}}} <nil>
}

func ExampleMigrate() {
	obj := object(`{"metadata": {"name": "x", "resourceVersion": "7", "managedFields": [
		{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:a": {}}}}]}}`)
	handover, err := fieldowner.Migrate(obj, "my-tool", fieldowner.ClientSideApply, fieldowner.BeforeFirstApply)
	if err != nil {
		panic(err)
	}
	patch, err := handover.Patch()
	fmt.Println(string(patch), err)
	// Output:
	// [{"op":"replace","path":"/metadata/managedFields","value":[{"manager":"my-tool","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}]},{"op":"replace","path":"/metadata/resourceVersion","value":"7"}] <nil>
}

func ExampleGiveUp() {
	handover, err := fieldowner.GiveUp(live, fieldowner.Applier{Manager: "deployer"}, fields("spec.template"))
	if err != nil {
		panic(err)
	}
	after, _ := fieldowner.Read(handover.Object())
	template := projection.Path{projection.Field("spec"), projection.Field("template")}
	fmt.Println(after.Below(template))
	handover, err = fieldowner.GiveUp(live, fieldowner.Applier{Manager: "deployer"}, fields("spec.replicas"))
	fmt.Println(handover.Empty(), err)
	// Output:
	// []
	// true <nil>
}

func ExampleRename() {
	handover, err := fieldowner.Rename(live, "deployer", "deployer-v2")
	if err != nil {
		panic(err)
	}
	patch, err := handover.Patch()
	fmt.Println(strings.Count(string(patch), "deployer-v2"), err)
	// Output: 1 <nil>
}

func ExampleClientSideAppliers() {
	ownership, _ := fieldowner.Read(object(`{"metadata": {"managedFields": [
		{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1", "fieldsV1": {
			"f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}}}}},
		{"manager": "kubectl-edit", "operation": "Update", "apiVersion": "v1", "fieldsV1": {"f:data": {"f:a": {}}}}]}}`))
	fmt.Println(fieldowner.ClientSideAppliers(ownership))
	// Output: [kubectl-client-side-apply]
}

func ExampleTransfer() {
	before, _ := fieldowner.Read(live)
	after, _ := fieldowner.Read(dryRun)
	text, _ := json.Marshal(fieldowner.Compare(before, after, fieldowner.Applier{Manager: "deployer"}))
	fmt.Println(string(text))
	// Output:
	// [{"path":"spec.paused","change":"GivenUp"},{"path":"spec.replicas","change":"Taken","managers":[{"manager":"hpa","operation":"Update","subresource":"scale","apiVersion":"apps/v1"}]}]
}
