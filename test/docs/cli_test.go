package docs_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/client"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/manifest"
	"github.com/ssaplan/primitives/ssaplan/set"
)

const exitUnchanged, exitError, exitChanges, exitBlocked = 0, 1, 2, 3 // of the plan command

type tool struct {
	planner *ssaplan.Planner
	states  map[string]*explain.State // by key(identity); stored in a file between two runs
	ignore  projection.Patterns       // fields to leave to others, such as spec.replicas
	out     io.Writer
}

// decode reads the manifests of a file. An error names the document and the line, and shows no value.
func decode(file string, text []byte) (objects []*unstructured.Unstructured, err error) {
	manifests, failures := manifest.Parse(file, text)
	for _, failure := range failures {
		err = errors.Join(err, failure)
	}
	for _, m := range manifests {
		objects = append(objects, m.Object)
	}
	return objects, err
}

// set returns the manifests as a set, each with its stored state.
func (t *tool) set(ctx context.Context, manifests []*unstructured.Unstructured) *set.Set {
	var requests []ssaplan.Request
	for _, manifest := range manifests {
		id, _ := identity.Of(manifest.Object) // Plan reports the error
		id, _ = t.planner.Resolve(ctx, id)    // adds the default namespace
		requests = append(requests, ssaplan.Request{Manifest: manifest, Prior: t.states[key(id)], Ignore: t.ignore})
	}
	return set.New(t.planner, requests, set.Options{})
}

func key(id identity.Identity) string { return id.Unversioned().String() } // one key for all versions of a kind

// plan plans a set, prints the plans, and returns them with the exit code.
func (t *tool) plan(ctx context.Context, application *set.Set) (plans []*ssaplan.Plan, code int) {
	for item := range application.Plan(ctx) {
		if item.Err != nil {
			fmt.Fprintln(t.out, "error:", item.Err)
			code = exitError
			continue
		}
		t.show(item.Plan)
		plans = append(plans, item.Plan)
		if item.Plan.Action == ssaplan.ActionNoOp && t.states[key(item.Object)] == nil { // applied, but the state was lost
			if state, err := item.Plan.State(item.Plan.Live()); err == nil {
				t.states[key(item.Object)] = state
			}
		}
		blocked := item.Plan.Action == ssaplan.ActionConflict || item.Plan.Action == ssaplan.ActionDeferred
		switch { // an error outranks blocked, which outranks changes
		case code == exitError, item.Plan.Action == ssaplan.ActionNoOp:
		case blocked && len(item.After) == 0: // it waits for no object of the set
			code = exitBlocked
		case code != exitBlocked:
			code = exitChanges
		}
	}
	return plans, code
}

// show prints a plan. It shows no value of a Secret.
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

// deploy plans, asks and applies. Objects that wait for a namespace or a CRD of the set are applied once it exists.
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

// apply carries out the plans that were shown, and puts the new states into t.states.
func (t *tool) apply(ctx context.Context, application *set.Set) error {
	var failures []error
	for result := range application.Apply(ctx) {
		failures = append(failures, result.Err)
		if result.Made != nil { // the object was written
			state, err := result.Item.Plan.State(result.Made)
			if failures = append(failures, err); err == nil {
				t.states[key(result.Item.Object)] = state
			}
		}
	}
	return errors.Join(failures...) // which ignores nil
}

