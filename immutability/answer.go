package immutability

import (
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/internal/apistatus"
)

// reply is the server's answer to a dry run.
type reply struct {
	answer  Answer
	verdict Verdict // when the answer is NotValid
	denial  string  // the whole text of a refusal by admission
	exists  string  // the name of the object that exists already
}

// readCreate reads the answer to a dry-run create of an object that exists. The server looks for the existing object
// after validation and admission, so AlreadyExists says that both were passed.
func readCreate(err error, manifest *unstructured.Unstructured) reply {
	if err == nil {
		return reply{answer: Answer{OutcomeUnanswered, "there is no such object any more"}}
	}
	r := readAnswer(err)
	if r.exists == manifest.GetName() && r.exists != "" {
		return reply{answer: Answer{Outcome: OutcomeValid}}
	}
	if r.answer.Outcome == OutcomeRefused && quotaFreedByDelete(r.denial, manifest) {
		return reply{answer: Answer{OutcomeValid, "the quota is full, and the delete makes room"}}
	}
	return r
}

// readAnswer reads the answer to a dry run. Proxies and webhooks answer with every code and reason, so what isn't the
// API server's own is told apart first.
func readAnswer(err error) reply {
	if err == nil {
		return reply{answer: Answer{Outcome: OutcomeValid}}
	}
	found := apistatus.All(err)
	if len(found) == 0 || fromElsewhere(found[0].Details) {
		return reply{answer: Answer{OutcomeUnanswered, shorten(err.Error())}}
	}
	status := found[0]
	if message, denied := denial(status); denied {
		return reply{answer: Answer{OutcomeRefused, shorten(message)}, denial: message}
	}
	if unknown, found := strings.CutPrefix(status.Message, "strict decoding error: "); found && status.Code == http.StatusBadRequest {
		return reply{answer: Answer{Outcome: OutcomeInvalid}, verdict: Verdict{Refusal: RefusalInvalid, Fields: []Field{{Message: firstLine(unknown)}}}}
	}
	if speaksOfObject(status) {
		return reply{answer: Answer{Outcome: OutcomeInvalid}, verdict: ClassifyStatus(status)}
	}
	r := reply{answer: Answer{refusal(status), shorten(status.Message)}}
	if status.Reason == metav1.StatusReasonAlreadyExists && status.Details != nil {
		r.exists = status.Details.Name
	}
	return r
}

// refusal tells answers that the real request would get as well from those that don't tell anything.
func refusal(status metav1.Status) Outcome {
	switch {
	case strings.Contains(status.Message, `" does not support dry run`): // a webhook that real requests may well pass
		return OutcomeUnanswered
	case strings.HasPrefix(status.Message, "Internal error occurred: failed calling webhook "):
		return OutcomeRefused
	case status.Code == http.StatusConflict, status.Code == http.StatusTooManyRequests, status.Code >= http.StatusInternalServerError:
		return OutcomeUnanswered
	case status.Code >= http.StatusBadRequest:
		return OutcomeRefused
	}
	return OutcomeUnanswered
}

// shorten keeps a server's message to one line of bounded length.
func shorten(message string) string {
	const limit = 300
	line := firstLine(message)
	if len(line) > limit {
		line = strings.ToValidUTF8(line[:limit], "") + "…"
	}
	return line
}
