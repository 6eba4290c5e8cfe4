package liveobject

import (
	"bytes"
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/ssaplan/internal/wire"
)

// beside sends a dry run, and reads the object at the same time. If others write an object all the time, a read before
// or after a dry run nearly always has another version. A read at the same moment mostly has the same one.
func (t *Target) beside(ctx context.Context, try func() (*unstructured.Unstructured, error)) (
	now, answer *unstructured.Unstructured, err error) {
	reader := *t
	reader.Resource = t.Beside() // t isn't for concurrent use
	var failed error
	read := make(chan struct{})
	besides, release := wire.HoldObservations(ctx)
	go func() {
		defer close(read)
		now, failed = reader.Live(besides)
	}()
	answer, err = try()
	<-read
	release()
	t.AddRequests(reader.Requests())
	if err == nil {
		err = failed
	}
	return now, answer, err
}

// Pair is a dry run of an apply, and a read of the object at the same time. The zero value has neither.
type Pair struct {
	Now, Answer *unstructured.Unstructured
	body        []byte
	force       bool
}

// IsExact reports whether both are of the same version.
func (p *Pair) IsExact() bool {
	return p.Now != nil && p.Answer != nil && p.Now.GetResourceVersion() == p.Answer.GetResourceVersion()
}

// Try is [Target.Try] with a read at the same time. If the pair already has the answer for this live object, body and
// force, it sends no request.
func (p *Pair) Try(ctx context.Context, target *Target, live *unstructured.Unstructured, body []byte,
	options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	force := options.Force != nil && *options.Force
	if p.IsExact() && p.Now == live && p.force == force && bytes.Equal(p.body, body) {
		return p.Answer, nil
	}
	now, answer, err := target.beside(ctx, func() (*unstructured.Unstructured, error) {
		return target.Try(ctx, live, body, options)
	})
	if *p = (Pair{now, answer, body, force}); err != nil {
		return nil, err
	}
	return answer, nil
}
