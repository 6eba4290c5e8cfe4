// Package secrecy finds the fields of an object that are secret, and marks errors whose text may quote them.
//
//   - passwords.go: the fields that the schema of a kind marks as passwords
//   - carried.go: Secrets inside other objects, such as in a template or in the text of a manifest
//   - remembered.go: an object that wasn't read, made from what a caller remembers of it
//   - quote.go: errors that quote the answer of a server
package secrecy
