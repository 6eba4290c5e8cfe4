package planner_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/lab"
)

// TestReplaceInterrupted interrupts replacements after each of their requests in turn. The server handles the request,
// but the client gets no answer. A caller that continues then reaches the same end.
func TestReplaceInterrupted(t *testing.T) {
	c := newCluster(t)
	for _, replacement := range []interrupted{
		{"fields", func(m *unstructured.Unstructured) { set(m, "B", "data", "a") }, samePlan},
		{"identity", func(m *unstructured.Unstructured) { m.SetName(m.GetName() + "-renamed") }, carryOut},
	} {
		t.Run(replacement.name, func(t *testing.T) {
			requests := 1
			for replacement.run(t, c, requests) {
				requests++
			}
			require.Greater(t, requests, 4, "at least a look, a try, the delete, another look and the create")
		})
	}
}

type interrupted struct {
	name   string
	edit   func(*unstructured.Unstructured)
	resume resume
}

type resume func(c *cluster, planner *ssaplan.Planner, plan *ssaplan.Plan, request ssaplan.Request) error

// samePlan goes on with the plan that was interrupted.
func samePlan(c *cluster, planner *ssaplan.Planner, plan *ssaplan.Plan, _ ssaplan.Request) error {
	_, err := planner.Replace(context.Background(), plan, c.released())
	return err
}

// carryOut plans again with what was remembered before the replacement, and does what the plan says.
func carryOut(c *cluster, planner *ssaplan.Planner, _ *ssaplan.Plan, request ssaplan.Request) error {
	plan, err := planner.Plan(context.Background(), request)
	if err != nil {
		return err
	}
	if plan.Action == ssaplan.ActionReplace {
		_, err = planner.Replace(context.Background(), plan, c.released())
		return err
	}
	_, err = planner.Apply(context.Background(), plan)
	return err
}

// run interrupts a replacement after that many requests, has it resumed, and checks what is there in the end. It
// reports whether there were that many.
func (i interrupted) run(t *testing.T, c *cluster, requests int) bool {
	m := manifest(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: %s-%d, finalizers: [example.com/backup]}, data: {a: A}, immutable: true}`,
		i.name, requests)
	state := throughJSON(t, c.apply(t, m))
	old := m.DeepCopy()
	i.edit(m)
	request := ssaplan.Request{Manifest: m, Prior: state}
	plan := c.plan(t, request)
	require.Equal(t, ssaplan.ActionReplace, plan.Action)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	obj, err := c.interruptedPlanner(t, requests, cancel).Replace(ctx, plan, c.released())
	if err == nil {
		require.Equal(t, m.GetName(), obj.GetName())
	} else {
		var stopped *write.ReplaceError
		require.ErrorAs(t, err, &stopped)
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, i.resume(c, c.planner, plan, request), "after %d requests, stopped while %s: %v", requests, stopped.Stage, err)
	}

	live := c.Get(t, m)
	require.Equal(t, m.Object["data"], live.Object["data"])
	require.NotEqual(t, state.UID, string(live.GetUID()))
	require.Nil(t, live.GetDeletionTimestamp())
	require.Equal(t, ssaplan.ActionNoOp, c.plan(t, ssaplan.Request{Manifest: m}).Action)
	if old.GetName() != m.GetName() {
		_, err := c.Resource(t, old).Get(t.Context(), old.GetName(), metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
	}
	return err != nil
}

// released has the finalizers of the old object removed while the delete waits for them.
func (c *cluster) released() deletion.Options {
	return deletion.Options{PollInterval: time.Millisecond, Progress: func(old identity.Identity, _ []string) {
		resource, err := c.Find(schema.FromAPIVersionAndKind(old.APIVersion, old.Kind), old.Namespace)
		if err == nil {
			_, err = resource.Patch(context.Background(), old.Name, types.MergePatchType,
				[]byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		}
		if err != nil {
			panic(fmt.Sprintf("%s: %v", old, err))
		}
	}}
}

// interruptedPlanner returns a planner that loses the answer to one of its requests about objects, the n-th, and is
// interrupted then.
func (c *cluster) interruptedPlanner(t *testing.T, n int, interrupt func()) *ssaplan.Planner {
	config := c.Server.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if !strings.Contains(request.URL.Path, "/namespaces/"+c.Namespace) {
				return next.RoundTrip(request) // discovery
			}
			if n--; n != 0 {
				return next.RoundTrip(request)
			}
			response, err := next.RoundTrip(request)
			if err != nil {
				return nil, err
			}
			_ = response.Body.Close()
			interrupt()
			return nil, request.Context().Err()
		})
	})
	planner, err := lab.NewPlanner(config, ssaplan.Options{FieldManager: manager, DefaultNamespace: c.Namespace})
	require.NoError(t, err)
	return planner
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
