// Package cmd holds the commands of kubectl-ssaplan, one in each file.
package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// The exit codes.
const (
	exitUnchanged = 0 // nothing changes, or everything was applied
	exitError     = 1 // something could not be planned or applied
	exitChanges   = 2 // applying would change something
	exitOpen      = 3 // some objects are in conflict or deferred
)

// exit ends a command with a code. What there is to say has been printed already.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Run runs the command line args, without the program's name, and returns the exit code.
func Run(ctx context.Context, args []string, streams genericiooptions.IOStreams) int {
	ctx, interrupt := context.WithCancel(ctx)
	defer interrupt()
	out := &output{Writer: streams.Out, interrupt: interrupt}
	if !isTerminal(streams.Out) { // which doesn't go away alone
		streams.Out = out
	}
	if streams.ErrOut == os.Stderr {
		words := &programWords{}
		ctx = words.redacting(ctx)
		defer func() {
			if sentence := words.sentence(); sentence != "" {
				say(streams.ErrOut, sentence)
			}
		}()
	}
	root := newRoot(streams)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var code exit
	switch {
	case out.err() != nil:
		err = out.err()
	case err == nil:
		return exitUnchanged
	case errors.As(err, &code):
		return int(code)
	}
	say(streams.ErrOut, oneLine(err.Error()))
	return exitError
}

func newRoot(streams genericiooptions.IOStreams) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-ssaplan",
		Short: "Show what a server-side apply will do, before it happens",
		Long: `Show what applying manifests with server-side apply will do, and do exactly that.

Each plan comes from a dry run of the API server, and covers the fields that the manifests declare. It says what is
created, changed and replaced, what others changed since the last apply, and who owns which field.`,
		Example: `# what would change
kubectl ssaplan plan -f app.yaml

# show, ask and apply
kubectl ssaplan apply -f app.yaml

# who owns which field
kubectl ssaplan owners deploy/web

# the help of a command
kubectl ssaplan plan --help`,
		Annotations: map[string]string{
			cobra.CommandDisplayNameAnnotation: "kubectl ssaplan",
			exitCodes:                          "0  success; see the help of each command for the other codes",
			environment:                        lookupEnvironment,
		},
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", err, c.CommandPath())
	})
	root.AddCommand(newPlan(streams), newShow(streams), newApply(streams), newDelete(streams), newRelease(streams),
		newOwners(streams), newImport(streams), newExplain(streams), newCompletion(), newMan(streams),
		newVersion(streams))
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpFunc(showHelp)
	addHelpFlag(root)
	return root
}
