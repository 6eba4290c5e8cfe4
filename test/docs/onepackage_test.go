package docs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/authresilience/restconfig"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/builtin"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// leftBehind returns why the new manifest names another object than the old one, or "" if both name the same.
func leftBehind(oldManifest, newManifest map[string]any) (string, error) {
	before, err := identity.Of(oldManifest)
	if err != nil {
		return "", err
	}
	after, err := identity.Of(newManifest)
	if err != nil {
		return "", err
	}
	result := identity.Compare(identity.Ref{Identity: before}, identity.Ref{Identity: after}, identity.Options{
		Scope: identity.ScopeNamespaced, DefaultNamespace: "default",
	})
	if !result.Replace() {
		return "", nil
	}
	return result.Reason(), nil
}

func Example_identityAlone() {
	settings := yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}`).Object
	for _, metadata := range []string{`{name: settings, namespace: default}`, `{name: options}`, `{generateName: options-}`} {
		reason, err := leftBehind(settings, yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: `+metadata+`}`).Object)
		if err != nil {
			reason = err.Error()
		}
		fmt.Printf("%s -> %s\n", metadata, cmp.Or(reason, "same object"))
	}
	// Output:
	// {name: settings, namespace: default} -> same object
	// {name: options} -> different object: v1/ConfigMap default/settings -> v1/ConfigMap default/options: metadata.name "settings" -> "options"
	// {generateName: options-} -> identity: metadata.generateName "options-": the server would choose another name at each apply; set metadata.name
}

// explainRefusal prints what to do about an apply that the server rejected.
func explainRefusal(
	ctx context.Context, client dynamic.ResourceInterface, manifest, live *unstructured.Unstructured, refusal error,
) {
	verdict := immutability.Classify(refusal)
	verdict = immutability.Probe(ctx, client, manifest, live, verdict, immutability.ProbeOptions{FieldManager: "my-tool"})
	switch {
	case verdict.Refusal == immutability.RefusalNone:
		fmt.Println("not about the object's content:", authresilience.Classify(refusal))
	case verdict.Replaceable():
		fmt.Println("replace it:", verdict.Evidence)
		for _, hazard := range verdict.Hazards {
			fmt.Println("  hazard:", hazard)
		}
	default:
		fmt.Printf("%s: %s\n", verdict.Refusal, cmp.Or(verdict.Remedy, "correct the manifest"))
	}
	for _, field := range verdict.Fields {
		fmt.Println(" ", field)
	}
}

func Example_immutabilityAlone() {
	deployments := objects("immutability", "apps", "v1", "deployments")
	live := apply(deployments, "my-tool", deployment("web", "web:1"))

	edited := deployment("web", "web:1")
	_ = unstructured.SetNestedField(edited.Object, "api", "spec", "selector", "matchLabels", "app")
	_ = unstructured.SetNestedField(edited.Object, "api", "spec", "template", "metadata", "labels", "app")
	_, err := deployments.Apply(ctx, "web", edited, metav1.ApplyOptions{FieldManager: "my-tool", DryRun: []string{metav1.DryRunAll}})
	explainRefusal(ctx, deployments, edited, live, err)

	edited = deployment("web", "web:1")
	_ = unstructured.SetNestedField(edited.Object, int64(-1), "spec", "replicas")
	_, err = deployments.Apply(ctx, "web", edited, metav1.ApplyOptions{FieldManager: "my-tool", DryRun: []string{metav1.DryRunAll}})
	explainRefusal(ctx, deployments, edited, live, err)
	// Output:
	// replace it: texts: field is immutable; dry-run create: valid
	//   hazard: the pods stop before the new object starts new ones
	//   hazard: objects that name this one as their owner are deleted with it
	//   spec.selector: Invalid value: field is immutable
	// Invalid: correct the manifest
	//   spec.replicas: Invalid value: must be greater than or equal to 0
}

// whatChangesHands returns the fields whose owners change with an apply. If the server would reject the apply because
// of conflicts, it returns these instead.
func whatChangesHands(
	ctx context.Context, client dynamic.ResourceInterface, manifest, live *unstructured.Unstructured, force bool,
) ([]fieldowner.Transfer, []fieldowner.Conflict, error) {
	dryRun, err := client.Apply(ctx, manifest.GetName(), manifest, metav1.ApplyOptions{
		FieldManager: "my-tool", Force: force, DryRun: []string{metav1.DryRunAll},
	})
	if err != nil {
		conflicts := fieldowner.ConflictsFromError(err, live.Object)
		if len(conflicts) > 0 {
			err = nil
		}
		return nil, conflicts, err
	}
	before, err := fieldowner.Read(live.Object)
	if err != nil {
		return nil, nil, err
	}
	after, err := fieldowner.Read(dryRun.Object)
	if err != nil {
		return nil, nil, err
	}
	return fieldowner.Compare(before, after, fieldowner.Applier{Manager: "my-tool"}), nil, nil
}

func Example_fieldownerAlone() {
	deployments := objects("fieldowner", "apps", "v1", "deployments")
	apply(deployments, "my-tool", deployment("web", "web:1"))
	patch(deployments, "autoscaler", "web", `{"spec": {"replicas": 7}}`, "scale")
	live := must(deployments.Get(ctx, "web", metav1.GetOptions{}))

	_, conflicts, err := whatChangesHands(ctx, deployments, deployment("web", "web:1"), live, false)
	fmt.Println(conflicts, err)
	changes, _, err := whatChangesHands(ctx, deployments, deployment("web", "web:1"), live, true)
	fmt.Println(changes, err)

	owners := must(fieldowner.Read(live.Object))
	image := must(projection.ParsePath(`spec.template.spec.containers[name="web"].image`))
	fmt.Println(owners.Of(image))
	// Output:
	// [spec.replicas: owned by "autoscaler" (Update of scale)] <nil>
	// [spec.replicas: taken from "autoscaler" (Update of scale)] <nil>
	// ["my-tool" (Apply)]
}

