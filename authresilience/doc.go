// Package authresilience answers one question: may this failed read be survived, and what does the user have to do?
//
// A tool that keeps state about Kubernetes objects refreshes it with reads. When such a read fails because the
// credentials of the last run expired, nothing is known about the object, and giving up would stop the very run that
// brings fresh ones. So the prior state is kept, marked as stale, and the user is warned. Every other failure stays
// one:
//
//	live, err := client.Get(ctx, name, metav1.GetOptions{})
//	if err != nil {
//		kept, ok := authresilience.Degrade(state, err, authresilience.ReadAttempt{Object: "v1/ConfigMap default/web", Credential: diagnosis})
//		if !ok {
//			return fmt.Errorf("%s: %w", authresilience.Classify(err), authresilience.Redact(err))
//		}
//		warn(kept.Warning.Summary(), kept.Warning.Detail())
//		return save(kept.Prior, kept.Stale)
//	}
//
// [Classify] names the kind of a failure, whatever it is wrapped in. [Degrade] decides about a failed read. A status
// code doesn't say whether a credential expired or never was valid, but the credential often does: [Diagnose] reads its
// dates, and [Diagnosis.Err] spares a request that can only fail.
//
// Nothing that this package prints holds a token, a key or a signature, nor the text of an error that it was given:
// its texts are made of the class, of the sentence in which Kubernetes says who may not do what, and of what the
// credential says about itself. The types keep no secret either, so no way of printing them can show one. The error
// itself can hold the page of a proxy, with the token in it; [Redact] makes it fit to be printed.
//
// The package sends nothing, repeats nothing and decides nothing about writes: a write that fails for want of
// credentials has failed.
package authresilience
