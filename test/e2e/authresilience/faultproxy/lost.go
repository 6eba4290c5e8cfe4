package faultproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Losses returns faults that come after the server has done what it was asked for: its answer is lost, or another one
// is in its place.
func Losses() []Fault {
	var all []Fault
	for _, code := range codes {
		all = append(all, After(Page(code)), After(Empty(code)))
	}
	for _, code := range []int{500, 502, 503, 504} { // with others a server says that it did nothing
		all = append(all, After(Status(code)))
	}
	all = append(all, After(Reset()), After(Stall()), After(Redirect()), After(ForeignJSON()), After(Nothing()),
		Twice(), Thrice())
	return append(all, Truncated(), LeaderChange(), ContentType(), WithoutVersion(), WithoutUID(), OtherUID(),
		OtherName())
}

// After lets the server do what it is asked for, and then answers as the fault does.
func After(fault Fault) Fault {
	return Fault{"done, then " + fault.Name, func(w http.ResponseWriter, r *http.Request, upstream http.Handler) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		upstream.ServeHTTP(httptest.NewRecorder(), r)
		r.Body = io.NopCloser(bytes.NewReader(nil))
		fault.spoil(w, r, upstream)
	}}
}

// Late answers as the fault does, without asking the server, which gets the request all the same: right before the
// first later request for which isDue returns true, such as a second look at what became of the first request.
func (p *Proxy) Late(fault Fault, isDue func() bool) Fault {
	return Fault{fault.Name + ", then done late", func(w http.ResponseWriter, r *http.Request, upstream http.Handler) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(nil))
		late := r.Clone(context.WithoutCancel(r.Context()))
		late.Body = io.NopCloser(bytes.NewReader(body))
		p.hold(isDue, func() { upstream.ServeHTTP(httptest.NewRecorder(), late) })
		fault.spoil(w, r, upstream)
	}}
}

// Halting reads the request, calls halt, such as the client's cancel, and waits until the client has given up. The
// server isn't asked.
func Halting(halt func()) Fault {
	return answering("halt", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		halt()
		<-r.Context().Done()
	})
}

// HaltingHalfway answers with half of the server's answer, calls halt, and waits until the client has given up.
func HaltingHalfway(halt func()) Fault {
	return Fault{"half an answer, then halt", func(w http.ResponseWriter, r *http.Request, upstream http.Handler) {
		answer := httptest.NewRecorder()
		upstream.ServeHTTP(answer, r)
		body := answer.Body.Bytes()
		maps.Copy(w.Header(), answer.Header())
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body[:len(body)/2])
		_ = http.NewResponseController(w).Flush()
		halt()
		<-r.Context().Done()
	}}
}

// Twice sends the request twice, and answers as the server does the second time.
func Twice() Fault { return again("sent twice", 1) }

// Thrice sends the request three times, and answers as the server does the last time.
func Thrice() Fault { return again("sent three times", 2) }

// again sends the request as many times more, and answers as the server does the last time.
func again(name string, times int) Fault {
	return Fault{name, func(w http.ResponseWriter, r *http.Request, upstream http.Handler) {
		body, _ := io.ReadAll(r.Body)
		for range times {
			r.Body = io.NopCloser(bytes.NewReader(body))
			upstream.ServeHTTP(httptest.NewRecorder(), r)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		upstream.ServeHTTP(w, r)
	}}
}

// WithoutVersion takes the resourceVersion out of the answer.
func WithoutVersion() Fault {
	return editing("no resourceVersion", func(metadata map[string]any) { delete(metadata, "resourceVersion") })
}

// WithoutUID takes the uid out of the answer.
func WithoutUID() Fault {
	return editing("no uid", func(metadata map[string]any) { delete(metadata, "uid") })
}

// NumericVersion makes the resourceVersion of the answer a number, which it never is.
func NumericVersion() Fault {
	return editing("a number as resourceVersion", func(metadata map[string]any) { metadata["resourceVersion"] = 5 })
}

// OtherUID puts another uid into the answer.
func OtherUID() Fault {
	return editing("another uid",
		func(metadata map[string]any) { metadata["uid"] = "00000000-0000-0000-0000-000000000000" })
}

// OtherName answers with an object of another name.
func OtherName() Fault {
	return editing("another name", func(metadata map[string]any) { metadata["name"] = "another" })
}

// OtherNamespace answers with an object of another namespace.
func OtherNamespace() Fault {
	return editing("another namespace", func(metadata map[string]any) { metadata["namespace"] = "another" })
}

// OldVersion answers with a version from long ago.
func OldVersion() Fault {
	return editing("an old resourceVersion", func(metadata map[string]any) { metadata["resourceVersion"] = "2" })
}

// editing changes the metadata of the object that the server answers with, and of a list those of its items.
func editing(name string, edit func(metadata map[string]any)) Fault {
	return spoiling(name, func(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
		body := answer.Body.Bytes()
		var obj map[string]any
		if json.Unmarshal(body, &obj) == nil {
			items, isList := obj["items"].([]any)
			if !isList {
				items = []any{obj}
			}
			for _, item := range items {
				content, _ := item.(map[string]any)
				if metadata, ok := content["metadata"].(map[string]any); ok && content["kind"] != "Status" {
					edit(metadata)
				}
			}
			body, _ = json.Marshal(obj)
		}
		maps.Copy(w.Header(), answer.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body)
	})
}

// WithoutDryRun has the server do what it was only to try.
func WithoutDryRun() Fault { return withDryRun("dryRun dropped") }

// AsDryRun has the server try what it was to do, and answers as if it had been done.
func AsDryRun() Fault { return withDryRun("made a dry run", metav1.DryRunAll) }

// withDryRun sends the request with another dryRun, which that of a delete has in its body.
func withDryRun(name string, dryRun ...string) Fault {
	return Fault{name, func(w http.ResponseWriter, r *http.Request, upstream http.Handler) {
		query := r.URL.Query()
		query["dryRun"] = dryRun
		r.URL.RawQuery = query.Encode()
		var options map[string]any
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodDelete && json.Unmarshal(body, &options) == nil {
			options["dryRun"] = dryRun
			body, _ = json.Marshal(options)
		}
		replaceBody(r, body)
		upstream.ServeHTTP(w, r)
	}}
}

// WithoutBody drops the bodies of deletes, as proxies do to which they mean nothing: with them go dryRun and the
// preconditions.
func WithoutBody() Fault {
	return Fault{"body dropped", func(w http.ResponseWriter, r *http.Request, upstream http.Handler) {
		if r.Method == http.MethodDelete {
			replaceBody(r, nil)
		}
		upstream.ServeHTTP(w, r)
	}}
}

// replaceBody gives a request another body.
func replaceBody(r *http.Request, body []byte) {
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.Header.Del("Content-Length")
}

// Recorded returns a fault that answers with what the server answers to a request now, whatever is asked for then.
func (p *Proxy) Recorded(path string) Fault {
	answer := httptest.NewRecorder()
	p.upstream.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
	return answering("an old answer", func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), answer.Header())
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}
