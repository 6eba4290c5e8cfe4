package authresilience_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
)

// configMaps, pods, namespaces, widgets: what the rows below are about.
var (
	configMaps = schema.GroupResource{Resource: "configmaps"}
	pods       = schema.GroupResource{Resource: "pods"}
	namespaces = schema.GroupResource{Resource: "namespaces"}
	widgets    = schema.GroupResource{Group: "ex.io", Resource: "widgets"}
)

// forbidden is a 403 as the server makes it.
func forbidden(text string) error {
	return apierrors.NewForbidden(pods, "p", said(text))
}

// said is an error of which only the text is known. The texts are those of others, whatever their style.
func said(text string) error { return errors.New(text) }

// plain is an error of the server that has neither reason nor details, as errors of the field manager are sent.
func plain(code int, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: int32(code), Message: message}}
}

// denied is a refusal of a policy or a webhook, which choose code and reason.
func denied(code int, reason metav1.StatusReason, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message}}
}

// answer is what client-go makes of an answer that isn't a Status.
func answer(code int, text string) error {
	return apierrors.NewGenericServerResponse(code, "GET", schema.GroupResource{}, "", text, 0, true)
}

// get is an error as net/http's client returns it.
func get(err error) error {
	return &url.Error{Op: "Get", URL: "https://127.0.0.1:6443/api/v1/namespaces/default/configmaps/x", Err: err}
}

// execError is how client-go wraps what a credential plugin's run ended with.
func execError(text string) error {
	return get(fmt.Errorf("getting credentials: %v", said(text)))
}

func groupsFailed(groups map[schema.GroupVersion]error) error {
	return &discovery.ErrGroupDiscoveryFailed{Groups: groups}
}

// groupErrors is what controller-runtime's mapper returns (apiutil.ErrResourceDiscoveryFailed).
type groupErrors map[schema.GroupVersion]error

func (*groupErrors) Error() string { return "unable to retrieve the complete list of server APIs" }
func (g *groupErrors) Unwrap() []error {
	var inner []error
	for gv, err := range *g {
		if apierrors.IsNotFound(err) {
			err = &meta.NoResourceMatchError{PartialResource: gv.WithResource("")}
		}
		inner = append(inner, err)
	}
	return inner
}

type row struct {
	why  string
	err  error
	want authresilience.Class
}

const rbac = `User "alice" cannot get resource "configmaps" in API group "" in the namespace "default"`

var identityRows = []row{
	{"nothing failed", nil, authresilience.ClassNone},
	{"kube-apiserver's 401", apierrors.NewUnauthorized("Unauthorized"), authresilience.ClassAuthentication},
	{"a 401 without a reason, told by its code", plain(401, "Unauthorized"), authresilience.ClassAuthentication},
	{"a 401 that discovery didn't decode, or of a proxy", answer(401, "unknown"), authresilience.ClassAuthentication},
	{"a 401 in HTML", answer(401, "<html>Please log in</html>"), authresilience.ClassAuthentication},
	{"a 401 without a body", answer(401, ""), authresilience.ClassAuthentication},
	{"RBAC: in a namespace", apierrors.NewForbidden(configMaps, "x", said(rbac)), authresilience.ClassAuthorization},
	{"RBAC: with the reason of an authorizer", apierrors.NewForbidden(configMaps, "x", said(rbac+`: requires one of ["container.configMaps.get"] permission(s).`)), authresilience.ClassAuthorization},
	{"RBAC: a list, which has no name", apierrors.NewForbidden(configMaps, "", said(`User "alice" cannot list resource "configmaps" in API group "" at the cluster scope`)), authresilience.ClassAuthorization},
	{"RBAC: a subresource", forbidden(`User "alice" cannot get resource "pods/log" in API group "" in the namespace "default"`), authresilience.ClassAuthorization},
	{"RBAC: a path", apierrors.NewForbidden(schema.GroupResource{}, "", said(`User "u" cannot get path "/apis"`)), authresilience.ClassAuthorization},
	{"RBAC: impersonation, classic", apierrors.NewForbidden(schema.GroupResource{Resource: "users"}, "bob", said(`User "alice" cannot impersonate resource "users" in API group "" at the cluster scope`)), authresilience.ClassAuthorization},
	{"RBAC: impersonation, constrained (1.36)", apierrors.NewForbidden(pods, "", said(`User "alice" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "default"`)), authresilience.ClassAuthorization},
	{"RBAC: rights that the user hasn't", forbidden(`user "alice" (groups=["a" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:` + "\n" + `{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`), authresilience.ClassAuthorization},
	{"RBAC: an aggregation rule", forbidden(`must have cluster-admin privileges to use the aggregationRule`), authresilience.ClassAuthorization},
	{"a user whose name looks like a quota's message", forbidden(`User "exceeded quota: q" cannot get resource "pods" in API group "" in the namespace "default"`), authresilience.ClassAuthorization},
	{"a user whose name has quotes in it", forbidden(`User "a\" cannot get" cannot get resource "pods" in API group "" in the namespace "default"`), authresilience.ClassAuthorization},
	{"a 403 that discovery didn't decode", answer(403, "unknown"), authresilience.ClassAuthorization},
	{"a 403 of a gateway, in HTML", answer(403, "<html>Access denied</html>"), authresilience.ClassAuthorization},
	{"a 403 without a body", answer(403, ""), authresilience.ClassAuthorization},
	{"anonymous", apierrors.NewForbidden(configMaps, "x", said(`User "system:anonymous" cannot get resource "configmaps" in API group "" in the namespace "default"`)), authresilience.ClassAnonymous},
	{"anonymous: a path", apierrors.NewForbidden(schema.GroupResource{}, "", said(`User "system:anonymous" cannot get path "/api"`)), authresilience.ClassAnonymous},
	{"not anonymous, but named like it", forbidden(`User "system:anonymous2" cannot get resource "pods" in API group "" in the namespace "default"`), authresilience.ClassAuthorization},
	{"a load balancer that demands client certificates: expired", get(remoteAlert("tls: expired certificate")), authresilience.ClassAuthentication},
	{"a load balancer that demands client certificates: none sent", get(remoteAlert("tls: certificate required")), authresilience.ClassAuthentication},
	{"a load balancer that demands client certificates: of another authority", get(remoteAlert("tls: unknown certificate authority")), authresilience.ClassAuthentication},
	{"RBAC, of which only the text was kept from its start on", said("forbidden: " + rbac), authresilience.ClassAuthorization},
	{"a read that was not sent", (authresilience.Diagnosis{Findings: []authresilience.Finding{{Validity: authresilience.ValidityExpired}}}).Err(), authresilience.ClassAuthentication},
}

