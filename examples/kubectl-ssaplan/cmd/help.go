package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
)

// The widths between which help is wrapped. Where there is no terminal, it is the smaller one.
const (
	minHelpWidth = 80
	maxHelpWidth = 100
)

const indent = "  "

// The parts of a command's help for which cobra has no field; they are annotations of the command.
const (
	exitCodes   = "exit codes"
	environment = "environment"
)

// clusterFlag marks the flags that say where the cluster is, which are listed apart.
const clusterFlag = "cluster"

const usualExitCodes = `0  success
1  error`

const colorEnvironment = `NO_COLOR      unless it is empty, there are no colours, not even on terminals
CLICOLOR      if it is "0", neither
CLICOLOR_FORCE
              unless it is empty or "0", files have colours, too
TERM          if it is "dumb", there are no colours on terminals`

const clusterEnvironment = `KUBECONFIG    files with clusters, users and contexts, not ~/.kube/config
HTTPS_PROXY, HTTP_PROXY, NO_PROXY
              proxies for requests to the cluster and to the URLs of -f
` + colorEnvironment

// planEnvironment is that of the commands that show plans, which may be long.
const planEnvironment = clusterEnvironment + `
PAGER         program for what is longer than the terminal, not less; "" or
              "cat" for none
LESS          options of less, not FRX`

// lookupEnvironment is that of the commands that find kinds as kubectl does.
const lookupEnvironment = clusterEnvironment + `
KUBECACHEDIR  folder for the known kinds of clusters, not ~/.kube/cache`

// addClusterFlags adds the flags that kubectl has.
func addClusterFlags(c *cobra.Command, config *genericclioptions.ConfigFlags) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	config.AddFlags(flags)
	flags.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{clusterFlag: nil} })
	c.Flags().AddFlagSet(flags)
}

// showHelp prints the help of a command, whose sections are those of a manual page.
func showHelp(c *cobra.Command, _ []string) {
	width := min(max(textFor(c.OutOrStdout()).Width, minHelpWidth), maxHelpWidth)
	fmt.Fprint(c.OutOrStdout(), helpText(c, width))
}

func helpText(c *cobra.Command, width int) string {
	text := paragraphs(c.CommandPath()+" - "+c.Short, width) + "\n"
	for _, s := range helpSections(c, width) {
		text += "\n" + s.title + ":\n" + indented(s.body)
	}
	return text
}

type helpSection struct{ title, body string }

// helpSections returns those that aren't empty.
func helpSections(c *cobra.Command, width int) (sections []helpSection) {
	own, cluster := flagGroups(c)
	for _, s := range []helpSection{
		{"Usage", usage(c)},
		{"Description", paragraphs(c.Long, width-len(indent))},
		{"Commands", commandList(c)},
		{"Options", flagUsages(own, width-len(indent))},
		{"Options for the cluster, as in kubectl", flagUsages(cluster, width-len(indent))},
		{"Exit codes", c.Annotations[exitCodes]},
		{"Environment", c.Annotations[environment]},
		{"Examples", c.Example},
	} {
		if s.body = strings.Trim(s.body, "\n"); s.body != "" {
			sections = append(sections, s)
		}
	}
	return sections
}

func usage(c *cobra.Command) string {
	if c.HasSubCommands() && !c.Runnable() {
		return c.CommandPath() + " COMMAND [flags]"
	}
	return c.UseLine()
}

// flagUsages lists flags. pflag indents them already.
func flagUsages(flags *pflag.FlagSet, width int) string {
	return strings.ReplaceAll("\n"+flags.FlagUsagesWrapped(width), "\n"+indent, "\n")
}

// flagGroups returns the flags of a command, and those that say where the cluster is.
func flagGroups(c *cobra.Command) (own, cluster *pflag.FlagSet) {
	own, cluster = pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if _, marked := f.Annotations[clusterFlag]; marked {
			cluster.AddFlag(f)
		} else {
			own.AddFlag(f)
		}
	})
	return own, cluster
}

func commandList(c *cobra.Command) string {
	var b strings.Builder
	for _, child := range c.Commands() {
		if child.IsAvailableCommand() {
			fmt.Fprintf(&b, "%-*s  %s\n", child.NamePadding(), child.Name(), child.Short)
		}
	}
	return b.String()
}

// paragraphs wraps text, whose paragraphs are separated by empty lines. Those that are indented stay as they are.
func paragraphs(text string, width int) string {
	parts := strings.Split(text, "\n\n")
	for i, p := range parts {
		if !strings.HasPrefix(p, " ") {
			parts[i] = strings.Join(render.Wrap(strings.ReplaceAll(p, "\n", " "), width, ""), "\n")
		}
	}
	return strings.Join(parts, "\n\n")
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(strings.TrimRight(indent+line, " ") + "\n")
	}
	return b.String()
}
