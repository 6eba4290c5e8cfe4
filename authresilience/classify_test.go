package authresilience_test

import (
	"context"
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
	{"nothing failed", nil, authresilience.None},
	{"kube-apiserver's 401", apierrors.NewUnauthorized("Unauthorized"), authresilience.Authentication},
	{"a 401 without a reason, told by its code", plain(401, "Unauthorized"), authresilience.Authentication},
	{"a 401 that discovery didn't decode, or of a proxy", answer(401, "unknown"), authresilience.Authentication},
	{"a 401 in HTML", answer(401, "<html>Please log in</html>"), authresilience.Authentication},
	{"a 401 without a body", answer(401, ""), authresilience.Authentication},
	{"RBAC: in a namespace", apierrors.NewForbidden(configMaps, "x", said(rbac)), authresilience.Authorization},
	{"RBAC: with the reason of an authorizer", apierrors.NewForbidden(configMaps, "x", said(rbac+`: requires one of ["container.configMaps.get"] permission(s).`)), authresilience.Authorization},
	{"RBAC: a list, which has no name", apierrors.NewForbidden(configMaps, "", said(`User "alice" cannot list resource "configmaps" in API group "" at the cluster scope`)), authresilience.Authorization},
	{"RBAC: a subresource", forbidden(`User "alice" cannot get resource "pods/log" in API group "" in the namespace "default"`), authresilience.Authorization},
	{"RBAC: a path", apierrors.NewForbidden(schema.GroupResource{}, "", said(`User "u" cannot get path "/apis"`)), authresilience.Authorization},
	{"RBAC: impersonation, classic", apierrors.NewForbidden(schema.GroupResource{Resource: "users"}, "bob", said(`User "alice" cannot impersonate resource "users" in API group "" at the cluster scope`)), authresilience.Authorization},
	{"RBAC: impersonation, constrained (1.36)", apierrors.NewForbidden(pods, "", said(`User "alice" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "default"`)), authresilience.Authorization},
	{"RBAC: rights that the user hasn't", forbidden(`user "alice" (groups=["a" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:` + "\n" + `{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}`), authresilience.Authorization},
	{"RBAC: an aggregation rule", forbidden(`must have cluster-admin privileges to use the aggregationRule`), authresilience.Authorization},
	{"a user whose name looks like a quota's message", forbidden(`User "exceeded quota: q" cannot get resource "pods" in API group "" in the namespace "default"`), authresilience.Authorization},
	{"a user whose name has quotes in it", forbidden(`User "a\" cannot get" cannot get resource "pods" in API group "" in the namespace "default"`), authresilience.Authorization},
	{"a 403 that discovery didn't decode", answer(403, "unknown"), authresilience.Authorization},
	{"a 403 of a gateway, in HTML", answer(403, "<html>Access denied</html>"), authresilience.Authorization},
	{"a 403 without a body", answer(403, ""), authresilience.Authorization},
	{"anonymous", apierrors.NewForbidden(configMaps, "x", said(`User "system:anonymous" cannot get resource "configmaps" in API group "" in the namespace "default"`)), authresilience.Anonymous},
	{"anonymous: a path", apierrors.NewForbidden(schema.GroupResource{}, "", said(`User "system:anonymous" cannot get path "/api"`)), authresilience.Anonymous},
	{"not anonymous, but named like it", forbidden(`User "system:anonymous2" cannot get resource "pods" in API group "" in the namespace "default"`), authresilience.Authorization},
	{"a load balancer that demands client certificates: expired", get(remoteAlert("tls: expired certificate")), authresilience.Authentication},
	{"a load balancer that demands client certificates: none sent", get(remoteAlert("tls: certificate required")), authresilience.Authentication},
	{"a load balancer that demands client certificates: of another authority", get(remoteAlert("tls: unknown certificate authority")), authresilience.Authentication},
	{"a read that was not sent", (authresilience.Diagnosis{Findings: []authresilience.Finding{{Validity: authresilience.Expired}}}).Err(), authresilience.Authentication},
}

func remoteAlert(text string) error {
	return &net.OpError{Op: "remote error", Net: "tcp", Err: said(text)} // the type of the alert is unexported
}

