package fieldowner

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestToolOf(t *testing.T) {
	for _, row := range []struct {
		why   string
		owner Owner
		want  string
	}{
		{"client-side apply", Owner{Manager: ClientSideApply, Operation: OperationUpdate}, "kubectl apply"},
		{"the same name, by an apply", Owner{Manager: ClientSideApply, Operation: OperationApply}, ""},
		{"server-side apply of kubectl", Owner{Manager: "kubectl", Operation: OperationApply}, "kubectl apply --server-side"},
		{"whatever kubectl updates otherwise", Owner{Manager: "kubectl", Operation: OperationUpdate}, ""},
		{"Helm that updates", Owner{Manager: "helm", Operation: OperationUpdate}, "Helm 3"},
		{"Helm that applies", Owner{Manager: "helm", Operation: OperationApply}, "Helm 4"},
		{"a tool that does both", Owner{Manager: "argocd-controller", Operation: OperationUpdate}, "Argo CD"},
		{"a name with an end of its own", Owner{Manager: "pulumi-kubernetes-1a2b3c", Operation: OperationApply}, "Pulumi"},
		{"a name that only begins alike", Owner{Manager: "helm-dashboard", Operation: OperationUpdate}, ""},
		{"a subresource", Owner{Manager: "kubectl-edit", Operation: OperationUpdate, Subresource: "status"}, ""},
		{"an autoscaler", Owner{Manager: "kube-controller-manager", Operation: OperationUpdate}, ""},
		{"who wrote before there were records", Owner{Manager: BeforeFirstApply, Operation: OperationUpdate}, ""},
		{"a tool of the host", Owner{Manager: "ours-7", Operation: OperationUpdate}, "ours"},
		{"a tool that the host calls otherwise", Owner{Manager: "helm-controller", Operation: OperationApply}, "our Flux"},
	} {
		t.Run(row.why, func(t *testing.T) {
			tool, known := ToolOf(row.owner, append(Tools(), Tool{Name: "ours", Manager: "ours-*"}, Tool{Name: "our Flux", Manager: "helm-controller"}))
			assert.Equal(t, row.want, tool.Name)
			assert.Equal(t, row.want != "", known)
		})
	}
}
