// Package manifest answers: which objects does a file declare? It reads YAML and JSON, with one or many documents,
// and [Of] makes manifests of Go values. It isn't for templates or kustomizations.
//
//	manifests, failures := manifest.Parse("app.yaml", text)
//	for _, m := range manifests {
//		fmt.Println(m.Identity, len(m.Warnings)) // v1/ConfigMap web, and warnings about what YAML reads in an unexpected way
//	}
//	for _, failure := range failures {
//		fmt.Println(failure) // names the file, the document and the line
//	}
//
// Parse reads every document, and every item of a list, on its own. An [Error] names the file, the document and the
// line; the other documents are still read. No error quotes a value of a document, which may be a secret. Names of
// fields, kinds and objects may appear.
//
// It reads strictly. These are errors: a duplicate key, even if the keys differ in YAML and are equal only in JSON,
// such as 1 and "1"; bytes that aren't UTF-8; text behind a document. A value that YAML 1.1 reads in an unexpected way,
// such as a plain yes, is a [Warning].
//
// It reads within limits, so that no input fills memory or stack: a document has at most 16 MiB with its aliases
// expanded, and 10,000 levels. A file has at most 100,000 documents and list items.
package manifest
