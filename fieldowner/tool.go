package fieldowner

import (
	"slices"
	"strings"

	"github.com/ssaplan/primitives/projection/foreign"
)

// Tool is a tool that writes manifests of people, such as kubectl or Helm, and its field manager. Controllers,
// autoscalers and the like aren't tools in this sense.
type Tool struct {
	// Name is the name of the tool for people.
	Name string
	// Manager is its field manager; a "*" at the end matches any text.
	Manager string
	// Operation is [OperationApply] or [OperationUpdate], and "" for both.
	Operation string
}

// Tools returns the tools that are recognised. [BeforeFirstApply] isn't among them, since its fields can come from any
// writer.
//
// Source: the field managers that the tools send. If a tool sends none, a server takes the name from the beginning of
// the tool's user agent.
func Tools() []Tool { return slices.Clone(tools) }

var tools = []Tool{
	{"kubectl apply", ClientSideApply, OperationUpdate},
	{"kubectl apply --server-side", "kubectl", OperationApply},
	{"kubectl create", "kubectl-create", OperationUpdate},
	{"kubectl replace", "kubectl-replace", OperationUpdate},
	{"kubectl edit", "kubectl-edit", OperationUpdate},
	{"kubectl patch", "kubectl-patch", OperationUpdate},
	{"kubectl set", "kubectl-set", OperationUpdate},
	{"kubectl label", "kubectl-label", OperationUpdate},
	{"kubectl annotate", "kubectl-annotate", OperationUpdate},
	{"Helm 3", "helm", OperationUpdate},
	{"Helm 4", "helm", OperationApply},
	{"Argo CD", "argocd-controller", ""},
	{"Argo CD", "argocd-application-controller", ""},
	{"Flux", "kustomize-controller", ""},
	{"Flux", "helm-controller", ""},
	{"Terraform (kubernetes_manifest)", "Terraform", ""},
	{"Terraform", "HashiCorp", OperationUpdate},
	{"k8sconnect", "k8sconnect*", OperationApply},
	{"Pulumi", "pulumi-kubernetes*", ""},
	{"Pulumi", "pulumi-resource-kubernetes", OperationUpdate},
}

// Is reports whether the owner is the tool. It is false for an owner that writes to a subresource.
func (t Tool) Is(o Owner) bool {
	if o.Subresource != "" || t.Operation != "" && t.Operation != o.Operation {
		return false
	}
	if prefix, open := strings.CutSuffix(t.Manager, "*"); open {
		return strings.HasPrefix(string(o.Manager), prefix)
	}
	return o.Manager == foreign.Text(t.Manager)
}

// ToolOf returns the tool that the owner is, and false if it is none of them. If several match, it returns the last.
func ToolOf(o Owner, among []Tool) (Tool, bool) {
	for _, t := range slices.Backward(among) {
		if t.Is(o) {
			return t, true
		}
	}
	return Tool{}, false
}
