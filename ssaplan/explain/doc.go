// Package explain answers: what does a server-side apply change, and why? It isn't for sending requests: package
// ssaplan is, and calls this one.
//
// The input is what a tool has after a dry run: the manifest, the live object, the server's answer, the field manager,
// and the state of the last apply. The result is everything that a plan says about values and owners:
//
//	explanation, err := explain.Apply(explain.Input{
//		Manifest: manifest.Object, Live: live.Object, Answer: answer.Object, Manager: "my-tool", Prior: state,
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	for _, change := range explanation.Changes {
//		fmt.Println(change) // data.mode: "light" -> "dark" (drifted: changed by "kubectl" (Update))
//	}
//
// [Prepare] makes the manifest to send. [NewState] makes the [State] to store after an apply. [Refresh] compares it
// later with the object.
//
// The functions are pure: none talks to a server, waits or changes its input.
package explain

// The other files of this package, so that each one uses only files before it:
//   - what all of them use: values.go, atomic.go, managedfields.go, generated.go, redact.go, change.go, changejson.go
//   - what is sent: selection.go, unknown.go, ignored.go, restore.go, prepare.go, patch.go
//   - what is stored: state.go, digest.go, items.go, statejson.go, statesensitive.go, stateignored.go, reshaped.go,
//     rival.go, newstate.go, existing.go, imported.go, refresh.go
//   - what changes: explanation.go, same.go, baseline.go, unforeseen.go, comparison.go, cause.go, dropped.go,
//     sideeffects.go, update.go, writers.go, warnings.go, explain.go, replace.go
