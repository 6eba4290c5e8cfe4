package docs_test

import (
	"cmp"
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/authresilience/restconfig"
	"github.com/ssaplan/primitives/immutability"
)

func Example_onePackage() {
	runPage("one-package.md")
	// Output:
	// map[name:settings namespace:default] -> same object
	// map[name:options] -> different object: v1/ConfigMap default/settings -> v1/ConfigMap default/options: metadata.name "settings" -> "options"
	// map[generateName:options-] -> error: identity: metadata.generateName "options-": the server would choose another name at each apply; set metadata.name
	// spec.replicas = 3
	// spec.selector = map[matchLabels:map[app:web]]
	// spec.template.metadata.labels.app = web
	// spec.template.spec.containers[name="web"].image = web:1
	// spec.template.spec.containers[name="web"].name = web
}

func Example_onePackageObjects() {
	objects("one-package", "apps", "v1", "deployments")
	runPage("one-package-objects.md")
	// Output:
	// without force: [spec.replicas: owned by "autoscaler" (Update of scale)]
	// with force: [spec.replicas: taken from "autoscaler" (Update of scale)]
	// metadata.labels.team: - "shop" (dropped from the manifest)
	// spec.replicas: 7 -> 3 (drifted: changed by "autoscaler" (Update of scale))
	// spec.template.spec.containers[name="web"].image: "web:1" -> "web:2"
	// with ignored replicas:
	// metadata.labels.team: - "shop" (dropped from the manifest)
	// spec.template.spec.containers[name="web"].image: "web:1" -> "web:2"
	// spec.replicas: leftOut
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
	objects("immutability", "apps", "v1", "deployments")
	deployments := must(deploymentsIn("immutability", config))
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

// deploymentsIn returns a client for the Deployments of a namespace.
func deploymentsIn(namespace string, config *rest.Config) (dynamic.ResourceInterface, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return client.Resource(appsv1.SchemeGroupVersion.WithResource("deployments")).Namespace(namespace), nil
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