func remoteAlert(text string) error {
	return &net.OpError{Op: "remote error", Net: "tcp", Err: said(text)} // the type of the alert is unexported
}

var admissionRows = []row{
	{"a namespace that is being deleted, told by its cause", terminating("unable to create new content in namespace ns because it is being terminated"), authresilience.ClassNamespaceTerminating},
	{"RBAC's sentence without its first word is a plugin's text", forbidden(`"alice" cannot get resource "pods" in API group "" in the namespace "default"`), authresilience.ClassAdmission},
	{"a refusal of no resource isn't one of apimachinery", plain(403, " is forbidden: exceeded quota: q"), authresilience.ClassForbidden},
	{"quota: full", forbidden(`exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`), authresilience.ClassQuota},
	{"quota: values missing", forbidden(`failed quota: q: must specify requests.cpu for: c`), authresilience.ClassQuota},
	{"quota: not counted yet", forbidden(`status unknown for quota: q, resources: pods`), authresilience.ClassQuota},
	{"quota: none covers it", forbidden(`insufficient quota to consume: pods`), authresilience.ClassQuota},
	{"quota: negative", forbidden(`quota usage is negative for resource(s): pods`), authresilience.ClassQuota},
	{"a quota whose name looks like RBAC", forbidden(`exceeded quota: User "x" cannot get resource, requested: pods=1`), authresilience.ClassQuota},
	{"pod security", forbidden(`violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`), authresilience.ClassPodSecurity},
	{"limit range: above", forbidden(`maximum cpu usage per Container is 1, but limit is 2`), authresilience.ClassLimitRange},
	{"limit range: below", forbidden(`minimum memory usage per Pod is 1Gi, but request is 1Mi`), authresilience.ClassLimitRange},
	{"limit range: ratio", forbidden(`cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000`), authresilience.ClassLimitRange},
	{"limit range: several", forbidden(`[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi]`), authresilience.ClassLimitRange},
	{"a claim that isn't bound", forbidden(`Only bound persistent volume claims can be expanded`), authresilience.ClassResize},
	{"a storage class without expansion", forbidden(`only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`), authresilience.ClassResize},
	{"a policy: Invalid by default", denied(422, metav1.StatusReasonInvalid, `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: false`), authresilience.ClassPolicy},
	{"a policy: Forbidden by choice", denied(403, metav1.StatusReasonForbidden, `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`), authresilience.ClassPolicy},
	{"a policy that quotes RBAC", denied(403, metav1.StatusReasonForbidden, `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `+rbac), authresilience.ClassPolicy},
	{"a mutating policy that failed", forbidden(`admission request denied by policy`), authresilience.ClassPolicy},
	{"a webhook: 403", denied(403, metav1.StatusReasonForbidden, `admission webhook "w.ex.io" denied the request: not here`), authresilience.ClassWebhook},
	{"a webhook: 400 without a reason", plain(400, `admission webhook "w.ex.io" denied the request without explanation`), authresilience.ClassWebhook},
	{"a webhook that says 401", denied(401, metav1.StatusReasonUnauthorized, `admission webhook "w.ex.io" denied the request: Unauthorized`), authresilience.ClassWebhook},
	{"a webhook that says 404", denied(404, metav1.StatusReasonNotFound, `admission webhook "w.ex.io" denied the request: secrets "s" not found`), authresilience.ClassWebhook},
	{"a webhook that says 429", denied(429, metav1.StatusReasonTooManyRequests, `admission webhook "w.ex.io" denied the request: slow down`), authresilience.ClassWebhook},
	{"a webhook that is down", apierrors.NewInternalError(said(`failed calling webhook "w.ex.io": failed to call webhook: Post "https://127.0.0.1:1/?timeout=2s": dial tcp 127.0.0.1:1: connect: connection refused`)), authresilience.ClassWebhookUnreachable},
	{"a conversion webhook that is down, when reading", plain(500, `conversion webhook for ex.io/v1, Kind=Widget failed: Post "https://127.0.0.1:1/?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`), authresilience.ClassWebhookUnreachable},
	{"a conversion webhook that is down, when reading (1.37)", plain(500, `Internal error occurred: StorageError: corrupt object, Code: 7, Key: /ex.io/widgets/default/w, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=7: conversion webhook for ex.io/v1, Kind=Widget failed: EOF`), authresilience.ClassWebhookUnreachable},
	{
		"a conversion webhook that is down, when answering (1.37)",
		plain(500, `object not decodable revision=229: conversion webhook for ex.io/v1, Kind=Widget failed: EOF`),
		authresilience.ClassWebhookUnreachable,
	},
	{"a conversion webhook that is down, when applying", plain(500, `failed to convert new object (default/w; ex.io/v2, Kind=Widget) to proper version (ex.io/v1): conversion webhook for ex.io/v2, Kind=Widget failed: EOF`), authresilience.ClassWebhookUnreachable},
	{"a conversion webhook that is down, with an object that is there", plain(500, `failed to convert live object (default/w; ex.io/v2, Kind=Widget) to proper version: conversion webhook for ex.io/v1, Kind=Widget failed: EOF`), authresilience.ClassWebhookUnreachable},
	{"another admission plugin", forbidden(`no PriorityClass with name high was found`), authresilience.ClassAdmission},
	{"the service account plugin", forbidden(`error looking up service account default/sa: serviceaccount "sa" not found`), authresilience.ClassAdmission},
	{"a server that has only just started", forbidden(`not yet ready to handle request`), authresilience.ClassUnavailable},
	{"a 403 with a text that isn't the server's", denied(403, metav1.StatusReasonForbidden, "[00] access denied"), authresilience.ClassForbidden},
	{"a 403 in which the words stand in the wrong place", denied(403, metav1.StatusReasonForbidden, "we say it is forbidden: "+rbac), authresilience.ClassForbidden},
	{"an object whose name looks like a policy's denial", apierrors.NewForbidden(schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "roles"}, `a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: `, said(rbac)), authresilience.ClassAuthorization},
}

