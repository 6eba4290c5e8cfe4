// Package manifest reads the objects that a user wants to apply, as the user wrote them: in YAML or JSON, one or many
// documents. The example programs share it.
//
// Every document is read on its own: what is wrong with one of them is an [Error] that says in which file, in which
// document and on which line, and the others are read all the same. No error shows a value of a document, which may be
// a secret; names of fields, kinds and objects may appear.
package manifest
