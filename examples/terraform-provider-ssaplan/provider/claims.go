package provider

import (
	"fmt"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/review"
)

// claims are the objects that a run plans to apply and to destroy. Terraform doesn't know that two resources mean the same object. It plans each
// resource once in a process, but for the second half of a replacement.
type claims struct {
	mu        sync.Mutex
	applied   map[string]bool
	destroyed map[string]bool
}

// claim notes what is planned, and plans taken_over and reviewed. The second half of a replacement claims nothing that the first one hasn't.
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
	return p.planners.claims.apply(p.planners.clusterOf(p.planned), plan.Object, manager, p.planned.isPatch())
}

// apply notes that a resource applies an object as a field manager. Another one that does would undo it; one that destroys it would leave nothing.
func (c *claims) apply(cluster types.Object, id identity.Identity, manager string, patches bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	object := objectIn(cluster, id)
	if c.destroyed[object] {
		return errDestroyed(id)
	}
	if c.applied[object+manager] {
		return fmt.Errorf("%s: two resources of this configuration apply it as %q, and each would undo what the other does: keep one of them", id, manager)
	}
	if c.applied == nil {
		c.applied = map[string]bool{}
	}
	role, other := " as a whole", " in part"
	if patches {
		role, other = other, role
	}
	if c.applied[object+other] {
		return fmt.Errorf("%s: one resource of this configuration makes it, and another one patches it: say in the first what the second does", id)
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
	return fmt.Errorf("%s: one resource of this run destroys it, and another one applies it, so that it would be gone in the end. "+
		"If the resource has another name or for_each key now, say so in a moved block; else remove the old one from the state", id)
}

// objectIn returns what names an object, in whatever version. A cluster with a host is named by it, since a state lacks the credentials that
// are kept nowhere.
func objectIn(cluster types.Object, id identity.Identity) string {
	name := cluster.String()
	if host, has := cluster.Attributes()["host"]; has && !host.IsNull() {
		name = host.String()
	}
	id = id.Unversioned()
	return strings.Join([]string{name, id.APIVersion, id.Kind, id.Namespace, id.Name, ""}, " ")
}

// takenOver returns the UID of an object that a create finds there, null if there is none or the field manager has applied it already: then it is
// the one of a create that was interrupted, or is to be replaced.
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
