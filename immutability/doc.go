// Package immutability answers one question: the server refused to change an object in place; would deleting and
// creating it help?
//
// A 422 means that the object is invalid, and nothing in it says in a structured way whether the new value is bad in
// itself or only not reachable from the old one. So the answer is found in two steps. [Classify] reads the causes of
// the error and compares them with the texts that servers are known to send for fields that can't change. [Probe]
// asks the server: a dry-run create of the same manifest is refused as existing (409) when the manifest is valid in
// itself and as invalid (422) when it isn't, whatever the texts say; a dry-run update of the whole manifest tells
// immutable fields from leftovers of a server-side apply.
//
//	_, err := client.Patch(ctx, name, types.ApplyPatchType, body, dryRun)
//	verdict := immutability.Classify(err)
//	verdict = immutability.Probe(ctx, client, manifest, live, verdict, immutability.ProbeOptions{IPAddresses: addresses, Definitions: definitions})
//	if verdict.Replaceable() {
//		// delete and create: this was proven
//	}
//
// A replacement destroys something, so the rules are one-sided:
//
//  1. Only [Verdict.Replaceable] permits a replacement. It is true when every cause is a known immutable field and
//     nothing suggests that the create would fail, or when Probe has shown that the manifest is valid and that no
//     update gets there.
//  2. A word never decides. A text counts for the kind, the field and the type of cause it was seen with, as a whole.
//  3. The own rules of a custom resource have free texts. Without Probe they are [RefusalInvalid] with
//     [CertaintyUnknown], and [Verdict.Uncertain] tells why.
//     The rule itself is looked up in the definition of the kind: one that compares a value with what it was is Immutable
//     only if it demands that the value, or parts of it, stay equal; see [Probe].
//  4. Denials by admission, shrinking claims and stale metadata are verdicts of their own, never a replacement.
//
// A server prints the position of a list item where the changes of a plan have its key. [Probe] and [Verdict.Locate]
// find the path of each field in the objects, so that a refusal can be shown at the change that it is about.
//
// The package doesn't replace anything, doesn't know which fields of which kind can change beyond the texts of the
// server, and doesn't classify errors of transport or authorization. It imports apimachinery but not client-go.
package immutability
