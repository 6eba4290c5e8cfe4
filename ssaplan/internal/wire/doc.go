// Package wire is the Planner's access to a server. It finds out how kinds are served, sends requests, counts and
// reports them, and makes sure that the server receives dryRun before the first dry run is sent. It knows nothing of
// plans.
//
// A [Server] uses the client of package client in a faster way than other implementations of package server. It
// imports none of them.
package wire
