package cmd

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/shard"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/wholefile"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/readiness"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// options are the flags that plan and apply share.
type options struct {
	genericiooptions.IOStreams
	config *genericclioptions.ConfigFlags

	files         []string
	recursive     bool
	kustomization string
	subresource   string
	output        string
	outputs       []string // that output may be
	manager       string
	force         bool
	ignore        []string
	patterns      projection.Patterns // what ignore says
	cleared       projection.Patterns // what clear says
	adopt         []string
	clear         []string
	lostVersions  []string
	existing      string
	sensitive     []string
	showValuesOf  []string
	hidden        projection.Patterns // what sensitive says
	serverText    bool
	state         string
	memory        string
	verbose       bool
	selector      string
	labels        labels.Selector // what selector says
	include       []string
	exclude       []string
	included      []filter // what include says
	excluded      []filter // what exclude says
	allowMissing  bool
	prune         bool
	contexts      []string
	hooks         bool
	from, to      string
	like          string
	keep          projection.Patterns // what the tool of like leaves where it is
	streams       bool                // whether plans are printed as they come
	out           string
	outSecrets    bool
	outTo         wholefile.Target // where out leads to
	shard         string
	part          shard.Shard // what shard says
	applyset      string
	tooling       string
	pruneAdopted  bool
	withContents  bool
	// What follows is only of apply.
	replace    bool
	keepGoing  bool
	timeout    time.Duration
	wait       bool
	ready      []string
	conditions readiness.Conditions // what ready says
	saved      *savedPlan           // that is carried out or shown; nil for others
}

var outputs = []string{"text", "json", "yaml", outputLines, "markdown", "html", outputDiff}

// manager is the field manager of this program.
const manager = "kubectl-ssaplan"

// outputDiff is the format of what reads kubectl diff.
const outputDiff = "diff"

// outputLines is the format that prints each plan, or of apply each result, as soon as it is known.
const outputLines = "jsonl"

func newOptions(streams genericiooptions.IOStreams) *options {
	return &options{IOStreams: streams, config: genericclioptions.NewConfigFlags(false), outputs: outputs} // false: plan goes from context to context
}

// addSourceFlags adds the flags that name the manifests.
func (o *options) addSourceFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "`PATH` of a file or folder with manifests, URL, or \"-\" for standard input; may be repeated")
	flags.StringVarP(&o.kustomization, "kustomize", "k", "", "`DIR` with a kustomization.yaml, instead of -f")
	flags.BoolVarP(&o.recursive, "recursive", "R", false, "read the sub-folders of folders, too")
}

func (o *options) addFlags(c *cobra.Command) {
	o.addSourceFlags(c)
	flags := c.Flags()
	flags.StringVar(&o.subresource, "subresource", "", "`NAME` of what to apply of each object, such as status, scale or resize, instead of the object itself")
	flags.StringVarP(&o.output, "output", "o", "text", "output `FORMAT`: "+strings.Join(o.outputs, ", "))
	flags.StringVar(&o.manager, "field-manager", manager, "`NAME` under which the server records the applied fields")
	flags.BoolVar(&o.force, "force-conflicts", true, "take fields over that other managers own; =false shows them as conflicts")
	flags.StringArrayVar(&o.ignore, "ignore", nil, "`PATTERN` of fields to leave to others, such as spec.replicas or metadata.annotations.*; may be repeated")
	flags.StringArrayVar(&o.adopt, "adopt", nil, "take over what `MANAGER` wrote before, such as kubectl-client-side-apply, so that what the manifest lacks of it goes; \"auto\" for all tools that are known; may be repeated")
	flags.StringArrayVar(&o.clear, "clear", nil, "remove the fields of `PATTERN`, no matter who owns them, unless the manifest has them, such as spec.strategy.rollingUpdate; \"auto\" for those that are proven to be in the way of the apply; may be repeated")
	flags.StringArrayVar(&o.lostVersions, "lost-version", nil, "move entries of managedFields that are in `VERSION`, such as example.com/v1beta1, which the CRD no longer has, to the version of the manifest; may be repeated")
	flags.StringVar(&o.existing, "existing", "take-over", "what to do with an object that is there, and not ours by --state or its record: `RULE` "+strings.Join(existingNames(), ", "))
	flags.StringArrayVar(&o.sensitive, "sensitive", nil, "`PATTERN` of fields whose values are never shown, beside those of Secrets, such as data.password; may be repeated")
	flags.StringArrayVar(&o.showValuesOf, "show-values-of", nil, "`KIND.GROUP` whose values are shown though it isn't known which of them are secret, such as Database.example.com; may be repeated")
	flags.BoolVar(&o.serverText, "show-server-text", false, "show what servers say of objects with sensitive values, which may quote these")
	flags.StringVar(&o.state, "state", "", "`FILE` that remembers what was applied: tells edits from drift, and what has left the manifests")
	flags.StringVar(&o.memory, "memory", "", "`FILE` that remembers for which objects the server said that nothing changes, so that unchanged ones aren't tried again for an hour; safe to delete")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "list unchanged objects and the fields of those to be created or deferred, and shorten nothing; JSON has large values whole")
	flags.StringVarP(&o.selector, "selector", "l", "", "`LABELS` of the objects to take, such as app=web,tier!=test; default: all")
	flags.StringArrayVar(&o.include, "include", nil, "`WHICH` objects to take: kind, name, namespace, joined by commas, such as kind=Job,name=db-*; may be repeated; default: all")
	flags.StringArrayVar(&o.exclude, "exclude", nil, "`WHICH` objects to leave out, as for --include; may be repeated")
	flags.StringVar(&o.applyset, "applyset", "", "`NAME` or RESOURCE/NAME of the parent of an ApplySet, which remembers in the cluster what was applied; a Secret unless told otherwise")
	flags.StringVar(&o.tooling, "applyset-tooling", "kubectl-ssaplan/v1", "`TOOL` whose ApplySets are taken; kubectl/v1.37.2 shares them with kubectl")
	flags.BoolVar(&o.prune, "prune", false, "delete what --state or --applyset remembers and the manifests have no more; every plan shows it")
	o.addRemovalFlags(c)
	flags.BoolVar(&o.hooks, "hooks", false, "take Helm hooks (helm.sh/hook), which Helm runs apart, for objects as all others; they are left out otherwise")
	flags.BoolVar(&o.allowMissing, "allow-missing", false, "defer objects whose kind or namespace neither the server nor the manifests have, because somebody else makes it")
	addClusterFlags(c, o.config)
	complete(c, o.config, o.outputs)
}