func terminating(text string) error {
	err := apierrors.NewForbidden(configMaps, "x", said(text))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "NamespaceTerminating", Message: "namespace ns is being terminated", Field: "metadata.namespace"}}
	return err
}

var requestRows = []row{
	{"no such object", apierrors.NewNotFound(configMaps, "x"), authresilience.ClassNotFound},
	{"no such namespace", apierrors.NewNotFound(namespaces, "x"), authresilience.ClassNamespaceNotFound},
	{"an object that is named like the namespaces' resource", apierrors.NewNotFound(configMaps, "namespaces"), authresilience.ClassNotFound},
	{"another group's kind with the plural of namespaces", apierrors.NewNotFound(schema.GroupResource{Group: "ex.io", Resource: "namespaces"}, "x"), authresilience.ClassNotFound},
	{"a type that the server doesn't serve", answer(404, "404 page not found"), authresilience.ClassTypeNotServed},
	{"the same, of which only the message was kept", denied(404, metav1.StatusReasonNotFound, "the server could not find the requested resource"), authresilience.ClassTypeNotServed},
	{"a 404 page of a proxy", answer(404, "<html>Not Found</html>"), authresilience.ClassUnexpectedResponse},
	{"a 404 without a body", answer(404, ""), authresilience.ClassUnexpectedResponse},
	{"a 404 that names no object", denied(404, metav1.StatusReasonNotFound, "not found"), authresilience.ClassUnexpectedResponse},
	{"an object named like the page", apierrors.NewNotFound(configMaps, "404 page not found"), authresilience.ClassNotFound},
	{"field ownership", apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Field: ".data.a", Message: `conflict with "m"`}}, "Apply failed with 1 conflict"), authresilience.ClassConflict},
	{"a resourceVersion that is behind", apierrors.NewConflict(configMaps, "x", said("the object has been modified")), authresilience.ClassOutdated},
	{"a quota that was updated by others too often", apierrors.NewConflict(schema.GroupResource{Resource: "resourcequotas"}, "q", said("the object has been modified")), authresilience.ClassOutdated},
	{"a continuation that is too old", apierrors.NewResourceExpired("too old resource version"), authresilience.ClassOutdated},
	{"gone", apierrors.NewGone("gone"), authresilience.ClassOutdated},
	{"there already", apierrors.NewAlreadyExists(configMaps, "x"), authresilience.ClassAlreadyExists},
	{"a 409 of a proxy", answer(409, "<html>"), authresilience.ClassUnexpectedResponse},
	{"validation", apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", field.ErrorList{field.Required(field.NewPath("spec", "containers"), "")}), authresilience.ClassInvalid},
	{"an immutable field", apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "d", field.ErrorList{field.Invalid(field.NewPath("spec", "selector"), nil, "field is immutable")}), authresilience.ClassInvalid},
	{"options of the request", apierrors.NewInvalid(schema.GroupKind{Group: "meta.k8s.io", Kind: "PatchOptions"}, "", field.ErrorList{field.Required(field.NewPath("fieldManager"), "is required for apply patch")}), authresilience.ClassBadRequest},
	{"a 422 of a proxy", answer(422, "<html>"), authresilience.ClassUnexpectedResponse},
	{"a health check port that is taken", apierrors.NewInternalError(said("failed to allocate requested HealthCheck NodePort 31000: provided port is already allocated")), authresilience.ClassInvalid},
	{"schema: an unknown field", plain(500, `failed to create typed patch object (default/x; /v1, Kind=ConfigMap): .dataa: field not declared in schema`), authresilience.ClassInvalidManifest},
	{"schema: a value that quotes RBAC", plain(500, `failed to create typed patch object (default/x; /v1, Kind=ConfigMap): .data.a: expected map, got &{is forbidden: `+rbac+`}`), authresilience.ClassInvalidManifest},
	{"the scale of a custom resource that nobody owns", plain(500, `failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1`), authresilience.ClassInvalidManifest},
	{"schema: the result can't be converted", plain(500, `failed to convert new typed object (default/x; /v1, Kind=ConfigMap) to object: error`), authresilience.ClassInvalidManifest},
	{"a record in a version that the CRD lacks", plain(500, `request to convert CR to an invalid group/version: example.com/v1beta1`), authresilience.ClassLostVersion},
	{"schema: merging", plain(500, `failed to merge config: error`), authresilience.ClassInvalidManifest},
	{"a resourceVersion that is no number", plain(500, `strconv.ParseUint: parsing "abc": invalid syntax`), authresilience.ClassInvalidManifest},
	{"a resourceVersion on an object to be created", plain(500, `resourceVersion should not be set on objects to be created`), authresilience.ClassInvalidManifest},
	{"not YAML", apierrors.NewBadRequest("error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected ',' or '}'"), authresilience.ClassInvalidManifest},
	{"not YAML (1.37)", apierrors.NewBadRequest("error decoding patch: error converting YAML to JSON: yaml: line 1: did not find expected ',' or '}'"), authresilience.ClassInvalidManifest},
	{"a YAML key twice", apierrors.NewBadRequest("error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key \"a\" already set in map"), authresilience.ClassInvalidManifest},
	{"a YAML key twice (1.37)", apierrors.NewBadRequest("error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key \"a\" already set in map"), authresilience.ClassInvalidManifest},
	{"an unknown field in a POST", apierrors.NewBadRequest(`ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dataa"`), authresilience.ClassInvalidManifest},
	{"another kind than the address has", apierrors.NewBadRequest("invalid object type: /v1, Kind=Secret"), authresilience.ClassInvalidManifest},
	{"another version than the address has", apierrors.NewBadRequest("Incorrect version specified in apply patch. Specified version: v2, expected: v1"), authresilience.ClassInvalidManifest},
	{"managedFields in the manifest", apierrors.NewBadRequest("metadata.managedFields must be nil"), authresilience.ClassInvalidManifest},
	{"a name that isn't that of the address", apierrors.NewBadRequest("the name of the object (a) does not match the name on the URL (b)"), authresilience.ClassBadRequest},
	{"a method that the resource hasn't", apierrors.NewMethodNotSupported(configMaps, "patch"), authresilience.ClassBadRequest},
	{"a body that is too large", apierrors.NewRequestEntityTooLargeError("limit is 3145728"), authresilience.ClassTooLarge},
	{"a body that is too large for nginx", answer(413, "<html>"), authresilience.ClassTooLarge},
	{"an object that is too large for etcd", plain(500, "etcdserver: request is too large"), authresilience.ClassTooLarge},
	{"an object that is too large for the connection to etcd", plain(500, "rpc error: code = ResourceExhausted desc = trying to send message larger than max (3000000 vs. 2097152)"), authresilience.ClassTooLarge},
}