var admissionRows = []row{
	{"a namespace that is being deleted, told by its cause", terminating("unable to create new content in namespace ns because it is being terminated"), authresilience.NamespaceTerminating},
	{"quota: full", forbidden(`exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`), authresilience.Quota},
	{"quota: values missing", forbidden(`failed quota: q: must specify requests.cpu for: c`), authresilience.Quota},
	{"quota: not counted yet", forbidden(`status unknown for quota: q, resources: pods`), authresilience.Quota},
	{"quota: none covers it", forbidden(`insufficient quota to consume: pods`), authresilience.Quota},
	{"quota: negative", forbidden(`quota usage is negative for resource(s): pods`), authresilience.Quota},
	{"a quota whose name looks like RBAC", forbidden(`exceeded quota: User "x" cannot get resource, requested: pods=1`), authresilience.Quota},
	{"pod security", forbidden(`violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`), authresilience.PodSecurity},
	{"limit range: above", forbidden(`maximum cpu usage per Container is 1, but limit is 2`), authresilience.LimitRange},
	{"limit range: below", forbidden(`minimum memory usage per Pod is 1Gi, but request is 1Mi`), authresilience.LimitRange},
	{"limit range: ratio", forbidden(`cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000`), authresilience.LimitRange},
	{"limit range: several", forbidden(`[maximum cpu usage per Container is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi]`), authresilience.LimitRange},
	{"a claim that isn't bound", forbidden(`Only bound persistent volume claims can be expanded`), authresilience.Resize},
	{"a storage class without expansion", forbidden(`only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`), authresilience.Resize},
	{"a policy: Invalid by default", denied(422, metav1.StatusReasonInvalid, `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: failed expression: false`), authresilience.Policy},
	{"a policy: Forbidden by choice", denied(403, metav1.StatusReasonForbidden, `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`), authresilience.Policy},
	{"a policy that quotes RBAC", denied(403, metav1.StatusReasonForbidden, `configmaps "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `+rbac), authresilience.Policy},
	{"a mutating policy that failed", forbidden(`admission request denied by policy`), authresilience.Policy},
	{"a webhook: 403", denied(403, metav1.StatusReasonForbidden, `admission webhook "w.ex.io" denied the request: not here`), authresilience.Webhook},
	{"a webhook: 400 without a reason", plain(400, `admission webhook "w.ex.io" denied the request without explanation`), authresilience.Webhook},
	{"a webhook that says 401", denied(401, metav1.StatusReasonUnauthorized, `admission webhook "w.ex.io" denied the request: Unauthorized`), authresilience.Webhook},
	{"a webhook that says 404", denied(404, metav1.StatusReasonNotFound, `admission webhook "w.ex.io" denied the request: secrets "s" not found`), authresilience.Webhook},
	{"a webhook that says 429", denied(429, metav1.StatusReasonTooManyRequests, `admission webhook "w.ex.io" denied the request: slow down`), authresilience.Webhook},
	{"a webhook that is down", apierrors.NewInternalError(said(`failed calling webhook "w.ex.io": failed to call webhook: Post "https://127.0.0.1:1/?timeout=2s": dial tcp 127.0.0.1:1: connect: connection refused`)), authresilience.WebhookUnreachable},
	{"a conversion webhook that is down, when reading", plain(500, `conversion webhook for ex.io/v1, Kind=Widget failed: Post "https://127.0.0.1:1/?timeout=30s": dial tcp 127.0.0.1:1: connect: connection refused`), authresilience.WebhookUnreachable},
	{"a conversion webhook that is down, when applying", plain(500, `failed to convert new object (default/w; ex.io/v2, Kind=Widget) to proper version (ex.io/v1): conversion webhook for ex.io/v2, Kind=Widget failed: EOF`), authresilience.WebhookUnreachable},
	{"a conversion webhook that is down, with an object that is there", plain(500, `failed to convert live object (default/w; ex.io/v2, Kind=Widget) to proper version: conversion webhook for ex.io/v1, Kind=Widget failed: EOF`), authresilience.WebhookUnreachable},
	{"another admission plugin", forbidden(`no PriorityClass with name high was found`), authresilience.Admission},
	{"the service account plugin", forbidden(`error looking up service account default/sa: serviceaccount "sa" not found`), authresilience.Admission},
	{"a server that has only just started", forbidden(`not yet ready to handle request`), authresilience.Unavailable},
	{"a 403 with a text that isn't the server's", denied(403, metav1.StatusReasonForbidden, "[00] access denied"), authresilience.Forbidden},
	{"a 403 in which the words stand in the wrong place", denied(403, metav1.StatusReasonForbidden, "we say it is forbidden: "+rbac), authresilience.Forbidden},
	{"an object whose name looks like a policy's denial", apierrors.NewForbidden(schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "roles"}, `a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: `, said(rbac)), authresilience.Authorization},
}

