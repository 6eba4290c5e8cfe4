package authresilience

import (
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A denial is the sentence in which the authorizer of an API server says who may not do what.
type denial struct {
	text string // the sentence, without the reason that an authorizer may append
	user string
	verb string
}

// anonymousUser is the name under which a server knows requests without credentials.
const anonymousUser = "system:anonymous"

// parseDenial reads the sentence at the start of a refusal; see forbiddenMessage in apiserver's
// endpoints/handlers/responsewriters. Its quoted parts can hold anything, so they are skipped as what they are.
//
//	User "alice" cannot get resource "configmaps" in API group "" in the namespace "default": reason
//	User "alice" cannot list resource "nodes" in API group "" at the cluster scope
//	User "alice" cannot get path "/apis"
func parseDenial(refusal string) (denial, bool) {
	s := sentence{rest: refusal, ok: true}
	s.word("User ")
	user := s.quoted()
	s.word(" cannot ")
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
	return denial{text: refusal[:len(refusal)-len(s.rest)], user: user, verb: verb}, s.ok && ends
}

// denialIn returns the first denial in the tree of err.
func denialIn(err error) (d denial, ok bool) {
	walk(err, func(node error) bool {
		d, ok = denialOf(node)
		return ok
	})
	return d, ok
}

// denialOf returns the denial that err itself holds, not what it wraps.
func denialOf(err error) (denial, bool) {
	if status, ok := err.(apierrors.APIStatus); ok {
		refusal, _ := forbiddenText(status.Status())
		return parseDenial(refusal)
	}
	if len(unwrap(err)) > 0 {
		return denial{}, false
	}
	return flattenedDenial(err.Error())
}

// flattenedDenial finds the sentence in the text of an error that lost its type.
func flattenedDenial(text string) (denial, bool) {
	const start = "forbidden: "
	i := strings.Index(text, start+"User ")
	if i < 0 {
		return denial{}, false
	}
	return parseDenial(text[i+len(start):])
}

func (d denial) class() Class {
	if d.user == anonymousUser {
		return ClassAnonymous
	}
	return ClassAuthorization
}

// ofWrite reports whether what was denied is a change. Impersonation is denied with a verb of its own, for a read too.
func (d denial) ofWrite() bool {
	verb := d.verb[strings.LastIndexByte(d.verb, ':')+1:] // impersonate-on:user-info:patch
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
