package wire

import (
	"context"
	"iter"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
)

// How objects are listed.
const (
	// fewest is of how many objects of a kind and namespace a list is read. Of fewer, reads side by side are sooner there.
	fewest = 50
	// firstPage is how many objects the first page has. Each has half of what was read before it, so that what turns out to be useless is
	// never more than what was useful: the list ends when a quarter of it is of others, see [list.pays].
	firstPage = 10
	// largestPage is how many objects a page has at most, and pageBytes how long it is at most, about: far from [largestAnswer].
	largestPage, pageBytes = 500, 4 << 20
	// mostHeld is how much of what was listed waits to be asked for. Objects that are planned in the order of their names never wait long.
	mostHeld = 32 << 20
)

// lists are the lists that the objects of a set are read by.
type lists map[place]*list

// place is where objects are listed.
type place struct{ apiVersion, kind, namespace string }

type listsKey struct{}

// ReadByLists returns a context in which [Target.Listed] reads some objects by lists, by kind and namespace. Those that name no namespace may be
// in the default one.
func ReadByLists(ctx context.Context, wanted iter.Seq[identity.Identity], defaultNamespace string) context.Context {
	all := lists{}
	for id := range wanted {
		all.add(id)
		if id.Namespace == "" && defaultNamespace != "" {
			id.Namespace = defaultNamespace
			all.add(id)
		}
	}
	return context.WithValue(ctx, listsKey{}, all)
}

func (a lists) add(id identity.Identity) {
	at := place{id.APIVersion, id.Kind, id.Namespace}
	if a[at] == nil {
		a[at] = &list{busy: make(chan struct{}, 1), sorted: true, missing: map[string]bool{}, held: map[string]listed{}}
	}
	if l := a[at]; !l.missing[id.Name] {
		l.missing[id.Name] = true
		l.wanted++
	}
}

// Known returns the live object as the host has it, see [Target.Supplied], or as the lists have it, see [Target.Listed]; nil if neither does. Absent
// reports whether that is because there is none by the lists. Both may be of long ago.
func (t *Target) Known(ctx context.Context, given, manifest *unstructured.Unstructured) (live *unstructured.Unstructured, absent bool, err error) {
	if live, err = t.Supplied(given, manifest); live != nil || err != nil {
		return live, false, err
	}
	live, known := t.Listed(ctx, manifest)
	return live, known && live == nil, nil
}

// Listed returns the object as the lists of [ReadByLists] have it, nil if there is none, and whether they know. It may have changed since; so
// may that it isn't there. For a manifest that says which object in which version it is for, and for a subresource of what isn't there, the
// lists don't know.
func (t *Target) Listed(ctx context.Context, manifest *unstructured.Unstructured) (live *unstructured.Unstructured, known bool) {
	all, _ := ctx.Value(listsKey{}).(lists)
	id := t.Identity
	of := all[place{id.APIVersion, id.Kind, id.Namespace}]
	if of == nil || of.wanted < fewest || isConditional(manifest) {
		return nil, false
	}
	item, known := of.take(ctx, t.Resource, id.Name)
	if !known || item == nil {
		return nil, known && t.subresource == ""
	}
	obj, ok := t.keep(ctx, *item)
	if !ok {
		return nil, false
	}
	if _, err := answered(id, obj, Complete(obj)); err != nil {
		return nil, false // a read names what is wrong
	}
	return t.seen(obj), true
}

// list is the list of the objects of a kind and namespace, as far as it was read.
type list struct {
	wanted int
	busy   chan struct{} // holds one element while a goroutine uses what is below

	missing map[string]bool // the names that were wanted and not seen yet
	held    map[string]listed
	bytes   int // of what is held

	next            string // the continue token
	last            string // name
	sorted          bool
	began, ended    bool // ended: there are no more pages, or they don't pay, or can't be read
	complete        bool
	read            int // objects
	useful, useless int // bytes
}

// take returns the object of a name, nil if there is none, and whether that is known.
func (l *list) take(ctx context.Context, of *Resource, name string) (item *listed, known bool) {
	select {
	case l.busy <- struct{}{}:
		defer func() { <-l.busy }()
	case <-ctx.Done():
		return nil, false
	}
	for l.missing[name] && !l.isPast(name) && !l.ended && l.bytes < mostHeld {
		l.readPage(ctx, of)
	}
	if item, ok := l.held[name]; ok {
		delete(l.held, name)
		l.bytes -= item.size()
		return &item, true
	}
	known = l.missing[name] && l.isPast(name)
	delete(l.missing, name) // it isn't held for anybody from now on
	return nil, known
}

// isPast reports whether an object of that name would have been listed by now.
func (l *list) isPast(name string) bool { return l.complete || l.sorted && l.began && l.last > name }

// readPage reads the next page. What can't be listed, because the caller may not or the token is too old, is left to single reads.
func (l *list) readPage(ctx context.Context, of *Resource) {
	quiet, _ := CollectWarnings(ctx) // those of the server come with the dry run, too
	beside := of.server.Resource(of.resource, identity.Identity{APIVersion: of.object.APIVersion, Kind: of.object.Kind, Namespace: of.object.Namespace})
	p, err := beside.page(quiet, metav1.ListOptions{Limit: int64(l.limit()), Continue: l.next})
	l.began = true
	if err != nil {
		l.ended = true
		return
	}
	for _, item := range p.items {
		l.add(item)
	}
	l.next, l.complete = p.next, p.next == ""
	l.ended = l.complete || len(p.items) == 0 || !l.pays() // a page without objects may be followed by others without end
}

func (l *list) add(item listed) {
	l.sorted = l.sorted && item.name > l.last
	l.last = item.name
	l.read++
	if !l.missing[item.name] {
		l.useless += item.size()
		return
	}
	delete(l.missing, item.name)
	l.held[item.name] = item
	l.useful += item.size()
	l.bytes += item.size()
}

// pays reports whether to read another page.
func (l *list) pays() bool { return len(l.missing) > 0 && 3*l.useless <= l.useful }

// limit returns how many objects the next page has.
func (l *list) limit() int {
	if l.read == 0 {
		return firstPage
	}
	average := (l.useful + l.useless) / l.read
	return max(min(l.read/2, largestPage, pageBytes/max(average, 1)), 1)
}
