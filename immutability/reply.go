package immutability

import (
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection/foreign"
)

// reply is an answer with what the probe reads in it.
type reply struct {
	Answer
	invalid  Verdict // on the manifest, when it isn't valid
	denial   string  // the whole text of a refusal by admission
	exists   string  // the name of the object that exists already
	resource string  // its resource, as the server calls it
}

// readCreate reads the answer to a dry-run create of an object that exists. The server looks for the existing object
// after validation and admission, so AlreadyExists means that both were passed.
func readCreate(err error, manifest *unstructured.Unstructured) reply {
	if err == nil {
		return reply{Answer: Answer{Outcome: OutcomeUnanswered, Message: "there is no such object any more"}}
	}
	r := readAnswer(err)
	if r.exists == manifest.GetName() && r.exists != "" {
		return reply{Answer: Answer{Outcome: OutcomeValid}, resource: r.resource}
	}
	if r.Outcome == OutcomeRefused && quotaFreedByDelete(r.denial, manifest) {
		freed := Answer{Outcome: OutcomeValid, Message: "the quota is full, and the delete makes room"}
		return reply{Answer: freed, resource: r.resource}
	}
	return r
}

// readAnswer reads the answer to a dry run. Proxies and webhooks answer with every code and reason, so what isn't the
// API server's own is told apart first.
func readAnswer(err error) reply {
	if err == nil {
		return reply{Answer: Answer{Outcome: OutcomeValid}}
	}
	found := answer.Statuses(err)
	if len(found) == 0 {
		return reply{Answer: Answer{Outcome: OutcomeUnanswered, Message: shorten(err.Error())}}
	}
	status := found[0]
	if _, isForeign := answer.Foreign(status); isForeign {
		return reply{Answer: Answer{Outcome: OutcomeUnanswered, Message: shorten(err.Error())}}
	}
	if message, denied := answer.Admission(status); denied {
		denied := Answer{Outcome: OutcomeRefused, Message: shorten(message)}
		return reply{Answer: denied, denial: message, resource: resourceOf(status)}
	}
	if problem, found := answer.StrictDecoding(status); found {
		fields := []Field{{Message: foreign.Text(answer.FirstLine(problem))}}
		return reply{Answer: Answer{Outcome: OutcomeInvalid}, invalid: Verdict{Fields: fields}}
	}
	if isAboutObject(status) {
		return reply{Answer: Answer{Outcome: OutcomeInvalid}, invalid: ClassifyStatus(status)}
	}
	r := reply{Answer: Answer{Outcome: outcomeOf(status), Message: shorten(status.Message)}}
	if status.Reason == metav1.StatusReasonAlreadyExists && status.Details != nil {
		r.exists, r.resource = status.Details.Name, resourceOf(status)
	}
	return r
}

// resourceOf returns the resource that a refused create was for, "widgets.example.com".
func resourceOf(status metav1.Status) string {
	if status.Details == nil {
		return ""
	}
	return schema.GroupResource{Group: status.Details.Group, Resource: status.Details.Kind}.String()
}

// outcomeOf tells answers that the real request would get as well from those that don't tell anything.
func outcomeOf(status metav1.Status) Outcome {
	switch {
	case answer.NoDryRun(status): // a webhook that real requests may well pass
		return OutcomeUnanswered
	case answer.WebhookTexts.Find(status.Message) == answer.WebhookUnreachable:
		return OutcomeRefused
	case status.Code == http.StatusConflict, status.Code == http.StatusTooManyRequests,
		status.Code >= http.StatusInternalServerError:
		return OutcomeUnanswered
	case status.Code >= http.StatusBadRequest:
		return OutcomeRefused
	}
	return OutcomeUnanswered
}

// shorten keeps a server's message to one line of bounded length.
func shorten(message string) foreign.Text {
	const limit = 300
	line := answer.FirstLine(message)
	if len(line) > limit {
		line = strings.ToValidUTF8(line[:limit], "") + "…"
	}
	return foreign.Text(line)
}

// objectCounts are the quota resources that count every object of a kind as one, besides those that begin with
// "count/".
var objectCounts = map[string]bool{
	"configmaps":             true,
	"replicationcontrollers": true,
	"resourcequotas":         true,
	"secrets":                true,
	"services":               true,
}

// quotaFreedByDelete reports whether message is the refusal of a full quota that has room for the object again once its
// predecessor is deleted. The plugin is the last in the chain of admission, so the object has passed all others.
//
// That is only known where objects are counted. What a pod or a claim uses depends on its content, and which quota
// counts it too.
func quotaFreedByDelete(message string, manifest *unstructured.Unstructured) bool {
	amounts, exceeded := answer.ExceededQuota(message)
	if !exceeded {
		return false
	}
	switch manifest.GroupVersionKind().GroupKind().String() {
	case "Pod", "PersistentVolumeClaim":
		return false
	}
	requested, used, limited := quantities(amounts.Requested), quantities(amounts.Used), quantities(amounts.Limited)
	one := resource.MustParse("1")
	for name, amount := range requested {
		counted := strings.HasPrefix(name, "count/") || objectCounts[name]
		u, inUse := used[name]
		l, hasLimit := limited[name]
		if !counted || !inUse || !hasLimit || amount.Cmp(one) != 0 || u.Cmp(l) > 0 {
			return false
		}
	}
	return len(requested) > 0
}

// quantities reads "a=1,b=2Gi". It returns nil if a part of the list can't be read.
func quantities(list string) map[string]resource.Quantity {
	read := map[string]resource.Quantity{}
	for _, item := range strings.Split(list, ",") {
		name, text, _ := strings.Cut(item, "=")
		q, err := resource.ParseQuantity(text)
		if err != nil {
			return nil
		}
		read[name] = q
	}
	return read
}
