// Kubectl-ssaplan shows what applying manifests to a cluster will do, and does exactly that. As kubectl-ssaplan in
// PATH it is a plugin of kubectl: kubectl ssaplan.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/cmd"
)

func main() {
	// client-go logs some of the errors that it returns; they are shown once, where they belong.
	klog.SetLogger(logr.Discard())

	signal.Ignore(syscall.SIGPIPE) // a reader that goes away is an error of the write, and the run ends in order
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends the program at once
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(cmd.Run(ctx, os.Args[1:], streams))
}
