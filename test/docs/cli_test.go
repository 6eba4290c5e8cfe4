package docs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// Exit codes of the plan command.
const (
	exitUnchanged = 0
	exitError     = 1
	exitChanges   = 2
	exitBlocked   = 3
)

// tool is the core of a deployment CLI.
type tool struct {
	planner *ssaplan.Planner
	states  map[string]*explain.State // what was applied, by identity; kept in a file between two runs
	out     io.Writer
}

// decode reads a file of YAML documents. The decoder of apimachinery keeps integers; most others make floats of them.
func decode(file io.Reader) (manifests []*unstructured.Unstructured, err error) {
	documents := yaml.NewYAMLReader(bufio.NewReader(file))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return manifests, nil
		}
		if err != nil {
			return nil, err
		}
		manifest := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &manifest.Object); err != nil {
			return nil, fmt.Errorf("document %d: %w", len(manifests)+1, err)
		}
		if len(manifest.Object) > 0 { // and not just a comment
			manifests = append(manifests, manifest)
		}
	}
}

// set returns the manifests as a set, with what is remembered of each object.
func (t *tool) set(ctx context.Context, manifests []*unstructured.Unstructured) *set.Set {
	var requests []ssaplan.Request
	for _, manifest := range manifests {
		request := ssaplan.Request{Manifest: manifest}
		if id, err := identity.Of(manifest.Object); err == nil {
			if id, err = t.planner.Resolve(ctx, id); err == nil { // as the plan names it, with the namespace
				request.Prior = t.states[id.String()]
			}
		}
		requests = append(requests, request)
	}
	return set.New(t.planner, requests, set.Options{})
}

// plan shows what applying a set will do, stage by stage, and returns the plans with the exit code.
func (t *tool) plan(ctx context.Context, application *set.Set) (plans []*ssaplan.Plan, code int) {
	for item := range application.Plan(ctx) {
		if item.Err != nil {
			fmt.Fprintln(t.out, "error:", item.Err)
			code = exitError
			continue
		}
		t.show(item.Plan)
		plans = append(plans, item.Plan)
		waits := item.Plan.Action == ssaplan.ActionConflict || item.Plan.Action == ssaplan.ActionDeferred
		switch {
		case code == exitError, item.Plan.Action == ssaplan.ActionNoOp:
		case waits && len(item.After) == 0: // for nothing that the set brings
			code = exitBlocked
		case code != exitBlocked:
			code = exitChanges
		}
	}
	return plans, code
}

// show prints a plan. Nothing here can show the value of a Secret.
func (t *tool) show(plan *ssaplan.Plan) {
	fmt.Fprintf(t.out, "%s %s: %s\n", plan.Action, plan.Object, plan.Reason)
	for _, change := range plan.Changes {
		fmt.Fprintln(t.out, "  ", change)
	}
	for _, change := range plan.Ownership {
		fmt.Fprintln(t.out, "  ", change)
	}
	for _, conflict := range plan.Conflicts {
		fmt.Fprintln(t.out, "  conflict:", conflict)
	}
	if plan.Replacement != nil {
		for _, hazard := range plan.Replacement.Hazards {
			fmt.Fprintln(t.out, "  hazard:", hazard)
		}
	}
	for _, warning := range plan.Warnings {
		fmt.Fprintln(t.out, "  warning:", warning)
	}
}

// deploy plans, asks and applies, in one run: what waits for a namespace or a definition of the set is applied when that is there.
func (t *tool) deploy(ctx context.Context, manifests []*unstructured.Unstructured, ask func() bool) error {
	application := t.set(ctx, manifests)
	_, code := t.plan(ctx, application)
	switch {
	case code == exitError:
		return errors.New("nothing was applied: correct the errors first")
	case code == exitUnchanged || !ask():
		return nil
	}
	return t.apply(ctx, application)
}

// apply does what the plans say that were shown, and remembers what was applied.
func (t *tool) apply(ctx context.Context, application *set.Set) error {
	var failures []error
	for result := range application.Apply(ctx) {
		if result.Err != nil {
			failures = append(failures, result.Err) // of a *set.ChangedError, show the new plan
			continue
		}
		if result.Made == nil { // nothing happened to it
			continue
		}
		state, err := result.Item.Plan.State(result.Made)
		if err != nil {
			return err
		}
		t.states[result.Item.Object.String()] = state
	}
	return errors.Join(failures...)
}

