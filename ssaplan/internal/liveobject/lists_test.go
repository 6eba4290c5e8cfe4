package liveobject

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/turn"
	"github.com/ssaplan/primitives/ssaplan/internal/wiretest"
)

// shelf is a transport that answers lists of ConfigMaps page by page, in the order of names, and counts requests by
// their verb.
type shelf struct {
	names  []string       // with their namespaces, a slash between, where that isn't n
	size   map[string]int // of what has another size than the others
	broken int            // from which page on there is an error; 0 for never
	empty  bool           // pages have no objects, and there is always one more

	mostHeld int // the bound of the lists in bytes; 0 for the constant

	mu           sync.Mutex
	lists, reads int
	bytes        int
}

func (s *shelf) RoundTrip(request *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body := wiretest.Discovery
	switch path := request.URL.Path; {
	case path == "/api/v1":
	case strings.HasSuffix(path, "/configmaps"):
		s.lists++
		if body = s.page(request); s.broken > 0 && s.lists >= s.broken {
			body = wiretest.Forbidden
		}
		s.bytes += len(body)
	default:
		s.reads++
		body = s.head() + s.item(path[strings.LastIndex(path, "/")+1:])[1:] + "\n"
	}
	return wiretest.Response(request, body), nil
}

func (s *shelf) head() string { return `{"kind":"ConfigMap","apiVersion":"v1",` }

func (s *shelf) item(name string) string {
	id := shelved(name)
	return `{"metadata":{"name":"` + id.Name + `","namespace":"` + id.Namespace + `","uid":"u-` + id.Name +
		`","resourceVersion":"7"},"data":{"a":"` + strings.Repeat("x", s.size[name]) + `"}}`
}

func (s *shelf) page(request *http.Request) string {
	limit, _ := strconv.Atoi(request.URL.Query().Get("limit"))
	first, _ := strconv.Atoi(request.URL.Query().Get("continue"))
	all := slices.DeleteFunc(slices.Clone(s.names), func(name string) bool {
		return strings.Contains(request.URL.Path, "/namespaces/") && !strings.Contains(request.URL.Path, "/namespaces/"+shelved(name).Namespace+"/")
	})
	last, next := min(first+limit, len(all)), ""
	if last < len(all) {
		next = strconv.Itoa(last)
	}
	if s.empty {
		next, last = "1", first
	}
	var items []string
	for _, name := range all[first:last] {
		items = append(items, s.item(name))
	}
	return fmt.Sprintf(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":%q,"remainingItemCount":%d},"items":[%s]}`, next, len(all)-last, strings.Join(items, ","))
}

// names returns n names of a kind.
func names(kind string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("%s-%04d", kind, i))
	}
	return names
}

func shelved(name string) identity.Identity {
	namespace, name, found := strings.Cut(name, "/")
	if !found {
		namespace, name = "n", namespace
	}
	return identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: name}
}

// spread returns n names of a set in each of some namespaces, in the order of a server, which has "n-1/a" in front of
// "n/a".
func spread(n int, namespaces ...string) (spread []string) {
	for _, namespace := range namespaces {
		for _, name := range names("set", n) {
			spread = append(spread, namespace+"/"+name)
		}
	}
	slices.Sort(spread)
	return spread
}

// listAll asks for each of some names, in their order, and counts what is known.
func listAll(t *testing.T, s *shelf, wanted []string) (found, absent, unknown int) {
	locator := locator(t, s)
	locator.DefaultNamespace = "default"
	ids := func(yield func(identity.Identity) bool) {
		for _, name := range wanted {
			if !yield(shelved(name)) {
				return
			}
		}
	}
	ctx := ReadByLists(t.Context(), ids, "default")
	for _, l := range ctx.Value(listsKey{}).(lists) {
		l.mostHeld = cmp.Or(s.mostHeld, l.mostHeld)
	}
	for _, name := range wanted {
		target, err := locator.Locate(ctx, shelved(name), "")
		require.NoError(t, err)
		live, known := target.Listed(ctx, &unstructured.Unstructured{Object: map[string]any{}})
		switch {
		case live != nil:
			require.Equal(t, shelved(name), identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: live.GetNamespace(), Name: live.GetName()})
			require.Equal(t, "ConfigMap", live.GetKind())
			found++
		case known:
			absent++
		default:
			unknown++
		}
		require.Zero(t, target.Requests(), "the list isn't a request for one object")
	}
	return found, absent, unknown
}

