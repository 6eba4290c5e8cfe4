package render

import (
	"fmt"
	"strings"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/examples/kubectl-ssaplan/saved"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/immutability"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Explanation is what is known of an error of the API server.
type Explanation struct {
	// Object is what the server named: "Deployment.apps "web"". It is empty if it named nothing.
	Object    string
	Class     authresilience.Class
	Verdict   immutability.Verdict
	Conflicts []fieldowner.Conflict
	// Prose says that all this was read from the text of an error.
	Prose bool
}

// Explain explains a saved error.
func Explain(err saved.Error) Explanation {
	return Explanation{
		Object: named(err), Class: authresilience.Classify(err.Err()), Verdict: err.Verdict(),
		Conflicts: fieldowner.ConflictsFromError(err.Err(), nil), Prose: err.Prose,
	}
}

func named(err saved.Error) string {
	d := err.Status.Details
	if d == nil || d.Kind == "" {
		return ""
	}
	text := d.Kind
	if d.Group != "" {
		text += "." + d.Group
	}
	if d.Name != "" {
		text += fmt.Sprintf(" %q", foreign.Text(d.Name))
	}
	return text
}

type explanationJSON struct {
	Class        authresilience.Class  `json:"class"`
	Immutability verdictJSON           `json:"immutability"`
	Conflicts    []fieldowner.Conflict `json:"conflicts"`
	Degradable   bool                  `json:"degradable"`
}

type verdictJSON struct {
	Verdict     immutability.Refusal `json:"verdict"`
	Replaceable bool                 `json:"replaceable"`
	Fields      []immutability.Field `json:"fields"`
}

// JSON returns the explanation as indented JSON with a newline at the end.
func (e Explanation) JSON() ([]byte, error) {
	return JSON(explanationJSON{
		Class: e.Class,
		Immutability: verdictJSON{
			e.Verdict.Refusal, e.Verdict.Replaceable(), append([]immutability.Field{}, e.Verdict.Fields...),
		},
		Conflicts:  append([]fieldowner.Conflict{}, e.Conflicts...),
		Degradable: e.Class.Degradable(),
	})
}

// YAML returns the explanation as a YAML document with the same content as [Explanation.JSON].
func (e Explanation) YAML() ([]byte, error) { return asYAML(e.JSON()) }

// Explanation says what an error is, and what to do about it.
func (t Text) Explanation(e Explanation) string {
	p := &printer{Text: t}
	p.section(string(e.Class), e.Class.Describe().Meaning)
	if e.Object != "" {
		p.prose(1, "", "", "object: "+foreign.Visible(e.Object))
	}
	p.prose(1, "", "", "to do: "+foreign.Visible(e.toDo()))
	if e.Class.Degradable() {
		p.prose(1, "", "",
			"if a read fails like this, the last known state of the object can be kept: the server said nothing about it")
	}
	if e.Prose {
		p.prose(1, "", "", "read from the text of the error, which has less in it than the status itself")
	}
	p.verdict(e.Verdict)
	if n := len(e.Conflicts); n > 0 {
		p.section(count(n, "conflict", "conflicts"), "these fields have other owners and other values")
		p.conflictLines(e.Conflicts)
	}
	return p.String()
}

func (p *printer) section(title, text string) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	lines := Wrap(title+": "+foreign.Visible(text), p.Width, "  ")
	lines[0] = p.paint(bold, title) + strings.TrimPrefix(lines[0], title)
	p.WriteString(strings.Join(lines, "\n") + "\n")
}

// toDo prefers the verdict's advice to that of the class: it knows more.
func (e Explanation) toDo() string {
	switch {
	case e.Verdict.Replaceable():
		return "keep the fields as they are, or replace the object (kubectl ssaplan apply --replace)"
	case e.Verdict.Remedy != "":
		return e.Verdict.Remedy
	case e.Verdict.Certainty != immutability.CertaintyProven:
		return "plan the manifest (kubectl ssaplan plan): that asks the server whether the manifest is valid in itself"
	}
	return e.Class.Describe().Advice
}

func (p *printer) verdict(v immutability.Verdict) {
	if v.Refusal == immutability.RefusalNone {
		return
	}
	p.section("verdict "+string(v.Refusal), verdictWords(v))
	for _, f := range v.Fields {
		p.prose(1, p.paint(red, symbolReplace), "", foreign.Visible(f.String()))
	}
	if v.Uncertain != "" {
		p.prose(1, "", "", "not proven: "+foreign.Visible(v.Uncertain))
	}
}

var kindWords = map[immutability.Refusal]string{
	immutability.RefusalImmutable: "these fields can't change while the object exists; replacing it is " +
		"not known to work",
	immutability.RefusalDirectional: "these fields can change in one direction only (a volume can grow, but " +
		"not shrink); replacing the object loses the data that the rule protects",
	immutability.RefusalInvalid: "the manifest isn't accepted as it is; replacing the object doesn't help",
	immutability.RefusalMergeLeftover: "a field that the manifest doesn't mention is in the way; the object " +
		"needn't be replaced",
	immutability.RefusalMetadataPrecondition: "metadata of the manifest, such as uid or resourceVersion, doesn't " +
		"match the live object; don't replace the object",
	immutability.RefusalAdmissionDenied: "an admission webhook, policy or plugin denied the request; don't replace " +
		"the object to get around it",
}

func verdictWords(v immutability.Verdict) string {
	if v.Replaceable() {
		return "these fields can't change while the object exists; deleting and re-creating the object works"
	}
	if v.Certainty == immutability.CertaintyUnknown {
		return "nothing shows that replacing the object would help"
	}
	return kindWords[v.Refusal]
}