var serverRows = []row{
	{"a redirect without an address", answer(300, ""), authresilience.ClassUnexpectedResponse},
	{"overload", answer(429, "Too many requests, please try again later."), authresilience.ClassThrottled},
	{"overload, as a Status", apierrors.NewTooManyRequests("slow down", 1), authresilience.ClassThrottled},
	{"overload of etcd", plain(500, "etcdserver: too many requests"), authresilience.ClassThrottled},
	{"the server asks to try again", apierrors.NewServerTimeout(configMaps, "create", 1), authresilience.ClassTimeout},
	{"the server ran out of time", apierrors.NewTimeoutError("request did not complete within requested timeout - context deadline exceeded", 0), authresilience.ClassTimeout},
	{"a gateway ran out of time", answer(504, "<html>"), authresilience.ClassTimeout},
	{"etcd ran out of time", plain(500, "etcdserver: request timed out"), authresilience.ClassTimeout},
	{"the server's own context ended", plain(500, "context deadline exceeded"), authresilience.ClassTimeout},
	{"the quota controller ran out of time", apierrors.NewInternalError(said("resource quota evaluation timed out")), authresilience.ClassTimeout},
	{"the server is going down", apierrors.NewServiceUnavailable("apiserver is shutting down"), authresilience.ClassUnavailable},
	{"an aggregated API server is down", answer(503, "service unavailable"), authresilience.ClassUnavailable},
	{"a gateway whose server is down", answer(502, "<html>Bad Gateway</html>"), authresilience.ClassUnavailable},
	{"etcd elects a leader", plain(500, "etcdserver: leader changed"), authresilience.ClassUnavailable},
	{"etcd has no leader", plain(500, "etcdserver: no leader"), authresilience.ClassUnavailable},
	{"a fault", apierrors.NewInternalError(said("nil pointer")), authresilience.ClassServerFault},
	{"a fault without a reason", plain(500, "something broke"), authresilience.ClassServerFault},
	{"a fault that mentions a webhook's name", plain(500, `object "failed calling webhook" broke`), authresilience.ClassServerFault},
	{"the stored object is at fault, not the manifest", plain(500, `failed to create typed live object (default/x; /v1, Kind=ConfigMap): .data: expected map, got &{x}`), authresilience.ClassServerFault},
	{"a stored object that can't be read", denied(500, metav1.StatusReasonStoreReadError, "failed to decode"), authresilience.ClassServerFault},
	{"a 500 page of a proxy", answer(500, "<html>"), authresilience.ClassServerFault},
	{"a redirect that client-go did not follow", answer(302, ""), authresilience.ClassUnexpectedResponse},
	{"a 400 page of a proxy", answer(400, "<html>"), authresilience.ClassUnexpectedResponse},
	{"a proxy that wants a password", answer(407, "<html>"), authresilience.ClassUnexpectedResponse},
	{"http to an https port", answer(400, "Client sent an HTTP request to an HTTPS server."), authresilience.ClassTLS},
	{"a status that says nothing", &apierrors.StatusError{}, authresilience.ClassUnknown},
}

