package liveobject

import (
	"context"
	"iter"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/turn"
	"github.com/ssaplan/primitives/ssaplan/internal/native"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// How objects are listed.
const (
	// fewest is the smallest number of objects of a kind, in a namespace or in all, for which a list is read. Fewer
	// objects are read faster by single reads in parallel.
	fewest = 50
	// firstPage is the number of objects in the first page. Each further page has half as many objects as all pages
	// before it. So there are never more useless objects than useful ones: the reading ends when a quarter of the list
	// is useless, or is expected to be useless in the end; see [list.pays].
	firstPage = 10
	// largestPage is the largest number of objects in a page, and pageBytes is its largest size, roughly. Package
	// client reads much longer answers.
	largestPage, pageBytes = 500, 4 << 20
	// mostHeld is the largest size of the listed objects that no caller has asked for yet. Objects that are planned in
	// the order of their names never wait long.
	mostHeld = 32 << 20
)

// lists are the lists that the objects of a set are read by.
type lists map[place]*list

// place is where objects are listed.
type place struct{ apiVersion, kind, namespace string }

// everyNamespace is the namespace of a list of the objects of all namespaces. No namespace has that name.
const everyNamespace = "*"

type listsKey struct{}

// ReadByLists returns a context in which [Target.Listed] reads some objects by lists. A list has the objects of a kind
// in a namespace. Namespaces with few objects of a kind share one list of all namespaces. Objects that name no
// namespace may be in the default one.
func ReadByLists(ctx context.Context, wanted iter.Seq[identity.Identity], defaultNamespace string) context.Context {
	all := lists{}
	for id := range wanted {
		all.add(id)
		if id.Namespace == "" && defaultNamespace != "" {
			id.Namespace = defaultNamespace
			all.add(id)
		}
	}
	for at, l := range all {
		if l.wanted < fewest && at.namespace != "" && at.namespace != everyNamespace {
			delete(all, at)
			for name := range l.missing {
				all.at(place{at.apiVersion, at.kind, everyNamespace}).want(at.namespace + "/" + name)
			}
		}
	}
	return context.WithValue(ctx, listsKey{}, all)
}

func (a lists) add(id identity.Identity) {
	a.at(place{id.APIVersion, id.Kind, id.Namespace}).want(id.Name)
}

func (a lists) at(at place) *list {
	if a[at] == nil {
		a[at] = &list{namespace: at.namespace, using: turn.New(), sorted: true, missing: map[string]bool{},
			held: map[string]native.Listed{}, mostHeld: mostHeld}
	}
	return a[at]
}

// of returns the list that has an object, if there is one, and the object's key in it.
func (a lists) of(id identity.Identity) (l *list, key string) {
	l, key = a[place{id.APIVersion, id.Kind, id.Namespace}], id.Name
	if l == nil && id.Namespace != "" {
		l, key = a[place{id.APIVersion, id.Kind, everyNamespace}], id.Namespace+"/"+id.Name
	}
	if l == nil || l.wanted < fewest {
		return nil, ""
	}
	return l, key
}

// list is the list of the objects of a kind and namespace, as far as it was read. Its keys are names. In a list of all
// namespaces, a key is the namespace, a slash and the name. A server orders its lists by these keys.
type list struct {
	namespace string
	wanted    int
	using     turn.Turn // of what is below

	missing map[string]bool // the keys that were wanted and not seen yet
	held    map[string]native.Listed
	bytes   int // of what is held
	// mostHeld is the constant, or less in a test.
	mostHeld int

	next            string // the continue token
	last            string // key
	sorted          bool
	began, ended    bool // ended: there are no more pages, or they don't pay, or can't be read
	complete        bool
	read, found     int // objects; how many of those were wanted
	left            int // objects that come after them, by the server's word
	useful, useless int // bytes
}

// want makes the list look for a key.
func (l *list) want(key string) {
	if !l.missing[key] {
		l.missing[key] = true
		l.wanted++
	}
}

// take returns the object of a key, nil if there is none, and whether that is known.
func (l *list) take(ctx context.Context, of *wire.Resource, key string) (item *native.Listed, known bool) {
	if l.using.Take(ctx) != nil {
		return nil, false
	}
	defer l.using.End()
	for l.missing[key] && !l.isPast(key) && !l.ended && l.bytes < l.mostHeld {
		l.readPage(ctx, of)
	}
	if item, ok := l.held[key]; ok {
		delete(l.held, key)
		l.bytes -= item.Size()
		return &item, true
	}
	known = l.missing[key] && l.isPast(key)
	delete(l.missing, key) // no caller needs it from now on
	return nil, known
}

// isPast reports whether an object of that key would have been listed by now.
func (l *list) isPast(key string) bool { return l.complete || l.sorted && l.began && l.last > key }

// readPage reads the next page. If the page can't be listed, because the caller may not or the token is too old, the
// objects are read one by one.
func (l *list) readPage(ctx context.Context, of *wire.Resource) {
	quiet, _ := warnings.Collect(ctx) // those of the server come with the dry run, too
	beside := of.In(strings.TrimSuffix(l.namespace, everyNamespace))
	p, err := beside.Page(quiet, metav1.ListOptions{Limit: int64(l.limit()), Continue: l.next})
	l.began = true
	if err != nil {
		l.ended = true
		return
	}
	for _, item := range p.Items {
		l.add(item)
	}
	l.next, l.left, l.complete = p.Next, p.Left, p.Next == ""
	// a page without objects may be followed by others without end
	l.ended = l.complete || len(p.Items) == 0 || !l.pays()
}

func (l *list) add(item native.Listed) {
	key := item.Name
	if l.namespace == everyNamespace {
		key = item.Namespace + "/" + item.Name
	}
	l.sorted = l.sorted && key > l.last
	l.last = key
	l.read++
	if !l.missing[key] {
		l.useless += item.Size()
		return
	}
	delete(l.missing, key)
	l.held[key] = item
	l.found++
	l.useful += item.Size()
	l.bytes += item.Size()
}

// pays reports whether to read another page. Useless objects come in a row, such as those of one namespace, and may
// come first. So if few other objects can be left, the missing objects are expected among those that are left.
func (l *list) pays() bool {
	expected := 0
	if l.left <= 2*len(l.missing) {
		each := l.average()
		if l.found > 0 {
			each = l.useful / l.found
		}
		expected = min(l.left, len(l.missing)) * each
	}
	return len(l.missing) > 0 && 3*l.useless <= l.useful+expected
}

// limit returns how many objects the next page has.
func (l *list) limit() int {
	if l.read == 0 {
		return firstPage
	}
	return max(min(l.read/2, largestPage, pageBytes/max(l.average(), 1)), 1)
}

// average is how long an object is.
func (l *list) average() int { return (l.useful + l.useless) / max(l.read, 1) }
