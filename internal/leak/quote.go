package leak

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Values are secrets as people have them.
var Values = []string{
	"hunter2-correct-horse", "pa\"ss\\word-12345", "geheim zeile eins\nund zeile zwei\n", "<b>&amp;geheim</b>",
	"4711815162342", "ünïcödé-geheim",
	"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----\n",
	`{"auths":{"r.registry.io":{"auth":"dXNlcjpodW50ZXIy"}}}`,
	strings.Repeat("langes-geheimnis-", 40), "tab\tzwischen\tgeheimem", "%41%42%43percent", "a.b.c/d:e@f-geheim",
}

// Echoes are the ways in which somebody may quote a value.
var Echoes = []Echo{
	{"raw", func(v string) string { return v }},
	{"base64", func(v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) }},
	{"wrapped base64", func(v string) string {
		text := base64.StdEncoding.EncodeToString([]byte(v))
		return text[:len(text)/2] + "\n" + text[len(text)/2:]
	}},
	{"URL base64", func(v string) string { return base64.URLEncoding.EncodeToString([]byte(v)) }},
	{"JSON", func(v string) string { text, _ := json.Marshal(v); return string(text) }},
	{"Go", func(v string) string { return fmt.Sprintf("%q", v) }},
	{"bytes", func(v string) string { return fmt.Sprint([]byte(v)) }},
	{"URL", url.QueryEscape},
	{"hex", func(v string) string { return hex.EncodeToString([]byte(v)) }},
	{"prefix", func(v string) string { return v[:8] + "…" }},
	{"suffix", func(v string) string { return "…" + v[len(v)-8:] }},
	{"object", func(v string) string { return fmt.Sprintf("%v", map[string]any{"data": map[string]any{"k": v}}) }},
}

// An Echo is a way to quote a value.
type Echo struct {
	Name string
	Of   func(value string) string
}

// Refusals are what a server, or somebody behind it, says with something in it.
var Refusals = []Refusal{
	{"denied by a webhook", func(said string) metav1.Status {
		return status(403, metav1.StatusReasonForbidden, `admission webhook "w.example.com" denied the request: `+said)
	}},
	{"denied by a policy", func(said string) metav1.Status {
		return status(422, metav1.StatusReasonInvalid,
			`secrets "s" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: `+said)
	}},
	{"an invalid value", func(said string) metav1.Status {
		return status(422, metav1.StatusReasonInvalid, `Secret "s" is invalid: data[k]: Invalid value: `+said,
			metav1.StatusCause{Type: "FieldValueInvalid", Field: "data[k]",
				Message: "Invalid value: " + said + ": must be better"})
	}},
	{"a cause that is only a value", func(said string) metav1.Status {
		return status(422, metav1.StatusReasonInvalid, said,
			metav1.StatusCause{Type: "FieldValueInvalid", Field: said, Message: said})
	}},
	{"a known phrase with more behind it", func(said string) metav1.Status {
		return status(422, metav1.StatusReasonInvalid, said,
			metav1.StatusCause{Type: "FieldValueForbidden", Field: "data",
				Message: "Forbidden: field is immutable " + said})
	}},
	{"a manifest of another type", func(said string) metav1.Status {
		return status(500, metav1.StatusReasonUnknown,
			"failed to create typed patch object (default/s; /v1, Kind=Secret): .stringData.k: expected string, got "+
				said)
	}},
	{"a type error with a forged field", func(said string) metav1.Status {
		return status(500, metav1.StatusReasonUnknown,
			"failed to create typed patch object (default/s; /v1, Kind=Secret): ."+said+": expected string")
	}},
	{"an internal error", func(said string) metav1.Status {
		return status(500, metav1.StatusReasonInternalError, "Internal error occurred: "+said)
	}},
	{"details of a forger", func(said string) metav1.Status {
		out := status(409, metav1.StatusReasonConflict, said, metav1.StatusCause{Field: said, Message: said})
		out.Details.Name, out.Details.UID = said, "x"
		return out
	}},
	{"a reason that is only a value", func(said string) metav1.Status {
		out := status(400, metav1.StatusReason(said), "", metav1.StatusCause{Type: metav1.CauseType(said)})
		out.Details.Kind, out.Details.Group = said, said
		return out
	}},
}

