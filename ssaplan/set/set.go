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
	"github.com/ssaplan/primitives/ssaplan/deletion"
)

// Options are the options of a [Set]. The zero value works.
type Options struct {
	// Stages are the stages in their order. Default: [DefaultStages].
	Stages []Stage
	// AllowMissing permits a kind or namespace that neither the server nor the set has, since another tool will create
	// it: the plan is Deferred. Default: that is a [MissingError].
	AllowMissing bool
	// KeepGoing applies the set even if some objects can't be applied. Objects that need these are skipped. Default: if
	// [Set.Plan] couldn't plan an object, nothing is applied. If an object fails, the rest of its stage is applied, but
	// no later stage.
	KeepGoing bool
	// Replace carries out replacements. Default: they are skipped.
	Replace bool
	// Delete says how to delete the old objects of replacements, and to wait for that.
	Delete deletion.Options
	// Patience is how long a stage waits for objects of earlier stages to work: for a CRD to be served, a webhook to
	// answer. Default: a minute.
	Patience time.Duration
	// Preview predicts the result for custom resources whose CRD is in the set. Default: only the fields in the
	// manifest are shown.
	Preview Previewer
	// Begin is called before a stage is planned or applied. It returns the context for that, and a function that is
	// called at the end of the stage. Default: nothing is called.
	Begin func(ctx context.Context, doing Doing, stage string) (context.Context, func())
	// Unusable is called with a CRD or namespace that still can't be used at the end of the wait, and with the reason.
	// If no other object of the set needs it, the wait is a second at most. Default: nothing is called.
	Unusable func(object identity.Identity, why string)
	// Waiting is called with the object that a stage waits for, and the reason, whenever they change. Default: nothing
	// is called.
	Waiting func(object identity.Identity, why string)
}

// Doing says whether a stage is planned or applied.
type Doing string

// What is done with a stage.
const (
	DoingPlan  Doing = "plan"
	DoingApply Doing = "apply"
)

// Previewer predicts the object that a server will create from the manifest of a custom resource, including defaults.
// The server doesn't serve the kind yet: its CRD (definition) is in the same set. The error says what the CRD doesn't
// allow. A Previewer must not modify its arguments. preview.Of of module preview is a Previewer.
type Previewer func(definition, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error)

// Set is a set of objects that are planned and applied together. It is not safe for concurrent use.
type Set struct {
	planner  Planner
	requests []ssaplan.Request
	options  Options
	contents contents

	order   *order                        // it changes when another dependency is found
	objects []identity.Identity           // by number; items keep no identity of an unchanged object
	items   []*Item                       // as they were planned last; see [Item.kept]
	ran     bool                          // Apply began after Plan, so objects may differ from the items
	done    map[int]bool                  // whether Apply succeeded since Plan, by number
	applied []bool                        // whether the last Apply succeeded, by number
	shown   []*Item                       // as Plan yielded them, nil if it didn't
	seen    map[int]Readiness             // why objects weren't ready when they were last looked at
	names   map[ssaplan.Deferral][]string // kinds or namespaces to suggest; see [Set.known]
	lost    map[schema.GroupKind]lost     // versions that a CRD of the set loses, by kind
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
	s := &Set{planner: planner, requests: requests, options: options, names: map[ssaplan.Deferral][]string{},
		seen: map[int]Readiness{}, lost: map[schema.GroupKind]lost{}}
	s.applied = make([]bool, len(requests))
	s.objects = make([]identity.Identity, len(requests))
	s.items, s.shown = make([]*Item, len(requests)), make([]*Item, len(requests))
	s.contents = contents{
		admission: map[string][]int{}, referred: map[kinds.Reference][]int{},
	}
	for i, request := range requests {
		if request.Manifest != nil {
			planner.LearnDefinitions(request.Manifest)
			s.contents.add(i, request.Manifest)
		}
	}
	s.order = newOrder(options.Stages, requests, &s.contents)
	return s
}

// Stages returns the names of all stages, in their order. Item.Stage is an index of the result.
func (s *Set) Stages() (names []string) {
	for _, stage := range s.order.stages {
		names = append(names, stage.Name)
	}
	return names
}

// request returns the request of an object. If the CRD of its kind loses versions with the set, the request names them.
// The apply then first moves entries of managedFields away from these versions. With such an entry, no apply to the
// object can succeed.
func (s *Set) request(i int) ssaplan.Request {
	request := s.requests[i]
	if request.Manifest != nil && request.Subresource == "" {
		request.LostVersions = slices.Concat(request.LostVersions, s.lost[groupKind(request.Manifest)].versions)
	}
	return request
}

// objectOf names an object as its manifest does.
func (s *Set) objectOf(i int) identity.Identity {
	if s.requests[i].Manifest == nil {
		return identity.Identity{}
	}
	id, _ := identity.Of(s.requests[i].Manifest.Object) // the plan's error says what is wrong with it
	return id
}

// whole returns the kept item of object i. For an unchanged object, the item has a plan with only the object and the
// action. It returns nil for nil.
func (s *Set) whole(i int, kept *Item) *Item {
	if kept != unchanged {
		return kept
	}
	plan := &ssaplan.Plan{Object: s.objects[i], Subresource: s.requests[i].Subresource, Action: ssaplan.ActionNoOp}
	return &Item{Number: i, Object: s.objects[i], Stage: s.order.stage[i], Plan: plan}
}

// Item is the plan for an object of a set.
type Item struct {
	// Number is the index of the request, from 0.
	Number int
	Object identity.Identity
	// Stage is the number of the stage, from 0; see [Set.Stages].
	Stage int
	// Plan is nil if none could be made.
	Plan *ssaplan.Plan
	// After are the objects of the set that have to be applied before a dry run of this one is possible. The Plan is
	// then Deferred, and shows the fields in the manifest.
	After []identity.Identity
	// Predicted is the object that the server is expected to create from a custom resource whose CRD it doesn't have
	// yet, nil without a result of [Options.Preview]. It has the values of the manifest, including sensitive ones.
	// Values that it adds, such as defaults, are side effects in the Plan's Changes.
	Predicted *unstructured.Unstructured
	// Err says why there is no plan.
	Err error

	after   []int // the numbers of After
	refusal error // why the server rejects an item that waits for others
	// replacement is the plan to replace the object. The served CRD requires the replacement, but the CRD of the set
	// allows an update. It is nil for other items.
	replacement *ssaplan.Plan
	// isConverted says that the server will convert the object to another version. The conversion may change fields
	// that the manifest doesn't declare. Their values aren't known yet.
	isConverted bool
}

// unchanged is kept in place of each unchanged item, since a set may have many of these.
var unchanged = &Item{}

// kept returns what a set keeps of an item: a copy of it, or unchanged.
func (item *Item) kept() *Item {
	if !item.changes() {
		return unchanged
	}
	kept := *item
	return &kept
}

// changes reports whether the item isn't a no-op.
func (item *Item) changes() bool {
	return item != nil && item != unchanged && (item.Plan == nil || item.Plan.Action != ssaplan.ActionNoOp)
}

// follow makes the item wait for an object of the set.
func (item *Item) follow(s *Set, number int) {
	item.after, item.After = append(item.after, number), append(item.After, s.objectOf(number))
}

// replaces makes an item the replacement that the served CRD requires.
func (item *Item) replaces() {
	item.Plan, item.Err, item.refusal, item.After, item.after = item.replacement, nil, nil, nil, nil
}
