package proof_test

import (
	"context"
	"slices"

	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/ssaplan"
)

// isOtherVersion reports whether the object is remembered in another version of its group than that of the manifest.
func (t *trial) isOtherVersion() bool {
	return t.prior != nil && t.prior.Identity.APIVersion != t.manifest.GetAPIVersion()
}

// judgeVersion looks at the plan for an object that is remembered in another version, and that must not be updated in
// place: it is replaced, and the plan says that this is needless if the object is there under both. Then it plans the
// update.
func (t *trial) judgeVersion(ctx context.Context) {
	if !t.isOtherVersion() || t.step.InPlace {
		return
	}
	if t.planErr == nil {
		isSame := t.before != nil && string(t.before.GetUID()) == t.prior.UID
		needless := t.planIs(ssaplan.ActionReplace) && slices.ContainsFunc(t.plan.Replacement.Hazards, func(h immutability.Hazard) bool {
			return h.Kind == immutability.HazardNeedless
		})
		t.check(versions, t.planIs(ssaplan.ActionReplace) && needless == isSame, "planned %v, and the object is the same: %t", t.plan, isSame)
	}
	t.step.InPlace = true
	t.makePlan(ctx)
}
