package faultproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// codes are the HTTP codes that [Faults] has in three forms each.
var codes = []int{401, 403, 404, 409, 429, 500, 502, 503, 504}

// Faults returns all faults: each code as a Status, as a page in HTML and without a body, and everything else that
// happens to an answer on its way.
func Faults() []Fault {
	var all []Fault
	for _, code := range codes {
		all = append(all, Status(code), Page(code), Empty(code))
	}
	return append(all, Reset(), Truncated(), LeaderChange(), Stall(), ContentType(), Redirect(), ForeignJSON(),
		Nothing())
}

// Status answers with a Status such as a server sends with this code.
func Status(code int) Fault {
	return answering(named(code, "Status"), func(w http.ResponseWriter, r *http.Request) {
		status := statusOf(code, r)
		status.APIVersion, status.Kind = "v1", "Status"
		send(w, code, "application/json", status)
	})
}

// Wordless answers with a Status that has no message, as no API server does. It is none of [Faults].
func Wordless(code int) Fault {
	return answering(named(code, "Status without a message"), func(w http.ResponseWriter, r *http.Request) {
		status := statusOf(code, r)
		status.APIVersion, status.Kind, status.Message = "v1", "Status", ""
		send(w, code, "application/json", status)
	})
}

// Speechless answers with a Status that says nothing but that it is a failure. It is none of [Faults].
func Speechless() Fault {
	return answering("an empty Status", func(w http.ResponseWriter, _ *http.Request) {
		send(w, http.StatusForbidden, "application/json", metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		})
	})
}

// statusOf returns what an API server says with a code, about a ConfigMap named x where it names an object.
func statusOf(code int, r *http.Request) metav1.Status {
	resource := schema.GroupResource{Resource: "configmaps"}
	verb := map[string]string{"GET": "get", "PATCH": "patch", "POST": "create", "PUT": "update",
		"DELETE": "delete"}[r.Method]
	denial := fmt.Sprintf(`User "alice" cannot %s resource "configmaps" in API group "" in the namespace "default"`,
		verb)
	var err *apierrors.StatusError
	switch code {
	case http.StatusUnauthorized:
		err = apierrors.NewUnauthorized("Unauthorized")
	case http.StatusForbidden:
		err = apierrors.NewForbidden(resource, "x", errors.New(denial))
	case http.StatusNotFound:
		err = apierrors.NewNotFound(resource, "x")
	case http.StatusConflict:
		err = apierrors.NewConflict(resource, "x",
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	case http.StatusTooManyRequests:
		err = apierrors.NewTooManyRequestsError("slow down")
	case http.StatusInternalServerError:
		err = apierrors.NewInternalError(errors.New("something broke"))
	case http.StatusServiceUnavailable:
		err = apierrors.NewServiceUnavailable("apiserver is shutting down")
	case http.StatusGatewayTimeout:
		err = apierrors.NewTimeoutError("request did not complete within requested timeout - context deadline exceeded",
			0)
	default:
		err = &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: int32(code),
			Message: http.StatusText(code)}}
	}
	return err.ErrStatus
}

// Page answers with a page in HTML that repeats the request's headers, as the error pages of some proxies do.
func Page(code int) Fault {
	return answering(named(code, "HTML"), func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, "<html><body>%s<pre>%v</pre></body></html>", http.StatusText(code), r.Header)
	})
}

// Empty answers without a body.
func Empty(code int) Fault {
	return answering(named(code, "empty"), func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		w.WriteHeader(code)
	})
}

// Reset breaks the connection without an answer, and without asking the server. Of HTTP/2 it resets the stream.
func Reset() Fault {
	return answering("reset", func(w http.ResponseWriter, _ *http.Request) {
		conn, ok := hijack(w).(*net.TCPConn)
		if !ok {
			panic(http.ErrAbortHandler)
		}
		_ = conn.SetLinger(0)
		_ = conn.Close()
	})
}

// Truncated breaks the connection in the middle of the server's answer.
func Truncated() Fault {
	return spoiling("truncated body", func(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
		body := answer.Body.Bytes()
		maps.Copy(w.Header(), answer.Header())
		w.Header().Del("Content-Encoding")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body[:len(body)/2])
	})
}

// LeaderChange says what a server says whose etcd got another leader, after the server has done what was asked: the old
// leader may have written before it went.
func LeaderChange() Fault {
	return spoiling("leader change", func(w http.ResponseWriter, _ *httptest.ResponseRecorder) {
		send(w, http.StatusInternalServerError, "application/json", metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure, Code: http.StatusInternalServerError, Message: "etcdserver: leader changed",
		})
	})
}

// Stall doesn't answer before the client gives up, and doesn't ask the server.
func Stall() Fault {
	return answering("stall", func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // net/http notices that the client is gone only once the request is read
		<-r.Context().Done()
	})
}

// ContentType answers with the server's answer, but calls it text.
func ContentType() Fault {
	return spoiling("wrong content type", func(w http.ResponseWriter, answer *httptest.ResponseRecorder) {
		maps.Copy(w.Header(), answer.Header())
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

// Redirect sends the client to a login page.
func Redirect() Fault {
	return answering("redirect to a login page", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, loginPath, http.StatusFound)
	})
}

const loginPath = "/login"

func serveLogin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, "<html><form>Please log in</form></html>")
}

// SuccessfulStatus answers with a Status that says failure, but with HTTP code 200. The dynamic client takes it for
// the object, without an error. It is none of [Faults].
func SuccessfulStatus() Fault {
	return answering("200 Status", func(w http.ResponseWriter, r *http.Request) {
		status := statusOf(http.StatusForbidden, r)
		status.APIVersion, status.Kind = "v1", "Status"
		send(w, http.StatusOK, "application/json", status)
	})
}

// ForeignJSON answers with JSON that is no object of Kubernetes and repeats the token.
func ForeignJSON() Fault {
	return answering("200 foreign JSON", func(w http.ResponseWriter, r *http.Request) {
		send(w, http.StatusOK, "application/json", map[string]string{"session": r.Header.Get("Authorization")})
	})
}

// Nothing answers with success and without a body.
func Nothing() Fault {
	return answering("200 empty", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
	})
}

func send(w http.ResponseWriter, code int, contentType string, body any) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}

// hijack takes the connection away from the server, or returns nil if it isn't one that can be taken.
func hijack(w http.ResponseWriter) net.Conn {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return nil
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		return nil
	}
	return conn
}
