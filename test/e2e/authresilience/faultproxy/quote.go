package faultproxy

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"strings"

	"github.com/ssaplan/primitives/internal/leak"
)

// A Phase is when a request is sent.
type Phase string

// The phases in which answers can be spoiled. A question is whether the server gets dryRun, which comes before the
// first dry run: where that is spoiled, too, nothing is tried.
const (
	Reads     Phase = "read"
	Questions Phase = "question"
	DryRuns   Phase = "dry run"
	Writes    Phase = "write"
)

func (p Phase) has(r Request) bool {
	switch p {
	case Reads:
		return r.Method == http.MethodGet
	case Questions:
		return r.Question
	case DryRuns:
		return r.Method != http.MethodGet && !r.Write && !r.Question
	}
	return r.Write
}

// Quotes are the ways in which an answer can quote a foreign text, such as the message of a webhook. They leave out the
// uid and the resourceVersion: no webhook can set these, and the library shows them.
var Quotes = append(refusals(),
	quote("a page", func(said string) Fault {
		return texted(http.StatusBadGateway, "text/html", "<html><body>"+said+"</body></html>")
	}),
	quote("plain text", func(said string) Fault { return texted(http.StatusBadRequest, "text/plain", said) }),
	quote("JSON of another",
		func(said string) Fault { return sent(http.StatusInternalServerError, map[string]any{"error": said}) }),
	quote("200 foreign JSON", func(said string) Fault { return sent(http.StatusOK, map[string]any{"session": said}) }),
	quote("200 text", func(said string) Fault { return texted(http.StatusOK, "application/json", said) }),
	quote("200 of an unknown kind", func(said string) Fault {
		return sent(http.StatusOK,
			map[string]any{"apiVersion": said, "kind": said, "metadata": map[string]any{"name": said}})
	}),
	quote("200 a refusal", func(said string) Fault { return sent(http.StatusOK, leak.Refusals[0].Status(said)) }),
	quote("a broken object", func(said string) Fault {
		text, _ := json.Marshal(said)
		return texted(http.StatusOK, "application/json",
			`{"apiVersion": "v1", "kind": "Secret", "data": {"k": `+string(text))
	}),
	quote("a redirect", func(said string) Fault {
		return redirected("https://login.example.invalid/?session=" + url.QueryEscape(said))
	}),
	quote("a redirect to nowhere", func(said string) Fault { return redirected("%" + url.PathEscape(said)) }),
	quote("a wait", func(said string) Fault {
		return answering("", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", headerSafe(said))
			send(w, http.StatusForbidden, "application/json", leak.Refusals[0].Status(said))
		})
	}),
	quote("warnings", func(said string) Fault {
		return spoiling("", func(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
			maps.Copy(w.Header(), answer.Header())
			w.Header().Add("Warning", `299 - "`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(headerSafe(said))+`"`)
			w.Header().Add("Warning", "199 "+headerSafe(said))
			w.WriteHeader(answer.Code)
			_, _ = w.Write(answer.Body.Bytes())
		})
	}),
	quote("an annotation", func(said string) Fault {
		return answered(func(obj map[string]any) {
			metadata, _ := obj["metadata"].(map[string]any)
			metadata["annotations"] = map[string]any{"example.com/copy": said}
		})
	}),
	quote("another name", identified("name")), quote("another namespace", identified("namespace")),
)

// A Quote is a way to quote.
type Quote struct {
	Name  string
	fault func(said string) Fault
}

func quote(name string, fault func(string) Fault) Quote { return Quote{name, fault} }

func refusals() (all []Quote) {
	for _, r := range leak.Refusals {
		all = append(all, quote(r.Name, func(said string) Fault {
			status := r.Status(said)
			return sent(int(status.Code), status)
		}))
	}
	return all
}

// headerSafe replaces the line breaks in a text, because a header cannot have any.
func headerSafe(text string) string { return strings.NewReplacer("\r", " ", "\n", " ").Replace(text) }

func sent(code int, body any) Fault {
	return answering("", func(w http.ResponseWriter, _ *http.Request) { send(w, code, "application/json", body) })
}

func texted(code int, contentType, text string) Fault {
	return answering("", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text)
	})
}

func redirected(to string) Fault {
	return answering("", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	})
}

// answered changes the object that the server answers with. What isn't an object stays.
func answered(change func(map[string]any)) Fault {
	return spoiling("", func(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
		maps.Copy(w.Header(), answer.Header())
		w.Header().Del("Content-Length")
		var obj map[string]any
		body := answer.Body.Bytes()
		if err := json.Unmarshal(body, &obj); err == nil && obj["kind"] != "Status" {
			change(obj)
			body, _ = json.Marshal(obj)
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body)
	})
}

func identified(field string) func(said string) Fault {
	return func(said string) Fault {
		return answered(func(obj map[string]any) {
			metadata, _ := obj["metadata"].(map[string]any)
			metadata[field] = said
		})
	}
}

// InjectQuotes spoils the requests of a phase from now on: each answer quotes the value of the object. The objects are
// named after cases of package leak, and the Answer of a case is an index into [Quotes]. If reads are spoiled, the
// answer of the first case also rejects lists of Secrets, so that each object is read. It resets Requests.
func (p *Proxy) InjectQuotes(phase Phase) {
	p.inject(Fault{"quotes", func(w http.ResponseWriter, r *http.Request, upstream http.Handler) {
		r.Header.Del("Accept-Encoding") // what is changed on the way has to be readable
		c, one := leak.CaseOf(path.Base(r.URL.Path))
		if !one {
			c = leak.Cases(len(Quotes), false)[0]
		}
		Quotes[c.Answer].fault(c.Said()).spoil(w, r, upstream)
	}}, func(_, _ int, r Request) bool {
		target, err := url.ParseRequestURI(r.URI)
		if err != nil {
			return false
		}
		_, ok := leak.CaseOf(path.Base(target.Path))
		isList := phase == Reads && path.Base(target.Path) == "secrets"
		return (ok || isList) && phase.has(r)
	})
}