func terminating(text string) error {
	err := apierrors.NewForbidden(configMaps, "x", said(text))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: "NamespaceTerminating", Message: "namespace ns is being terminated", Field: "metadata.namespace"}}
	return err
}

var requestRows = []row{
	{"no such object", apierrors.NewNotFound(configMaps, "x"), authresilience.NotFound},
	{"no such namespace", apierrors.NewNotFound(namespaces, "x"), authresilience.NamespaceNotFound},
	{"an object that is named like the namespaces' resource", apierrors.NewNotFound(configMaps, "namespaces"), authresilience.NotFound},
	{"another group's kind with the plural of namespaces", apierrors.NewNotFound(schema.GroupResource{Group: "ex.io", Resource: "namespaces"}, "x"), authresilience.NotFound},
	{"a type that the server doesn't serve", answer(404, "404 page not found"), authresilience.TypeNotServed},
	{"the same, of which only the message was kept", denied(404, metav1.StatusReasonNotFound, "the server could not find the requested resource"), authresilience.TypeNotServed},
	{"a 404 page of a proxy", answer(404, "<html>Not Found</html>"), authresilience.UnexpectedResponse},
	{"a 404 without a body", answer(404, ""), authresilience.UnexpectedResponse},
	{"a 404 that names no object", denied(404, metav1.StatusReasonNotFound, "not found"), authresilience.UnexpectedResponse},
	{"an object named like the page", apierrors.NewNotFound(configMaps, "404 page not found"), authresilience.NotFound},
	{"field ownership", apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Field: ".data.a", Message: `conflict with "m"`}}, "Apply failed with 1 conflict"), authresilience.Conflict},
	{"a resourceVersion that is behind", apierrors.NewConflict(configMaps, "x", said("the object has been modified")), authresilience.Outdated},
	{"a quota that was updated by others too often", apierrors.NewConflict(schema.GroupResource{Resource: "resourcequotas"}, "q", said("the object has been modified")), authresilience.Outdated},
	{"a continuation that is too old", apierrors.NewResourceExpired("too old resource version"), authresilience.Outdated},
	{"gone", apierrors.NewGone("gone"), authresilience.Outdated},
	{"there already", apierrors.NewAlreadyExists(configMaps, "x"), authresilience.AlreadyExists},
	{"a 409 of a proxy", answer(409, "<html>"), authresilience.UnexpectedResponse},
	{"validation", apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", field.ErrorList{field.Required(field.NewPath("spec", "containers"), "")}), authresilience.Invalid},
	{"an immutable field", apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "d", field.ErrorList{field.Invalid(field.NewPath("spec", "selector"), nil, "field is immutable")}), authresilience.Invalid},
	{"options of the request", apierrors.NewInvalid(schema.GroupKind{Group: "meta.k8s.io", Kind: "PatchOptions"}, "", field.ErrorList{field.Required(field.NewPath("fieldManager"), "is required for apply patch")}), authresilience.BadRequest},
	{"a 422 of a proxy", answer(422, "<html>"), authresilience.UnexpectedResponse},
	{"a health check port that is taken", apierrors.NewInternalError(said("failed to allocate requested HealthCheck NodePort 31000: provided port is already allocated")), authresilience.Invalid},
	{"schema: an unknown field", plain(500, `failed to create typed patch object (default/x; /v1, Kind=ConfigMap): .dataa: field not declared in schema`), authresilience.InvalidManifest},
	{"schema: a value that quotes RBAC", plain(500, `failed to create typed patch object (default/x; /v1, Kind=ConfigMap): .data.a: expected map, got &{is forbidden: `+rbac+`}`), authresilience.InvalidManifest},
	{"schema: the result can't be converted", plain(500, `failed to convert new typed object (default/x; /v1, Kind=ConfigMap) to object: error`), authresilience.InvalidManifest},
	{"schema: merging", plain(500, `failed to merge config: error`), authresilience.InvalidManifest},
	{"a resourceVersion that is no number", plain(500, `strconv.ParseUint: parsing "abc": invalid syntax`), authresilience.InvalidManifest},
	{"a resourceVersion on an object to be created", plain(500, `resourceVersion should not be set on objects to be created`), authresilience.InvalidManifest},
	{"not YAML", apierrors.NewBadRequest("error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected ',' or '}'"), authresilience.InvalidManifest},
	{"a YAML key twice", apierrors.NewBadRequest("error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key \"a\" already set in map"), authresilience.InvalidManifest},
	{"an unknown field in a POST", apierrors.NewBadRequest(`ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dataa"`), authresilience.InvalidManifest},
	{"another kind than the address has", apierrors.NewBadRequest("invalid object type: /v1, Kind=Secret"), authresilience.InvalidManifest},
	{"another version than the address has", apierrors.NewBadRequest("Incorrect version specified in apply patch. Specified version: v2, expected: v1"), authresilience.InvalidManifest},
	{"managedFields in the manifest", apierrors.NewBadRequest("metadata.managedFields must be nil"), authresilience.InvalidManifest},
	{"a name that isn't that of the address", apierrors.NewBadRequest("the name of the object (a) does not match the name on the URL (b)"), authresilience.BadRequest},
	{"a method that the resource hasn't", apierrors.NewMethodNotSupported(configMaps, "patch"), authresilience.BadRequest},
	{"a body that is too large", apierrors.NewRequestEntityTooLargeError("limit is 3145728"), authresilience.TooLarge},
	{"a body that is too large for nginx", answer(413, "<html>"), authresilience.TooLarge},
	{"an object that is too large for etcd", plain(500, "etcdserver: request is too large"), authresilience.TooLarge},
	{"an object that is too large for the connection to etcd", plain(500, "rpc error: code = ResourceExhausted desc = trying to send message larger than max (3000000 vs. 2097152)"), authresilience.TooLarge},
}