// explained returns what applying a manifest changes and why. prior is the state of the last apply; nil if there is
// none.
func explained(
	ctx context.Context, client dynamic.ResourceInterface, manifest *unstructured.Unstructured, prior *explain.State,
) (*explain.Explanation, error) {
	prepared, err := explain.Prepare(manifest.Object, "", explain.Exceptions{})
	if err != nil {
		return nil, err
	}
	live, err := client.Get(ctx, manifest.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		live = &unstructured.Unstructured{} // the apply creates it
	} else if err != nil {
		return nil, err
	}
	sent := &unstructured.Unstructured{Object: prepared.Manifest}
	dryRun, err := client.Apply(ctx, manifest.GetName(), sent, metav1.ApplyOptions{
		FieldManager: "my-tool", Force: true, DryRun: []string{metav1.DryRunAll},
	})
	if err != nil {
		return nil, err
	}
	if live.GetResourceVersion() != dryRun.GetResourceVersion() {
		return nil, errors.New("the object changed between read and dry run: ask again")
	}
	return explain.Apply(explain.Input{
		Manifest: prepared.Manifest, Live: live.Object, Answer: dryRun.Object, Manager: "my-tool", Prior: prior,
	})
}

// deploymentsIn returns a client for the Deployments of a namespace.
func deploymentsIn(namespace string, config *rest.Config) (dynamic.ResourceInterface, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return client.Resource(appsv1.SchemeGroupVersion.WithResource("deployments")).Namespace(namespace), nil
}

func Example_explainAlone() {
	objects("explain", "apps", "v1", "deployments")
	deployments := must(deploymentsIn("explain", config))
	before := deployment("web", "web:1")
	before.SetLabels(map[string]string{"team": "shop"})
	state := must(explain.NewState(before.Object, apply(deployments, "my-tool", before).Object, fieldowner.Applier{Manager: "my-tool"}, nil))
	patch(deployments, "autoscaler", "web", `{"spec": {"replicas": 7}}`, "scale")
	for _, change := range must(explained(ctx, deployments, deployment("web", "web:2"), state)).Changes {
		fmt.Println(change)
	}
	// Output:
	// metadata.labels.team: - "shop" (dropped from the manifest)
	// spec.replicas: 7 -> 3 (drifted: changed by "autoscaler" (Update of scale))
	// spec.template.spec.containers[name="web"].image: "web:1" -> "web:2"
}

// declaredFields prints the fields that a manifest declares, without asking a server.
func declaredFields(ctx context.Context, manifest map[string]any) error {
	declaration, err := projection.PredictDeclared(ctx, manifest, builtin.Schema{}, projection.NoSchema{})
	if err != nil {
		return err
	}
	for path, value := range projection.Project(manifest, declaration.Fields).Leaves() {
		fmt.Println(path, "=", value)
	}
	return nil
}

func Example_projectionOffline() {
	if err := declaredFields(ctx, deployment("web", "web:1").Object); err != nil {
		fmt.Println(err)
	}
	// Output:
	// spec.replicas = 3
	// spec.selector = map[matchLabels:map[app:web]]
	// spec.template.metadata.labels.app = web
	// spec.template.spec.containers[name="web"].image = web:1
	// spec.template.spec.containers[name="web"].name = web
}

// remembered is what the tool stores of an object between two runs.
type remembered struct {
	Live  *unstructured.Unstructured
	Stale authresilience.Stale // its JSON is null unless the object is stale
}

// refresh reads the object again. If the server rejects the credentials, it returns the stored object, marked as stale.
func refresh(ctx context.Context, config *rest.Config, client dynamic.ResourceInterface, prior remembered) (remembered, error) {
	live, err := client.Get(ctx, prior.Live.GetName(), metav1.GetOptions{})
	if err == nil {
		return remembered{Live: live}, nil
	}
	kept, ok := authresilience.Degrade(prior, err, authresilience.ReadAttempt{
		Object:     "ConfigMap " + prior.Live.GetName(),
		Credential: authresilience.Diagnose(restconfig.Credential(config), time.Now()),
	})
	if !ok {
		return remembered{}, fmt.Errorf("%s: %w", authresilience.Classify(err), authresilience.Redact(err))
	}
	fmt.Println("warning:", kept.Warning.Summary())
	fmt.Println(kept.Warning.Detail())
	kept.Prior.Stale = kept.Stale
	return kept.Prior, nil
}

func Example_authresilienceAlone() {
	configMaps := objects("authresilience", "", "v1", "configmaps")
	prior := remembered{Live: apply(configMaps, "my-tool", yamlObject(`{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}`))}

	stranger := must(server.ConfigFor("jane"))
	client := must(dynamic.NewForConfig(stranger)).Resource(configMapResource).Namespace("authresilience")
	kept, err := refresh(ctx, stranger, client, prior)
	fmt.Println(kept.Stale.Reason, err)

	fresh, err := refresh(ctx, config, configMaps, kept)
	fmt.Println(fresh.Stale.IsZero(), err)
	// Output:
	// warning: ConfigMap settings was not refreshed; its last known state is kept
	// User "jane" cannot get resource "configmaps" in API group "" in the namespace "authresilience". Ask for the right to get resource "configmaps" in API group "" in the namespace "authresilience" (RBAC), or use credentials of another user.
	// Authorization <nil>
	// true <nil>
}
