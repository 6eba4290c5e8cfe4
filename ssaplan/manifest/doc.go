// Package manifest answers: which objects does the user want to apply? It reads them as they were written, in YAML or JSON,
// one or many documents, and makes them of Go values ([Of]).
//
// [Parse] reads every document on its own, and every item of a list: what is wrong with one of them is an [Error] that says
// in which file, in which document and on which line, and the others are read all the same. No error shows a value of a
// document, which may be a secret; names of fields, kinds and objects may appear.
//
// It reads strictly: a key that stands twice is an error, also if YAML tells the two apart and JSON doesn't, and so are
// bytes that aren't UTF-8 and text behind a document. What YAML 1.1 reads otherwise than it was perhaps meant is a [Warning].
//
// It reads within bounds, so that no input fills memory or stack: a document has 16 MiB at most, also with all that its
// aliases repeat, and 10,000 levels, and a file 100,000 documents and items of lists.
package manifest
