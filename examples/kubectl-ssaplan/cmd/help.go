package cmd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	details     = "details"  // paragraphs behind the description
	examples    = "examples" // more of them
)

// flagGroups are the sections of flags, by their names. Those in more are rarely needed: only --help=all lists them.
// Flags that are in no group are listed as options.
var flagGroups = []struct{ title, common, more string }{
	{"Manifests", "filename kustomize recursive selector include exclude",
		"hooks allow-missing subresource from to shard"},
	{"Fields and owners", "field-manager force-conflicts ignore adopt", "clear existing like lost-version"},
	{"State and pruning", "state applyset prune", "prune-adopted prune-contents applyset-tooling memory"},
	{"Execution", "yes dry-run plan replace keep-going wait timeout", "ready digest"},
	{"Output", "output verbose sensitive out show-secrets", "out-secrets show-values-of show-server-text"},
	{"Cluster", "namespace context kubeconfig",
		`contexts server user cluster token as as-group as-uid cache-dir certificate-authority
		client-certificate client-key tls-server-name insecure-skip-tls-verify disable-compression request-timeout`},
}

const usualExitCodes = `0  success
1  error`

const colorEnvironment = `NO_COLOR      turns colors off, also on terminals, unless it is empty
CLICOLOR      "0" turns colors off, too
CLICOLOR_FORCE
              turns colors on in files, too, unless it is empty or "0"
TERM          "dumb" turns colors off`

const clusterEnvironment = `KUBECONFIG    paths of kubeconfig files; default ~/.kube/config
HTTPS_PROXY, HTTP_PROXY, NO_PROXY
              proxies for requests to the cluster and to the URLs of -f
` + colorEnvironment

// planEnvironment is that of the commands that show plans, which may be long.
const planEnvironment = clusterEnvironment + `
PAGER         program that shows plans longer than the terminal; default less;
              "" or "cat" for none
LESS          options of less; default FRX`

// lookupEnvironment is that of the commands that find kinds as kubectl does.
const lookupEnvironment = clusterEnvironment + `
KUBECACHEDIR  folder that caches the kinds of clusters; default ~/.kube/cache`

// helpFlag is the flag --help. It is a bool for cobra, and takes the word all besides.
type helpFlag struct{ wanted, all bool }

func (f *helpFlag) Type() string   { return "bool" }
func (f *helpFlag) String() string { return strconv.FormatBool(f.wanted) }

func (f *helpFlag) Set(value string) (err error) {
	if f.all = value == "all"; f.all {
		value = "true"
	}
	f.wanted, err = strconv.ParseBool(value)
	return err
}

// addHelpFlag adds --help to a command and to those below it.
func addHelpFlag(c *cobra.Command) {
	flag := c.Flags().VarPF(&helpFlag{}, "help", "h", "this help; =all has all flags, details and more examples")
	flag.NoOptDefVal = "true"
	for _, child := range c.Commands() {
		addHelpFlag(child)
	}
}

// showHelp prints the help of a command, whose sections are those of a manual page.
func showHelp(c *cobra.Command, _ []string) {
	width := min(max(textFor(c.OutOrStdout()).Width, minHelpWidth), maxHelpWidth)
	all := false
	if flag, ok := c.Flags().Lookup("help").Value.(*helpFlag); ok {
		all, *flag = flag.all, helpFlag{} // pflag would print its value as a default
	}
	fmt.Fprint(c.OutOrStdout(), helpText(c, width, all))
}

func helpText(c *cobra.Command, width int, all bool) string {
	text := paragraphs(c.CommandPath()+" - "+c.Short, width) + "\n"
	for _, s := range helpSections(c, width, all) {
		text += "\n" + s.title + ":\n" + indented(s.body)
	}
	return text
}

type helpSection struct{ title, body string }

// helpSections returns those that aren't empty.
func helpSections(c *cobra.Command, width int, all bool) (sections []helpSection) {
	further := func(text string) string {
		if text == "" || !all {
			return ""
		}
		return "\n\n" + text
	}
	sections = append(sections,
		helpSection{"Usage", usage(c)},
		helpSection{"Description", paragraphs(c.Long+further(c.Annotations[details]), width-len(indent))},
		helpSection{"Commands", commandList(c)})
	sections = append(sections, flagSections(c, width-len(indent), all)...)
	sections = append(sections,
		helpSection{"Exit codes", c.Annotations[exitCodes]},
		helpSection{"Environment", further(c.Annotations[environment])},
		helpSection{"Examples", c.Example + further(c.Annotations[examples])})
	for i := range sections {
		sections[i].body = strings.Trim(sections[i].body, "\n")
	}
	return slices.DeleteFunc(sections, func(s helpSection) bool { return s.body == "" })
}

// flagSections lists the flags of a command by their groups.
func flagSections(c *cobra.Command, width int, all bool) (sections []helpSection) {
	grouped := map[string]bool{}
	list := func(title string, names []string) {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SortFlags = false
		for _, name := range names {
			if flag := c.Flags().Lookup(name); flag != nil {
				flags.AddFlag(flag)
			}
		}
		// pflag indents them already
		usages := strings.ReplaceAll("\n"+flags.FlagUsagesWrapped(width), "\n"+indent, "\n")
		sections = append(sections, helpSection{title, usages})
	}
	for _, group := range flagGroups {
		names := strings.Fields(group.common + " " + group.more)
		for _, name := range names {
			grouped[name] = true
		}
		if !all {
			names = strings.Fields(group.common)
		}
		list(group.title, names)
	}
	var others []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !grouped[f.Name] {
			others = append(others, f.Name)
		}
	})
	list("Options", others)
	return sections
}

func usage(c *cobra.Command) string {
	if c.HasSubCommands() && !c.Runnable() {
		return c.CommandPath() + " COMMAND [flags]"
	}
	return c.UseLine()
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
