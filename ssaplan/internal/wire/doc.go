// Package wire is the Planner's access to a server: it finds out how kinds are served, sends the requests, counts and
// reports them, and collects the server's warnings. It knows nothing of plans.
//
// A [Server] uses the client of package client in a faster way than other implementations of package server. It
// imports none of them.
package wire
