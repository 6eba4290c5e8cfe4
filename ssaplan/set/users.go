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

// user is an object that stays, or isn't removed yet, with the objects to which it refers.
type user struct {
	object identity.Identity
	refers []kinds.Reference
	// unread says that the object couldn't be read. It may then refer to more objects than those in refers.
	unread bool
}

// uses reports whether the object refers to another one, or may refer to it.
func (u user) uses(id identity.Identity) bool {
	kind := kindOf(id)
	return u.unread && mayUse(u.object, id) || slices.ContainsFunc(u.refers, func(r kinds.Reference) bool {
		namespace := cmp.Or(r.Namespace, u.object.Namespace)
		return r.Kind == kind && r.Name == id.Name && (id.Namespace == "" || namespace == id.Namespace)
	})
}

// mayUse reports whether objects of the kind of id may refer to objects of the kind of other.
func mayUse(id, other identity.Identity) bool { return kinds.MayRefer(kindOf(id), kindOf(other)) }

func kindOf(id identity.Identity) string {
	return schema.GroupKind{Group: id.Group(), Kind: id.Kind}.String()
}

// reader is the part of a [Planner] that reads objects.
type reader interface {
	Read(context.Context, *explain.State) (*ssaplan.Reading, error)
}

// readUser returns an object with its references on the server.
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

// user returns an object of the set with its references. The references of its manifest always count. The
// references of one other version count, too. Before Apply, this is the planned result of a change, or the live object
// if the change is held back. If no change is planned, or after Apply began, this is the object on the server now.
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

// usage finds out which objects refer to others. It reads each object once.
type usage struct {
	planner *ssaplan.Planner
	set     *Set // nil if there is none
	looked  map[identity.Identity]user
}

// of returns the objects that refer to a member. It looks for them in the set and among the others.
func (u *usage) of(ctx context.Context, member identity.Identity,
	others []identity.Identity) (users []identity.Identity) {
	asked := map[identity.Identity]bool{member: true}
	look := func(id identity.Identity, read func() user) {
		if mayUse(id, member) && !asked[id] && u.look(id, read).uses(member) {
			users = append(users, id)
		}
		asked[id] = true
	}
	if s := u.set; s != nil {
		for i := range s.requests {
			id := s.resolve(ctx, i)
			look(id, func() user { return s.user(ctx, i, id) })
		}
	}
	for _, id := range others {
		id = resolved(ctx, u.planner, id)
		look(id, func() user { return readUser(ctx, u.planner, id) })
	}
	return users
}

// look returns the references of an object. It reads them once.
func (u *usage) look(id identity.Identity, read func() user) user {
	if _, known := u.looked[id]; !known {
		u.looked[id] = read()
	}
	return u.looked[id]
}

// resolved returns an identity with its namespace, or as it is if the server doesn't know the kind.
func resolved(ctx context.Context, planner Planner, id identity.Identity) identity.Identity {
	if resolved, err := planner.Resolve(ctx, id); err == nil {
		return resolved
	}
	return id
}

// mostUsers is how many users of an object a reason names.
const mostUsers = 3

// reason returns why a member is kept: objects of the set, or others, refer to it. It is empty if none does.
func (u *usage) reason(ctx context.Context, member identity.Identity, others []identity.Identity) string {
	users := u.of(ctx, member, others)
	if len(users) == 0 {
		return ""
	}
	var names []string
	for _, id := range users[:min(len(users), mostUsers)] {
		name := id.String()
		if u.looked[id].unread {
			name += " (which can't be read)"
		}
		names = append(names, name)
	}
	if more := len(users) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "still used by " + strings.Join(names, ", ")
}

// usersFirst puts objects before the objects to which they refer, and keeps the order otherwise. order has the numbers
// of the objects.
func (u *usage) usersFirst(ctx context.Context, objects []identity.Identity, order []int) []int {
	arranged, placed, users := make([]int, 0, len(order)), make([]bool, len(objects)), u.among(ctx, objects, order)
	var place func(int)
	place = func(i int) {
		if placed[i] {
			return
		}
		placed[i] = true
		for _, j := range users[i] {
			place(j)
		}
		arranged = append(arranged, i)
	}
	for _, i := range order {
		place(i)
	}
	return arranged
}

// among returns for each object the numbers of the objects that refer to it, in the given order.
func (u *usage) among(ctx context.Context, objects []identity.Identity, order []int) [][]int {
	ids, byKind, byName := make([]identity.Identity, len(objects)), map[string][]int{}, map[kinds.Reference]int{}
	for _, i := range order {
		ids[i] = resolved(ctx, u.planner, objects[i])
		kind := kindOf(ids[i])
		byKind[kind], byName[kinds.Reference{Kind: kind, Namespace: ids[i].Namespace, Name: ids[i].Name}] = append(
			byKind[kind], i), i
	}
	users := make([][]int, len(objects))
	for _, j := range order {
		var candidates []int
		for kind, members := range byKind {
			if kinds.MayRefer(kindOf(ids[j]), kind) {
				candidates = append(candidates, members...)
			}
		}
		if len(candidates) == 0 {
			continue
		}
		user := u.look(ids[j], func() user { return readUser(ctx, u.planner, ids[j]) })
		if !user.unread {
			candidates = nil
		}
		for _, reference := range user.refers {
			for _, namespace := range []string{cmp.Or(reference.Namespace, ids[j].Namespace), ""} {
				if i, exists := byName[kinds.Reference{Kind: reference.Kind, Namespace: namespace,
					Name: reference.Name}]; exists {
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