// save writes the states to a file. A state is versioned JSON without secret values.
func (t *tool) save(name string) error {
	data, err := json.MarshalIndent(t.states, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}

// load reads the states of the last run, if there is a file.
func (t *tool) load(name string) error {
	if data, err := os.ReadFile(name); err == nil {
		return json.Unmarshal(data, &t.states)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// newTool returns a tool that prints to standard output.
func newTool(config *rest.Config, stateFile string) (*tool, error) {
	api, err := client.New(config, client.Options{})
	if err != nil {
		return nil, err
	}
	planner, err := ssaplan.New(api, ssaplan.Options{FieldManager: "my-cli", AllowVersionChange: true})
	if err != nil {
		return nil, err
	}
	t := &tool{planner: planner, states: map[string]*explain.State{}, out: os.Stdout}
	return t, t.load(stateFile)
}

// kubeconfig loads the kubeconfig like kubectl does. An empty name is the current context.
func kubeconfig(name string) (*rest.Config, error) {
	rules, overrides := clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{CurrentContext: name}
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
	app := must(decode("app.yaml", []byte(appYAML)))
	if err := errors.Join(t.deploy(ctx, app, agree), t.save(file)); err != nil {
		fmt.Println(err)
	}

	fmt.Println("--- the next day")
	patch(objects("cli", "apps", "v1", "deployments"), "kubectl", "web", `{"spec": {"replicas": 7}}`, "scale")
	t = must(newTool(config, file))
	app = must(decode("app.yaml", []byte(strings.ReplaceAll(appYAML, "web:1", "web:2"))))
	_, code := t.plan(ctx, t.set(ctx, app))
	fmt.Println("exit code", code)
	// Output:
	// Create v1/Namespace cli: does not exist
	//    metadata.labels.team: + "shop"
	// Deferred apps/v1/Deployment cli/web: namespace "cli" doesn't exist; the same set creates it
	// --- the next day
	// NoOp v1/Namespace cli: the server would write nothing
	// Update apps/v1/Deployment cli/web: 1 edited, 1 drifted
	//    spec.replicas: 7 -> 3 (drifted: changed by "kubectl" (Update of scale))
	//    spec.template.spec.containers[name="web"].image: "web:1" -> "web:2"
	//    spec.replicas: taken from "kubectl" (Update of scale)
	// exit code 2
}

// replace deletes the old object and creates the new one. Call it only if the user agreed to the hazards.
func (t *tool) replace(ctx context.Context, plan *ssaplan.Plan) (*unstructured.Unstructured, error) {
	return t.planner.Replace(ctx, plan, deletion.Options{
		Progress: func(old identity.Identity, finalizers []string) {
			fmt.Fprintln(t.out, "waiting for", old, finalizers)
		},
	})
}

// deployAndPrune does what deploy does, and then deletes the objects that are no longer in the manifests.
func (t *tool) deployAndPrune(ctx context.Context, manifests []*unstructured.Unstructured, ask func() bool) error {
	application := t.set(ctx, manifests)
	_, code := t.plan(ctx, application)
	switch {
	case code == exitError:
		return errors.New("nothing was applied: correct the errors first")
	case code != exitUnchanged && !ask():
		return nil
	}
	if err := t.apply(ctx, application); err != nil {
		return err
	}
	return t.prune(ctx, application, manifests, ask)
}

// prune deletes the objects that have a state but no manifest any more, and removes the states of deleted objects.
func (t *tool) prune(ctx context.Context, application *set.Set, manifests []*unstructured.Unstructured, ask func() bool) error {
	applied := map[identity.Identity]bool{}
	for _, m := range manifests {
		id, err := identity.Of(m.Object)
		if err != nil {
			return err
		}
		applied[sameObject(id)] = true
	}
	var members []set.Member
	for _, key := range slices.Sorted(maps.Keys(t.states)) {
		if s := t.states[key]; s.Subresource == "" && !applied[sameObject(s.Identity)] {
			members = append(members, set.Member{Object: s.Identity, UID: s.UID, State: s})
		}
	}
	removal := set.NewRemoval(t.planner, members, set.RemovalOptions{Set: application})
	deletes := false
	for item := range removal.Plan(ctx) {
		fmt.Fprintln(t.out, item)
		if item.Deletes() {
			deletes = true
			for _, note := range item.Plan.Notes() {
				fmt.Fprintln(t.out, "  ", note)
			}
		}
	}
	if deletes && !ask() {
		return nil
	}
	var failures []error
	for result := range removal.Apply(ctx) {
		failures = append(failures, result.Err)
		if result.Gone {
			delete(t.states, key(result.Item.Member.Object))
		}
	}
	return errors.Join(failures...)
}

// sameObject returns an identity for comparisons: without its version, and with a namespace.
func sameObject(id identity.Identity) identity.Identity {
	id.Namespace = cmp.Or(id.Namespace, "default") // as in Options.DefaultNamespace
	return id.Unversioned()
}

// delete deletes the object of a state, if the user agrees to the consequences. It reports whether the object is gone.
func (t *tool) delete(ctx context.Context, prior *explain.State, ask func() bool) (gone bool, err error) {
	plan, err := t.planner.PlanDelete(ctx, deletion.Request{Object: prior.Identity, UID: prior.UID})
	if err != nil {
		return false, err
	}
	fmt.Fprintln(t.out, plan)
	for _, note := range plan.Notes() {
		fmt.Fprintln(t.out, "  ", note)
	}
	if prior.Adopted {
		fmt.Fprintln(t.out, "  ", "it existed before the first apply")
	}
	switch {
	case plan.Action == deletion.ActionNone, plan.Action == deletion.ActionKeep:
		return true, nil // it no longer exists; with ActionKeep, another object has its name
	case !plan.Deletes():
		return false, plan.Refusal // the server rejects the delete, or the object can't be read
	case !ask():
		return false, nil
	}
	err = t.planner.ApplyDelete(ctx, plan, deletion.Options{}) // an error if it would now do more than the plan says
	return err == nil, err
}

const yesterdayYAML = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web-1, namespace: cli-prune}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: legacy, namespace: cli-prune}
data: {owner: shop}
`

func Example_cliPrune() {
	file := stateFile()
	defer os.RemoveAll(filepath.Dir(file))
	t := must(newTool(config, file))
	configMaps := objects("cli-prune", "", "v1", "configmaps")
	apply(configMaps, "helm", yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: legacy}}`))
	t.out = io.Discard
	must(0, t.deploy(ctx, must(decode("app.yaml", []byte(yesterdayYAML))), agree))

	t.out = os.Stdout
	today, _, _ := strings.Cut(strings.ReplaceAll(yesterdayYAML, "web-1", "web-2"), "---")
	if err := t.deployAndPrune(ctx, must(decode("app.yaml", []byte(today))), agree); err != nil {
		fmt.Println(err)
	}
	for _, key := range slices.Sorted(maps.Keys(t.states)) {
		fmt.Println("state:", t.states[key].Identity)
	}
	// Output:
	// Create v1/ConfigMap cli-prune/web-2: does not exist
	// v1/ConfigMap cli-prune/legacy: kept: it existed before the set
	// v1/ConfigMap cli-prune/web-1: Delete
	//    objects that name this one as their owner are deleted with it
	// state: v1/ConfigMap cli-prune/legacy
	// state: v1/ConfigMap cli-prune/web-2
}

func Example_cliDelete() {
	file := stateFile()
	defer os.RemoveAll(filepath.Dir(file))
	t := must(newTool(config, file))
	apply(objects("cli-delete", "", "v1", "configmaps"), "my-cli", yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}`))
	shop := &explain.State{Identity: identity.Identity{APIVersion: "v1", Kind: "Namespace", Name: "cli-delete"}}
	if _, err := t.delete(ctx, shop, func() bool { return false }); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Delete v1/Namespace cli-delete: the server would delete it
	//    everything inside namespace cli-delete is deleted with it
	//    objects that name this one as their owner are deleted with it
	//    also deletes 1 ConfigMap
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
	//   hazard: the pods stop before the new object starts new ones
	//   hazard: objects that name this one as their owner are deleted with it
	// exit code 2
}
