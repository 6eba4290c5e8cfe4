// Package explain answers: what does a server-side apply change, and why?
//
// It takes what a host has after a dry run - the manifest as it was sent, the live object, the server's answer, the
// field manager, and what was remembered of the last apply - and returns everything that a plan tells about them:
//
//	explained, err := explain.Apply(explain.Input{
//		Manifest: manifest, Live: live, Answer: dryRun, Manager: "my-tool", Prior: state,
//	})
//	for _, change := range explained.Changes {
//		fmt.Println(change) // spec.replicas: 5 -> 3 (drifted: changed by "hpa" (Update of scale))
//	}
//
// [Prepare] brings a manifest into the form to send. [NewState] makes the [State] to remember after an apply, and
// [Refresh] compares it with the object as it was read later.
//
// The functions are pure: nothing here talks to a server, waits or changes its input. Package ssaplan asks the server and
// leaves the rest to this package.
package explain
