package planner_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/lab"
)

// busyServer has a controller write to an object before each request, so that each meets another version.
type busyServer struct {
	next  http.RoundTripper
	write func()
}

func (b busyServer) RoundTrip(r *http.Request) (*http.Response, error) {
	b.write()
	return b.next.RoundTrip(r)
}

// afterHandover does something after each JSON patch, by which fields change owners.
type afterHandover struct {
	next http.RoundTripper
	do   func()
}

func (a afterHandover) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := a.next.RoundTrip(r)
	if err == nil && response.StatusCode == http.StatusOK && r.Header.Get("Content-Type") == string(types.JSONPatchType) {
		a.do()
	}
	return response, err
}

// writers write to a Widget all the time what a plan of it doesn't speak of.
var writers = map[string]struct{ text, subresource string }{
	"status": {`{"status":{"seen":%d}}`, "status"},
	"label":  {`{"metadata":{"labels":{"seen":"%d"}}}`, ""},
	"spec":   {`{"spec":{"free":{"seen":%d}}}`, ""},
}

// busy returns a planner before each of whose requests a controller writes to the object, and how often it has written.
func (c *cluster) busy(t *testing.T, obj *unstructured.Unstructured, as string, wrap ...transport.WrapperFunc) (planner *ssaplan.Planner, writes *atomic.Int64) {
	objects, writes := c.Resource(t, obj), &atomic.Int64{}
	var subresources []string
	if sub := writers[as].subresource; sub != "" {
		subresources = append(subresources, sub)
	}
	write := func() {
		body := fmt.Appendf(nil, writers[as].text, writes.Add(1))
		options := metav1.PatchOptions{FieldManager: "controller"}
		_, err := objects.Patch(lab.Context(t), obj.GetName(), types.MergePatchType, body, options, subresources...)
		assert.NoError(t, err)
	}
	config := rest.CopyConfig(c.Config)
	for _, w := range append(wrap, func(next http.RoundTripper) http.RoundTripper { return busyServer{next, write} }) {
		config.Wrap(w)
	}
	planner, err := lab.NewPlanner(config, ssaplan.Options{FieldManager: manager, DefaultNamespace: c.Namespace})
	require.NoError(t, err)
	return planner, writes
}

// busyRounds returns how often a busy object is planned and applied. BUSY says how often (make busy).
func busyRounds(t *testing.T) int {
	rounds := 3
	if text := os.Getenv("BUSY"); text != "" {
		var err error
		rounds, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	return rounds
}

// TestBusyObject plans and applies an object whose controller writes its status all the time. That is no reason to
// fail, as it isn't for an apply by itself; a change of what was reviewed still is.
func TestBusyObject(t *testing.T) {
	rounds := busyRounds(t)
	c := newCluster(t)
	for _, row := range []struct {
		writer string
		rounds int
	}{{"status", rounds}, {"label", (rounds + 1) / 2}, {"spec", (rounds + 1) / 2}} {
		const text = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: busy-%s}, spec: {size: %d, color: %s}}"
		of := func(size int, color string) *unstructured.Unstructured {
			return manifest(t, text, row.writer, size, color)
		}
		planner, writes := c.busy(t, c.Apply(t, manager, of(0, "red")), row.writer)
		started := time.Now()
		for i := range row.rounds {
			plan, err := planner.Plan(lab.Context(t), ssaplan.Request{Manifest: of(i+1, "red")})
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionUpdate, plan.Action)
			require.Len(t, plan.Changes, 1, "what the controller writes isn't in the plan: %v", plan.Changes)
			_, err = planner.Apply(lab.Context(t), plan)
			require.NoError(t, err)
			again, err := planner.Plan(lab.Context(t), ssaplan.Request{Manifest: of(i+1, "red")})
			require.NoError(t, err)
			require.Equal(t, ssaplan.ActionNoOp, again.Action, again.Changes)
		}
		took := time.Since(started)
		plan, err := planner.Plan(lab.Context(t), ssaplan.Request{Manifest: of(0, "blue")})
		require.NoError(t, err)
		c.Apply(t, "others", of(row.rounds, "green"))
		_, err = planner.Apply(lab.Context(t), plan)
		var changed *ssaplan.ChangedError
		require.ErrorAs(t, err, &changed, "what was reviewed has changed")
		require.Greater(t, writes.Load(), 5*int64(row.rounds))
		t.Logf("figure: a busy object: %d plans and applies, none failed, %v each, with %d writes of its %s",
			row.rounds, (took / time.Duration(row.rounds)).Round(time.Millisecond), writes.Load(), row.writer)
	}
}