var serverRows = []row{
	{"overload", answer(429, "Too many requests, please try again later."), authresilience.Throttled},
	{"overload, as a Status", apierrors.NewTooManyRequests("slow down", 1), authresilience.Throttled},
	{"overload of etcd", plain(500, "etcdserver: too many requests"), authresilience.Throttled},
	{"the server asks to try again", apierrors.NewServerTimeout(configMaps, "create", 1), authresilience.Timeout},
	{"the server ran out of time", apierrors.NewTimeoutError("request did not complete within requested timeout - context deadline exceeded", 0), authresilience.Timeout},
	{"a gateway ran out of time", answer(504, "<html>"), authresilience.Timeout},
	{"etcd ran out of time", plain(500, "etcdserver: request timed out"), authresilience.Timeout},
	{"the server's own context ended", plain(500, "context deadline exceeded"), authresilience.Timeout},
	{"the quota controller ran out of time", apierrors.NewInternalError(said("resource quota evaluation timed out")), authresilience.Timeout},
	{"the server is going down", apierrors.NewServiceUnavailable("apiserver is shutting down"), authresilience.Unavailable},
	{"an aggregated API server is down", answer(503, "service unavailable"), authresilience.Unavailable},
	{"a gateway whose server is down", answer(502, "<html>Bad Gateway</html>"), authresilience.Unavailable},
	{"etcd elects a leader", plain(500, "etcdserver: leader changed"), authresilience.Unavailable},
	{"etcd has no leader", plain(500, "etcdserver: no leader"), authresilience.Unavailable},
	{"a fault", apierrors.NewInternalError(said("nil pointer")), authresilience.ServerFault},
	{"a fault without a reason", plain(500, "something broke"), authresilience.ServerFault},
	{"a fault that mentions a webhook's name", plain(500, `object "failed calling webhook" broke`), authresilience.ServerFault},
	{"the stored object is at fault, not the manifest", plain(500, `failed to create typed live object (default/x; /v1, Kind=ConfigMap): .data: expected map, got &{x}`), authresilience.ServerFault},
	{"a stored object that can't be read", denied(500, metav1.StatusReasonStoreReadError, "failed to decode"), authresilience.ServerFault},
	{"a 500 page of a proxy", answer(500, "<html>"), authresilience.ServerFault},
	{"a redirect that client-go did not follow", answer(302, ""), authresilience.UnexpectedResponse},
	{"a 400 page of a proxy", answer(400, "<html>"), authresilience.UnexpectedResponse},
	{"a proxy that wants a password", answer(407, "<html>"), authresilience.UnexpectedResponse},
	{"http to an https port", answer(400, "Client sent an HTTP request to an HTTPS server."), authresilience.TLS},
	{"a status that says nothing", &apierrors.StatusError{}, authresilience.Unknown},
}

