package set

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan"
)

// Stage is a part of a set. Its objects are planned and applied after those of earlier stages. An object that refers to
// an object of a later stage moves to that stage.
type Stage struct {
	Name string
	// Has reports whether an object belongs to the stage. It is called in the order of the stages. An object belongs to
	// the last stage if Has is false for it in all others.
	Has func(*unstructured.Unstructured) bool
}

// DefaultStages returns seven stages, by the kinds of the objects: namespaces and CRDs; classes and limits; accounts
// and roles; RBAC and configuration (role bindings, ConfigMaps, Secrets, volumes); services and workloads; admission
// and further APIs (webhooks, policies, APIServices); custom resources and the rest. A caller may insert stages of its
// own.
func DefaultStages() []Stage {
	out := make([]Stage, len(kinds.Stages))
	for i, stage := range kinds.Stages {
		has := map[string]bool{}
		for _, kind := range stage.Kinds {
			has[kind] = true
		}
		out[i] = Stage{stage.Name, func(obj *unstructured.Unstructured) bool {
			return has[groupKind(obj).String()]
		}}
	}
	return out
}

// stageOf returns the number of the stage of a manifest, which may be nil.
func stageOf(stages []Stage, manifest *unstructured.Unstructured) int {
	last := len(stages) - 1
	if manifest == nil {
		return last
	}
	for i, stage := range stages[:last] {
		if stage.Has(manifest) {
			return i
		}
	}
	return last
}

// order is the order in which the objects of a set are planned and applied. Objects are known by their numbers.
type order struct {
	stages  []Stage // with added stages for further dependents
	stage   []int   // of each object
	numbers []int   // of all objects, each after the objects to which it refers
	users   [][]int // of each object: the objects that refer to it
}

// newOrder puts each object into its stage, or into a stage after the objects of the set that it needs. Within a stage,
// it puts each object after the objects to which it refers: if one of these isn't applied, neither is the object.
func newOrder(stages []Stage, requests []ssaplan.Request, c *contents) *order {
	o := &order{
		stages: slices.Clip(stages), // the caller's own array gets no further stage
		stage:  make([]int, len(requests)), users: make([][]int, len(requests)),
	}
	for i, request := range requests {
		o.stage[i] = stageOf(stages, request.Manifest)
	}
	for range 2 { // two rounds are enough: CRDs and namespaces need no other object
		for i, request := range requests {
			if request.Manifest == nil {
				continue
			}
			for _, other := range c.needs(request.Manifest, request.Manifest.GetNamespace()) {
				o.postpone(i, other)
			}
		}
	}
	o.behindReferred(requests, c)
	for _, i := range o.numbers {
		o.postponeUsers(i)
	}
	return o
}

// behindReferred sets the order of all objects. Each object comes after the objects to which it refers. Otherwise, and
// for objects that refer to each other, the order is that of the requests. It also notes which objects refer to an
// object.
func (o *order) behindReferred(requests []ssaplan.Request, c *contents) {
	const notSeen, placed = -1, -2
	numbers, path, at := make([]int, 0, len(requests)), []int{}, slices.Repeat([]int{notSeen}, len(requests))
	within := map[kinds.Reference][]int{}
	for reference, referred := range c.referred {
		for _, i := range referred {
			reference.Namespace = requests[i].Manifest.GetNamespace()
			within[reference] = append(within[reference], i)
		}
	}
	// place places an object after the objects to which it refers, and the objects of a cycle together. It returns the
	// index on the path of the first object of the cycle; without a cycle, the index of the object itself.
	var place func(i int) (first int)
	place = func(i int) (first int) {
		own := len(path)
		path, at[i], first = append(path, i), own, own
		for _, j := range c.refersTo(i, requests[i].Manifest, within) {
			o.users[j] = append(o.users[j], i)
			if at[j] == notSeen {
				first = min(first, place(j))
			} else if at[j] != placed {
				first = min(first, at[j])
			}
		}
		if first == own {
			circle := path[own:] // usually only i
			slices.Sort(circle)
			for _, j := range circle {
				at[j] = placed
			}
			numbers, path = append(numbers, circle...), path[:own]
		}
		return first
	}
	for i := range requests {
		if at[i] == notSeen {
			place(i)
		}
	}
	o.numbers = numbers
}

// refersTo returns the numbers of the objects of the set to which object i refers. It reads only the manifests, so a
// manifest without a namespace may be in any namespace. It returns nil for a CRD or namespace. These wait for no other
// object, since other objects can't exist without them. A CRD works without the Service of its conversion webhook until
// a version needs the conversion. The map within has the numbers by kind, name and namespace, since many namespaces may
// have an object of the same name.
func (c *contents) refersTo(i int, manifest *unstructured.Unstructured,
	within map[kinds.Reference][]int) (numbers []int) {
	if manifest == nil || len(c.referred) == 0 || isFoundation(manifest) {
		return nil
	}
	for _, reference := range kinds.References(groupKind(manifest).String(), manifest.Object) {
		namespace := cmp.Or(reference.Namespace, manifest.GetNamespace())
		reference.Namespace = ""
		if namespace == "" {
			numbers = append(numbers, c.referred[reference]...)
			continue
		}
		numbers = append(numbers, within[reference]...)
		reference.Namespace = namespace
		numbers = append(numbers, within[reference]...)
	}
	return slices.DeleteFunc(numbers, func(j int) bool { return j == i })
}

// postpone moves an object to a stage after that of another object, together with the objects that refer to it. It
// reports whether the object moved.
func (o *order) postpone(i, other int) bool {
	if o.stage[i] > o.stage[other] {
		return false
	}
	if o.stage[i] = o.stage[other] + 1; o.stage[i] == len(o.stages) {
		o.stages = append(o.stages, Stage{Name: "further dependents"})
	}
	o.postponeUsers(i)
	return true
}

// postponeUsers moves the objects that refer to an object to its stage, if they are in an earlier one.
func (o *order) postponeUsers(i int) {
	for _, user := range o.users[i] {
		if o.stage[user] < o.stage[i] {
			o.stage[user] = o.stage[i]
			o.postponeUsers(user)
		}
	}
}

// inStage returns the numbers of the objects of a stage, in their order.
func (o *order) inStage(stage int) (numbers []int) {
	for _, i := range o.numbers {
		if o.stage[i] == stage {
			numbers = append(numbers, i)
		}
	}
	return numbers
}
