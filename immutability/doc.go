// Package immutability answers: the server rejected a change of an object; does deleting and creating it again help?
// It isn't for rejections because of credentials or networks: package authresilience is.
//
// A 422 says that the object is invalid. It doesn't say whether the new value is wrong, or only the change.
// [Classify] compares the error with the messages that servers send for immutable fields:
//
//	verdict := immutability.Classify(err) // the error of a rejected apply
//	switch {
//	case verdict.Refusal == immutability.RefusalNone:
//		fmt.Println("not about the content of the object")
//	case verdict.Replaceable():
//		fmt.Println("replace it:", verdict.Fields[0])
//	default:
//		fmt.Println("don't replace it:", verdict.Refusal)
//	}
//
// [Probe] then asks the server. A dry-run create of the same manifest fails with 409 (AlreadyExists) if the manifest is
// valid, and with 422 (Invalid) if it isn't. A dry-run update of the whole manifest shows whether fields are immutable.
// If the update works, the apply failed only because of a field that it leaves in the object.
//
// A replacement destroys something, so the rules are strict:
//
//   - Only [Verdict.Replaceable] permits a replacement: every cause is a known immutable field, or Probe has proven
//     that the manifest is valid and that no update can change the object to it.
//   - A single word in a message never decides. A message is recognised only as a whole, and only for the kind, the
//     field and the cause with which servers send it.
//   - The rules of a CRD have free texts as messages. Without [Probe] their refusals are [RefusalInvalid] with
//     [CertaintyUnknown]. Probe looks the rule up in the CRD: the refusal is [RefusalImmutable] only if the rule
//     demands that the value stays equal to the old one.
//   - Denials by admission, volume claims that would shrink, and outdated metadata have verdicts of their own, which
//     never permit a replacement.
//
// A server prints the position of a list item. [Probe] and [Verdict.Locate] find its key, so that a field has the
// same path as in a plan.
//
// The package replaces nothing. It imports apimachinery but not client-go.
package immutability
