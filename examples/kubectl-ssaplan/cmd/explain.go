package cmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/input"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/saved"
)

func newExplain(streams genericiooptions.IOStreams) *cobra.Command {
	var file, output string
	c := &cobra.Command{
		Use:   "explain -f STATUS.json",
		Short: "Explain a saved error of the API server",
		Long: `Explain a saved error of the API server: what it means, what to do about it, whether the object
would have to be replaced, and which fields are in conflict.

The input is the JSON of a Status, as the server returns it or client-go marshals it, or any text that contains one,
such as a log. It can also be what kubectl and other clients print when a server rejects a request, for example from
a job's log. Explain sends no request.`,
		Example: `# what the server said about a manifest
kubectl ssaplan explain -f status.json

# what kubectl printed
kubectl apply --server-side -f app.yaml 2>&1 | kubectl ssaplan explain -f -`,
		Annotations: map[string]string{exitCodes: usualExitCodes, environment: colorEnvironment},
		Args:        cobra.NoArgs,
		RunE: func(c *cobra.Command,
			_ []string) error {
			return explainSaved(c.Context(), streams, file, output)
		},
	}
	c.Flags().StringVarP(&file, "filename", "f", "", "`FILE` with the saved error, or \"-\" for standard input")
	c.Flags().StringVarP(&output, "output", "o", "text", "output `FORMAT`: "+strings.Join(readOutputs, ", "))
	complete(c, nil, readOutputs)
	return c
}

// readOutputs are the formats of the commands that don't plan.
var readOutputs = []string{"text", "json", "yaml"}

func explainSaved(ctx context.Context, streams genericiooptions.IOStreams, file, output string) error {
	if file == "" {
		return errors.New("no error to explain: name a file with -f, or - for standard input")
	}
	if err := checkOutput(output, readOutputs); err != nil {
		return err
	}
	found, err := readSaved(ctx, streams.In, file)
	if err != nil {
		return err
	}
	e := render.Explain(found)
	return writeDocument(streams.Out, output, e, func(t render.Text) string { return t.Explanation(e) })
}

func readSaved(ctx context.Context, stdin io.Reader, file string) (saved.Error, error) {
	text, err := readFile(ctx, stdin, file)
	if err != nil {
		return saved.Error{}, err
	}
	found, err := saved.Parse(text)
	if err != nil {
		return found, fmt.Errorf("%s: %w", shownFile(file), err)
	}
	if found.Status.Status == metav1.StatusSuccess {
		return found, fmt.Errorf("%s: the status says %s, so there is no error to explain", shownFile(file),
			metav1.StatusSuccess)
	}
	return found, nil
}

func readFile(ctx context.Context, stdin io.Reader, file string) (text []byte, err error) {
	if file == input.Stdin {
		text, err = input.ReadAll(ctx, stdin)
	} else {
		text, err = input.ReadFile(ctx, file)
	}
	var cause *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such file; check the path after -f", file)
	case errors.As(err, &cause):
		return nil, fmt.Errorf("%s: can't be read: %w", file, cause.Err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", shownFile(file), err)
	}
	return text, nil
}

func shownFile(file string) string {
	if file == input.Stdin {
		return "standard input"
	}
	return file
}
