package server

import "github.com/ssaplan/primitives/authresilience"

// Credentialed knows its credentials. A Planner doesn't send requests with credentials that have expired, and says what
// is wrong with those that are rejected.
type Credentialed interface {
	// Credential describes the credentials.
	Credential() authresilience.Credential
}
