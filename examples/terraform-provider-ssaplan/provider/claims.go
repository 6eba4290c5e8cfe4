package provider

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// claims are the objects that a run plans to apply and to destroy. Terraform doesn't know that two resources mean the
// same object. It plans each resource once in a process, but for the second half of a replacement.
type claims struct {
	mu        sync.Mutex
	applied   map[string]bool
	destroyed map[string]bool
	done      sync.Map // what this run did to an object: *doneTo by what names it
	read      sync.Map // what it refreshed: *refreshed by what names the object and the field manager
}

// refreshed is what a refresh remembers of an object, its attributes, and the cluster in which it was applied.
type refreshed struct {
	state  *explain.State
	object object
	in     review.Cluster
}

// old returns what was refreshed of the object that the planned one takes the place of, nil if nothing was. Terraform
// plans a tainted object as a create, and tells nothing of the old one. What else would be made in its place, applied
// by the same manager, is refused as a second resource for the same object.
func (p *planning) old(id identity.Identity) *refreshed {
	read, _ := p.planners.claims.read.Load(
		objectIn(p.planners.clusterOf(p.planned), id) + p.planned.FieldManager.ValueString())
	found, _ := read.(*refreshed)
	return found
}

// doneTo is what a run did to an object. It is locked while something is done.
type doneTo struct {
	sync.Mutex
	// madeAs is the UID under which it was applied, and by the field manager that did.
	madeAs string
	by     string
	// notReplaced says why nothing may be made in the place of the old one.
	notReplaced string
}

// lock returns what was done to an object, and keeps others from doing something to it meanwhile.
func (c *claims) lock(cluster types.Object, id identity.Identity) *doneTo {
	done, _ := c.done.LoadOrStore(objectIn(cluster, id), &doneTo{})
	done.(*doneTo).Lock()
	return done.(*doneTo)
}

// isOf reports whether this run applied the very object that is to be destroyed: another resource means the same one,
// or Terraform makes the new object before it destroys the old one. To let go of it is another matter if another
// manager applied it.
func (d *doneTo) isOf(uid string, o object) bool {
	return d.madeAs != "" && d.madeAs == uid &&
		(o.OnDestroy.ValueString() != release || d.by == o.FieldManager.ValueString())
}

// claim notes what is planned, and plans taken_over and reviewed. The second half of a replacement claims nothing that
// the first one hasn't.
func (p *planning) claim(plan *ssaplan.Plan) error {
	manager := p.planned.FieldManager.ValueString()
	outline, err := review.Outline(plan)
	if err != nil {
		return err
	}
	p.planned.TakenOver, p.planned.Reviewed = takenOver(plan, manager), types.StringValue(outline)
	if p.prior != nil {
		p.planned.TakenOver = p.prior.TakenOver
	} else if p.state != nil {
		return nil
	}
	if err := p.planners.claims.apply(p.planners.clusterOf(p.planned), plan.Object, manager,
		p.planned.isPatch()); err != nil {
		return err
	}
	if plan.Action == ssaplan.ActionReplace && p.prior != nil && p.prior.OnDestroy.ValueString() != release &&
		p.state.Identity.Unversioned() != plan.Object.Unversioned() {
		return p.planners.claims.destroy(p.planners.clusterOf(*p.prior), p.state.Identity)
	}
	return nil
}

// refused returns why nothing may be made in the place of an object that was to be replaced.
func (c *claims) refused(cluster types.Object, id identity.Identity) error {
	done := c.lock(cluster, id)
	defer done.Unlock()
	if done.notReplaced == "" {
		return nil
	}
	return errors.New(done.notReplaced)
}

