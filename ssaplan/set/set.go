package set

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan"
)

// Options say how a set is planned and applied. The zero value works.
type Options struct {
	// Stages are the stages in their order. Default: [DefaultStages].
	Stages []Stage
	// AllowMissing takes a kind or namespace that neither the server nor the set has for one that somebody else is
	// going to make: the object is deferred. Default: that is a [MissingError].
	AllowMissing bool
	// KeepGoing applies what can be applied although other objects can't, except for what needs these. Default: nothing
	// is applied if something can't be planned, and no stage begins after one in which something failed.
	KeepGoing bool
	// Replace carries out replacements. Default: they are left out.
	Replace bool
	// Delete says how to delete the old objects of replacements, and to wait for that.
	Delete ssaplan.DeleteOptions
	// Patience is for how long a stage waits for what those before it have brought: that a definition is served, a
	// webhook answers. Default: a minute.
	Patience time.Duration
	// Preview foretells what becomes of custom resources whose definition comes with the set. Default: what they
	// declare is all that is shown.
	Preview Previewer
	// Begin is told that a stage begins to be planned or applied. It returns the context in which that is done, and
	// what is told that it ended. Default: nobody is.
	Begin func(ctx context.Context, doing Doing, stage string) (context.Context, func())
	// Unusable is called with a definition or namespace that can't be used when the wait for it is over, and with the
	// reason. An object that nothing else of the set needs holds nothing up, and is waited for a second at most.
	// Default: nothing is called.
	Unusable func(object identity.Identity, why string)
	// Waiting is told what is being waited for, and why, whenever that changes. Default: nobody is.
	Waiting func(object identity.Identity, why string)
}

// Doing is what is done with a stage.
type Doing string

// What is done with a stage.
const (
	DoingPlan  Doing = "plan"
	DoingApply Doing = "apply"
)

// Previewer foretells what a server makes of an object by the definition of its kind that comes with the same set, such
// as with the defaults; the error says what the definition doesn't allow. Neither argument is to be modified. Module
// preview has one.
type Previewer func(definition, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error)

// Set is a set of objects that are planned and applied together. It is not safe for concurrent use.
type Set struct {
	planner  Planner
	requests []ssaplan.Request
	options  Options
	contents contents

	stage   []int                         // of each object, by its number
	items   []*Item                       // as they were planned last
	ran     bool                          // since it was planned, so that objects may be otherwise than the items say
	applied []bool                        // by the last Apply, or found to be so
	shown   []*Item                       // as Plan yielded them, nil if it didn't
	seen    map[int]Readiness             // why objects weren't ready when they were last looked at
	names   map[ssaplan.Deferral][]string // that are known, by what is missing
	lost    map[schema.GroupKind]lost     // versions of kinds
}

// lost are versions that a CRD of the set is going to lose.
type lost struct {
	definition int // the number of the CRD
	versions   []string
}

// New returns the set of some requests, whose manifests are not modified.
func New(planner Planner, requests []ssaplan.Request, options Options) *Set {
	if len(options.Stages) == 0 {
		options.Stages = DefaultStages()
	}
	if options.Patience == 0 {
		options.Patience = time.Minute
	}
	if options.Begin == nil {
		options.Begin = func(ctx context.Context, _ Doing, _ string) (context.Context, func()) { return ctx, func() {} }
	}
	if options.Unusable == nil {
		options.Unusable = func(identity.Identity, string) {}
	}
	if options.Waiting == nil {
		options.Waiting = func(identity.Identity, string) {}
	}
	options.Stages = slices.Clip(options.Stages) // which grows by what comes after the rest
	s := &Set{planner: planner, requests: requests, options: options, names: map[ssaplan.Deferral][]string{}, seen: map[int]Readiness{}, lost: map[schema.GroupKind]lost{}}
	s.applied = make([]bool, len(requests))
	s.items, s.shown = make([]*Item, len(requests)), make([]*Item, len(requests))
	s.contents = contents{
		namespaces: map[string]int{}, definitions: map[schema.GroupKind]definition{}, admission: map[string][]int{}, referred: map[kinds.Reference][]int{},
	}
	for i, request := range requests {
		if request.Manifest != nil {
			planner.LearnDefinitions(request.Manifest)
			s.contents.add(i, request.Manifest)
		}
	}
	s.arrange()
	return s
}

// Stages returns the names of the stages, in which the objects are as far as is known by now.
func (s *Set) Stages() (names []string) {
	for _, stage := range s.options.Stages {
		names = append(names, stage.Name)
	}
	return names
}

// Item is what happens to an object of a set.
type Item struct {
	// Number is that of the request, from 0.
	Number int
	Object identity.Identity
	// Stage is the number of the stage, from 0; see [Set.Stages].
	Stage int
	// Plan is nil if none could be made.
	Plan *ssaplan.Plan
	// After are the objects of the set that have to be there, or to be changed, before the server can be asked. The
	// Plan is Deferred then, and shows what is known.
	After []identity.Identity
	// Foretold is what the server is expected to make of an object that it can't be asked for, nil unless
	// [Options.Preview] told. It has the values as the manifest has them, also sensitive ones. What it adds to them is
	// among the Plan's Changes, as side effects.
	Foretold *unstructured.Unstructured
	// Err is why there is no plan, or why it can't be what is meant.
	Err error

	after   []int // the numbers of After
	refusal error // of what is planned as after others
	// isConverted says that a conversion, which can't be asked yet, decides what becomes of other fields.
	isConverted bool
	unchanged   bool // nothing happens to it, and that is all that is left of the plan
}

// kept returns what a set keeps of an item: of one to which nothing happens no plan, as a set may have many of these.
func (item *Item) kept() *Item {
	kept := *item
	if !item.changes() {
		kept.Plan, kept.unchanged = nil, true
	}
	return &kept
}

// whole returns an item that was kept with a plan of what is left of it; nil for nil.
func (s *Set) whole(kept *Item) *Item {
	if kept == nil || !kept.unchanged {
		return kept
	}
	item := *kept
	item.unchanged = false
	item.Plan = &ssaplan.Plan{Object: item.Object, Subresource: s.requests[item.Number].Subresource, Action: ssaplan.ActionNoOp}
	return &item
}

// follow makes the item one that comes after an object of the set.
func (item *Item) follow(s *Set, number int) {
	item.after, item.After = append(item.after, number), append(item.After, s.objectOf(number))
}

// changes reports whether the item isn't a no-op.
func (item *Item) changes() bool {
	return item != nil && !item.unchanged && (item.Plan == nil || item.Plan.Action != ssaplan.ActionNoOp)
}
