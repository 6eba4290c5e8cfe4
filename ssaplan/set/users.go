package set

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// user is an object that isn't removed, or not yet, with the objects to which it refers.
type user struct {
	object identity.Identity
	refers []kinds.Reference
	// unread says that the object may refer to more than refers has.
	unread bool
}

// uses reports whether the object refers to another one, or may.
func (u user) uses(id identity.Identity) bool {
	kind := kindOf(id)
	return u.unread && mayUse(u.object, id) || slices.ContainsFunc(u.refers, func(r kinds.Reference) bool {
		namespace := cmp.Or(r.Namespace, u.object.Namespace)
		return r.Kind == kind && r.Name == id.Name && (id.Namespace == "" || namespace == id.Namespace)
	})
}

// mayUse reports whether objects of the kind of the one may refer to those of the kind of the other.
func mayUse(id, other identity.Identity) bool { return kinds.MayRefer(kindOf(id), kindOf(other)) }

func kindOf(id identity.Identity) string {
	return schema.GroupKind{Group: id.Group(), Kind: id.Kind}.String()
}

// reader is the part of a [Planner] that reads objects.
type reader interface {
	Read(context.Context, *explain.State) (*ssaplan.Reading, error)
}

// readUser returns an object with what it refers to as it is on the server.
func readUser(ctx context.Context, server reader, id identity.Identity) user {
	reading, err := server.Read(ctx, &explain.State{Identity: id})
	if err != nil || reading.Presence == ssaplan.PresenceUnreadable {
		return user{object: id, unread: true}
	}
	return userOf(id, reading.Live)
}

func userOf(id identity.Identity, objects ...*unstructured.Unstructured) user {
	u := user{object: id}
	for _, obj := range objects {
		if obj != nil {
			u.refers = append(u.refers, kinds.References(kindOf(id), obj.Object)...)
		}
	}
	return u
}

// user returns an object of the set with what it refers to: once the set is applied, as far as it is planned, and
// otherwise as it is on the server. What the manifest refers to is part of it in any case.
func (s *Set) user(ctx context.Context, i int, id identity.Identity) user {
	manifest, item := s.requests[i].Manifest, s.items[i]
	if s.ran || !item.changes() || item.Plan == nil {
		u := readUser(ctx, s.planner, id)
		u.refers = append(u.refers, userOf(id, manifest).refers...)
		return u
	}
	if s.isLeftOut(item) || len(s.usesLeftOut(ctx, i)) > 0 {
		return userOf(id, manifest, item.Plan.Live())
	}
	return userOf(id, manifest, item.Plan.Result())
}

// users returns the objects that stay and refer to a member: objects of the set, others that are in use, and members
// that are kept.
func (r *Removal) users(ctx context.Context, member identity.Identity) (users []identity.Identity) {
	if !kinds.Referred(kindOf(member)) {
		return nil
	}
	asked := map[identity.Identity]bool{member: true}
	look := func(id identity.Identity, read func() user) {
		if mayUse(id, member) && !asked[id] && r.look(id, read).uses(member) {
			users = append(users, id)
		}
		asked[id] = true
	}
	if s := r.options.Set; s != nil {
		for i := range s.requests {
			id := s.resolve(ctx, i)
			look(id, func() user { return s.user(ctx, i, id) })
		}
	}
	others := slices.Clone(r.options.InUse)
	for _, item := range r.shown {
		if item != nil && !item.Gone() && (r.ran || !item.Deletes()) {
			others = append(others, item.Member.Object)
		}
	}
	for _, id := range others {
		id = r.resolve(ctx, id)
		look(id, func() user { return readUser(ctx, r.planner, id) })
	}
	return users
}

// look returns what an object refers to, which is found out once.
func (r *Removal) look(id identity.Identity, read func() user) user {
	if _, known := r.looked[id]; !known {
		r.looked[id] = read()
	}
	return r.looked[id]
}

func (r *Removal) resolve(ctx context.Context, id identity.Identity) identity.Identity {
	if resolved, err := r.planner.Resolve(ctx, id); err == nil {
		return resolved
	}
	return id
}

// mostUsers is how many users of an object a reason names.
const mostUsers = 3

// usedBy returns why a member is kept to which other objects refer, empty if none does.
func (r *Removal) usedBy(ctx context.Context, member identity.Identity) string {
	users := r.users(ctx, r.resolve(ctx, member))
	if len(users) == 0 {
		return ""
	}
	var names []string
	for _, id := range users[:min(len(users), mostUsers)] {
		name := id.String()
		if r.looked[id].unread {
			name += " (which can't be read)"
		}
		names = append(names, name)
	}
	if more := len(users) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "still used by " + strings.Join(names, ", ")
}

// arrange puts members that refer to others of the removal before these, and changes the order no further.
func (r *Removal) arrange(ctx context.Context) {
	order, placed, users := make([]int, 0, len(r.order)), make([]bool, len(r.members)), r.usersAmong(ctx)
	var place func(int)
	place = func(i int) {
		if placed[i] {
			return
		}
		placed[i] = true
		for _, j := range users[i] {
			place(j)
		}
		order = append(order, i)
	}
	for _, i := range r.order {
		place(i)
	}
	r.order = order
}

// usersAmong returns for each member the numbers of the members that refer to it, in the order of removal.
func (r *Removal) usersAmong(ctx context.Context) [][]int {
	ids, byKind, byName := make([]identity.Identity, len(r.members)), map[string][]int{}, map[kinds.Reference]int{}
	for _, i := range r.order {
		ids[i] = r.resolve(ctx, r.members[i].Object)
		kind := kindOf(ids[i])
		byKind[kind], byName[kinds.Reference{Kind: kind, Namespace: ids[i].Namespace, Name: ids[i].Name}] = append(byKind[kind], i), i
	}
	users := make([][]int, len(r.members))
	for _, j := range r.order {
		var candidates []int
		for kind, members := range byKind {
			if kinds.MayRefer(kindOf(ids[j]), kind) {
				candidates = append(candidates, members...)
			}
		}
		if len(candidates) == 0 {
			continue
		}
		user := r.look(ids[j], func() user { return readUser(ctx, r.planner, ids[j]) })
		if !user.unread {
			candidates = nil
		}
		for _, reference := range user.refers {
			for _, namespace := range []string{cmp.Or(reference.Namespace, ids[j].Namespace), ""} {
				if i, exists := byName[kinds.Reference{Kind: reference.Kind, Namespace: namespace, Name: reference.Name}]; exists {
					candidates = append(candidates, i)
				}
			}
		}
		for _, i := range candidates {
			users[i] = append(users[i], j)
		}
	}
	return users
}
