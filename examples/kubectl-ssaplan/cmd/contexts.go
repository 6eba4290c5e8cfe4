package cmd

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
)

// allContexts stands for all contexts of the kubeconfig.
const allContexts = "*"

// validateContexts returns an error if flags don't go with several contexts.
func (o *options) validateContexts(c *cobra.Command) error {
	for _, flag := range []string{"context", "cluster", "server", "user", "token", "state", "memory", "out", "from"} {
		if c.Flags().Changed(flag) {
			return fmt.Errorf("--contexts: --%s is about one cluster; leave one of them out", flag)
		}
	}
	if o.output == "html" || o.output == outputLines {
		return fmt.Errorf("--contexts: -o %s is about one cluster; choose another output", o.output)
	}
	return nil
}

// runContexts plans the same manifests for one cluster after the other, shows each as soon as it is planned, and in the
// end how many objects of which cluster change. What can't be planned in one cluster keeps nothing from being planned
// in the others.
func (o *options) runContexts(ctx context.Context) error {
	names, err := o.contextNames()
	if err != nil {
		return err
	}
	read := o.newPlanning()
	if err := read.read(ctx); err != nil {
		return err
	}
	code, lines := exitUnchanged, []string(nil)
	for _, name := range names {
		*o.config.Context = name
		p := o.newPlanning()
		p.manifests, p.failures, p.reading = slices.Clone(read.manifests), slices.Clone(read.failures), read.reading
		if err := p.planRead(ctx); err != nil {
			return fmt.Errorf("context %q: %w", name, err)
		}
		report := p.report()
		report.Target.Context = name
		if len(report.Failures) > 0 {
			say(o.ErrOut, fmt.Sprintf("context %q:", name))
		}
		if err := o.show(report); err != nil {
			return err
		}
		if !o.encodes() {
			fmt.Fprintln(o.Out)
		}
		code, lines = worse(code, p.exitCode()), append(lines, report.InShort())
	}
	o.showByCluster(lines)
	if code != exitUnchanged {
		return exit(code)
	}
	return nil
}

// contextNames returns the contexts that are to be planned for, each once.
func (o *options) contextNames() ([]string, error) {
	if !slices.Contains(o.contexts, allContexts) {
		for i, name := range o.contexts {
			if slices.Contains(o.contexts[:i], name) {
				return nil, fmt.Errorf("--contexts: %q is named twice", name)
			}
		}
		return o.contexts, nil
	}
	loader := o.config.ToRawKubeConfigLoader()
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, kubeconfigProblem(loader.ConfigAccess(), err)
	}
	if len(raw.Contexts) == 0 {
		return nil, fmt.Errorf("%s: no context is configured there", kubeconfigName(loader.ConfigAccess()))
	}
	return slices.Sorted(maps.Keys(raw.Contexts)), nil
}

// showByCluster shows the summary, apart from documents that a program reads.
func (o *options) showByCluster(lines []string) {
	switch {
	case o.encodes():
		fmt.Fprint(o.ErrOut, textFor(o.ErrOut).ByCluster(lines))
	case o.output == "markdown":
		fmt.Fprint(o.Out, o.text().MarkdownByCluster(lines))
	default:
		fmt.Fprint(o.Out, o.text().ByCluster(lines))
	}
}

// worse returns the exit code of two that outweighs the other: an error what is open, and that what changes.
func worse(a, b int) int {
	if a == exitError || b == exitError {
		return exitError
	}
	return max(a, b)
}