// TestBusyTake takes fields of a busy object from another manager by force, which a writer of other fields doesn't
// prevent. A change of a value or owner that was reviewed does.
func TestBusyTake(t *testing.T) {
	rounds := busyRounds(t)
	c := newCluster(t)
	const text = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: taken-%s}, spec: {size: %d, color: red}}"
	for writer, rounds := range map[string]int{"status": rounds, "label": (rounds + 1) / 2, "spec": (rounds + 1) / 2} {
		t.Run(writer, func(t *testing.T) {
			of := func(size int) *unstructured.Unstructured { return manifest(t, text, writer, size) }
			obj := c.Apply(t, manager, of(0))
			planner, writes := c.busy(t, obj, writer)
			planOf := func(size int) *ssaplan.Plan {
				plan, err := planner.Plan(lab.Context(t), ssaplan.Request{Manifest: of(size)})
				require.NoError(t, err)
				return plan
			}
			took := time.Duration(0)
			for i := range rounds {
				c.Apply(t, "theirs", of(-1-i))
				began := time.Now()
				plan := planOf(i + 1)
				require.Len(t, plan.Changes, 1, "what the controller writes isn't in the plan: %v", plan.Changes)
				require.Contains(t, taken(plan), "spec.size")
				ctx, cancel := context.WithTimeout(lab.Context(t), lab.Patience)
				made, err := planner.Apply(ctx, plan)
				cancel()
				require.NoError(t, err)
				took += time.Since(began)
				size, _, err := unstructured.NestedInt64(made.Object, "spec", "size")
				require.NoError(t, err)
				require.Equal(t, int64(i+1), size)
				owners, err := fieldowner.Read(c.Get(t, obj).Object)
				require.NoError(t, err)
				require.Len(t, owners.Of(pathOf(t, "spec.size")), 1)
				require.Equal(t, ssaplan.ActionNoOp, planOf(i+1).Action)
			}
			for what, change := range map[string]func(){
				"the value": func() { c.Apply(t, "theirs", of(-7)) },
				"the owner": func() { c.Apply(t, "third", of(-5)) },
			} {
				c.Apply(t, "theirs", of(-5))
				plan := planOf(7)
				change()
				_, err := planner.Apply(lab.Context(t), plan)
				require.ErrorAs(t, err, new(*ssaplan.ChangedError), "%s that was reviewed has changed", what)
				size, _, err := unstructured.NestedInt64(c.Get(t, obj).Object, "spec", "size")
				require.NoError(t, err)
				require.Negative(t, size)
			}
			c.Apply(t, "theirs", of(-5))
			plan := planOf(7)
			between, _ := c.busy(t, obj, writer, func(next http.RoundTripper) http.RoundTripper {
				return afterHandover{next, func() { c.Apply(t, "theirs", of(-8)) }}
			})
			_, err := between.Apply(lab.Context(t), plan)
			require.ErrorAs(t, err, new(*ssaplan.ChangedError), "the value has changed after the field was taken")
			require.ErrorContains(t, err, "fields have changed owners, and the manifest was not applied")
			require.Equal(t, write.OutcomeRefused, write.OutcomeOf(err))
			size, _, err := unstructured.NestedInt64(c.Get(t, obj).Object, "spec", "size")
			require.NoError(t, err)
			require.Equal(t, int64(-8), size)
			t.Logf("figure: a busy object, taken by force: %d plans and applies, none failed, %v each, with %d writes of its %s",
				rounds, (took / time.Duration(rounds)).Round(time.Millisecond), writes.Load(), writer)
		})
	}
}

