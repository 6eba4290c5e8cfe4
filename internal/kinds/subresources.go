package kinds

// Subresource is what of a kind can change through a subresource, and not in the object itself.
type Subresource struct {
	Name string
	// Fields are patterns.
	Fields []string
}

// subresources are those of the kinds that Kubernetes brings, except the status. Source: podResizeStrategy and
// podEphemeralContainersStrategy in k8s.io/kubernetes/pkg/registry/core/pod.
var subresources = map[string][]Subresource{
	"v1/Pod": {
		{"resize", []string{"spec.containers[*].resources", "spec.initContainers[*].resources"}},
		{"ephemeralcontainers", []string{"spec.ephemeralContainers"}},
	},
}

// Subresources returns what of a kind can change through a subresource only.
func Subresources(apiVersion, kind string) []Subresource { return subresources[apiVersion+"/"+kind] }