// save writes the states to a file. A State marshals to versioned JSON and holds no secret.
func (t *tool) save(name string) error {
	data, err := json.MarshalIndent(t.states, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}

// load reads the states of the last run, if there was one.
func (t *tool) load(name string) error {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(data, &t.states)
}

// newTool returns a tool that prints to standard output.
func newTool(config *rest.Config, stateFile string) (*tool, error) {
	planner, err := ssaplan.New(config, ssaplan.Options{FieldManager: "my-cli"})
	if err != nil {
		return nil, err
	}
	t := &tool{planner: planner, states: map[string]*explain.State{}, out: os.Stdout}
	return t, t.load(stateFile)
}

// kubeconfig returns what KUBECONFIG or the file in the home directory says, for the context of that name, or the current one.
func kubeconfig(name string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	overrides := &clientcmd.ConfigOverrides{CurrentContext: name}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
}

func stateFile() string { return filepath.Join(must(os.MkdirTemp("", "docs")), "states.json") }

const appYAML = `
apiVersion: v1
kind: Namespace
metadata: {name: cli, labels: {team: shop}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: cli}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "web:1"}]}
`

func agree() bool { return true }

func Example_cli() {
	file := stateFile()
	defer os.RemoveAll(filepath.Dir(file))
	must(0, os.Setenv("KUBECONFIG", server.Kubeconfig()))
	config := must(kubeconfig(""))
	t := must(newTool(config, file))
	app := must(decode(strings.NewReader(appYAML)))
	if err := errors.Join(t.deploy(ctx, app, agree), t.save(file)); err != nil {
		fmt.Println(err)
	}

	fmt.Println("--- the next day")
	patch(objects("cli", "apps", "v1", "deployments"), "kubectl", "web", `{"spec": {"replicas": 7}}`, "scale")
	t = must(newTool(config, file))
	app = must(decode(strings.NewReader(strings.ReplaceAll(appYAML, "web:1", "web:2"))))
	_, code := t.plan(ctx, t.set(ctx, app))
	fmt.Println("exit code", code)
	// Output:
	// Create v1/Namespace cli: does not exist
	//    metadata.labels.team: + "shop"
	// Deferred apps/v1/Deployment cli/web: namespace "cli" doesn't exist (yet), the same set creates it
	// --- the next day
	// NoOp v1/Namespace cli: the server would write nothing
	// Update apps/v1/Deployment cli/web: 1 edited, 1 drifted
	//    spec.replicas: 7 -> 3 (drifted: changed by "kubectl" (Update of scale))
	//    spec.template.spec.containers[name="web"].image: "web:1" -> "web:2"
	//    spec.replicas: taken from "kubectl" (Update of scale)
	// exit code 2
}

// replace deletes the old object and creates the new one. It is for a plan whose hazards the user agreed to.
func (t *tool) replace(ctx context.Context, plan *ssaplan.Plan) (*unstructured.Unstructured, error) {
	return t.planner.Replace(ctx, plan, ssaplan.DeleteOptions{
		Progress: func(old identity.Identity, finalizers []string) {
			fmt.Fprintln(t.out, "waiting for", old, finalizers)
		},
	})
}

// delete deletes what a state remembers, if the user agrees to what goes with it.
func (t *tool) delete(ctx context.Context, prior *explain.State, ask func() bool) error {
	plan, err := t.planner.PlanDelete(ctx, ssaplan.DeleteRequest{Object: prior.Identity, UID: prior.UID})
	if err != nil {
		return err
	}
	fmt.Fprintln(t.out, plan)
	for _, note := range plan.Notes() {
		fmt.Fprintln(t.out, "  ", note)
	}
	if !plan.Deletes() || !ask() {
		return nil
	}
	return t.planner.ApplyDelete(ctx, plan, ssaplan.DeleteOptions{}) // refused if there is more to say by then
}

func Example_cliDelete() {
	file := stateFile()
	defer os.RemoveAll(filepath.Dir(file))
	t := must(newTool(config, file))
	apply(objects("cli-delete", "", "v1", "configmaps"), "my-cli", manifest(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}`))
	shop := &explain.State{Identity: identity.Identity{APIVersion: "v1", Kind: "Namespace", Name: "cli-delete"}}
	if err := t.delete(ctx, shop, func() bool { return false }); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Delete v1/Namespace cli-delete: the server would delete it
	//    everything inside namespace cli-delete is deleted with it
	//    objects that name this one as their owner are deleted with it
	//    with it go 1 ConfigMap
}

func Example_cliReplace() {
	file := stateFile()
	defer os.RemoveAll(filepath.Dir(file))
	t := must(newTool(config, file))
	apply(objects("cli-replace", "apps", "v1", "deployments"), "my-cli", deployment("web", "web:1"))
	web := deployment("web", "web:1")
	web.SetNamespace("cli-replace")
	_ = unstructured.SetNestedField(web.Object, "api", "spec", "selector", "matchLabels", "app")
	_ = unstructured.SetNestedField(web.Object, "api", "spec", "template", "metadata", "labels", "app")
	plans, code := t.plan(ctx, t.set(ctx, []*unstructured.Unstructured{web}))
	fmt.Println("exit code", code)
	if _, err := t.replace(ctx, plans[0]); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Replace apps/v1/Deployment cli-replace/web: can't change in place: spec.selector
	//    spec.selector: {"matchLabels":{"app":"web"}} -> {"matchLabels":{"app":"api"}} (can't change in place)
	//    spec.template.metadata.labels.app: "web" -> "api"
	//   hazard: the pods stop until the new object has started others
	//   hazard: objects that name this one as their owner are deleted with it
	// exit code 2
}
