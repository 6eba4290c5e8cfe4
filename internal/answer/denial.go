package answer

import (
	"strconv"
	"strings"
)

// Denial is the sentence in which the authorizer of an API server says who may not do what.
type Denial struct {
	Text string // the sentence, without the reason that an authorizer may append
	User string
	Verb string
}

// ParseDenial reads the sentence at the start of a refusal; see forbiddenMessage in apiserver's
// endpoints/handlers/responsewriters. Quoted parts are skipped as a whole, since any text can be in them.
//
//	User "alice" cannot get resource "configmaps" in API group "" in the namespace "default": reason
//	User "alice" cannot list resource "nodes" in API group "" at the cluster scope
//	User "alice" cannot get path "/apis"
func ParseDenial(refusal string) (d Denial, ok bool) {
	s := sentence{rest: refusal, ok: true}
	s.word(denialStart)
	user := s.quoted()
	s.word(denialVerb)
	verb := s.upTo(" ")
	if s.has("path ") {
		s.quoted()
	} else {
		s.word("resource ")
		s.quoted()
		s.word(" in API group ")
		s.quoted()
		if s.has(" in the namespace ") {
			s.quoted()
		} else {
			s.word(" at the cluster scope")
		}
	}
	ends := s.rest == "" || strings.HasPrefix(s.rest, ":")
	return Denial{refusal[:len(refusal)-len(s.rest)], user, verb}, s.ok && ends
}

// FlattenedDenial finds the sentence in the text of an error that lost its type.
func FlattenedDenial(text string) (d Denial, ok bool) {
	i := strings.Index(text, forbiddenTo+denialStart)
	if i < 0 {
		return Denial{}, false
	}
	return ParseDenial(text[i+len(forbiddenTo):])
}

// Anonymous reports whether the denied request carried no credentials that the server knows.
func (d Denial) Anonymous() bool { return d.User == "system:anonymous" }

// Action is what was denied: get resource "configmaps" in API group "" in the namespace "default".
func (d Denial) Action() string {
	_, action, _ := strings.Cut(d.Text, denialVerb)
	return action
}

// OfWrite reports whether what was denied is a change. Impersonation is denied with a verb of its own, for a read too.
func (d Denial) OfWrite() bool {
	verb := d.Verb[strings.LastIndexByte(d.Verb, ':')+1:] // impersonate-on:user-info:patch
	switch verb {
	case "create", "update", "patch", "delete", "deletecollection", "escalate", "bind":
		return true
	}
	return false
}

// A sentence is a text that is read from its start. After a step that doesn't fit, ok is false and stays so.
type sentence struct {
	rest string
	ok   bool
}

// has skips word if it comes next.
func (s *sentence) has(word string) bool {
	rest, found := strings.CutPrefix(s.rest, word)
	if found {
		s.rest = rest
	}
	return found
}

func (s *sentence) word(word string) {
	s.ok = s.has(word) && s.ok
}

func (s *sentence) upTo(end string) string {
	text, rest, found := strings.Cut(s.rest, end)
	if !found {
		s.ok = false
		return ""
	}
	s.rest = rest
	return text
}

func (s *sentence) quoted() string {
	quoted, err := strconv.QuotedPrefix(s.rest)
	if err != nil {
		s.ok = false
		return ""
	}
	s.rest = s.rest[len(quoted):]
	text, err := strconv.Unquote(quoted)
	s.ok = s.ok && err == nil
	return text
}
