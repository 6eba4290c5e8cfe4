package cmd

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func newVersion(streams genericiooptions.IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:               "version",
		Short:             "Print the version of this program",
		Long:              `Print the version of this program, of the Go release that built it, and its platform. It sends no request.`,
		Example:           `kubectl ssaplan version`,
		Annotations:       map[string]string{exitCodes: usualExitCodes},
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(streams.Out, "kubectl-ssaplan %s %s %s/%s\n", version(), runtime.Version(),
				runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// released is the version of a program of a release, which its linker sets. It is built of the tag of the library, and
// the go command looks for one of this module.
var released string

// version returns the version of the release, or what the go command recorded: a tag, a revision or "(devel)".
func version() string {
	if released != "" {
		return released
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	return info.Main.Version
}
