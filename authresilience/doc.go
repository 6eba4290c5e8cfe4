// Package authresilience answers: a read failed; may the last known state be kept, and what must the user do? It
// isn't for writes: a write that fails has failed.
//
// A tool that stores the state of objects reads them again in each run. If the credentials of the last run have
// expired, such a read says nothing about the object. Giving up would stop the very run that brings new credentials.
// So the state is kept, marked as stale, and the user is warned. Every other failure stays a failure:
//
//	attempt := authresilience.ReadAttempt{Object: "v1/ConfigMap default/web"}
//	kept, ok := authresilience.Degrade(state, err, attempt) // the error of a failed read
//	if !ok {
//		fmt.Println(authresilience.Classify(err), authresilience.Redact(err))
//		return
//	}
//	fmt.Println(kept.Warning.Summary()) // v1/ConfigMap default/web was not refreshed; its last known state is kept
//	fmt.Println(kept.Prior)             // store it with kept.Stale
//
// [Classify] returns the class of a failure, with advice. [Degrade] decides about a failed read. [Diagnose] reads the
// dates in a credential, and [Diagnosis.Err] is an error if it has expired, before any request is sent.
//
// A [Warning] contains no token, key or signature. The only text of the error in it is an RBAC denial, since other text
// may be the page of a proxy with a token in it. [Redact] returns an error that is safe to print.
//
// The package sends no request and retries none.
package authresilience