var transportRows = []row{
	{"refused", get(&net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", said("connection refused"))}), authresilience.Connection},
	{"no such host", get(&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "k8s", IsNotFound: true}}), authresilience.Connection},
	{"a dial that timed out", get(&net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "i/o timeout", Name: "k8s", IsTimeout: true}}), authresilience.Timeout},
	{"closed in the middle", get(io.EOF), authresilience.Connection},
	{"a truncated body", fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", io.ErrUnexpectedEOF), authresilience.Connection},
	{"HTTP/2 lost, in the middle of a body", fmt.Errorf("unexpected error when reading response body. Please retry. Original error: %w", said("http2: server sent GOAWAY and closed the connection")), authresilience.Connection},
	{"HTTP/2 lost", get(said("http2: client connection lost")), authresilience.Connection},
	{"HTTP/2 stream reset", fmt.Errorf("stream error when reading response body, may be caused by closed connection. Please retry. Original error: %w", said("stream error: stream ID 3; INTERNAL_ERROR")), authresilience.Connection},
	{"anything else that net/http's client reports", get(said("malformed HTTP response")), authresilience.Connection},
	{"the caller's deadline", get(context.DeadlineExceeded), authresilience.Timeout},
	{"the caller gave up", get(context.Canceled), authresilience.Canceled},
	{"client-side throttle: the deadline", fmt.Errorf("client rate limiter Wait returned an error: %w", context.DeadlineExceeded), authresilience.Timeout},
	{"client-side throttle: it can't make it", fmt.Errorf("client rate limiter Wait returned an error: %w", said("rate: Wait(n=1) would exceed context deadline")), authresilience.Timeout},
	{"client-side throttle: canceled", fmt.Errorf("client rate limiter Wait returned an error: %w", context.Canceled), authresilience.Canceled},
	{"https to an http port", get(http.ErrSchemeMismatch), authresilience.TLS},
	{"an alert that isn't about the client's certificate", get(remoteAlert("tls: handshake failure")), authresilience.TLS},
	{"an alert of this side", get(&net.OpError{Op: "local error", Err: said("tls: bad record MAC")}), authresilience.TLS},
	{"a TLS error without a type", get(said("tls: server selected unsupported protocol version 301")), authresilience.TLS},
	{"a certificate error without a type", get(said("x509: certificate signed by unknown authority")), authresilience.TLS},
	{"too many redirects", get(said("stopped after 10 redirects")), authresilience.UnexpectedResponse},
	{"a login page", said("serializer for text/html doesn't exist"), authresilience.UnexpectedResponse},
	{"no body", said("0-length response with status code: 200 and content type: application/json"), authresilience.UnexpectedResponse},
	{"half an object", said("couldn't get version/kind; json parse error: unexpected end of JSON input"), authresilience.UnexpectedResponse},
}

