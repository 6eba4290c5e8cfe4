// Package fleet has manifests by which a cluster plans a fleet of objects in shards; see README.md. Its tests run the
// shards as processes.
package fleet
