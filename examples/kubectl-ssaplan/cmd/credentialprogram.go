package cmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
)

// programWords are what programs for credentials write to standard error. They may repeat the arguments and the
// environment that the kubeconfig hands to them, in any form, so they are counted and not shown.
type programWords struct {
	once   sync.Once
	writer *os.File
	length chan int64
}

type programWordsKey struct{}

// redacting returns a context in which [findCluster] redacts the words of programs.
func (w *programWords) redacting(ctx context.Context) context.Context {
	return context.WithValue(ctx, programWordsKey{}, w)
}

// redactWords redacts the words of the config's program, if the context says so.
func redactWords(ctx context.Context, config *rest.Config) {
	if w, _ := ctx.Value(programWordsKey{}).(*programWords); w != nil {
		w.redact(config)
	}
}

// redact has the words of the config's program counted from now on. A program that may ask the user something keeps
// the terminal. A client takes [os.Stderr] for the program when it is made; no one else writes to that any more.
func (w *programWords) redact(config *rest.Config) {
	program := config.ExecProvider
	if program == nil || program.InteractiveMode != api.NeverExecInteractiveMode &&
		term.IsTerminal(int(os.Stdin.Fd())) {
		return
	}
	w.once.Do(func() {
		reader, writer, err := os.Pipe()
		if err != nil {
			return // out of files, which ends the run soon
		}
		w.writer, w.length = writer, make(chan int64, 1)
		go func() {
			n, _ := io.Copy(io.Discard, reader)
			w.length <- n
		}()
		os.Stderr = writer
	})
}

// sentence returns what to say about the words, empty if there are none. It ends the counting.
func (w *programWords) sentence() string {
	if w.writer == nil {
		return ""
	}
	_ = w.writer.Close()
	select {
	case n := <-w.length:
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("The program for the credentials wrote %d bytes to its standard error, which aren't shown, "+
			"since they may repeat its arguments; run it by hand to see them", n)
	case <-time.After(time.Second):
		return "A process of the program for the credentials still writes to its standard error, which isn't shown"
	}
}
