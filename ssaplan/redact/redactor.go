// Package redact answers: which values of an object, and which messages of a server about it, may be printed? A server,
// a webhook or a policy may quote a sensitive value in a message, in any form. So free text about an object with
// sensitive values isn't printed. Only text that is known to contain no value is printed: the class of a failure, the
// names of the object's fields, and known phrases. It isn't for values in a plan: a Planner redacts these by itself.
//
//	redactor := redact.For(sensitive, marks, database)
//	fmt.Println(redactor.Text(foreign.Text(`a webhook says that "hunter2" is too short`)))
//	fmt.Println(redactor.Object(database)["spec"])
package redact

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/internal/secrecy"
)

// Redactor redacts texts from elsewhere about some objects, such as messages of the server, if one of the objects has
// sensitive values or may have some. The zero Redactor shows everything.
type Redactor struct {
	sensitive []*unstructured.Unstructured
	// fields are the sensitive fields of an object, nil if it has none but those of its kind.
	fields func(*unstructured.Unstructured) projection.Patterns
	// quotes says that free text is shown all the same.
	quotes bool
	// isKnown reports whether a field is known to be sensitive, and not only the marks of a kind aren't known.
	isKnown bool
}

// Marks returns the fields of a kind that its schema marks as passwords. If the schema isn't known, it returns a
// pattern of all fields.
type Marks func(kind schema.GroupVersionKind) projection.Patterns

// For returns the redactor for texts about the objects, of which some may be nil. Fields are sensitive if they match
// one of the patterns, if they are sensitive in every object of the kind, such as the data of a Secret, or if marks has
// them for the kind. An object of a kind with marks is redacted even if it has none of the marked fields.
func For(patterns projection.Patterns, marks Marks, objects ...*unstructured.Unstructured) Redactor {
	g := Redactor{fields: func(obj *unstructured.Unstructured) projection.Patterns {
		return Fields(patterns, marks, identity.Identity{APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind()}, obj)
	}}
	for _, obj := range objects {
		if obj == nil {
			continue
		}
		marked := marks(obj.GroupVersionKind())
		isKnown := !projection.Sensitive(obj.Object).Empty() || matches(patterns.OfEveryItem(), obj.Object) ||
			len(secrecy.Inside(obj.Object, marks)) > 0
		if isKnown || len(marked) > 0 {
			g.sensitive = append(g.sensitive, obj)
			g.isKnown = g.isKnown || isKnown || !secrecy.IsUnmarked(marked)
		}
	}
	return g
}

// Fields returns the sensitive fields of an object: those that match one of the patterns, those that the kind marks as
// passwords, and those of other objects inside it, such as a Secret. states are versions of the object, such as the
// manifest and the live object; some may be nil. If there is such a field, the annotations are among them, because
// tools keep copies of objects there. The fields that are sensitive in every object of the kind, such as the data of a
// Secret, aren't among them.
func Fields(patterns projection.Patterns, marks Marks, id identity.Identity,
	states ...*unstructured.Unstructured) projection.Patterns {
	fields := slices.Concat(patterns.OfEveryItem(), marks(schema.FromAPIVersionAndKind(id.APIVersion, id.Kind)))
	for _, state := range states {
		if state == nil {
			continue
		}
		if state.GetKind() != id.Kind || state.GetAPIVersion() != id.APIVersion { // as in a replacement by another kind
			fields = append(fields, marks(state.GroupVersionKind())...)
		}
		fields = append(fields, secrecy.Inside(state.Object, marks)...)
	}
	if len(fields) > 0 && For(patterns, marks, states...).Redacts() {
		fields = append(fields, secrecy.Annotations...)
	}
	return fields
}

// matches copies the object, which would be a quarter of what a plan allocates.
func matches(patterns projection.Patterns, obj map[string]any) bool {
	if len(patterns) == 0 {
		return false
	}
	_, found := patterns.Remove(obj)
	return len(found) > 0
}

// SecretsInside returns the fields of an object that are sensitive because they contain a Secret: data, stringData and
// annotations of a Secret inside the object, and strings that are the manifest of one. A plan redacts them by itself. A
// caller needs them to print a manifest without a plan.
func SecretsInside(obj *unstructured.Unstructured) projection.Patterns {
	return secrecy.Inside(obj.Object, func(schema.GroupVersionKind) projection.Patterns { return nil })
}

// Format prints how many objects with sensitive values the redactor has, whatever the verb, and nothing of the objects.
func (g Redactor) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "redactor of %d objects with sensitive values", len(g.sensitive))
}

// Quoting returns a redactor that shows free text as it is, if quotes is true.
func (g Redactor) Quoting(quotes bool) Redactor {
	g.quotes = quotes
	return g
}

// Redacts reports whether free text is redacted.
func (g Redactor) Redacts() bool { return len(g.sensitive) > 0 && !g.quotes }

// Fields returns the sensitive fields of an object, as the function [Fields] does.
func (g Redactor) Fields(obj *unstructured.Unstructured) projection.Patterns {
	if g.fields == nil {
		return nil
	}
	return g.fields(obj)
}

// Object returns the object with placeholders for its sensitive values.
func (g Redactor) Object(obj *unstructured.Unstructured) map[string]any {
	_, found := g.Fields(obj).Remove(obj.Object)
	sensitive := projection.Sensitive(obj.Object).Union(projection.NewFieldSet(found...))
	return projection.Projection{Object: obj.Object, Sensitive: sensitive}.Redacted().Object
}

