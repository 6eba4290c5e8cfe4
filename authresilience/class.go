package authresilience

import "slices"

// Class names the kind of a failure. Its text is stable: it may be stored, printed and compared.
// The zero value is no class; it has the meaning of [ClassUnknown].
type Class string

// Classes of the caller: the server refused the identity of the caller, not the content of the request.
const (
	// ClassAuthentication: the server doesn't accept the credentials (401, or a TLS alert about the client
	// certificate).
	ClassAuthentication Class = "Authentication"
	// ClassAnonymous: the request arrived without credentials, and an anonymous caller may not do this (403).
	ClassAnonymous Class = "Anonymous"
	// ClassAuthorization: the server knows the caller, who may not do this (403).
	ClassAuthorization Class = "Authorization"
)

// Classes of requests without a usable answer: no server was reached, or nothing usable came back.
const (
	// ClassCredentialPlugin: the program or plugin that provides credentials failed.
	ClassCredentialPlugin Class = "CredentialPlugin"
	// ClassConfiguration: the client can't be built from its configuration.
	ClassConfiguration Class = "Configuration"
	// ClassTLS: client and server don't agree on a secure connection, or the server's certificate isn't trusted.
	ClassTLS Class = "TLS"
	// ClassConnection: the server can't be reached, or the connection broke.
	ClassConnection Class = "Connection"
	// ClassBrokenOff: the server answers other requests, but this one was broken off.
	ClassBrokenOff Class = "BrokenOff"
	// ClassTimeout: no answer in time. A write may have happened.
	ClassTimeout Class = "Timeout"
	// ClassCanceled: the caller gave up.
	ClassCanceled Class = "Canceled"
	// ClassThrottled: too many requests (429).
	ClassThrottled Class = "Throttled"
	// ClassUnavailable: the server, or an aggregated server behind it, is starting, stopping or down (502, 503).
	ClassUnavailable Class = "Unavailable"
	// ClassServerFault: the server failed (500) for a reason that is not in the request.
	ClassServerFault Class = "ServerFault"
	// ClassDiscoveryFailed: the server could not say what this API group serves. The type may or may not be served.
	ClassDiscoveryFailed Class = "DiscoveryFailed"
	// ClassUnexpectedResponse: the answer isn't that of a Kubernetes API server. A proxy or a login page may have sent
	// it.
	ClassUnexpectedResponse Class = "UnexpectedResponse"
)

// Classes of admission: the caller may do this in general, but not with this content or not in this namespace.
const (
	// ClassNamespaceTerminating: nothing can be created in a namespace that is being deleted.
	ClassNamespaceTerminating Class = "NamespaceTerminating"
	// ClassQuota: a ResourceQuota is used up, or requires a field that the object lacks, such as a limit.
	ClassQuota Class = "Quota"
	// ClassLimitRange: the object is outside of a LimitRange.
	ClassLimitRange Class = "LimitRange"
	// ClassPodSecurity: the pod violates the pod security standard of its namespace.
	ClassPodSecurity Class = "PodSecurity"
	// ClassResize: the volume claim can't be expanded.
	ClassResize Class = "Resize"
	// ClassPolicy: an admission policy (CEL) denied the request.
	ClassPolicy Class = "Policy"
	// ClassWebhook: an admission webhook denied the request.
	ClassWebhook Class = "Webhook"
	// ClassWebhookUnreachable: an admission or conversion webhook did not answer as it should.
	ClassWebhookUnreachable Class = "WebhookUnreachable"
	// ClassAdmission: another admission plugin refused the request.
	ClassAdmission Class = "Admission"
	// ClassForbidden: a 403 whose message names neither the denied user and action nor the admission plugin that
	// refused.
	ClassForbidden Class = "Forbidden"
)

