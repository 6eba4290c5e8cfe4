// Package readiness answers: is an object ready? It has the rules of kstatus (sigs.k8s.io/cli-utils/pkg/kstatus),
// stricter rules for kinds that kstatus calls ready too early or never, and conditions that a user names for custom
// resources. It isn't for waiting: set.Set.Await and set.AwaitObject are.
//
//	conditions, err := readiness.ParseConditions([]string{"Certificate.cert-manager.io=Issued"}) // for custom resources
//	if err != nil {
//		log.Fatal(err)
//	}
//	ready := readiness.Of(conditions) // for set.Set.Await and set.AwaitObject
//	fmt.Println(ready(job).Ready, ready(job).Why)
package readiness

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/set"
)

// Conditions are the conditions that have to be true for objects of a kind to be ready.
type Conditions map[schema.GroupKind]string

// ParseConditions reads rules such as Certificate.cert-manager.io=Issued.
func ParseConditions(rules []string) (Conditions, error) {
	out := Conditions{}
	for _, rule := range rules {
		kind, condition, ok := strings.Cut(rule, "=")
		if !ok || kind == "" || condition == "" {
			return nil, fmt.Errorf("%q: expected a kind and a condition, such as Certificate.cert-manager.io=Ready",
				rule)
		}
		out[schema.ParseGroupKind(kind)] = condition
	}
	return out, nil
}

// Of returns a ReadyFunc with the rules of this package and the conditions.
func Of(conditions Conditions) set.ReadyFunc {
	return func(live *unstructured.Unstructured) set.Readiness {
		kind := live.GroupVersionKind().GroupKind()
		if condition, ok := conditions[kind]; ok {
			return byCondition(live, condition)
		}
		if rule := rules[kind.String()]; rule != nil && live.GetDeletionTimestamp() == nil {
			if found, known := rule(live); known {
				return found
			}
		}
		return byKstatus(live)
	}
}

// rules are those for kinds of which kstatus says too early that they are ready, or never. They report whether they
// know.
var rules = map[string]func(*unstructured.Unstructured) (set.Readiness, bool){
	"Job.batch":             job,
	"Deployment.apps":       deployment,
	"PersistentVolumeClaim": claim,
	"Namespace":             namespace,
}

// job is ready when it has ended, where for kstatus it is when it has begun.
func job(live *unstructured.Unstructured) (set.Readiness, bool) {
	if suspended, _, _ := unstructured.NestedBool(live.Object, "spec", "suspend"); suspended {
		return set.Readiness{Ready: true, Why: "it is suspended"}, true
	}
	for _, name := range []string{"Failed", "Complete"} {
		if c := condition(live, name); c["status"] == "True" {
			return set.Readiness{Ready: name == "Complete", Failed: name == "Failed", Why: state(c), Said: message(c)},
				true
		}
	}
	return set.Readiness{Why: "it hasn't ended"}, true
}

// deployment knows of one that is paused, which never gets ready for kstatus.
func deployment(live *unstructured.Unstructured) (set.Readiness, bool) {
	paused, _, _ := unstructured.NestedBool(live.Object, "spec", "paused")
	return set.Readiness{Ready: true, Why: "it is paused"}, paused
}

// claim doesn't wait for a volume that may be made for the first Pod that wants it.
func claim(live *unstructured.Unstructured) (set.Readiness, bool) {
	phase, _, _ := unstructured.NestedString(live.Object, "status", "phase")
	switch phase {
	case "Pending":
		return set.Readiness{Ready: true, Why: "it may wait for the first Pod that uses it"}, true
	case "Lost":
		return set.Readiness{Failed: true, Why: "its volume is lost"}, true
	}
	return set.Readiness{}, false
}

func namespace(live *unstructured.Unstructured) (set.Readiness, bool) {
	phase, _, _ := unstructured.NestedString(live.Object, "status", "phase")
	if phase == "Active" {
		return set.Readiness{Ready: true}, true
	}
	return set.Readiness{Why: foreign.Text("phase " + phase)}, true
}

// byCondition takes an object for ready if a condition is true, and of its current generation as far as it tells.
func byCondition(live *unstructured.Unstructured, name string) set.Readiness {
	found := condition(live, name)
	observed, isKnown := found["observedGeneration"].(int64)
	if !isKnown {
		observed, isKnown, _ = unstructured.NestedInt64(live.Object, "status", "observedGeneration")
	}
	switch {
	case found == nil:
		return set.Readiness{Why: foreign.Textf("it has no condition %s yet", name)}
	case isKnown && observed != live.GetGeneration():
		return set.Readiness{Why: foreign.Textf("condition %s is of generation %d, and the object of %d", name,
			observed, live.GetGeneration())}
	case found["status"] != "True":
		return set.Readiness{Why: state(found), Said: message(found)}
	}
	return set.Readiness{Ready: true}
}

func byKstatus(live *unstructured.Unstructured) set.Readiness {
	result, err := status.Compute(live)
	// a status that isn't of the form that kstatus expects, such as an observedGeneration that is a text
	if err != nil {
		return byCondition(live, "Ready")
	}
	found := set.Readiness{Ready: result.Status == status.CurrentStatus, Failed: result.Status == status.FailedStatus}
	if !found.Ready {
		// which can be that of a condition
		found.Why, found.Said = foreign.Text(result.Status), foreign.Text(result.Message)
	}
	return found
}

// condition returns a condition of an object's status, nil if there is none.
func condition(live *unstructured.Unstructured, name string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(live.Object, "status", "conditions")
	for _, c := range conditions {
		if content, isMap := c.(map[string]any); isMap && content["type"] == name {
			return content
		}
	}
	return nil
}

// state says of what type and status a condition is, and no more of the status than those that conditions have.
func state(condition map[string]any) foreign.Text {
	text := foreign.Textf("condition %v", condition["type"])
	if is := condition["status"]; is == "True" || is == "False" || is == "Unknown" {
		text += foreign.Textf(" is %v", is)
	}
	return text
}

// message returns what a condition says in free text.
func message(condition map[string]any) foreign.Text {
	var said []string
	for _, field := range []string{"reason", "message"} {
		if v, _ := condition[field].(string); v != "" {
			said = append(said, v)
		}
	}
	return foreign.Text(strings.Join(said, ": "))
}