var clientRows = []row{
	{"exec: not installed", execError("exec: executable aws not found\n\nIt looks like you are trying to use a client-go credential plugin that is not installed."), authresilience.CredentialPlugin},
	{"exec: failed", execError("exec: executable aws failed with exit code 255"), authresilience.CredentialPlugin},
	{"exec: unreadable output", execError("decoding stdout: couldn't get version/kind; json parse error: invalid character 'E'"), authresilience.CredentialPlugin},
	{"exec: when a certificate is asked for", get(said("exec: executable aws failed with exit code 1")), authresilience.CredentialPlugin},
	{"exec: configured wrongly", said(`exec plugin: invalid apiVersion "client.authentication.k8s.io/v1alpha1"`), authresilience.CredentialPlugin},
	{"exec: its output mentions a 401", execError("decoding stdout: Unauthorized"), authresilience.CredentialPlugin},
	{"oidc: no refresh token", get(said("No valid id-token, and cannot refresh without refresh-token")), authresilience.CredentialPlugin},
	{"oidc: refused", get(said("failed to refresh token: oauth2: cannot fetch token: 400 Bad Request")), authresilience.CredentialPlugin},
	{"oauth2", get(said("oauth2: token expired and refresh token is not set")), authresilience.CredentialPlugin},
	{"an unknown provider", said(`no Auth Provider found for name "gcp"`), authresilience.CredentialPlugin},
	{"a removed provider: gcp", said("The gcp auth plugin has been removed."), authresilience.CredentialPlugin},
	{"a removed provider: azure", said("The azure auth plugin has been removed."), authresilience.CredentialPlugin},
	{"token file: missing", said(`failed to read token file "/no": open /no: no such file or directory`), authresilience.Configuration},
	{"token file: empty", said(`read empty token from file "/empty"`), authresilience.Configuration},
	{"CA file: broken", fmt.Errorf("unable to load root certificates: %w", said("unable to parse bytes as PEM block")), authresilience.Configuration},
	{"CA file: a key", fmt.Errorf("unable to load root certificates: %w", said("no valid certificate authority data seen")), authresilience.Configuration},
	{"an address with a port that is none", said(`host must be a URL or a host:port pair: "http://["`), authresilience.Configuration},
	{"certificate: broken", said("tls: failed to find any PEM data in certificate input"), authresilience.Configuration},
	{"certificate: of another key", said("tls: private key does not match public key"), authresilience.Configuration},
	{"a file of the kubeconfig: missing", &os.PathError{Op: "open", Path: "/no", Err: os.ErrNotExist}, authresilience.Configuration},
	{"password and token", said("username/password or bearer token may be set, but not both"), authresilience.Configuration},
	{"two plugins", said("execProvider and authProvider cannot be used in combination"), authresilience.Configuration},
	{"a CA and insecure", said("specifying a root certificates file with the insecure flag is not allowed"), authresilience.Configuration},
	{"no kubeconfig", said("invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable"), authresilience.Configuration},
	{"not in a cluster", rest.ErrNotInCluster, authresilience.Configuration},
	{"a token with a line break", get(said(`net/http: invalid header field value for "Authorization"`)), authresilience.Configuration},
	{"an address without a scheme", get(said(`unsupported protocol scheme ""`)), authresilience.Configuration},
	{"an address that is none", &url.Error{Op: "parse", URL: "http://[", Err: said("missing ']' in host")}, authresilience.Configuration},
	{"an error of the caller", said("out of coffee"), authresilience.Unknown},
}

// Types that the mapper does not know, alone and together with what discovery said.
var (
	widgetV1    = schema.GroupVersion{Group: "ex.io", Version: "v1"}
	metricsV1   = schema.GroupVersion{Group: "metrics.k8s.io", Version: "v1beta1"}
	noWidgetV1  = &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "ex.io", Kind: "Widget"}, SearchedVersions: []string{"v1"}}
	noWidget    = &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "ex.io", Kind: "Widget"}}
	noConfigMap = &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "ConfigMap"}, SearchedVersions: []string{"v1"}}
)

