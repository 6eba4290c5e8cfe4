package ctrlssaplan

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/ssaplan/primitives/ssaplan/set"
)

// kstatus tells by the rules of that library whether an object is ready.
func kstatus(live *unstructured.Unstructured) set.Readiness {
	result, err := status.Compute(live)
	if err != nil {
		return set.Readiness{Why: err.Error()}
	}
	return set.Readiness{Ready: result.Status == status.CurrentStatus, Failed: result.Status == status.FailedStatus, Why: result.Message}
}
