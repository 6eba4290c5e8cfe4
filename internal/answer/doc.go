// Package answer reads the answers in which a server, or a client on its behalf, refuses a request. Often only the text
// of an answer shows its meaning, and no type, reason or code does. This package has all such texts, each once, and
// turns them into facts: a denied verb and user, a denial by admission, an answer from elsewhere, the managers that own
// a field, what is wrong with a field. Other packages decide what follows from a fact.
//
// The texts are those of Kubernetes 1.33 to 1.37. A row counts as recorded unless it says otherwise: testdata of
// packages authresilience and immutability holds the answer of a real server that has the text. A new release of
// Kubernetes means changes in this package and in internal/kinds, and nowhere else.
package answer
