package ssaplantest

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/server"
)

// handler handles the requests to a server.
type handler struct {
	cluster *cluster
	answers *answers
}

// handle returns the server's answer to a request. It is nil for a delete.
func (h handler) handle(ctx context.Context, m message) (obj *unstructured.Unstructured, err error) {
	err = h.do(ctx, m, func(c *call) (err error) {
		switch m.Verb {
		case "get":
			obj, err = c.read()
		case "create":
			obj, err = c.decoded(m.body, c.create)
		case "update", "patch":
			obj, err = c.change()
		case "delete":
			err = c.delete(m.deletion)
		}
		return err
	})
	return obj, err
}

// list returns a page of the objects that are selected.
func (h handler) list(
	ctx context.Context, m message, options metav1.ListOptions, selected func(*unstructured.Unstructured) bool,
) (list *unstructured.UnstructuredList, err error) {
	err = h.do(ctx, m, func(c *call) (err error) {
		list, err = c.list(options, selected)
		return err
	})
	return list, err
}

// do has the server work on a request, unless a test has set its answer. A request with invalid options is rejected
// before a test is asked for an answer.
func (h handler) do(ctx context.Context, m message, work func(*call) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	invalid := m.checkOptions()
	if invalid == nil {
		if err := h.answers.begin(m.Request); err != nil {
			return err
		}
	}
	warnings, err := h.locked(m, invalid, work)
	for _, text := range warnings {
		server.WarningHandler{}.HandleWarningHeaderWithContext(ctx, 299, "-", text)
	}
	return err
}

// locked does so while the cluster is locked, and returns the warnings, too.
func (h handler) locked(m message, invalid error, work func(*call) error) ([]string, error) {
	h.cluster.mu.Lock()
	defer h.cluster.mu.Unlock()
	call, err := h.cluster.start(m)
	if err == nil {
		err = call.checkPatchType()
	}
	if err == nil {
		err = invalid
	}
	if err != nil {
		return nil, err
	}
	err = status(work(call))
	return call.warnings, err
}

// status returns the error as a client gets it. Errors without a status get the code 500 and no reason, as a server
// gives to manifests that don't fit the schema.
func status(err error) error {
	if err == nil || errors.As(err, new(apierrors.APIStatus)) {
		return err
	}
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error(),
	}}
}
