package authresilience

import "strings"

// What servers, proxies and client-go say, where neither a type, a reason nor a code says it. A phrase counts only at
// the start of a text, and only of that text which the name of its table tells; names and values stand further back,
// or in quotes that are read as such.
type phrase struct {
	start string
	has   string // what must follow somewhere, if not empty
	class Class
	seen  string // where
}

// Where a phrase was seen.
const (
	recorded = "answers of 1.33.13 and 1.36.3" // see testdata
	read     = "source of 1.33.13 and 1.36.3"
	clientGo = "source of client-go 0.33.13 and 0.36.3"
)

// find returns the class of the first phrase that text fits, and Unknown if there is none.
func find(phrases []phrase, text string) Class {
	for _, p := range phrases {
		rest, ok := strings.CutPrefix(text, p.start)
		if ok && strings.Contains(rest, p.has) {
			return p.class
		}
	}
	return ClassUnknown
}

// webhookPhrases: how a message starts, whatever its code and reason.
var webhookPhrases = []phrase{
	{start: `admission webhook "`, has: `" denied the request`, class: ClassWebhook, seen: recorded},
	{start: `Internal error occurred: failed calling webhook "`, class: ClassWebhookUnreachable, seen: recorded},
	{start: `conversion webhook for `, has: ` failed: `, class: ClassWebhookUnreachable, seen: recorded},
}

// policyPhrases: what follows "is forbidden: " in a message, whatever its code and reason.
var policyPhrases = []phrase{
	{start: `ValidatingAdmissionPolicy '`, has: ` denied request: `, class: ClassPolicy, seen: recorded},
	{start: `admission request denied by policy`, class: ClassPolicy, seen: read},
}

// forbiddenPhrases: what follows "is forbidden: " in a 403.
var forbiddenPhrases = []phrase{
	{start: `exceeded quota: `, class: ClassQuota, seen: recorded},
	{start: `failed quota: `, class: ClassQuota, seen: recorded},
	{start: `status unknown for quota: `, class: ClassQuota, seen: recorded},
	{start: `insufficient quota to `, class: ClassQuota, seen: read},
	{start: `quota usage is negative for resource(s): `, class: ClassQuota, seen: read},
	{start: `violates PodSecurity "`, class: ClassPodSecurity, seen: recorded},
	{start: `minimum `, has: ` usage per `, class: ClassLimitRange, seen: recorded},
	{start: `maximum `, has: ` usage per `, class: ClassLimitRange, seen: recorded},
	{start: ``, has: ` max limit to request ratio per `, class: ClassLimitRange, seen: recorded},
	{start: `Only bound persistent volume claims can be expanded`, class: ClassResize, seen: read},
	{start: `only dynamically provisioned pvc can be resized`, class: ClassResize, seen: recorded},
	{start: `user "`, has: ` is attempting to grant RBAC permissions not currently held`, class: ClassAuthorization, seen: recorded},
	{start: `must have cluster-admin privileges to use the aggregationRule`, class: ClassAuthorization, seen: recorded},
	{start: `not yet ready to handle request`, class: ClassUnavailable, seen: read},
}

// badRequestPhrases: how the message of a 400 starts when the manifest is at fault.
var badRequestPhrases = []phrase{
	{start: `error decoding YAML: `, class: ClassInvalidManifest, seen: recorded},
	{start: `error strict decoding YAML: `, class: ClassInvalidManifest, seen: recorded},
	{start: ``, has: `" cannot be handled as a `, class: ClassInvalidManifest, seen: recorded}, // ConfigMap in version "v1" …
	{start: `invalid object type: `, class: ClassInvalidManifest, seen: recorded},
	{start: `Incorrect version specified in apply patch`, class: ClassInvalidManifest, seen: read},
	{start: `metadata.managedFields must be nil`, class: ClassInvalidManifest, seen: recorded},
}

// serverErrorPhrases: how the message of a 500 starts. Errors of the field manager have neither reason nor details, and
// are about the manifest (patch, new object) or about what is stored (live object).
var serverErrorPhrases = []phrase{
	{start: `failed to create typed patch object (`, class: ClassInvalidManifest, seen: recorded},
	{start: `failed to convert new `, has: `: conversion webhook for `, class: ClassWebhookUnreachable, seen: read},
	{start: `failed to convert live `, has: `: conversion webhook for `, class: ClassWebhookUnreachable, seen: read},
	{start: `failed to convert new `, class: ClassInvalidManifest, seen: read},
	{start: `failed to merge config: `, class: ClassInvalidManifest, seen: read},
	{start: `strconv.ParseUint: parsing `, class: ClassInvalidManifest, seen: recorded}, // a resourceVersion
	{start: `resourceVersion should not be set on objects to be created`, class: ClassInvalidManifest, seen: recorded},
	{start: `Internal error occurred: failed to allocate requested HealthCheck NodePort `, class: ClassInvalid, seen: recorded},
	{start: `Internal error occurred: resource quota evaluation timed out`, class: ClassTimeout, seen: read},
	{start: `etcdserver: request is too large`, class: ClassTooLarge, seen: recorded},
	{start: `rpc error: code = ResourceExhausted desc = trying to send message larger than max`, class: ClassTooLarge, seen: recorded},
	{start: `etcdserver: request timed out`, class: ClassTimeout, seen: read},
	{start: `etcdserver: too many requests`, class: ClassThrottled, seen: read},
	{start: `etcdserver: leader changed`, class: ClassUnavailable, seen: read},
	{start: `etcdserver: no leader`, class: ClassUnavailable, seen: read},
	{start: `context deadline exceeded`, class: ClassTimeout, seen: read},
}