// because returns why words are redacted.
func (g Redactor) because() string {
	if g.isKnown {
		return "since the object has sensitive values"
	}
	return "since the object may have sensitive values"
}

// Text returns the text if it may be shown, and otherwise a note that it is redacted.
func (g Redactor) Text(text foreign.Text) foreign.Text {
	if text == "" || !g.Redacts() {
		return text
	}
	return foreign.Text("the message is redacted, " + g.because())
}

// Warnings returns the server's warnings if they may be shown, and otherwise one that counts them.
func (g Redactor) Warnings(texts []foreign.Text) []foreign.Text {
	if !g.Redacts() || len(texts) == 0 {
		return texts
	}
	return []foreign.Text{foreign.Textf("%s redacted, %s, which it may quote",
		count(len(texts), "warning of the server", "warnings of the server"), g.because())}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Unquoted returns err without free text of the server. The errors that it wraps have none either.
// [authresilience.Classify] still returns the class of err.
func (g Redactor) Unquoted(err error) error {
	if !g.Redacts() || answer.IsNil(err) {
		return answer.Visible(err)
	}
	text, shown := g.unquoted(err)
	if len(shown) == 0 {
		return answer.Visible(err)
	}
	classified := &authresilience.ClassError{Class: authresilience.Classify(err), Err: errors.Join(shown...)}
	return answer.Redacted(classified, foreign.Text(text))
}

// Error does what [Redactor.Unquoted] does, and also redacts credentials in the text.
func (g Redactor) Error(err error) error { return g.Unquoted(authresilience.Redact(err)) }

// status returns the status without what the server says in free text.
func (g Redactor) status(status metav1.Status) metav1.Status {
	out := answer.Class(status)
	parts := []string{authresilience.Classify(&apierrors.StatusError{ErrStatus: status}).Describe().Meaning}
	if status.Details != nil {
		for _, cause := range answer.DistinctCauses(status.Details) {
			field, said := g.field(cause.Field), answer.Phrase(cause)
			out.Details.Causes = append(out.Details.Causes,
				metav1.StatusCause{Type: answer.KnownCause(cause.Type), Field: field, Message: said})
			parts = append(parts, strings.Trim(field+": "+said, ": "))
		}
	}
	path, wanted := answer.WrongType(status)
	if path = g.field(path); path != "" {
		parts = append(parts, path+": "+wanted)
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	out.Message = fmt.Sprintf("%s (HTTP %d; the server's message is redacted, %s)",
		foreign.Text(strings.Join(parts, "; ")), status.Code, g.because())
	return out
}

// field returns a field as the server prints it if the object has one of this name, and else nothing: a webhook can
// call a field whatever it likes. What is in an item that is named by values has the name of the list.
func (g Redactor) field(text string) string {
	text = itemOnwards.ReplaceAllString(text, "")
	if text == "" {
		return ""
	}
	for _, obj := range g.sensitive {
		if answer.Names(obj.Object, text) {
			return text
		}
	}
	return ""
}

// itemOnwards finds, in a field as a server prints it, the first item of a list that is named by values, and what
// follows.
var itemOnwards = regexp.MustCompile(`\[[^\]]*=.*`)

// path returns a path of an object redacted.
func (g Redactor) path(p projection.Path) projection.Path {
	for _, obj := range g.sensitive {
		p = g.Fields(obj).RedactedPath(p)
	}
	return p
}

// causes returns the fields that a server names without the values in them, and with its words only if they are known
// ones.
func (g Redactor) causes(fields []immutability.Field) []immutability.Field {
	redacted := foreign.Text("the server's message is redacted, " + g.because())
	fields = slices.Clone(fields)
	for i, f := range fields {
		fields[i].Path = g.path(f.Path)
		if fields[i].Text = foreign.Text(g.field(string(f.Text))); fields[i].Text == "" {
			fields[i].Path = nil
		}
		if phrase := answer.KnownPhrase(string(f.Message)); phrase != "" {
			fields[i].Message = foreign.Text(phrase)
		} else {
			fields[i].Message = redacted
		}
	}
	return fields
}

// Verdict removes from the verdict what the server says in free text, and values in the names of list items. It also
// removes the verdict's unexported input, which the %#v verb would print.
func (g Redactor) Verdict(verdict *immutability.Verdict) {
	if !g.Redacts() {
		return
	}
	*verdict = immutability.Verdict{
		Refusal: verdict.Refusal, Certainty: verdict.Certainty, Uncertain: verdict.Uncertain,
		Fields: g.causes(verdict.Fields), OfNew: g.causes(verdict.OfNew), Leftovers: verdict.Leftovers,
		Remedy: verdict.Remedy, Hazards: verdict.Hazards, Evidence: verdict.Evidence,
	}
	verdict.Leftovers = slices.Clone(verdict.Leftovers)
	for i, p := range verdict.Leftovers {
		verdict.Leftovers[i] = g.path(p)
		verdict.Remedy = strings.ReplaceAll(verdict.Remedy, p.String(), g.path(p).String())
	}
	verdict.Uncertain, _, _ = strings.Cut(verdict.Uncertain, ": ") // where a server's words follow
	for _, reply := range []*immutability.Answer{&verdict.Evidence.Create, &verdict.Evidence.Update,
		&verdict.Evidence.Merge, &verdict.Evidence.Whole} {
		reply.Message, reply.Err = "", g.Unquoted(reply.Err)
	}
}
