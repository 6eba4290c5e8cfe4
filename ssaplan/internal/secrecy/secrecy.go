// Package secrecy decides what of a server's words may be shown. Of an object with sensitive values nothing is that the
// server says in free text: it, or a webhook or policy behind it, may quote a value in any form. What is left is what
// is known to have no value: the class of a failure, the fields that the object has, and the phrases that are
// recognised.
package secrecy

import (
	"errors"
	"fmt"
	"maps"
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
)

// Guard is for the objects that a server's words are about, or those of whoever writes to them. The zero Guard lets
// everything through.
type Guard struct {
	sensitive []*unstructured.Unstructured
	// fields are the sensitive fields of an object, nil if it has none but those of its kind.
	fields func(*unstructured.Unstructured) projection.Patterns
	// quotes says that free text is shown all the same.
	quotes bool
	// isKnown reports whether a field is known to be sensitive, and not only the marks of a kind aren't known.
	isKnown bool
}

// For returns the guard for what is said of the objects, of which some may be nil. Fields that match one of the
// patterns are sensitive, as those are that are sensitive in every object of the kind. An object of a kind that has
// passwords is, whether it has them or not.
func For(patterns projection.Patterns, passwords func(schema.GroupVersionKind) projection.Patterns, objects ...*unstructured.Unstructured) Guard {
	g := Guard{fields: func(obj *unstructured.Unstructured) projection.Patterns {
		return Fields(patterns, passwords, identity.Identity{APIVersion: obj.GetAPIVersion(), Kind: obj.GetKind()}, obj)
	}}
	for _, obj := range objects {
		if obj == nil {
			continue
		}
		marks := passwords(obj.GroupVersionKind())
		isKnown := !projection.Sensitive(obj.Object).Empty() || matches(patterns.OfEveryItem(), obj.Object) ||
			len(Inside(obj.Object, passwords)) > 0
		if isKnown || len(marks) > 0 {
			g.sensitive = append(g.sensitive, obj)
			g.isKnown = g.isKnown || isKnown || !IsUnmarked(marks)
		}
	}
	return g
}

// Fields returns the fields whose values must not be shown of an object in some of its states, beside those that are
// sensitive in every object of it: those that the patterns name, that the kind has as passwords and that other objects
// inside of it have, such as a Secret. In an object with such a field the annotations are among them, as in a Secret:
// tools keep copies there.
func Fields(patterns projection.Patterns, passwords func(schema.GroupVersionKind) projection.Patterns, id identity.Identity, states ...*unstructured.Unstructured) projection.Patterns {
	fields := slices.Concat(patterns.OfEveryItem(), passwords(schema.FromAPIVersionAndKind(id.APIVersion, id.Kind)))
	for _, state := range states {
		if state == nil {
			continue
		}
		if state.GetKind() != id.Kind || state.GetAPIVersion() != id.APIVersion { // as in a replacement by another kind
			fields = append(fields, passwords(state.GroupVersionKind())...)
		}
		fields = append(fields, Inside(state.Object, passwords)...)
	}
	if len(fields) > 0 && For(patterns, passwords, states...).Withholds() {
		fields = append(fields, annotations...)
	}
	return fields
}

var annotations, _ = projection.ParsePatterns("metadata.annotations") // which is a pattern

// matches copies the object, which would be a quarter of what a plan allocates.
func matches(patterns projection.Patterns, obj map[string]any) bool {
	if len(patterns) == 0 {
		return false
	}
	_, found := patterns.Remove(obj)
	return len(found) > 0
}

// Remembered returns what is known of an object that isn't there to be looked at, with the fields that are remembered
// of it.
func Remembered(id identity.Identity, fields map[string]any) *unstructured.Unstructured {
	obj := maps.Clone(fields)
	if obj == nil {
		obj = map[string]any{}
	}
	obj["apiVersion"], obj["kind"] = id.APIVersion, id.Kind
	return &unstructured.Unstructured{Object: obj}
}

// Format prints whether free text is withheld whatever the verb: the objects of the guard have secrets.
func (g Guard) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "guard of %d objects with sensitive values", len(g.sensitive))
}

// Quoting returns the guard that shows free text as it is, if quotes is true.
func (g Guard) Quoting(quotes bool) Guard {
	g.quotes = quotes
	return g
}

// Withholds reports whether free text isn't shown.
func (g Guard) Withholds() bool { return len(g.sensitive) > 0 && !g.quotes }

// Fields are the fields of an object whose values must not be shown, beside those that are sensitive in every object of
// its kind.
func (g Guard) Fields(obj *unstructured.Unstructured) projection.Patterns {
	if g.fields == nil {
		return nil
	}
	return g.fields(obj)
}

// Redacted returns what may be shown of an object: all of it, with placeholders for the values that are sensitive.
func (g Guard) Redacted(obj *unstructured.Unstructured) map[string]any {
	_, found := g.Fields(obj).Remove(obj.Object)
	sensitive := projection.Sensitive(obj.Object).Union(projection.NewFieldSet(found...))
	return projection.Projection{Object: obj.Object, Sensitive: sensitive}.Redacted().Object
}

