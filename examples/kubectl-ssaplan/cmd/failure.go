package cmd

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/render"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/manifest"
	"github.com/ssaplan/primitives/ssaplan/write"
)

// inputClass is the class of what is wrong in the files of the user.
const inputClass = "Input"

func inputFailures(errs []*manifest.Error) []render.Failure {
	var out []render.Failure
	for _, err := range errs {
		out = append(out, render.Failure{Object: err.Object, Class: inputClass, Message: err.Error()})
	}
	return out
}

// inputWarnings returns what is to be said of a manifest with its plan.
func inputWarnings(m manifest.Manifest) []foreign.Text {
	var out []foreign.Text
	for _, w := range m.Warnings {
		out = append(out, foreign.Text(w.String()))
	}
	return out
}

// configurationFailure is that of what is needed before or beside the plans.
func configurationFailure(err error) render.Failure {
	return render.Failure{Class: string(authresilience.ClassConfiguration), Message: oneLine(err.Error())}
}

// objectFailure is that of one object. The text of err names the object.
func objectFailure(m manifest.Manifest, err error) render.Failure {
	class := authresilience.Classify(err)
	message := fmt.Sprintf("%s: %s", m.Source, oneLine(err.Error()))
	if !saysWhatToDo(err) {
		message += nextStep(class)
	}
	for _, w := range m.Warnings { // they may well be the reason
		message += fmt.Sprintf(" (%s)", w.InDocument())
	}
	return render.Failure{Object: m.Identity, Class: string(class), Message: message}
}

// saysWhatToDo reports whether the text of err ends with the next step.
func saysWhatToDo(err error) bool {
	var refused *immutability.RefusedError
	var stopped *write.ReplaceError
	var failed *write.ApplyError
	return errors.As(err, &stopped) || errors.As(err, &failed) && failed.Advice != "" || errors.As(err, &refused) &&
		refused.Verdict.Remedy != ""
}

// clusterFailure is that of the connection as a whole, for which left manifests were not planned.
func clusterFailure(host string, err error, left int) render.Failure {
	class := authresilience.Classify(err)
	message := fmt.Sprintf("cluster %s: %s", authresilience.RedactAddress(host), class.Describe().Meaning)
	if detail := oneLine(innermost(err)); detail != "" {
		message += ": " + detail
	}
	message += nextStep(class)
	if left > 1 {
		message += fmt.Sprintf(" (%d objects not planned)", left)
	}
	return render.Failure{Class: string(class), Message: message}
}

// concernsCluster reports whether a failure would be the same for every object.
func concernsCluster(err error) bool {
	switch authresilience.Classify(err) {
	case authresilience.ClassAuthentication, authresilience.ClassAnonymous, authresilience.ClassCredentialPlugin,
		authresilience.ClassConfiguration, authresilience.ClassTLS, authresilience.ClassConnection,
		authresilience.ClassTimeout,
		authresilience.ClassUnexpectedResponse:
		return true
	}
	return false
}

func nextStep(class authresilience.Class) string {
	if class == authresilience.ClassUnknown || class == authresilience.ClassNone {
		return ""
	}
	return "; " + class.Describe().Advice
}

// innermost returns what went wrong with a request, without the request.
func innermost(err error) string {
	var request *url.Error
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &request):
		return authresilience.Redact(request.Err).Error()
	case errors.As(err, &status):
		return statusText(status.Status())
	}
	return err.Error()
}

// statusText returns what the server said. Where that is no status of Kubernetes, client-go keeps the text in a cause.
func statusText(status metav1.Status) string {
	const maxLength = 200 // of what could be a page of HTML
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			known := cause.Message != "" && cause.Message != "unknown"
			if cause.Type == metav1.CauseTypeUnexpectedServerResponse && known && len(cause.Message) <= maxLength {
				return cause.Message
			}
		}
	}
	return status.Message
}

// oneLine joins the lines of a text.
func oneLine(text string) string {
	var parts []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return strings.Join(parts, " ")
}
