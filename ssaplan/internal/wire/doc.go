// Package wire is the Planner's access to a server: it finds out how kinds are served, sends the requests, counts and
// reports them, and collects the server's warnings. It knows nothing of plans.
//
// A [Server] is made by [Connect], which sends each request once and decodes the answers itself, or by [ForServer] on
// top of a server that the caller implements.
package wire