// because returns why words are withheld.
func (g Guard) because() string {
	if g.isKnown {
		return "since the object has sensitive values"
	}
	return "since the object may have sensitive values"
}

// Text returns a text that somebody says, if it may be shown, and else that it is withheld.
func (g Guard) Text(text foreign.Text) foreign.Text {
	if text == "" || !g.Withholds() {
		return text
	}
	return foreign.Text("what it says is withheld, " + g.because())
}

// Warnings returns those of the server's warnings that may be shown, and for the others one that counts them.
func (g Guard) Warnings(texts []foreign.Text) []foreign.Text {
	if !g.Withholds() || len(texts) == 0 {
		return texts
	}
	return []foreign.Text{foreign.Textf("%s withheld, %s, which it may quote",
		count(len(texts), "warning of the server", "warnings of the server"), g.because())}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Error returns err as it may be shown. What it wraps is made so, too: the class can be told from it, and nothing else.
func (g Guard) Error(err error) error {
	if !g.Withholds() || answer.IsNil(err) {
		return answer.Visible(err)
	}
	text, shown := g.unquoted(err)
	if len(shown) == 0 {
		return answer.Visible(err)
	}
	classified := &authresilience.ClassError{Class: authresilience.Classify(err), Err: errors.Join(shown...)}
	return answer.Redacted(classified, foreign.Text(text))
}

// Shown is [Guard.Error] of an error that may have credentials in it, which nobody is shown.
func (g Guard) Shown(err error) error { return g.Error(authresilience.Redact(err)) }

// status returns the status without what the server says in free text.
func (g Guard) status(status metav1.Status) metav1.Status {
	out := answer.Class(status)
	parts := []string{authresilience.Classify(&apierrors.StatusError{ErrStatus: status}).Describe().Meaning}
	if status.Details != nil {
		for _, cause := range answer.DistinctCauses(status.Details) {
			field, said := g.field(cause.Field), answer.Phrase(cause)
			out.Details.Causes = append(out.Details.Causes, metav1.StatusCause{Type: answer.KnownCause(cause.Type), Field: field, Message: said})
			parts = append(parts, strings.Trim(field+": "+said, ": "))
		}
	}
	path, wanted := answer.WrongType(status)
	if path = g.field(path); path != "" {
		parts = append(parts, path+": "+wanted)
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	out.Message = fmt.Sprintf("%s (HTTP %d; the server's words are withheld, %s)", foreign.Text(strings.Join(parts, "; ")), status.Code, g.because())
	return out
}

// field returns a field as the server prints it if the object has one of this name, and else nothing: a webhook can
// call a field whatever it likes. What is in an item that is named by values has the name of the list.
func (g Guard) field(text string) string {
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

// shown returns a path of an object as it may be shown.
func (g Guard) shown(p projection.Path) projection.Path {
	for _, obj := range g.sensitive {
		p = g.Fields(obj).Shown(p)
	}
	return p
}

// causes returns the fields that a server names without the values in them, and with its words only if they are known
// ones.
func (g Guard) causes(fields []immutability.Field) []immutability.Field {
	withheld := foreign.Text("what the server says is withheld, " + g.because())
	fields = slices.Clone(fields)
	for i, f := range fields {
		fields[i].Path = g.shown(f.Path)
		if fields[i].Text = foreign.Text(g.field(string(f.Text))); fields[i].Text == "" {
			fields[i].Path = nil
		}
		if phrase := answer.KnownPhrase(string(f.Message)); phrase != "" {
			fields[i].Message = foreign.Text(phrase)
		} else {
			fields[i].Message = withheld
		}
	}
	return fields
}

// Verdict takes out of the verdict what the server says in free text, and the values that name items of lists. What it
// was made from, and doesn't show but in Go's syntax, goes as well.
func (g Guard) Verdict(verdict *immutability.Verdict) {
	if !g.Withholds() {
		return
	}
	*verdict = immutability.Verdict{
		Refusal: verdict.Refusal, Certainty: verdict.Certainty, Uncertain: verdict.Uncertain, Fields: g.causes(verdict.Fields), OfNew: g.causes(verdict.OfNew), Leftovers: verdict.Leftovers,
		Remedy: verdict.Remedy, Hazards: verdict.Hazards, Evidence: verdict.Evidence,
	}
	verdict.Leftovers = slices.Clone(verdict.Leftovers)
	for i, p := range verdict.Leftovers {
		verdict.Leftovers[i] = g.shown(p)
		verdict.Remedy = strings.ReplaceAll(verdict.Remedy, p.String(), g.shown(p).String())
	}
	verdict.Uncertain, _, _ = strings.Cut(verdict.Uncertain, ": ") // where a server's words follow
	for _, reply := range []*immutability.Answer{&verdict.Evidence.Create, &verdict.Evidence.Update, &verdict.Evidence.Merge, &verdict.Evidence.Whole} {
		reply.Message, reply.Err = "", g.Error(reply.Err)
	}
}