// apply notes that a resource applies an object as a field manager. Another one that does would undo it; one that
// destroys it would leave nothing.
func (c *claims) apply(cluster types.Object, id identity.Identity, manager string, patches bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	object := objectIn(cluster, id)
	if c.destroyed[object] {
		return errDestroyed(id)
	}
	if c.applied[object+manager] {
		return fmt.Errorf(
			"%s: two resources of this configuration apply it as %q, and each would undo what the other does: keep "+
				"one of them", id, foreign.Text(manager))
	}
	if c.applied == nil {
		c.applied = map[string]bool{}
	}
	role, other := " as a whole", " in part"
	if patches {
		role, other = other, role
	}
	if c.applied[object+other] {
		return fmt.Errorf(
			"%s: one resource of this configuration creates it, and another one patches it: set the patched fields "+
				"in the first one", id)
	}
	c.applied[object], c.applied[object+manager], c.applied[object+role] = true, true, true
	return nil
}

// destroy notes that a resource destroys an object.
func (c *claims) destroy(cluster types.Object, id identity.Identity) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	object := objectIn(cluster, id)
	if c.applied[object] {
		return errDestroyed(id)
	}
	if c.destroyed == nil {
		c.destroyed = map[string]bool{}
	}
	c.destroyed[object] = true
	return nil
}

func errDestroyed(id identity.Identity) error {
	return fmt.Errorf(
		"%s: one resource of this run destroys it, and another one applies it, so the object would be deleted in the end. "+
			"If the resource has another name or for_each key now, add a moved block; if the object takes the name "+
			"of an object that is destroyed, use two applies; "+
			"if the state has a deposed object of the resource, run terraform state rm and terraform import; "+
			"otherwise remove the old resource from the state", id)
}

// objectIn returns what names an object, in whatever version. A cluster with a host is named by it, since a state lacks
// the credentials that are kept nowhere.
func objectIn(cluster types.Object, id identity.Identity) string {
	name := cluster.String()
	if host, has := cluster.Attributes()["host"]; has && !host.IsNull() {
		name = host.String()
	}
	id = id.Unversioned()
	return strings.Join([]string{name, id.APIVersion, id.Kind, id.Namespace, id.Name, ""}, " ")
}

// wasTaken is what to know of deleting an object that was there before its resource, which others may need.
const wasTaken = "the object was there before this resource, which took it over: to keep it, " +
	"set on_destroy = \"release\" and apply that first"

// isTaken reports whether the object with this UID was there before its resource.
func (o object) isTaken(uid string) bool { return uid != "" && o.TakenOver.ValueString() == uid }

// mayBeElsewhere returns what to know of an object that a create finds, although its field manager has applied it: the
// resource may be one of another state, which has the object already. Empty if that can't be.
func (p *planning) mayBeElsewhere(plan *ssaplan.Plan) string {
	live := plan.Live()
	if p.prior != nil || live == nil || !takenOver(plan, p.planned.FieldManager.ValueString()).IsNull() {
		return ""
	}
	return fmt.Sprintf(
		"%q has applied it before: if another Terraform state has the object, the two undo each other, and a destroy "+
			"of one deletes the object of both: then give this configuration a field_manager of its own. "+
			"If only a create of this resource was interrupted, or a state was lost, go on",
		foreign.Text(p.planned.FieldManager.ValueString()))
}

// refusesExisting refuses an object that is there already and was applied by the default field manager, which doesn't
// tell one configuration from another. Those that others applied the Planner refuses.
func (p *planning) refusesExisting(plan *ssaplan.Plan) bool {
	why := p.mayBeElsewhere(plan)
	refused := why != "" && p.planned.IfExists.ValueString() == refuse &&
		p.planned.FieldManager.ValueString() == defaultFieldManager
	if refused {
		p.diags.AddError(fmt.Sprintf("%s: exists already", plan.Object),
			why+". If it is of this configuration, import it.")
	}
	return refused
}

// takenOver returns the UID of an object that a create finds there, null if there is none or the field manager has
// applied it already: then it is the one of a create that was interrupted, or is to be replaced.
func takenOver(plan *ssaplan.Plan, manager string) types.String {
	live := plan.Live()
	if live == nil {
		return types.StringNull()
	}
	owners, err := fieldowner.Read(live.Object)
	if err == nil && !owners.Fields(fieldowner.Applier{Manager: manager}.Is).Empty() {
		return types.StringNull()
	}
	return types.StringValue(string(live.GetUID()))
}
