package immutability

import (
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/immutability/internal/transition"
	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/internal/kinds"
)

// Rules is a cache of the transition rules of CRDs. An entry expires when the CRD has another resourceVersion. The zero
// value is an empty cache. It is safe for concurrent use.
type Rules struct {
	mu   sync.Mutex
	read map[string]definition
}

// definition is what is known of a definition.
type definition struct {
	resourceVersion string
	versions        map[string][]rule // by name of the version
}

// of returns the transition rules for a version of a definition. If r is nil, nothing is remembered.
func (r *Rules) of(crd *unstructured.Unstructured, version string) []rule {
	if r == nil {
		return readDefinition(crd).versions[version]
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	known, found := r.read[crd.GetName()]
	if !found || known.resourceVersion == "" || known.resourceVersion != crd.GetResourceVersion() {
		known = readDefinition(crd)
		if r.read == nil {
			r.read = map[string]definition{}
		}
		r.read[crd.GetName()] = known
	}
	return known.versions[version]
}

func readDefinition(crd *unstructured.Unstructured) definition {
	read := definition{crd.GetResourceVersion(), map[string][]rule{}}
	for _, version := range kinds.DefinitionOf(crd.Object).Versions {
		read.versions[version.Name] = rulesOf(version.Schema, nil)
	}
	return read
}

// rule is a transition rule: one that compares a value with what it was.
type rule struct {
	place      []step
	fieldPath  string // to the field that is refused, from place
	message    string // "" if the server prints the rule
	text       string
	isComputed bool // the message is
	reason     metav1.CauseType
	kind       transition.Kind
}

// step is a step to a place in a schema: a field, or any item or key.
type step struct {
	field string
	any   bool
}

// rulesOf returns the transition rules of a schema at a place and of all below it.
func rulesOf(schema any, place []step) []rule {
	s, isSchema := schema.(map[string]any)
	if !isSchema {
		return nil
	}
	var found []rule
	rules, _ := s["x-kubernetes-validations"].([]any)
	for _, item := range rules {
		if r := readRule(item, place); r.kind != transition.None {
			found = append(found, r)
		}
	}
	below := func(schema any, next step) {
		found = append(found, rulesOf(schema, append(slices.Clip(place), next))...)
	}
	properties, _ := s["properties"].(map[string]any)
	for name, property := range properties {
		below(property, step{field: name})
	}
	below(s["items"], step{any: true})
	below(s["additionalProperties"], step{any: true})
	return append(found, alternatives(s, place)...)
}

// alternatives returns the rules of what the schema of a place is composed of. Such a rule doesn't refuse by itself, so
// it isn't known to be equality.
func alternatives(schema map[string]any, place []step) []rule {
	parts := []any{schema["not"]}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := schema[word].([]any)
		parts = append(parts, list...)
	}
	var found []rule
	for _, part := range parts {
		found = append(found, rulesOf(part, place)...)
	}
	for i := range found {
		found[i].kind = transition.OneWay
	}
	return found
}

func readRule(item any, place []step) rule {
	fields, _ := item.(map[string]any)
	text := func(name string) string {
		value, _ := fields[name].(string)
		return strings.TrimSpace(value)
	}
	return rule{
		place: place, fieldPath: text("fieldPath"), message: text("message"), text: text("rule"),
		isComputed: text("messageExpression") != "", reason: metav1.CauseType(text("reason")),
		kind: transition.Read(text("rule")),
	}
}

// refuses reports whether a cause may be that the rule refuses a change.
func (r rule) refuses(c cause) bool {
	return r.isAt(answer.RealPath("", c.Field), r.place) && r.says(c)
}

// isAt reports whether a field as the server prints it is the one that the rule refuses, which begins with place. A key
// is printed without quotes, so it ends at any bracket.
func (r rule) isAt(field string, place []step) bool {
	if len(place) == 0 {
		return plain(field) == plain(r.fieldPath)
	}
	if !place[0].any {
		rest, found := strings.CutPrefix(field, place[0].field)
		return found && (rest == "" || rest[0] == '.' || rest[0] == '[') &&
			r.isAt(strings.TrimPrefix(rest, "."), place[1:])
	}
	for i, c := range field {
		if c == ']' && field[0] == '[' && r.isAt(strings.TrimPrefix(field[i+1:], "."), place[1:]) {
			return true
		}
	}
	return false
}

// plain returns a path without what quotes and separates its steps, which servers and definitions write differently.
func plain(path string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(`.[]'"`, c) {
			return -1
		}
		return c
	}, path)
}

// says reports whether the message of a cause may be that of the rule. A duplicate is printed without one.
func (r rule) says(c cause) bool {
	if c.Type == metav1.CauseTypeFieldValueDuplicate {
		return r.reason == c.Type
	}
	return r.isComputed || c.IsOfRule(r.message, r.text)
}

// IsLifted reports whether an update of a CRD removes the rules that the verdict is about. before and after are the CRD
// before and after the update. The result is true if, in the given version, the CRD before has a transition rule for
// each cause, and the CRD after has none of these rules. Other rules of after may still reject the change; only the
// server can tell, once it serves the new CRD.
func (v Verdict) IsLifted(before, after *unstructured.Unstructured, version string) bool {
	was, is := readDefinition(before).versions[version], readDefinition(after).versions[version]
	for _, c := range v.causes {
		isRule := false
		for _, old := range was {
			if !old.refuses(c) {
				continue
			}
			isRule = true
			if slices.ContainsFunc(is,
				func(r rule) bool { return r.text == old.text && slices.Equal(r.place, old.place) }) {
				return false
			}
		}
		if !isRule {
			return false
		}
	}
	return len(v.causes) > 0
}

// Why a refusal by a rule isn't known to be for good.
const (
	definitionUnread  = "the rule may allow one direction only; the CRD wasn't read"
	definitionRefused = "the rule may allow one direction only, and the CRD can't be read: "
	ruleNotFound      = "the rule that refuses wasn't found in the CRD; it may allow one direction only"
)

// afterRules judges what a custom resource is refused for by the transition rules of its definition. whole are the
// causes for which an update of the whole manifest is refused, nil if none was. A cause that isn't among them may be
// one of what the apply leaves behind, and then it is no transition rule's.
func (v Verdict) afterRules(rules []rule, whole []cause) Verdict {
	var found []string
	for _, c := range slices.Concat(v.causes, whole) {
		isKnown := len(whole) > 0 && !slices.ContainsFunc(whole, c.isLike)
		for _, r := range rules {
			if !r.refuses(c) {
				continue
			}
			if r.kind == transition.OneWay {
				v.prove(RefusalDirectional)
				v.Evidence.Rules = []string{r.text}
				return v
			}
			isKnown = true
			if !slices.Contains(found, r.text) {
				found = append(found, r.text)
			}
		}
		if !isKnown {
			return v.directional(ruleNotFound)
		}
	}
	if len(found) == 0 {
		return v.directional(ruleNotFound)
	}
	v.Evidence.Rules = found
	return v
}

// directional is the verdict when a rule may protect something.
func (v Verdict) directional(why string) Verdict {
	v.Refusal = RefusalDirectional
	v.doubt(CertaintyAssumed, why)
	return v
}