// A Refusal is an answer of a server.
type Refusal struct {
	Name   string
	Status func(said string) metav1.Status
}

func status(code int32, reason metav1.StatusReason, message string, causes ...metav1.StatusCause) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: code,
		Reason: reason, Message: message, Details: &metav1.StatusDetails{Kind: "secrets", Name: "s", Causes: causes},
	}
}

// A Case is an object with a secret value, and an answer that quotes the value. The object is named after the case. The
// fields of a Case are indexes of the table of answers, of [Values] and of [Echoes].
type Case struct{ Answer, Value, Echo int }

// Cases returns the cases for a number of answers. Each answer occurs with each value and with each way to quote. With
// enough answers, each value also occurs with each way to quote. If all is true, every combination of the three is a
// case.
func Cases(answers int, all bool) (cases []Case) {
	for a := range answers {
		for v := range Values {
			for e := range Echoes {
				if all || (a+e)%len(Values) == v {
					cases = append(cases, Case{a, v, e})
				}
			}
		}
	}
	return cases
}

// Tried returns every nth of the [Cases] for a number of answers. With LEAKS=all in the environment, it returns all
// combinations. If n has no divisor in common with the number of values and of ways to quote, enough answers have all
// of them.
func Tried(answers, n int) (cases []Case) {
	if os.Getenv("LEAKS") == "all" {
		return Cases(answers, true)
	}
	for i, one := range Cases(answers, false) {
		if i%n == 0 {
			cases = append(cases, one)
		}
	}
	return cases
}

// TriedValues returns a case for every nth of the [Values], each quoted in another way. With LEAKS=all in the
// environment, it returns a case for each value.
func TriedValues(n int) []Case {
	return slices.DeleteFunc(Tried(1, n), func(c Case) bool { return c.Echo != c.Value })
}

// CaseOf returns the case after which an object is named, if it is.
func CaseOf(name string) (c Case, ok bool) {
	_, err := fmt.Sscanf(name, caseName, &c.Answer, &c.Value, &c.Echo)
	return c, err == nil && c.Value < len(Values) && c.Echo < len(Echoes)
}

const caseName = "case-%d-%d-%d"

// Name is the name of the case's object.
func (c Case) Name() string { return fmt.Sprintf(caseName, c.Answer, c.Value, c.Echo) }

// Secret is the value.
func (c Case) Secret() string { return Values[c.Value] }

// Said is the value as it is quoted.
func (c Case) Said() string { return Echoes[c.Echo].Of(c.Secret()) }

// Found returns which of [Values] a text has, with the forms that they have there; empty if it has none.
func Found(text string) (found []string) {
	if !hasAny(text) {
		return nil
	}
	for i, value := range Values {
		if forms := In(text, value); len(forms) > 0 {
			found = append(found, fmt.Sprintf("value %d: %s", i, strings.Join(forms, ", ")))
		}
	}
	return found
}

// hasAny reports whether [In] would find one of [Values], in one walk through the text for all of them.
func hasAny(text string) bool {
	text = opened(text)
	joined := squeeze(text)
	for i, look := range []string{text, joined, lineEnds.Replace(joined)} {
		for length, parts := range partsOfValues()[i] {
			for start := range max(len(look)-length+1, 0) {
				if parts[look[start:start+length]] {
					return true
				}
			}
		}
	}
	return false
}

// partsOfValues are the parts that tell something of one of [Values], by their length: as they are written, without
// white space, and also without visible line ends.
var partsOfValues = sync.OnceValue(func() (all [3]map[int]map[string]bool) {
	for i := range all {
		all[i] = map[int]map[string]bool{}
	}
	for _, value := range Values {
		for _, form := range Forms {
			written := form.Write(value)
			short := squeeze(written)
			for i, text := range []string{written, short, lineEnds.Replace(short)} {
				length := min(form.window, len(text))
				for start := range len(text) - length + 1 {
					if part := text[start : start+length]; strings.TrimSpace(part) != "" {
						if all[i][length] == nil {
							all[i][length] = map[string]bool{}
						}
						all[i][length][part] = true
					}
				}
			}
		}
	}
	return all
})
