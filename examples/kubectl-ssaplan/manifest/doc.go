// Package manifest reads the objects that a user wants to apply from files, folders and standard input.
//
// Every document is read on its own: what is wrong with one of them is an [Error] that says in which file, in which
// document and on which line, and the others are read all the same. No error shows a value of a document, which may be
// a secret; names of fields, kinds and objects may appear.
package manifest
