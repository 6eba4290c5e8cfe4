package cmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

func newMan(streams genericiooptions.IOStreams) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write a manual page for each command",
		Long: `Write a manual page for each command into a folder, such as kubectl-ssaplan-plan.1. Each holds what
--help=all prints. Packagers install them where man finds them.`,
		Example:     `kubectl ssaplan man ~/.local/share/man/man1 && man kubectl-ssaplan-plan`,
		Annotations: map[string]string{exitCodes: usualExitCodes},
		Args:        cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, args []string) error {
			n, err := writeManual(c.Root(), args[0])
			if err == nil {
				fmt.Fprintf(streams.ErrOut, "wrote %d pages\n", n)
			}
			return err
		},
	}
}

// writeManual writes the pages of a command and of those below it, and returns how many there are.
func writeManual(c *cobra.Command, folder string) (pages int, err error) {
	name := strings.ReplaceAll(c.CommandPath(), " ", "-")
	if err := os.WriteFile(filepath.Join(folder, name+".1"), []byte(manualPage(c, name)), 0o644); err != nil {
		return pages, err
	}
	for _, child := range c.Commands() {
		if !child.IsAvailableCommand() {
			continue
		}
		below, err := writeManual(child, folder)
		if pages += below; err != nil {
			return pages, err
		}
	}
	return pages + 1, nil
}

// manualPage returns the help of a command in the language of man.
func manualPage(c *cobra.Command, name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"kubectl ssaplan\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), roff(name),
		roff(c.Short))
	for _, s := range helpSections(c, minHelpWidth, true) {
		fmt.Fprintf(&b, ".SH %s\n.nf\n", strings.ToUpper(roff(s.title)))
		for line := range strings.SplitSeq(s.body, "\n") {
			b.WriteString(roff(line) + "\n")
		}
		b.WriteString(".fi\n")
	}
	return b.String()
}

// roff escapes a line of text, of which nothing is a command then.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "^", `\(ha`, "~", `\(ti`).Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	return line
}