// foreignPhrases: how an answer starts that isn't a Status.
var foreignPhrases = []phrase{
	{start: `404 page not found`, class: ClassTypeNotServed, seen: recorded}, // proxies in Go say it too
	{start: `the server could not find the requested resource`, class: ClassTypeNotServed, seen: recorded},
	{start: `Client sent an HTTP request to an HTTPS server`, class: ClassTLS, seen: recorded}, // net/http
}

// clientPhrases: how an error of client-go starts that has no type of its own and wraps nothing.
var clientPhrases = []phrase{
	{start: `getting credentials: `, class: ClassCredentialPlugin, seen: clientGo},
	{start: `exec: executable `, class: ClassCredentialPlugin, seen: clientGo},
	{start: `exec plugin`, class: ClassCredentialPlugin, seen: clientGo},
	{start: `No valid id-token, and cannot refresh without refresh-token`, class: ClassCredentialPlugin, seen: clientGo},
	{start: `failed to refresh token: `, class: ClassCredentialPlugin, seen: clientGo},
	{start: `oauth2: `, class: ClassCredentialPlugin, seen: clientGo},
	{start: `no Auth Provider found for name `, class: ClassCredentialPlugin, seen: clientGo},
	{start: `The gcp auth plugin has been removed.`, class: ClassCredentialPlugin, seen: clientGo},
	{start: `The azure auth plugin has been removed.`, class: ClassCredentialPlugin, seen: clientGo},

	{start: `failed to read token file `, class: ClassConfiguration, seen: clientGo},
	{start: `read empty token from file `, class: ClassConfiguration, seen: clientGo},
	{start: `unable to parse bytes as PEM block`, class: ClassConfiguration, seen: clientGo},
	{start: `no valid certificate authority data seen`, class: ClassConfiguration, seen: clientGo},
	{start: `host must be a URL or a host:port pair`, class: ClassConfiguration, seen: clientGo},
	{start: `tls: failed to find any PEM data in `, class: ClassConfiguration, seen: clientGo},
	{start: `tls: private key does not match public key`, class: ClassConfiguration, seen: clientGo},
	{start: `username/password or bearer token may be set, but not both`, class: ClassConfiguration, seen: clientGo},
	{start: `execProvider and authProvider cannot be used in combination`, class: ClassConfiguration, seen: clientGo},
	{start: `specifying a root certificates file with the insecure flag is not allowed`, class: ClassConfiguration, seen: clientGo},
	{start: `invalid configuration: `, class: ClassConfiguration, seen: clientGo},
	{start: `net/http: invalid header field value for "Authorization"`, class: ClassConfiguration, seen: clientGo},
	{start: `unsupported protocol scheme `, class: ClassConfiguration, seen: clientGo},

	{start: `rate: Wait(n=`, has: ` would exceed context deadline`, class: ClassTimeout, seen: clientGo},
	{start: `tls: `, class: ClassTLS, seen: clientGo},
	{start: `x509: `, class: ClassTLS, seen: clientGo},
	{start: `http2: `, class: ClassConnection, seen: clientGo},
	{start: `stream error: stream ID `, class: ClassConnection, seen: clientGo},
	{start: `serializer for `, has: ` doesn't exist`, class: ClassUnexpectedResponse, seen: clientGo},
	{start: `0-length response with status code: `, class: ClassUnexpectedResponse, seen: clientGo},
	{start: `couldn't get version/kind; json parse error: `, class: ClassUnexpectedResponse, seen: clientGo},
	{start: `stopped after `, has: ` redirects`, class: ClassUnexpectedResponse, seen: clientGo},
}

// unauthorizedTexts: the whole text of a 401, from the server and from client-go.
var unauthorizedTexts = []phrase{
	{start: `Unauthorized`, class: ClassAuthentication, seen: recorded},
	{start: `the server has asked for the client to provide credentials`, class: ClassAuthentication, seen: clientGo},
}

// clientCertificateAlerts: the TLS alerts with which a server refuses the certificate of a client; see crypto/tls.
var clientCertificateAlerts = map[string]bool{
	"tls: bad certificate":               true,
	"tls: unsupported certificate":       true,
	"tls: revoked certificate":           true,
	"tls: expired certificate":           true,
	"tls: unknown certificate":           true,
	"tls: unknown certificate authority": true,
	"tls: certificate required":          true,
	"tls: access denied":                 true,
}

// textClass classifies the text of an error that has no type to tell: one of client-go, or a Status of which somebody
// kept only the message.
func textClass(text string) Class {
	if class := find(clientPhrases, text); class != ClassUnknown {
		return class
	}
	if d, ok := flattenedDenial(text); ok {
		return d.class()
	}
	return flattenedUnauthorized(text)
}

// flattenedUnauthorized recognises a text that ends in that of a 401. Only what follows the last ": " counts, and it
// must be the text of a 401 from end to end, a typed client's "(get configmaps x)" aside.
func flattenedUnauthorized(text string) Class {
	last := text[strings.LastIndex(text, ": ")+1:]
	last, _, _ = strings.Cut(strings.TrimSpace(last), " (")
	for _, p := range unauthorizedTexts {
		if last == p.start {
			return p.class
		}
	}
	return ClassUnknown
}
