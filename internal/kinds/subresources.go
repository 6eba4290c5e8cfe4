package kinds

// Subresource is what of a kind can change through a subresource, and not in the object itself.
type Subresource struct {
	Name string
	// Fields are patterns.
	Fields []string
	// Absent are patterns of the fields that the object must lack for that.
	Absent []string
}

// subresources are those of the kinds that Kubernetes brings, except the status. Source: podResizeStrategy and
// podEphemeralContainersStrategy in k8s.io/kubernetes/pkg/registry/core/pod, and assignPod in its package storage.
var subresources = map[string][]Subresource{
	"v1/Pod": {
		{Name: "resize", Fields: []string{"spec.containers[*].resources", "spec.initContainers[*].resources"}},
		{Name: "ephemeralcontainers", Fields: []string{"spec.ephemeralContainers"}},
		{Name: "binding", Fields: []string{"spec.nodeName"}, Absent: []string{"spec.nodeName", "spec.schedulingGates"}},
	},
}

// Subresources returns what of a kind can change through a subresource only.
func Subresources(apiVersion, kind string) []Subresource { return subresources[apiVersion+"/"+kind] }
