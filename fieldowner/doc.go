// Package fieldowner answers: who owns which field of an object, and what does an apply change about that? It isn't
// for values: package ssaplan/explain says which of them change, and why.
//
// The API server records in metadata.managedFields which field manager owns which field. [Read] returns the owners, and
// [Compare] what an apply changes about them:
//
//	before, err := fieldowner.Read(live)
//	if err != nil {
//		log.Fatal(err)
//	}
//	after, err := fieldowner.Read(answer) // the answer to a dry run
//	if err != nil {
//		log.Fatal(err)
//	}
//	for _, transfer := range fieldowner.Compare(before, after, fieldowner.Applier{Manager: "my-tool"}) {
//		fmt.Println(transfer) // spec.replicas: taken from "hpa" (Update of scale)
//	}
//
// [ConflictsFromError] reads the conflicts of a rejected apply. [PredictConflicts] predicts them without a server.
// [Ownership.Dropped] says what becomes of fields that a manager no longer sends. [NewManifest] turns the fields of
// an object into a manifest. [Migrate], [Rename] and [GiveUp] make patches that change owners and no value.
//
// Nothing here talks to a server or changes its input. The package knows no schema: paths are those that the server
// recorded.
package fieldowner
