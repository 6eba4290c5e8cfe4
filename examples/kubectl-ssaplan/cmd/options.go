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
	connected  *cluster             // that the other side of an upgrade has connected to; nil for others
	saved      *savedPlan           // that is carried out or shown; nil for others
}

var outputs = []string{"text", "json", "yaml", outputLines, "markdown", "html", outputDiff}

// manager is the field manager of this program.
const manager = "kubectl-ssaplan"

// flagDetails explains flags of plan and apply.
const flagDetails = `Flags with a PATTERN, PATH, WHICH, MANAGER, VERSION or KIND.GROUP may be repeated. A PATTERN
is a path of a field in which * matches any name, such as spec.replicas or metadata.annotations.*. WHICH is a
list of kind=, name= and namespace=, also with *.

With --adopt, fields that the manager owns and the manifest lacks are removed.

--state and --applyset keep a record of what was applied, so that --prune can delete objects that were removed from
the manifests. Every plan shows these objects. The parent of an ApplySet is a Secret, unless you write
RESOURCE/NAME.`

// outputDiff is the format of what reads kubectl diff.
const outputDiff = "diff"

// outputLines is the format that prints each plan, or of apply each result, as soon as it is known.
const outputLines = "jsonl"

func newOptions(streams genericiooptions.IOStreams) *options {
	// false: plan goes from context to context
	return &options{IOStreams: streams, config: genericclioptions.NewConfigFlags(false), outputs: outputs}
}

// addSourceFlags adds the flags that name the manifests.
func (o *options) addSourceFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVarP(&o.files, "filename", "f", nil,
		"read `PATH`: a file, folder, URL, or - for stdin; repeatable")
	flags.StringVarP(&o.kustomization, "kustomize", "k", "", "read the kustomization in `DIR`, instead of -f")
	flags.BoolVarP(&o.recursive, "recursive", "R", false, "also read sub-folders")
}

func (o *options) addFlags(c *cobra.Command) {
	o.addSourceFlags(c)
	flags := c.Flags()
	flags.StringVar(&o.subresource, "subresource", "",
		"apply the subresource `NAME` instead of the object, such as status, scale or resize")
	flags.StringVarP(&o.output, "output", "o", "text", "output `FORMAT`: "+strings.Join(o.outputs, ", "))
	flags.StringVar(&o.manager, "field-manager", manager, "`NAME` of the field manager")
	flags.BoolVar(&o.force, "force-conflicts", true,
		"take over fields of other managers; =false reports conflicts instead")
	flags.StringArrayVar(&o.ignore, "ignore", nil, "leave fields of `PATTERN` to others")
	flags.StringArrayVar(&o.adopt, "adopt", nil, "take over all fields of `MANAGER`; auto: of known tools")
	flags.StringArrayVar(&o.clear, "clear", nil,
		"remove fields of `PATTERN` that the manifest lacks, no matter who owns them; auto: those that block the apply")
	flags.StringArrayVar(&o.lostVersions, "lost-version", nil,
		"move managedFields of `VERSION`, which the CRD no longer has, to the version of the manifest")
	flags.StringVar(&o.existing, "existing", "take-over",
		"`RULE` for objects that exist and weren't applied before: "+strings.Join(existingNames(), ", "))
	flags.StringArrayVar(&o.sensitive, "sensitive", nil, "never show values of fields of `PATTERN`")
	flags.StringArrayVar(&o.showValuesOf, "show-values-of", nil,
		"show values of objects of `KIND.GROUP`, although it isn't known which are secret")
	flags.BoolVar(&o.serverText, "show-server-text", false,
		"show what the server says about objects with sensitive values, which it may quote")
	flags.StringVar(&o.state, "state", "", "`FILE` with a record of what was applied")
	flags.StringVar(&o.memory, "memory", "",
		"`FILE` that remembers unchanged objects, so that they aren't planned again for an hour; safe to delete")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "show also unchanged objects, and whole values")
	flags.StringVarP(&o.selector, "selector", "l", "", "take only objects with `LABELS` (app=web,tier!=test)")
	flags.StringArrayVar(&o.include, "include", nil, "take only `WHICH` objects (kind=Job,name=db-*)")
	flags.StringArrayVar(&o.exclude, "exclude", nil, "leave out `WHICH` objects (namespace=kube-*)")
	flags.StringVar(&o.applyset, "applyset", "", "the same record, in the cluster: `NAME` of an ApplySet")
	flags.StringVar(&o.tooling, "applyset-tooling", "kubectl-ssaplan/v1",
		"`TOOL` whose ApplySets are used; kubectl/v1.37.2 shares them with kubectl")
	flags.BoolVar(&o.prune, "prune", false, "delete what is no longer in the manifests")
	o.addRemovalFlags(c)
	flags.BoolVar(&o.hooks, "hooks", false,
		"treat Helm hooks (helm.sh/hook) like other objects; they are left out otherwise")
	flags.BoolVar(&o.allowMissing, "allow-missing", false,
		"defer objects whose kind or namespace doesn't exist and isn't in the manifests; otherwise these are errors")
	o.config.AddFlags(c.Flags())
	complete(c, o.config, o.outputs)
}

// addRemovalFlags adds the flags of what deletes objects that are remembered.
func (o *options) addRemovalFlags(c *cobra.Command) {
	c.Flags().BoolVar(&o.pruneAdopted, "prune-adopted", false,
		"also delete objects that existed before the first apply")
	c.Flags().BoolVar(&o.withContents, "prune-contents", false,
		"also delete namespaces and CRDs that hold objects of others, and these objects")
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
		return errors.New(
			"--lost-version: only of objects themselves; apply the object with it first, without --subresource")
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
		return errors.New(
			"--shard: a shard can't know which objects were removed from the set; leave --state and --applyset out")
	}
	if err := o.validateUpgrade(); err != nil {
		return err
	}
	if o.out != "" && (o.shard != "" || o.memory != "") {
		return errors.New("--out: saves the plan of the whole set; leave --shard and --memory out")
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
		Manifest: manifest, Subresource: o.subresource, Ignore: o.patterns, Adopt: named,
		AdoptTools: len(named) < len(o.adopt), Existing: existingRules[o.existing], GiveUp: o.keep,
		LostVersions: o.lostVersions, Clear: o.cleared, ClearBlocking: len(withoutAuto(o.clear)) < len(o.clear),
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
