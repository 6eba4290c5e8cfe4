// Package answer reads the answers in which a server, or a client on its behalf, refuses a request. It holds every text
// that tells something no type, reason or code tells, each once, and turns it into facts: who may not do what, that
// admission denied the request, that the answer comes from elsewhere, which managers own a field, what is wrong with a
// field. What follows from a fact is up to the packages that use it.
//
// The texts are those of Kubernetes 1.33 to 1.37. A row counts as recorded unless it says otherwise: testdata of
// packages authresilience and immutability holds the answer of a real server that has the text. A new release of
// Kubernetes means changes in this package and in internal/kinds, and nowhere else.
package answer