// Classes of the request: the server accepted the caller and rejected the request itself.
const (
	// ClassConflict: other field managers own fields with other values (409).
	ClassConflict Class = "Conflict"
	// ClassOutdated: the object has another UID or resourceVersion than the request says (409, 410).
	ClassOutdated Class = "Outdated"
	// ClassAlreadyExists: the object to be created is there already (409).
	ClassAlreadyExists Class = "AlreadyExists"
	// ClassInvalid: validation rejected the object (422). Package immutability says whether a replacement helps.
	ClassInvalid Class = "Invalid"
	// ClassInvalidManifest: the manifest doesn't fit the schema of its type (400, or a 500 without a reason).
	ClassInvalidManifest Class = "InvalidManifest"
	// ClassLostVersion: an entry of managedFields is in a version that the CRD no longer has (500). The server then
	// rejects each apply to the object.
	ClassLostVersion Class = "LostVersion"
	// ClassTooLarge: the object is larger than the server takes.
	ClassTooLarge Class = "TooLarge"
	// ClassBadRequest: the server can't process the request as it was sent (400, 405, 406, 415).
	ClassBadRequest Class = "BadRequest"
)

// Classes of what doesn't exist: the kind, the namespace or the object.
const (
	// ClassTypeNotServed: the server doesn't serve this kind, or not in this version. Objects of it may still exist.
	ClassTypeNotServed Class = "TypeNotServed"
	// ClassNamespaceNotFound: the namespace doesn't exist. Reading a Namespace object that doesn't exist is of this
	// class, too.
	ClassNamespaceNotFound Class = "NamespaceNotFound"
	// ClassNotFound: the object that the answer names doesn't exist.
	ClassNotFound Class = "NotFound"
)

// Classes that say nothing about the cause.
const (
	// ClassUnknown: an error that none of the other classes describes.
	ClassUnknown Class = "Unknown"
	// ClassNone: no error.
	ClassNone Class = "None"
)

// Description explains a class to a user.
type Description struct {
	Class   Class
	Meaning string // what happened, as a sentence without a full stop
	Advice  string // what to do about it, likewise; empty for None
}

