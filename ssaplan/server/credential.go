package server

import "github.com/ssaplan/primitives/authresilience"

// Credentialed is a server that can describe its credentials. A Planner then doesn't send requests with expired
// credentials. If the server rejects the credentials, the Planner's error says what is wrong with them.
type Credentialed interface {
	// Credential describes the credentials.
	Credential() authresilience.Credential
}