var transportRows = []row{
	{"refused", get(&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", said("connection refused"))}), authresilience.ClassConnection},
	{"no such host", get(&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "k8s", IsNotFound: true}}), authresilience.ClassConnection},
	{"a dial that timed out", get(&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "i/o timeout", Name: "k8s", IsTimeout: true}}), authresilience.ClassTimeout},
	{"closed in the middle", get(io.EOF), authresilience.ClassConnection},
	{"a truncated body", fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", io.ErrUnexpectedEOF), authresilience.ClassConnection},
	{"HTTP/2 lost, in the middle of a body", fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", said("http2: server sent GOAWAY and closed the connection")), authresilience.ClassConnection},
	{"HTTP/2 lost", get(said("http2: client connection lost")), authresilience.ClassConnection},
	{"HTTP/2 stream reset", fmt.Errorf("stream error when reading response body, may be caused by closed connection. Please retry. Original error: %w", said("stream error: stream ID 3; INTERNAL_ERROR")), authresilience.ClassConnection},
	{"broken off, while others are answered", &authresilience.BrokenOffError{Err: get(io.EOF)}, authresilience.ClassBrokenOff},
	{"anything else that net/http's client reports", get(said("malformed HTTP response")), authresilience.ClassConnection},
	{"the caller's deadline", get(context.DeadlineExceeded), authresilience.ClassTimeout},
	{"the caller gave up", get(context.Canceled), authresilience.ClassCanceled},
	{"client-side throttle: the deadline", fmt.Errorf("client rate limiter Wait returned an error: %w", context.DeadlineExceeded), authresilience.ClassTimeout},
	{"client-side throttle: it can't make it", fmt.Errorf("client rate limiter Wait returned an error: %w", said("rate: Wait(n=1) would exceed context deadline")), authresilience.ClassTimeout},
	{"client-side throttle: canceled", fmt.Errorf("client rate limiter Wait returned an error: %w", context.Canceled), authresilience.ClassCanceled},
	{"https to an http port", get(http.ErrSchemeMismatch), authresilience.ClassTLS},
	{"an alert that isn't about the client's certificate", get(remoteAlert("tls: handshake failure")), authresilience.ClassTLS},
	{"an alert of this side", get(&net.OpError{Op: "local error", Err: said("tls: bad record MAC")}), authresilience.ClassTLS},
	{"a TLS error without a type", get(said("tls: server selected unsupported protocol version 301")), authresilience.ClassTLS},
	{"a certificate error without a type", get(said("x509: certificate signed by unknown authority")), authresilience.ClassTLS},
	{"too many redirects", get(said("stopped after 10 redirects")), authresilience.ClassUnexpectedResponse},
	{"a redirect to nowhere", get(said(`failed to parse Location header "%zz": parse "%zz": invalid URL escape "%zz"`)), authresilience.ClassUnexpectedResponse},
	{"a login page", said("serializer for text/html doesn't exist"), authresilience.ClassUnexpectedResponse},
	{"no body", said("0-length response with status code: 200 and content type: application/json"), authresilience.ClassUnexpectedResponse},
	{"half an object", said("couldn't get version/kind; json parse error: unexpected end of JSON input"), authresilience.ClassUnexpectedResponse},
}

var clientRows = []row{
	{"exec: not installed", execError("exec: executable aws not found\n\nIt looks like you are trying to use a client-go credential plugin that is not installed."), authresilience.ClassCredentialPlugin},
	{"exec: failed", execError("exec: executable aws failed with exit code 255"), authresilience.ClassCredentialPlugin},
	{"exec: unreadable output", execError("decoding stdout: couldn't get version/kind; json parse error: invalid character 'E'"), authresilience.ClassCredentialPlugin},
	{"exec: when a certificate is asked for", get(said("exec: executable aws failed with exit code 1")), authresilience.ClassCredentialPlugin},
	{"exec: configured wrongly", said(`exec plugin: invalid apiVersion "client.authentication.k8s.io/v1alpha1"`), authresilience.ClassCredentialPlugin},
	{"exec: its output mentions a 401", execError("decoding stdout: Unauthorized"), authresilience.ClassCredentialPlugin},
	{"oidc: no refresh token", get(said("No valid id-token, and cannot refresh without refresh-token")), authresilience.ClassCredentialPlugin},
	{"oidc: refused", get(said("failed to refresh token: oauth2: cannot fetch token: 400 Bad Request")), authresilience.ClassCredentialPlugin},
	{"oauth2", get(said("oauth2: token expired and refresh token is not set")), authresilience.ClassCredentialPlugin},
	{"an unknown provider", said(`no Auth Provider found for name "gcp"`), authresilience.ClassCredentialPlugin},
	{"a removed provider: gcp", said("The gcp auth plugin has been removed."), authresilience.ClassCredentialPlugin},
	{"a removed provider: azure", said("The azure auth plugin has been removed."), authresilience.ClassCredentialPlugin},
	{"token file: missing", said(`failed to read token file "/no": open /no: no such file or directory`), authresilience.ClassConfiguration},
	{"token file: empty", said(`read empty token from file "/empty"`), authresilience.ClassConfiguration},
	{"CA file: broken", fmt.Errorf("unable to load root certificates: %w", said("unable to parse bytes as PEM block")), authresilience.ClassConfiguration},
	{"CA file: a key", fmt.Errorf("unable to load root certificates: %w", said("no valid certificate authority data seen")), authresilience.ClassConfiguration},
	{"a proxy whose address is none", said("could not parse: http://["), authresilience.ClassConfiguration},
	{"a proxy that is none", said(`unsupported scheme "ftp", must be http, https, or socks5`), authresilience.ClassConfiguration},
	{"an address with a port that is none", said(`host must be a URL or a host:port pair: "http://["`), authresilience.ClassConfiguration},
	{"certificate: broken", said("tls: failed to find any PEM data in certificate input"), authresilience.ClassConfiguration},
	{"certificate: of another key", said("tls: private key does not match public key"), authresilience.ClassConfiguration},
	{"a file of the kubeconfig: missing", &os.PathError{Op: "open", Path: "/no", Err: os.ErrNotExist}, authresilience.ClassConfiguration},
	{"password and token", said("username/password or bearer token may be set, but not both"), authresilience.ClassConfiguration},
	{"two plugins", said("execProvider and authProvider cannot be used in combination"), authresilience.ClassConfiguration},
	{"a CA and insecure", said("specifying a root certificates file with the insecure flag is not allowed"), authresilience.ClassConfiguration},
	{"no kubeconfig", said("invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable"), authresilience.ClassConfiguration},
	{"not in a cluster", rest.ErrNotInCluster, authresilience.ClassConfiguration},
	{"a token with a line break", get(said(`net/http: invalid header field value for "Authorization"`)), authresilience.ClassConfiguration},
	{"an address without a scheme", get(said(`unsupported protocol scheme ""`)), authresilience.ClassConfiguration},
	{"an address that is none", &url.Error{Op: "parse", URL: "http://[", Err: said("missing ']' in host")}, authresilience.ClassConfiguration},
	{"the words of an alert from somewhere else", get(&net.OpError{Op: "read", Net: "tcp", Err: said("tls: bad certificate")}), authresilience.ClassTLS},
	{"a wrapper's own words don't count, and what it wraps says nothing", fmt.Errorf("tls: %w", said("?")), authresilience.ClassUnknown},
	{"an error of the caller", said("out of coffee"), authresilience.ClassUnknown},
}

// Types that the mapper does not know, alone and together with what discovery said.
var (
	widgetV1    = schema.GroupVersion{Group: "ex.io", Version: "v1"}
	metricsV1   = schema.GroupVersion{Group: "metrics.k8s.io", Version: "v1beta1"}
	noWidgetV1  = &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "ex.io", Kind: "Widget"}, SearchedVersions: []string{"v1"}}
	noWidget    = &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "ex.io", Kind: "Widget"}}
	noConfigMap = &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "ConfigMap"}, SearchedVersions: []string{"v1"}}
)

