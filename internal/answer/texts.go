package answer

import "strings"

// Meaning is what a text means. A meaning that is the kind of a failure has the name of a class of package
// authresilience.
type Meaning string

// The meanings. The zero value is that of a text that isn't known.
const (
	Unknown Meaning = ""

	Authentication     Meaning = "Authentication"
	Authorization      Meaning = "Authorization"
	CredentialPlugin   Meaning = "CredentialPlugin"
	Configuration      Meaning = "Configuration"
	TLS                Meaning = "TLS"
	Connection         Meaning = "Connection"
	Timeout            Meaning = "Timeout"
	Throttled          Meaning = "Throttled"
	Unavailable        Meaning = "Unavailable"
	UnexpectedResponse Meaning = "UnexpectedResponse"
	Quota              Meaning = "Quota"
	LimitRange         Meaning = "LimitRange"
	PodSecurity        Meaning = "PodSecurity"
	Resize             Meaning = "Resize"
	Policy             Meaning = "Policy"
	Webhook            Meaning = "Webhook"
	WebhookUnreachable Meaning = "WebhookUnreachable"
	Invalid            Meaning = "Invalid"
	InvalidManifest    Meaning = "InvalidManifest"
	LostVersion        Meaning = "LostVersion"
	TooLarge           Meaning = "TooLarge"
	TypeNotServed      Meaning = "TypeNotServed"
)

// Text is one text where neither a type, a reason nor a code tells what it means. It counts only at the start of a
// message, or at the start of the part that the comment of its table names. Names and values come later in a message,
// or in quotes, so they can't be mistaken for the text.
type Text struct {
	Start  string
	Has    string // what must follow somewhere, if not empty
	Means  Meaning
	Unseen bool // read in the sources, and not among the recorded answers
}

// Table is a list of texts, of which the first that fits counts.
type Table []Text

// Find returns the meaning of the first text of the table that fits.
func (t Table) Find(text string) Meaning {
	for _, row := range t {
		rest, ok := strings.CutPrefix(text, row.Start)
		if ok && strings.Contains(rest, row.Has) {
			return row.Means
		}
	}
	return Unknown
}

// Parts of sentences that are read one by one.
const (
	forbiddenTo    = "forbidden: "
	isForbidden    = "is " + forbiddenTo
	denialStart    = "User "
	denialVerb     = " cannot "
	conflictWith   = "conflict with "
	exceededQuota  = "exceeded quota: "
	strictDecoding = "strict decoding error: "
	noDryRun       = `" does not support dry run`
)

// WebhookTexts: how a message starts, whatever its code and reason.
var WebhookTexts = Table{
	{Start: `admission webhook "`, Has: `" denied the request`, Means: Webhook},
	{Start: `Internal error occurred: failed calling webhook "`, Means: WebhookUnreachable},
	{Start: `conversion webhook for `, Has: ` failed: `, Means: WebhookUnreachable},
	// The server can't convert the stored object, since 1.37.
	{Start: `Internal error occurred: StorageError: corrupt object, `, Has: `: conversion webhook for `,
		Means: WebhookUnreachable},
	// The server can't convert the object that it just stored, since 1.37.
	{Start: `object not decodable revision=`, Has: `: conversion webhook for `, Means: WebhookUnreachable,
		Unseen: true},
}

// PolicyTexts: what follows "is forbidden: " in a message, whatever its code and reason.
var PolicyTexts = Table{
	{Start: `ValidatingAdmissionPolicy '`, Has: ` denied request: `, Means: Policy},
	{Start: `admission request denied by policy`, Means: Policy, Unseen: true},
}

// ForbiddenTexts: what follows "is forbidden: " in a 403.
var ForbiddenTexts = Table{
	{Start: exceededQuota, Means: Quota},
	{Start: `failed quota: `, Means: Quota},
	{Start: `status unknown for quota: `, Means: Quota},
	{Start: `insufficient quota to `, Means: Quota, Unseen: true},
	{Start: `quota usage is negative for resource(s): `, Means: Quota, Unseen: true},
	{Start: `violates PodSecurity "`, Means: PodSecurity},
	{Start: `minimum `, Has: ` usage per `, Means: LimitRange},
	{Start: `maximum `, Has: ` usage per `, Means: LimitRange},
	{Start: ``, Has: ` max limit to request ratio per `, Means: LimitRange},
	{Start: `Only bound persistent volume claims can be expanded`, Means: Resize, Unseen: true},
	{Start: `only dynamically provisioned pvc can be resized`, Means: Resize},
	{Start: `user "`, Has: ` is attempting to grant RBAC permissions not currently held`, Means: Authorization},
	{Start: `must have cluster-admin privileges to use the aggregationRule`, Means: Authorization},
	{Start: `not yet ready to handle request`, Means: Unavailable, Unseen: true},
}

// BadRequestTexts: how the message of a 400 starts when the manifest is at fault.
var BadRequestTexts = Table{
	{Start: `error decoding YAML: `, Means: InvalidManifest}, // up to 1.36
	{Start: `error decoding patch: `, Means: InvalidManifest},
	{Start: `error strict decoding YAML: `, Means: InvalidManifest}, // up to 1.36
	{Start: `error strict decoding patch: `, Means: InvalidManifest},
	{Start: ``, Has: `" cannot be handled as a `, Means: InvalidManifest}, // ConfigMap in version "v1" …
	{Start: `invalid object type: `, Means: InvalidManifest},
	{Start: `Incorrect version specified in apply patch`, Means: InvalidManifest, Unseen: true},
	{Start: `metadata.managedFields must be nil`, Means: InvalidManifest},
}

