package server

import (
	"time"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
)

// Observation describes one request that the Planner sent, without the content of objects.
type Observation struct {
	// Verb is get, list, patch, create, update, delete or discover. For discover, Object has only an apiVersion: the
	// group and version whose kinds were read. Object is empty if other documents were read, such as the kinds of all
	// groups, the server's version or an OpenAPI document.
	Verb string
	// DryRun is true for a dry run. It is also true for a request with an invalid dryRun. The Planner sends such a
	// request to check that the parameter reaches the server, which then rejects it.
	DryRun bool
	Object identity.Identity
	// Duration is the time from sending the request until its answer was decoded.
	Duration time.Duration
	// Class is the class of the failure, [authresilience.ClassNone] if there was none.
	Class authresilience.Class
	// Status is the HTTP status, 0 if there was no answer. Sent and Received are the bytes of the bodies. All three are
	// 0 unless the client is that of package client.
	Status         int
	Sent, Received int64
}