// manyGroups returns the discovery errors of twenty groups that no row asks for, and of the group of Widget.
func manyGroups() map[schema.GroupVersion]error {
	groups := map[schema.GroupVersion]error{widgetV1: answer(503, "")}
	for i := range 20 {
		groups[schema.GroupVersion{Group: fmt.Sprintf("g%d.io", i), Version: "v1"}] = answer(401, "unknown")
	}
	return groups
}

// ErrGroupDiscoveryFailed has the name of discovery's error, and nothing else of it.
type ErrGroupDiscoveryFailed struct{}

func (*ErrGroupDiscoveryFailed) Error() string { return "?" }

var discoveryRows = []row{
	{"a kind that isn't installed", noWidgetV1, authresilience.ClassTypeNotServed},
	{"a resource that isn't installed", &meta.NoResourceMatchError{PartialResource: widgets.WithVersion("v1")}, authresilience.ClassTypeNotServed},
	{"a group that is refused", groupsFailed(map[schema.GroupVersion]error{widgetV1: apierrors.NewUnauthorized("Unauthorized")}), authresilience.ClassAuthentication},
	{"a group that doesn't answer", groupsFailed(map[schema.GroupVersion]error{widgetV1: get(io.EOF)}), authresilience.ClassConnection},
	{"a group whose server is down", groupsFailed(map[schema.GroupVersion]error{metricsV1: answer(503, "service unavailable")}), authresilience.ClassUnavailable},
	{"a group that is no longer served", groupsFailed(map[schema.GroupVersion]error{widgetV1: answer(404, "404 page not found")}), authresilience.ClassTypeNotServed},
	{"a group that failed for reasons unknown", groupsFailed(map[schema.GroupVersion]error{widgetV1: said("?")}), authresilience.ClassDiscoveryFailed},
	{"a group that is stale (aggregated discovery)", groupsFailed(map[schema.GroupVersion]error{widgetV1: discovery.StaleGroupVersionError{}}), authresilience.ClassDiscoveryFailed},
	{"stale, by itself", discovery.StaleGroupVersionError{}, authresilience.ClassDiscoveryFailed},
	{"a failure that names no group", groupsFailed(nil), authresilience.ClassDiscoveryFailed},
	{"a group that is refused, as controller-runtime reports it", &groupErrors{widgetV1: answer(401, "unknown")}, authresilience.ClassAuthentication},
	{"a group that isn't installed, as controller-runtime reports it", &groupErrors{widgetV1: answer(404, "404 page not found")}, authresilience.ClassTypeNotServed},
	{"several groups: the first in order decides", groupsFailed(map[schema.GroupVersion]error{metricsV1: answer(503, ""), widgetV1: answer(403, "unknown")}), authresilience.ClassAuthorization},
	{"no such kind, and its group failed", errors.Join(noWidgetV1, groupsFailed(map[schema.GroupVersion]error{widgetV1: said("?")})), authresilience.ClassDiscoveryFailed},
	{"no such kind, and its group was refused", errors.Join(noWidgetV1, groupsFailed(map[schema.GroupVersion]error{widgetV1: answer(401, "unknown")})), authresilience.ClassAuthentication},
	{"no such kind, and another group failed", errors.Join(noWidgetV1, groupsFailed(map[schema.GroupVersion]error{metricsV1: answer(401, "unknown")})), authresilience.ClassTypeNotServed},
	{"no such kind, and another version of its group failed", errors.Join(noWidgetV1, groupsFailed(map[schema.GroupVersion]error{{Group: "ex.io", Version: "v2"}: answer(503, "")})), authresilience.ClassTypeNotServed},
	{"no such kind in any version, and one of its group failed", errors.Join(noWidget, groupsFailed(map[schema.GroupVersion]error{{Group: "ex.io", Version: "v2"}: answer(503, "")})), authresilience.ClassUnavailable},
	{"no such kind, and its group failed beside many others", errors.Join(noWidgetV1, groupsFailed(manyGroups())), authresilience.ClassUnavailable},
	{"an error of another package that is called like discovery's", &ErrGroupDiscoveryFailed{}, authresilience.ClassUnknown},
	{"no such kind of the core group, and another group's v1 failed", errors.Join(noConfigMap, groupsFailed(map[schema.GroupVersion]error{widgetV1: answer(503, "")})), authresilience.ClassTypeNotServed},
	{"no such resource of an unknown group, and some group failed", errors.Join(&meta.NoResourceMatchError{PartialResource: schema.GroupVersionResource{Resource: "widgets"}}, groupsFailed(map[schema.GroupVersion]error{metricsV1: answer(503, "")})), authresilience.ClassUnavailable},
	{"no such kind, and all of discovery was refused", errors.Join(noWidgetV1, answer(401, "unknown")), authresilience.ClassAuthentication},
}