// ServerErrorTexts: how the message of a 500 starts. Errors of the field manager have neither reason nor details, and
// are about the manifest (patch, new object) or about what is stored (live object).
var ServerErrorTexts = Table{
	{Start: `failed to create typed patch object (`, Means: InvalidManifest},
	{Start: `failed to convert new `, Has: `: conversion webhook for `, Means: WebhookUnreachable, Unseen: true},
	{Start: `failed to convert live `, Has: `: conversion webhook for `, Means: WebhookUnreachable, Unseen: true},
	{Start: `failed to convert new `, Means: InvalidManifest, Unseen: true},
	{Start: `failed to create manager for existing fields: failed to convert live `, Has: noConversion,
		Means: InvalidManifest, Unseen: true},
	{Start: `failed to merge config: `, Means: InvalidManifest, Unseen: true},
	{Start: lostVersion, Means: LostVersion, Unseen: true},         // of an entry of managedFields
	{Start: `strconv.ParseUint: parsing `, Means: InvalidManifest}, // a resourceVersion
	{Start: `resourceVersion should not be set on objects to be created`, Means: InvalidManifest},
	{Start: `Internal error occurred: failed to allocate requested HealthCheck NodePort `, Means: Invalid},
	{Start: `Internal error occurred: resource quota evaluation timed out`, Means: Timeout, Unseen: true},
	{Start: `etcdserver: request is too large`, Means: TooLarge},
	{Start: `rpc error: code = ResourceExhausted desc = trying to send message larger than max`, Means: TooLarge},
	{Start: `etcdserver: request timed out`, Means: Timeout, Unseen: true},
	{Start: `etcdserver: too many requests`, Means: Throttled, Unseen: true},
	{Start: `etcdserver: leader changed`, Means: Unavailable, Unseen: true},
	{Start: `etcdserver: no leader`, Means: Unavailable, Unseen: true},
	{Start: `context deadline exceeded`, Means: Timeout, Unseen: true},
}

// ForeignTexts: how an answer starts that isn't a Status.
var ForeignTexts = Table{
	{Start: `404 page not found`, Means: TypeNotServed}, // proxies in Go say it too
	{Start: `the server could not find the requested resource`, Means: TypeNotServed},
	{Start: `Client sent an HTTP request to an HTTPS server`, Means: TLS}, // net/http
}

// ClientTexts: how an error of client-go starts that has no type of its own and wraps nothing.
var ClientTexts = Table{
	{Start: `getting credentials: `, Means: CredentialPlugin},
	{Start: `exec: executable `, Means: CredentialPlugin},
	{Start: `exec plugin`, Means: CredentialPlugin},
	{Start: `No valid id-token, and cannot refresh without refresh-token`, Means: CredentialPlugin},
	{Start: `failed to refresh token: `, Means: CredentialPlugin},
	{Start: `oauth2: `, Means: CredentialPlugin},
	{Start: `no Auth Provider found for name `, Means: CredentialPlugin},
	{Start: `The gcp auth plugin has been removed.`, Means: CredentialPlugin},
	{Start: `The azure auth plugin has been removed.`, Means: CredentialPlugin},

	{Start: `unable to load in-cluster configuration, `, Means: Configuration},
	{Start: `failed to read token file `, Means: Configuration},
	{Start: `read empty token from file `, Means: Configuration},
	{Start: `unable to parse bytes as PEM block`, Means: Configuration},
	{Start: `no valid certificate authority data seen`, Means: Configuration},
	{Start: `host must be a URL or a host:port pair`, Means: Configuration},
	{Start: `tls: failed to find any PEM data in `, Means: Configuration},
	{Start: `tls: private key does not match public key`, Means: Configuration},
	{Start: `username/password or bearer token may be set, but not both`, Means: Configuration},
	{Start: `execProvider and authProvider cannot be used in combination`, Means: Configuration},
	{Start: `specifying a root certificates file with the insecure flag is not allowed`, Means: Configuration},
	{Start: `invalid configuration: `, Means: Configuration},
	{Start: `could not parse: `, Means: Configuration},
	{Start: `unsupported scheme `, Means: Configuration},
	{Start: `net/http: invalid header field value for "Authorization"`, Means: Configuration},
	{Start: `unsupported protocol scheme `, Means: Configuration},

	{Start: `rate: Wait(n=`, Has: ` would exceed context deadline`, Means: Timeout},
	{Start: `tls: `, Means: TLS},
	{Start: `x509: `, Means: TLS},
	{Start: `http2: `, Means: Connection},
	{Start: `stream error: stream ID `, Means: Connection},
	{Start: `serializer for `, Has: ` doesn't exist`, Means: UnexpectedResponse},
	{Start: `0-length response with status code: `, Means: UnexpectedResponse},
	{Start: `couldn't get version/kind; json parse error: `, Means: UnexpectedResponse},
	{Start: `stopped after `, Has: ` redirects`, Means: UnexpectedResponse},
	{Start: `failed to parse Location header `, Means: UnexpectedResponse},
}

// UnauthorizedTexts: the whole text of a 401, from the server and from client-go.
var UnauthorizedTexts = Table{
	{Start: `Unauthorized`, Means: Authentication},
	{Start: `the server has asked for the client to provide credentials`, Means: Authentication},
}

// clientCertificateAlerts: the TLS alerts with which a server refuses the certificate of a client; see crypto/tls.
var clientCertificateAlerts = []string{
	"tls: bad certificate",
	"tls: unsupported certificate",
	"tls: revoked certificate",
	"tls: expired certificate",
	"tls: unknown certificate",
	"tls: unknown certificate authority",
	"tls: certificate required",
	"tls: access denied",
}