// descriptions holds every class once. Where joined errors are of different classes, the earlier one decides: first
// what takes all meaning from the others, last what a caller might delete something for.
var descriptions = []Description{
	{ClassAuthentication, "the server doesn't accept the credentials",
		"renew the credentials, or check that they are meant for this server"},
	{ClassAnonymous, "the request carried no credentials that the server knows",
		"check that the client's configuration contains credentials"},
	{ClassAuthorization, "the server knows the user, who isn't allowed to do this",
		"have the user granted the right that is missing (RBAC), or use credentials of another user"},
	{ClassCredentialPlugin, "the program or plugin that provides the credentials failed",
		"run the credential program by hand, log in again or install it"},
	{ClassConfiguration, "the client can't be built from its configuration",
		"check the client's configuration and the files that it names"},
	{ClassTLS, "no secure connection to the server: its certificate isn't trusted, or it doesn't speak TLS as expected",
		"check the server's address and certificate authority in the client's configuration"},
	{ClassConnection, "the server can't be reached, or the connection broke",
		"check the server's address and the network, then try again"},
	{ClassBrokenOff, "the server answers other requests, but this one was broken off",
		"try again; if it happens each time, look for what is special about the object, such as a very long name, " +
			"and at the admission policies, webhooks and proxies that see it"},
	{ClassTimeout, "the server did not answer in time; a write may still have happened",
		"try again; read the object first if this was a write"},
	{ClassCanceled, "the caller gave up before the server answered", "run it again"},
	{ClassThrottled, "too many requests", "try again later, with fewer requests at a time"},
	{ClassUnavailable, "the server, or an aggregated API server behind it, is starting, stopping or down",
		"try again later"},
	{ClassServerFault, "the server failed for a reason that is not in the request",
		"try again, and look into the server's log"},
	{ClassDiscoveryFailed,
		"the server can't say which types this API group has; often the aggregated API server behind it is down",
		"check the APIService of the group (kubectl get apiservices), then try again"},
	{ClassUnexpectedResponse,
		"the answer isn't one of a Kubernetes API server; a proxy or a login page may have sent it",
		"check the server's address, and log in if there is a login page in front of it"},
	{ClassNamespaceTerminating, "the namespace is being deleted, so nothing can be created in it",
		"wait until it is gone and create it again, or use another namespace"},
	{ClassQuota, "a ResourceQuota of the namespace is used up, or demands values that the object doesn't set",
		"have the quota raised, free some of it, or set the values that it demands"},
	{ClassLimitRange, "the object is outside of what a LimitRange of the namespace allows",
		"change the object's requests and limits, or the LimitRange"},
	{ClassPodSecurity, "the pod violates the pod security standard of its namespace",
		"change the pod's security context, or the namespace's pod-security labels"},
	{ClassResize, "the volume claim can't be expanded",
		"check that the claim is bound and that its storage class allows expansion"},
	{ClassPolicy, "an admission policy denied the request", "change what the policy complains about, or the policy"},
	{ClassWebhook, "an admission webhook denied the request",
		"change what the webhook complains about, or the webhook"},
	{ClassWebhookUnreachable, "an admission or conversion webhook did not answer as it should",
		"check the service behind the webhook, then try again"},
	{ClassAdmission, "an admission plugin of the server refused the request",
		"change what the message complains about"},
	{ClassForbidden, "the server refused the request and doesn't say on which ground",
		"ask the operator of the server, or of the gateway in front of it"},
	{ClassConflict, "other field managers own fields with other values",
		"leave these fields to them, agree on the values, or apply with force"},
	{ClassOutdated, "the request refers to another object, or to an earlier version of this one",
		"read the object again and plan again"},
	{ClassInvalidManifest, "the manifest doesn't fit the schema of its type",
		"correct the field that the message names"},
	{ClassInvalid, "validation refused the object: a value isn't allowed, or may not change",
		"correct the fields that the causes name"},
	{ClassLostVersion, "managedFields of the object have an entry in a version that the CRD no longer has",
		"move the entry to a version that the CRD has (Request.LostVersions; in kubectl ssaplan --lost-version, in " +
			"Terraform lost_versions), or remove it"},
	{ClassTooLarge, "the object is larger than the server takes", "make the object smaller, or split it"},
	{ClassBadRequest, "the server can't process the request as it was sent",
		"correct what the message names; the client and the server may be of different versions"},
	{ClassAlreadyExists, "the object to be created is there already", "read the object and plan again"},
	{ClassTypeNotServed, "the server doesn't serve this kind, or not in this version; objects of it may still exist",
		"install the CRD of the kind, or use a version that the server serves"},
	{ClassNamespaceNotFound, "the namespace doesn't exist", "create the namespace first"},
	{ClassNotFound, "the object doesn't exist", "create it, or correct its name and namespace"},
	{ClassUnknown, "none of the known kinds of failure", "read the message of the error"},
	{ClassNone, "no error", ""},
}

// Classes returns all classes. If joined errors have different classes, [Classify] returns the first of them in this
// order.
func Classes() []Class {
	all := make([]Class, len(descriptions))
	for i, d := range descriptions {
		all[i] = d.Class
	}
	return all
}

// Degradable reports whether a read that failed like this may keep the prior state: the server refused the identity of
// the caller and therefore said nothing about the object. That holds for Authentication, Anonymous and Authorization
// and for no other class. It never holds for writes. [ReadAttempt] has options with which [Degrade] keeps the state
// after other failures, too.
func (c Class) Degradable() bool {
	return c == ClassAuthentication || c == ClassAnonymous || c == ClassAuthorization
}

// Describe explains the class. A string that isn't a class is described as Unknown.
func (c Class) Describe() Description {
	return descriptions[rank(c)]
}

// or returns the class, or another if it is Unknown.
func (c Class) or(other Class) Class {
	if c == ClassUnknown {
		return other
	}
	return c
}

// rank is the place of a class in the order of descriptions.
func rank(c Class) int {
	i := slices.IndexFunc(descriptions, func(d Description) bool { return d.Class == c })
	if i < 0 {
		return rank(ClassUnknown)
	}
	return i
}

// first returns that of two classes which decides.
func first(a, b Class) Class {
	if rank(b) < rank(a) {
		return b
	}
	return a
}