var wrappedRows = []row{
	{"the mapper's error, wrapped", fmt.Errorf("failed to get resource info for v1/ConfigMap: %w", apierrors.NewUnauthorized("Unauthorized")), authresilience.ClassAuthentication},
	{"the mapper's error, of which only the text was kept", fmt.Errorf("failed to get resource info for v1/ConfigMap: %v", apierrors.NewUnauthorized("Unauthorized")), authresilience.ClassAuthentication},
	{"client-go's 401, of which only the text was kept", said("refresh: the server has asked for the client to provide credentials"), authresilience.ClassAuthentication},
	{"a typed client's 401, of which only the text was kept", said("refresh: the server has asked for the client to provide credentials (get configmaps x)"), authresilience.ClassAuthentication},
	{"RBAC, of which only the text was kept", fmt.Errorf("refresh: %v", forbidden(rbac)), authresilience.ClassAuthorization},
	{"a text in which the word is only a part", said("field owner: Unauthorized user"), authresilience.ClassUnknown},
	{"a text in which the word is quoted", said(`configmaps "Unauthorized" not found`), authresilience.ClassUnknown},
	{"a text that ends in a quoted name", said(`no such widget "a: Unauthorized"`), authresilience.ClassUnknown},
	{"a text in which RBAC's sentence is quoted", fmt.Errorf("no such user %q", "forbidden: "+rbac), authresilience.ClassUnknown},
	{"authentication before connection", errors.Join(get(io.EOF), apierrors.NewUnauthorized("Unauthorized")), authresilience.ClassAuthentication},
	{"any failure before not found", errors.Join(apierrors.NewNotFound(configMaps, "x"), get(io.EOF)), authresilience.ClassConnection},
	{"a sentinel of the caller says nothing", fmt.Errorf("%w: %w", said("refresh failed"), apierrors.NewNotFound(configMaps, "x")), authresilience.ClassNotFound},
	{"apimachinery's aggregate, which has no Unwrap", utilerrors.NewAggregate([]error{said("?"), apierrors.NewUnauthorized("Unauthorized")}), authresilience.ClassAuthentication},
	{"an attempt that was repeated: the last one counts", retried{apierrors.NewServiceUnavailable("down"), apierrors.NewUnauthorized("Unauthorized")}, authresilience.ClassUnavailable},
	{"a nil pointer in an error's clothes", (*apierrors.StatusError)(nil), authresilience.ClassNone},
	{"a wrapper around nothing", get(nil), authresilience.ClassConnection},
}