// addRemovalFlags adds the flags of what deletes objects that are remembered.
func (o *options) addRemovalFlags(c *cobra.Command) {
	c.Flags().BoolVar(&o.pruneAdopted, "prune-adopted", false, "delete also what was there before it was applied for the first time")
	c.Flags().BoolVar(&o.withContents, "prune-contents", false, "delete also namespaces and definitions that hold objects of others, with these")
}

// validateSources returns an error if the flags don't name manifests.
func (o *options) validateSources() error {
	switch {
	case len(o.files) == 0 && o.kustomization == "" && (o.saved != nil || o.from+o.to != ""):
	case len(o.files) == 0 && o.kustomization == "":
		return errors.New("no manifests: name a file, folder or URL with -f, or a kustomization with -k")
	case len(o.files) > 0 && o.kustomization != "":
		return errors.New("-f and -k: only one of them can be used at a time")
	case o.recursive && o.kustomization != "":
		return errors.New("-R: only folders of -f have sub-folders; leave it out with -k")
	}
	return nil
}

func (o *options) validate() (err error) {
	if err := o.validateSources(); err != nil {
		return err
	}
	switch {
	case o.replace && o.subresource != "":
		return errors.New("--replace: a subresource is never replaced; leave it out with --subresource")
	case len(o.adopt) > 0 && o.subresource != "":
		return errors.New("--adopt: only of objects themselves; leave it out with --subresource")
	case len(o.clear) > 0 && o.subresource != "":
		return errors.New("--clear: only of objects themselves; leave it out with --subresource")
	case len(o.lostVersions) > 0 && o.subresource != "":
		return errors.New("--lost-version: only of objects themselves; leave it out with --subresource")
	case existingRules[o.existing] == "":
		return fmt.Errorf("--existing %s: the rules are %s", o.existing, strings.Join(existingNames(), ", "))
	case o.manager == "":
		return errors.New("--field-manager: a name is needed")
	}
	if err := o.validateApplySet(); err != nil {
		return err
	}
	if o.part, err = shard.Parse(o.shard); err != nil {
		return fmt.Errorf("--shard: %w", err)
	}
	if o.shard != "" && (o.state != "" || o.applyset != "") {
		return errors.New("--shard: what has left the set can't be told by a part of it; leave --state and --applyset out")
	}
	if err := o.validateUpgrade(); err != nil {
		return err
	}
	if o.out != "" && (o.shard != "" || o.memory != "") {
		return errors.New("--out: what is saved is the plan of the whole set, of which nothing is remembered; leave --shard and --memory out")
	}
	if o.outSecrets && o.out == "" {
		return errors.New("--out-secrets: says what --out writes; name a file with --out")
	}
	if o.patterns, err = projection.ParsePatterns(o.ignore...); err != nil {
		return fmt.Errorf("--ignore: %w", err)
	}
	if o.cleared, err = projection.ParsePatterns(withoutAuto(o.clear)...); err != nil {
		return fmt.Errorf("--clear: %w", err)
	}
	if o.hidden, err = projection.ParsePatterns(o.sensitive...); err != nil {
		return fmt.Errorf("--sensitive: %w", err)
	}
	if err := o.parseFilters(); err != nil {
		return err
	}
	if o.conditions, err = readiness.ParseConditions(o.ready); err != nil {
		return fmt.Errorf("--ready: %w", err)
	}
	return checkOutput(o.output, o.outputs)
}

// request returns what to plan of a manifest.
func (o *options) request(manifest *unstructured.Unstructured) ssaplan.Request {
	named := withoutAuto(o.adopt)
	return ssaplan.Request{
		Manifest: manifest, Subresource: o.subresource, Ignore: o.patterns, Adopt: named, AdoptTools: len(named) < len(o.adopt),
		Existing: existingRules[o.existing], GiveUp: o.keep, LostVersions: o.lostVersions,
		Clear: o.cleared, ClearBlocking: len(withoutAuto(o.clear)) < len(o.clear),
	}
}

// withoutAuto returns the values of a flag that are names, and not the word for all that are found.
func withoutAuto(values []string) []string {
	return slices.DeleteFunc(slices.Clone(values), func(value string) bool { return value == "auto" })
}

// existingRules are the values of --existing.
var existingRules = map[string]explain.Existing{
	"take-over": explain.ExistingTakeOver, "refuse": explain.ExistingRefuse, "required": explain.ExistingRequired,
}

func existingNames() []string { return slices.Sorted(maps.Keys(existingRules)) }

func checkOutput(output string, known []string) error {
	if !slices.Contains(known, output) {
		return fmt.Errorf("-o %s: the output formats are %s", output, strings.Join(known, ", "))
	}
	return nil
}