func TestWhatListsKnow(t *testing.T) {
	reversed := names("set", 200)
	slices.Reverse(reversed)
	for _, row := range []struct {
		why                    string
		there, wanted          []string
		broken                 int
		found, absent, unknown int
		most                   int // lists
	}{
		{"all of them", names("set", 200), names("set", 200), 0, 200, 0, 0, 9},
		{"in another order", names("set", 200), reversed, 0, 200, 0, 0, 9},
		{"nothing is there", nil, names("set", 200), 0, 0, 200, 0, 1},
		{"a few are", names("set", 5), names("set", 200), 0, 5, 195, 0, 1},
		{"half are", names("set", 100), names("set", 200), 0, 100, 100, 0, 7},
		{"it has too few", names("set", 49), names("set", 49), 0, 0, 0, 49, 0},
		{"many others in front", append(names("a", 1000), names("set", 100)...), names("set", 100), 0, 0, 0, 100, 1},
		{"many others behind", append(names("set", 100), names("z", 1000)...), names("set", 100), 0, 100, 0, 0, 7},
		{"new ones beside many others", names("a", 1000), names("set", 100), 0, 0, 0, 100, 1},
		{"new ones in front of others", names("z", 1000), names("set", 100), 0, 0, 100, 0, 1},
		{"of many namespaces", spread(2, names("n", 50)...), spread(2, names("n", 50)...), 0, 100, 0, 0, 7},
		{"of many namespaces, half are", spread(1, names("n", 50)...), spread(2, names("n", 50)...), 0, 50, 50, 0, 6},
		{"of many namespaces of which one begins like others", spread(2, append(names("n", 50), "n")...), spread(2, append(names("n", 50), "n")...), 0, 102, 0, 0, 7},
		{"the same names in other namespaces", spread(2, names("o", 50)...), spread(2, names("n", 50)...), 0, 0, 100, 0, 1},
		{"the same names in other namespaces in front", spread(2, names("a", 50)...), spread(2, names("n", 50)...), 0, 0, 0, 100, 4},
		{"many of other namespaces in front", append(spread(2, names("a", 200)...), spread(2, names("n", 50)...)...), spread(2, names("n", 50)...), 0, 0, 0, 100, 1},
		{"some of other namespaces in front", append(spread(2, names("a", 15)...), spread(2, names("n", 50)...)...), spread(2, names("n", 50)...), 0, 100, 0, 0, 8},
		{"of many namespaces, and too few", spread(1, names("n", 49)...), spread(1, names("n", 49)...), 0, 0, 0, 49, 0},
		{"in a namespace with many and in many with few", append(spread(1, names("a", 60)...), spread(60, "n")...), append(spread(1, names("a", 60)...), names("set", 60)...), 0, 120, 0, 0, 12},
		{"the caller may not list", names("set", 100), names("set", 100), 1, 0, 0, 100, 1},
		{"the second page is refused", names("set", 100), names("set", 100), 2, 10, 0, 90, 2},
	} {
		t.Run(row.why, func(t *testing.T) {
			s := &shelf{names: row.there, broken: row.broken}
			found, absent, unknown := listAll(t, s, row.wanted)
			require.Equal(t, [3]int{row.found, row.absent, row.unknown}, [3]int{found, absent, unknown})
			require.LessOrEqual(t, s.lists, row.most)
			require.Zero(t, s.reads, "that is left to who asks")
		})
	}
}

// However the objects are spread and however large the others are, what is listed in vain is bounded by what is listed
// to use, the first page aside.
func TestListsAreNoMoreThanTwiceTheReads(t *testing.T) {
	for _, row := range []struct {
		why  string
		each int // every how manyth is of others
		size int // of these
	}{{"few others", 10, 0}, {"half are", 2, 0}, {"a few large ones", 20, 3000}, {"large ones", 4, 1000}} {
		t.Run(row.why, func(t *testing.T) {
			s := &shelf{size: map[string]int{}}
			all := names("set", 1000)
			var wanted []string
			useful, firstPageBytes := 0, 0
			for i, name := range all {
				if i%row.each == 0 {
					s.size[name] = row.size
				} else {
					wanted = append(wanted, name)
					useful += len(s.item(name))
				}
				if i < firstPage {
					firstPageBytes += len(s.item(name))
				}
			}
			s.names = all
			found, absent, unknown := listAll(t, s, wanted)
			require.Equal(t, len(wanted), found+unknown)
			require.Zero(t, absent)
			left := 0 // of single reads that are still to be sent
			for _, name := range wanted[found:] {
				left += len(s.item(name))
			}
			require.LessOrEqual(t, s.bytes+left, 2*useful+firstPageBytes+200*s.lists)
		})
	}
}

// A list that goes on without objects, as broken servers have it, isn't followed.
func TestListsWithoutEndAreLeft(t *testing.T) {
	s := &shelf{names: names("set", 60), empty: true}
	found, absent, unknown := listAll(t, s, s.names)
	require.Equal(t, []int{0, 0, 60, 1}, []int{found, absent, unknown, s.lists})
}

// A list of objects too large to be held is read as far as there is room, and further where that is asked for in order.
func TestListsAreBoundedInMemory(t *testing.T) {
	require.Equal(t, mostHeld, lists{}.at(place{}).mostHeld)
	large := names("set", 90)
	s := &shelf{names: large, size: map[string]int{}, mostHeld: 1 << 20}
	for _, name := range large {
		s.size[name] = 20_000
	}
	found, _, unknown := listAll(t, s, large)
	require.Equal(t, 90, found, "in order, all are found")
	require.Zero(t, unknown)
	reversed := slices.Clone(large)
	slices.Reverse(reversed)
	s = &shelf{names: large, size: s.size, mostHeld: s.mostHeld}
	found, _, unknown = listAll(t, s, reversed)
	require.Equal(t, 90, found+unknown)
	require.Less(t, found, 80)
	require.Positive(t, found)
}

// An item of a list is byte for byte what a read is answered with, so that a dry run that repeats it is known to be a
// no-op.
func TestAListedObjectIsAsARead(t *testing.T) {
	s := &shelf{names: names("set", 60)}
	r := locator(t, s).Server.Resource(wiretest.ConfigMaps, shelved("set-0001"))
	read, err := r.Get(t.Context(), "set-0001", metav1.GetOptions{})
	require.NoError(t, err)
	p, err := r.Page(t.Context(), metav1.ListOptions{Limit: 3})
	require.NoError(t, err)
	require.Equal(t, "3", p.Next)
	kept, ok := r.Keep(t.Context(), p.Items[1])
	require.True(t, ok)
	require.Equal(t, read.Object, kept.Object)
	again, err := r.Apply(t.Context(), "set-0001", []byte(`{}`), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Same(t, kept, again, "the same bytes")
}

func TestListsEndWithTheContext(t *testing.T) {
	l := &list{using: turn.New()}
	require.NoError(t, l.using.Take(t.Context()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	item, known := l.take(ctx, nil, "a")
	require.Nil(t, item)
	require.False(t, known)
}
