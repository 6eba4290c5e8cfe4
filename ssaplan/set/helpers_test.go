package set

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
)

// object returns the object of a YAML text, nil for "".
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	if text == "" {
		return nil
	}
	data, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	obj := &unstructured.Unstructured{}
	require.NoError(t, json.Unmarshal(data, &obj.Object)) // with integers as servers have them
	return obj
}

// newPlanner returns a Planner for a server in memory.
func newPlanner(t *testing.T) (*ssaplan.Planner, *ssaplantest.Server) {
	t.Helper()
	server, err := ssaplantest.NewServer(ssaplantest.Options{Namespaces: []string{"shop"}})
	require.NoError(t, err)
	planner, err := ssaplan.New(server.API(), ssaplan.Options{FieldManager: "set-test"})
	require.NoError(t, err)
	return planner, server
}

// newSet returns a set of manifests, "" for a request without one.
func newSet(t *testing.T, planner Planner, options Options, texts ...string) *Set {
	t.Helper()
	var requests []ssaplan.Request
	for _, text := range texts {
		requests = append(requests, ssaplan.Request{Manifest: object(t, text)})
	}
	return New(planner, requests, options)
}

// forbids makes a server reject each apply of a resource, except for dry runs.
func forbids(resource string) func(ssaplantest.Request) error {
	return func(r ssaplantest.Request) error {
		if r.Resource.Resource == resource && r.Verb == "patch" && !r.DryRun {
			return apierrors.NewForbidden(r.Resource.GroupResource(), r.Name, errors.New("no"))
		}
		return nil
	}
}

// planEdit and readEdit edit what a Planner returns.
type (
	planEdit func(ssaplan.Request, *ssaplan.Plan, error) (*ssaplan.Plan, error)
	readEdit func(*ssaplan.Reading, error) (*ssaplan.Reading, error)
)

// scripted is a Planner whose answers a test edits.
type scripted struct {
	*ssaplan.Planner
	plan planEdit
	read readEdit
	made func(*unstructured.Unstructured, error) (*unstructured.Unstructured, error)
}

func (p *scripted) Apply(ctx context.Context, plan *ssaplan.Plan) (*unstructured.Unstructured, error) {
	made, err := p.Planner.Apply(ctx, plan)
	if p.made != nil {
		return p.made(made, err)
	}
	return made, err
}

func (p *scripted) Plan(ctx context.Context, request ssaplan.Request) (*ssaplan.Plan, error) {
	plan, err := p.Planner.Plan(ctx, request)
	if p.plan != nil {
		return p.plan(request, plan, err)
	}
	return plan, err
}

func (p *scripted) PlanAll(ctx context.Context, requests []ssaplan.Request) iter.Seq2[*ssaplan.Plan, error] {
	return func(yield func(*ssaplan.Plan, error) bool) {
		for _, request := range requests {
			if !yield(p.Plan(ctx, request)) {
				return
			}
		}
	}
}

func (p *scripted) Read(ctx context.Context, state *explain.State) (*ssaplan.Reading, error) {
	reading, err := p.Planner.Read(ctx, state)
	if p.read != nil {
		return p.read(reading, err)
	}
	return reading, err
}

// crd returns the CRD of Gadgets with more fields of spec, in some versions.
func crd(more string, versions ...string) string {
	var list []string
	for _, version := range versions {
		schema := "{openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}, mode: {type: string}" + more + "}}}}}"
		list = append(list, "{name: "+version+", served: true, storage: "+strconv.FormatBool(version == "v1")+", schema: "+schema+"}")
	}
	return "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.com}, " +
		"spec: {group: example.com, scope: Namespaced, names: {plural: gadgets, kind: Gadget}, versions: [" + strings.Join(list, ", ") + "]}}"
}

// withRule returns the CRD with a transition rule that protects spec.mode.
func withRule(crd string) string {
	return strings.Replace(crd, "mode: {type: string}", "mode: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}", 1)
}

// gadget returns a Gadget in a version.
func gadget(version, spec string) string {
	return "{apiVersion: example.com/" + version + ", kind: Gadget, metadata: {name: a, namespace: shop}, spec: {" + spec + "}}"
}

// namespace is a new namespace, and inNew an object in it.
const (
	namespace = "{apiVersion: v1, kind: Namespace, metadata: {name: new, labels: {a: b}}}"
	inNew     = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: new}}"
)

// install applies a set of manifests, which aren't there yet, and returns its members.
func install(t *testing.T, planner Planner, texts ...string) (members []Member) {
	t.Helper()
	for result := range newSet(t, planner, Options{}, texts...).Apply(quickly(t, &clock.Fake{})) {
		require.NoError(t, result.Err)
		members = append(members, Member{Object: result.Item.Object, UID: string(result.Made.GetUID())})
	}
	return members
}

// quickly returns a context in which no sleep is long, and the time is up after many of them.
func quickly(t *testing.T, fake *clock.Fake) context.Context {
	t.Helper()
	fake.LongestSleep, fake.TimeUp = time.Millisecond, 50
	return clock.With(t.Context(), fake)
}

// items returns copies of the items of a set's plan.
func items(t *testing.T, s *Set) (items []*Item) {
	t.Helper()
	for item := range s.Plan(t.Context()) {
		items = append(items, item)
	}
	return items
}

// plans returns a line for each item of a set's plan: stage, kind, action or error, and the kinds after which it comes.
func plans(t *testing.T, s *Set) (lines []string) {
	t.Helper()
	for _, item := range items(t, s) {
		line := fmt.Sprintf("%d %s ", item.Stage, item.Object.Kind)
		if item.Err != nil {
			lines = append(lines, line+item.Err.Error())
			continue
		}
		line += string(item.Plan.Action)
		for _, other := range item.After {
			line += " after " + other.Kind
		}
		lines = append(lines, line)
	}
	return lines
}

// results returns a line for each result of an apply: kind, outcome and error.
func results(ctx context.Context, s *Set) (lines []string) {
	for result := range s.Apply(ctx) {
		line := fmt.Sprintf("%s %s", result.Item.Object.Kind, result.Outcome)
		if result.Err != nil {
			line += ": " + result.Err.Error()
		}
		lines = append(lines, line)
	}
	return lines
}
