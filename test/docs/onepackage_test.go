package docs_test

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
	// spec.replicas: omitted
}

func Example_onePackageErrors() {
	objects("one-package", "apps", "v1", "deployments")
	runPage("one-package-errors.md")
	// Output:
	// replace it: texts: field is immutable; dry-run create: valid
	//   hazard: the pods stop before the new object starts new ones
	//   hazard: objects that name this one as their owner are deleted with it
	//   spec.selector: Invalid value: field is immutable
	// Invalid: correct the manifest
	//   spec.replicas: Invalid value: must be greater than or equal to 0
	// warning: Deployment web was not refreshed; its last known state is kept
	// User "jane" cannot get resource "deployments" in API group "apps" in the namespace "one-package". Ask for the right to get resource "deployments" in API group "apps" in the namespace "one-package" (RBAC), or use credentials of another user.
	// stale: Authorization
	// stale after a read that succeeded: false
}