// retried is client-go's wrapPreviousError: Unwrap gives the last error only.
type retried struct{ current, previous error }

func (r retried) Unwrap() error { return r.current }
func (r retried) Error() string {
	return fmt.Sprintf("%s - error from a previous attempt: %s", r.current, r.previous)
}

func allRows() []row {
	var rows []row
	for _, group := range [][]row{identityRows, admissionRows, requestRows, serverRows, transportRows, clientRows, discoveryRows, wrappedRows} {
		rows = append(rows, group...)
	}
	return rows
}

func TestClassify(t *testing.T) {
	for _, r := range allRows() {
		t.Run(r.why, func(t *testing.T) {
			assert.Equal(t, r.want, authresilience.Classify(r.err), "%v", r.err)
		})
	}
}

// The type is enough: errors of crypto/x509 and net that are made by hand may have no text, and panic when asked for
// it.
func TestTypesComeBeforeTexts(t *testing.T) {
	assert.Equal(t, authresilience.ClassTLS, authresilience.Classify(get(x509.HostnameError{})))
	assert.Equal(t, authresilience.ClassTLS, authresilience.Classify(get(&net.OpError{Op: "remote error", Net: "tcp"})))
}

// TestEveryClassIsShown keeps the table complete.
func TestEveryClassIsShown(t *testing.T) {
	shown := map[authresilience.Class]bool{}
	for _, r := range allRows() {
		shown[r.want] = true
	}
	for _, class := range authresilience.Classes() {
		assert.True(t, shown[class], "no row shows class %s", class)
	}
}
