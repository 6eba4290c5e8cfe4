package wiretest

import "net/http"

// Answers of a server.
const (
	// Discovery has the kinds of the core group, without most.
	Discovery = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[` +
		`{"name":"configmaps","kind":"ConfigMap","namespaced":true},{"name":"nodes","kind":"Node"},` +
		`{"name":"nodes/status","kind":"NodeStatus"}]}`
	// Object is a ConfigMap without a uid and a resourceVersion.
	Object    = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"n"},"data":{"k":"v"}}`
	Throttled = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429,"message":"slow down"}`
	Forbidden = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,` +
		`"message":"configmaps \\"a\\" is forbidden: User \\"u\\" cannot get resource \\"configmaps\\" in API group \\"\\" in the namespace \\"n\\""}`
	Missing = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"details":{"name":"a","kind":"configmaps"}}`
	// MissingOther says that an object of another name doesn't exist.
	MissingOther = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"b isn't there",` +
		`"details":{"name":"b","kind":"configmaps"}}`
	// UnknownDryRun refuses a dryRun with an unknown value, and UnknownOption another option.
	UnknownDryRun = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"details":` +
		`{"group":"meta.k8s.io","kind":"PatchOptions","causes":[{"field":"dryRun"}]}}`
	UnknownOption = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"details":` +
		`{"group":"meta.k8s.io","kind":"PatchOptions","causes":[{"field":"fieldManager"}]}}`
	Outdated = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409,"message":"uid mismatch"}`
	Broken   = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500,"message":"broken"}`
	// TestFailed refuses a JSON patch of which a test fails, and any other that can't be done.
	TestFailed = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"the server rejected our request due to an error in our request","reason":"Invalid","details":{},"code":422}`
)

// statuses are the HTTP statuses of the answers that are errors.
var statuses = map[string]int{
	Throttled: http.StatusTooManyRequests, Forbidden: http.StatusForbidden, Missing: http.StatusNotFound,
	MissingOther: http.StatusNotFound, UnknownDryRun: http.StatusUnprocessableEntity,
	UnknownOption: http.StatusUnprocessableEntity, Outdated: http.StatusConflict,
	Broken:     http.StatusInternalServerError,
	TestFailed: http.StatusUnprocessableEntity,
}