var discoveryRows = []row{
	{"a kind that isn't installed", noWidgetV1, authresilience.TypeNotServed},
	{"a resource that isn't installed", &meta.NoResourceMatchError{PartialResource: widgets.WithVersion("v1")}, authresilience.TypeNotServed},
	{"a group that is refused", groupsFailed(map[schema.GroupVersion]error{widgetV1: apierrors.NewUnauthorized("Unauthorized")}), authresilience.Authentication},
	{"a group that doesn't answer", groupsFailed(map[schema.GroupVersion]error{widgetV1: get(io.EOF)}), authresilience.Connection},
	{"a group whose server is down", groupsFailed(map[schema.GroupVersion]error{metricsV1: answer(503, "service unavailable")}), authresilience.Unavailable},
	{"a group that is no longer served", groupsFailed(map[schema.GroupVersion]error{widgetV1: answer(404, "404 page not found")}), authresilience.TypeNotServed},
	{"a group that failed for reasons unknown", groupsFailed(map[schema.GroupVersion]error{widgetV1: said("?")}), authresilience.DiscoveryFailed},
	{"a group that is stale (aggregated discovery)", groupsFailed(map[schema.GroupVersion]error{widgetV1: discovery.StaleGroupVersionError{}}), authresilience.DiscoveryFailed},
	{"stale, by itself", discovery.StaleGroupVersionError{}, authresilience.DiscoveryFailed},
	{"a failure that names no group", groupsFailed(nil), authresilience.DiscoveryFailed},
	{"a group that is refused, as controller-runtime reports it", &groupErrors{widgetV1: answer(401, "unknown")}, authresilience.Authentication},
	{"a group that isn't installed, as controller-runtime reports it", &groupErrors{widgetV1: answer(404, "404 page not found")}, authresilience.TypeNotServed},
	{"several groups: the first in order decides", groupsFailed(map[schema.GroupVersion]error{metricsV1: answer(503, ""), widgetV1: answer(403, "unknown")}), authresilience.Authorization},
	{"no such kind, and its group failed", errors.Join(noWidgetV1, groupsFailed(map[schema.GroupVersion]error{widgetV1: said("?")})), authresilience.DiscoveryFailed},
	{"no such kind, and its group was refused", errors.Join(noWidgetV1, groupsFailed(map[schema.GroupVersion]error{widgetV1: answer(401, "unknown")})), authresilience.Authentication},
	{"no such kind, and another group failed", errors.Join(noWidgetV1, groupsFailed(map[schema.GroupVersion]error{metricsV1: answer(401, "unknown")})), authresilience.TypeNotServed},
	{"no such kind, and another version of its group failed", errors.Join(noWidgetV1, groupsFailed(map[schema.GroupVersion]error{{Group: "ex.io", Version: "v2"}: answer(503, "")})), authresilience.TypeNotServed},
	{"no such kind in any version, and one of its group failed", errors.Join(noWidget, groupsFailed(map[schema.GroupVersion]error{{Group: "ex.io", Version: "v2"}: answer(503, "")})), authresilience.Unavailable},
	{"no such kind of the core group, and another group's v1 failed", errors.Join(noConfigMap, groupsFailed(map[schema.GroupVersion]error{widgetV1: answer(503, "")})), authresilience.TypeNotServed},
	{"no such resource of an unknown group, and some group failed", errors.Join(&meta.NoResourceMatchError{PartialResource: schema.GroupVersionResource{Resource: "widgets"}}, groupsFailed(map[schema.GroupVersion]error{metricsV1: answer(503, "")})), authresilience.Unavailable},
	{"no such kind, and all of discovery was refused", errors.Join(noWidgetV1, answer(401, "unknown")), authresilience.Authentication},
}

var wrappedRows = []row{
	{"the mapper's error, wrapped", fmt.Errorf("failed to get resource info for v1/ConfigMap: %w", apierrors.NewUnauthorized("Unauthorized")), authresilience.Authentication},
	{"the mapper's error, of which only the text was kept", fmt.Errorf("failed to get resource info for v1/ConfigMap: %v", apierrors.NewUnauthorized("Unauthorized")), authresilience.Authentication},
	{"client-go's 401, of which only the text was kept", said("refresh: the server has asked for the client to provide credentials"), authresilience.Authentication},
	{"a typed client's 401, of which only the text was kept", said("refresh: the server has asked for the client to provide credentials (get configmaps x)"), authresilience.Authentication},
	{"RBAC, of which only the text was kept", fmt.Errorf("refresh: %v", forbidden(rbac)), authresilience.Authorization},
	{"a text in which the word is only a part", said("field owner: Unauthorized user"), authresilience.Unknown},
	{"a text in which the word is quoted", said(`configmaps "Unauthorized" not found`), authresilience.Unknown},
	{"a text that ends in a quoted name", said(`no such widget "a: Unauthorized"`), authresilience.Unknown},
	{"a text in which RBAC's sentence is quoted", fmt.Errorf("no such user %q", "forbidden: "+rbac), authresilience.Unknown},
	{"authentication before connection", errors.Join(get(io.EOF), apierrors.NewUnauthorized("Unauthorized")), authresilience.Authentication},
	{"any failure before not found", errors.Join(apierrors.NewNotFound(configMaps, "x"), get(io.EOF)), authresilience.Connection},
	{"a sentinel of the caller says nothing", fmt.Errorf("%w: %w", said("refresh failed"), apierrors.NewNotFound(configMaps, "x")), authresilience.NotFound},
	{"apimachinery's aggregate, which has no Unwrap", utilerrors.NewAggregate([]error{said("?"), apierrors.NewUnauthorized("Unauthorized")}), authresilience.Authentication},
	{"an attempt that was repeated: the last one counts", retried{apierrors.NewServiceUnavailable("down"), apierrors.NewUnauthorized("Unauthorized")}, authresilience.Unavailable},
	{"a nil pointer in an error's clothes", (*apierrors.StatusError)(nil), authresilience.None},
	{"a wrapper around nothing", get(nil), authresilience.Connection},
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
