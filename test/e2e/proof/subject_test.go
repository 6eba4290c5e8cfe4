package proof_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// objectSizes are how large the objects are that cases of a definition begin with. The first has what it must have.
var objectSizes = []int{0, 8, 15, 25, 40, 60}

// attempts is how often an object is made that the server refuses, until it is given up.
const attempts = 12

// subjects counts what became of definitions.
type subjects struct {
	mu          sync.Mutex
	definitions figure
	objects     figure
	left        []string       // definitions that are no subjects, and why
	refusals    map[string]int // of the last attempt at objects, by definition and reason
}

// define installs definitions, and returns the kinds of those of which objects can be made.
func (c *cluster) define(t *testing.T, definitions []*unstructured.Unstructured) ([]kind, *subjects) {
	found := &subjects{refusals: map[string]int{}}
	var kinds []kind
	for _, definition := range definitions {
		k, err := definedKind(definition)
		if err == nil {
			_, err = c.TryApply(t, definition, metav1.PatchOptions{FieldManager: installer, Force: &[]bool{true}[0]})
		}
		if err != nil {
			found.leave(definition.GetName(), err)
			continue
		}
		kinds = append(kinds, k)
	}
	for _, k := range kinds {
		c.prepare(t, k)
	}
	c.inParallel(len(kinds), func(i int) { c.fill(t.Context(), &kinds[i], found) })
	return slices.DeleteFunc(kinds, func(k kind) bool { return len(k.Manifests) == 0 }), found
}

func (c *cluster) inParallel(n int, do func(i int)) {
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			for i := worker; i < n; i += workers {
				do(i)
			}
		})
	}
	all.Wait()
}

// fill makes the manifests of a kind, which depend on its name alone, and on what the server takes.
func (c *cluster) fill(ctx context.Context, k *kind, found *subjects) {
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, k.apiVersion()+k.name())
	g := &generator{Rand: rand.New(rand.NewPCG(sum.Sum64(), 0)), kind: *k}
	if status := k.schema.Properties["status"]; k.hasStatus && status != nil {
		k.Status, _ = g.valueOf(status, 12).(map[string]any)
	}
	var last error
	var manifests []map[string]any
	for _, size := range objectSizes {
		m, err := c.valid(ctx, g, size)
		found.object(k.name(), err)
		if err != nil {
			last = err
			continue
		}
		manifests = append(manifests, m)
	}
	k.Manifests = manifests
	if len(manifests) == 0 {
		found.leave(g.kind.name(), fmt.Errorf("no object: %w", last))
		return
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	found.definitions.add(true)
}

// made makes a manifest that the schema allows.
func (g *generator) made(size int) map[string]any {
	s := *g.kind.schema
	s.Properties = maps.Clone(s.Properties)
	for _, name := range []string{"apiVersion", "kind", "metadata"} {
		delete(s.Properties, name)
	}
	if g.kind.hasStatus {
		delete(s.Properties, "status")
	}
	m := g.objectOf(&s, size)
	m["apiVersion"], m["kind"] = g.kind.Manifests[0]["apiVersion"], g.kind.Manifests[0]["kind"]
	return m
}

// valid makes a manifest that the server takes. What it says against one, such as that a rule of the definition doesn't
// hold, is corrected a few times before another is made, which has more in it.
func (c *cluster) valid(ctx context.Context, g *generator, size int) (m map[string]any, err error) {
	for n := range attempts {
		m = g.made(size + n)
		for range attempts {
			if err = c.tryCreate(ctx, m); err == nil {
				return m, nil
			}
			if !g.correct(m, err) {
				break
			}
		}
	}
	return nil, err
}

func (c *cluster) tryCreate(ctx context.Context, m map[string]any) error {
	obj := &unstructured.Unstructured{Object: copyOf(m)}
	obj.SetName("candidate")
	resource, err := c.resource(obj.GroupVersionKind())
	if err != nil {
		return err
	}
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}, FieldManager: installer, FieldValidation: "Strict"}
	_, err = resource.Create(ctx, obj, options)
	return err
}

// correct takes out of a manifest what the server says is wrong, or puts something else there, as it does where
// something is missing. It reports whether anything was to be done.
func (g *generator) correct(m map[string]any, err error) (corrected bool) {
	details := status(err).Details
	if details == nil {
		return false
	}
	for _, cause := range details.Causes {
		at := fieldPlace(m, cause.Field)
		_, exists := lookup(m, at)
		if s := g.kind.schema.at(at); s != nil && len(at) > 0 && (!exists || g.chance(30)) {
			put(m, at, g.valueOf(s, 1+g.IntN(5)))
			corrected = true
		} else if exists {
			corrected = g.cutOptional(m, at) || corrected
		}
	}
	return corrected
}

// cutOptional cuts the place, something in it, or the nearest around it that isn't required.
func (g *generator) cutOptional(m map[string]any, at place) bool {
	if fields, _ := lookup(m, at); g.chance(50) {
		if inside, ok := fields.(map[string]any); ok && len(inside) > 0 {
			at = at.child(pick(g, slices.Sorted(maps.Keys(inside))...))
		}
	}
	for ; len(at) > 0; at = at[:len(at)-1] {
		name, _ := at[len(at)-1].(string)
		if around := g.kind.schema.at(at[:len(at)-1]); around == nil || !slices.Contains(around.Required, name) {
			break
		}
	}
	if _, exists := lookup(m, at); !exists || len(at) == 0 {
		return false
	}
	cut(m, at)
	return true
}

var fieldSteps = regexp.MustCompile(`[^.\[\]]+|\[[^\]]*\]`)

// fieldPlace returns the place in a manifest that a server means by the text of a path.
func fieldPlace(m map[string]any, field string) place {
	at := place{}
	for _, step := range fieldSteps.FindAllString(field, -1) {
		name := strings.Trim(step, "[]")
		here, _ := lookup(m, at)
		if i, err := strconv.Atoi(name); err == nil && isList(here) {
			at = at.child(i)
		} else {
			at = at.child(name)
		}
	}
	return at
}

// leave counts a definition that is no subject.
func (s *subjects) leave(name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.definitions.add(false)
	s.left = append(s.left, name+": "+shorten(err.Error()))
}

func (s *subjects) object(kind string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects.add(err == nil)
	if err != nil {
		s.refusals[kind+": "+shorten(err.Error())]++
	}
}

func (s *subjects) print(w io.Writer) {
	fmt.Fprintf(w, "definitions that are subjects: %d/%d\n", s.definitions.agreed, s.definitions.all)
	for _, line := range s.left {
		fmt.Fprintf(w, "no subject: %s\n", line)
	}
	fmt.Fprintf(w, "valid objects of definitions: %d/%d\n", s.objects.agreed, s.objects.all)
	for _, reason := range slices.Sorted(maps.Keys(s.refusals)) {
		fmt.Fprintf(w, "no valid object %s (%d)\n", reason, s.refusals[reason])
	}
}