// taken returns the fields that the plan takes from others.
func taken(plan *ssaplan.Plan) (paths []string) {
	for _, transfer := range plan.Ownership {
		if transfer.Kind == fieldowner.TransferTaken {
			paths = append(paths, transfer.Path.String())
		}
	}
	return paths
}

// TestBusyHandover has fields of a busy object change owners, whose record a server can only replace as a whole.
func TestBusyHandover(t *testing.T) {
	c := newCluster(t)
	const text = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: %s-%s}, spec: {size: %d, color: red}}"
	for writer := range writers {
		for name, ask := range map[string]func(*ssaplan.Request){
			"adopt":   func(r *ssaplan.Request) { r.Adopt = []string{"theirs"} },
			"clear":   func(r *ssaplan.Request) { r.Clear = patterns(t, "metadata.annotations.x") },
			"give-up": func(r *ssaplan.Request) { r.GiveUp = patterns(t, "spec.color") },
		} {
			if name != "adopt" && writer != map[string]string{"clear": "label", "give-up": "spec"}[name] {
				continue // all hand over by one patch, and these writers come closest to the field
			}
			t.Run(writer+", "+name, func(t *testing.T) {
				obj := c.Apply(t, manager, manifest(t, text, name, writer, 0))
				c.Patch(t, "theirs", obj, `{"metadata":{"annotations":{"x":"y"}}}`)
				planner, _ := c.busy(t, obj, writer)
				request := ssaplan.Request{Manifest: manifest(t, text, name, writer, 1)}
				ask(&request)
				plan, err := planner.Plan(lab.Context(t), request)
				require.NoError(t, err)
				for _, change := range plan.Changes {
					require.NotContains(t, change.String(), "seen", "what the controller writes isn't in the plan")
				}
				made, err := planner.Apply(lab.Context(t), plan)
				require.NoError(t, err)
				require.Equal(t, name == "give-up", made.GetAnnotations()["x"] == "y")
				differences, err := plan.Differences(made)
				require.NoError(t, err)
				for _, d := range differences {
					require.Contains(t, d.Path.String(), "seen")
				}
				again, err := planner.Plan(lab.Context(t), request)
				require.NoError(t, err)
				require.Equal(t, ssaplan.ActionNoOp, again.Action, again.Changes)

				c.Patch(t, "theirs", obj, `{"metadata":{"annotations":{"x":"y"}}}`)
				request.Manifest = manifest(t, text, name, writer, 2)
				plan, err = planner.Plan(lab.Context(t), request)
				require.NoError(t, err)
				if name == "give-up" {
					c.Apply(t, "theirs", manifest(t, text, name, writer, 7)) // now the size is theirs
				} else {
					c.Patch(t, "theirs", obj, `{"metadata":{"annotations":{"x":"z"}}}`)
				}
				_, err = planner.Apply(lab.Context(t), plan)
				require.ErrorAs(t, err, new(*ssaplan.ChangedError), "what was reviewed has changed")
				require.Equal(t, name != "give-up", c.Get(t, obj).GetAnnotations()["x"] == "z")
			})
		}
	}
}

// TestBusyRelease lets go of a busy object.
func TestBusyRelease(t *testing.T) {
	c := newCluster(t)
	const text = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: released-%s}, spec: {size: 1, color: red}}"
	for writer := range writers {
		t.Run(writer, func(t *testing.T) {
			state := c.apply(t, manifest(t, text, writer))
			obj := c.Get(t, manifest(t, text, writer))
			planner, _ := c.busy(t, obj, writer)
			plan, err := planner.PlanRelease(lab.Context(t), state)
			require.NoError(t, err)
			require.Empty(t, plan.Changes)
			c.Apply(t, "others", manifest(t, text, writer))
			require.Error(t, plan.Apply(lab.Context(t)), "the fields have another owner now")
			plan, err = planner.PlanRelease(lab.Context(t), state)
			require.NoError(t, err)
			require.NoError(t, plan.Apply(lab.Context(t)))
			for _, entry := range c.Get(t, obj).GetManagedFields() {
				require.NotEqual(t, manager, entry.Manager)
			}
		})
	}
}
