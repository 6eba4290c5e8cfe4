package set

import (
	"context"
	"iter"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

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

// scripted is a Planner whose answers a test edits.
type scripted struct {
	*ssaplan.Planner
	plan func(ssaplan.Request, *ssaplan.Plan, error) (*ssaplan.Plan, error)
	read func(*ssaplan.Reading, error) (*ssaplan.Reading, error)
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
		list = append(list, "{name: "+version+", served: true, storage: "+strconv.FormatBool(version == "v1")+", schema: {openAPIV3Schema: {type: object, properties: {"+
			"spec: {type: object, properties: {size: {type: integer}, mode: {type: string}"+more+"}}}}}}")
	}
	return "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: gadgets.example.com}, spec: {group: example.com, scope: Namespaced, " +
		"names: {plural: gadgets, kind: Gadget}, versions: [" + strings.Join(list, ", ") + "]}}"
}

// gadget returns a Gadget in a version.
func gadget(version, spec string) string {
	return "{apiVersion: example.com/" + version + ", kind: Gadget, metadata: {name: a, namespace: shop}, spec: {" + spec + "}}"
}

// install applies a set of manifests.
func install(t *testing.T, planner Planner, texts ...string) {
	t.Helper()
	for result := range newSet(t, planner, Options{}, texts...).Apply(t.Context()) {
		require.NoError(t, result.Err)
	}
}

// items returns copies of the items of a set's plan.
func items(t *testing.T, s *Set) (items []*Item) {
	t.Helper()
	for item := range s.Plan(t.Context()) {
		items = append(items, item)
	}
	return items
}
