package ssaplan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// prepare returns the trial that sends the manifest to a new object. If the cache has a no-op for the manifest and the
// live object in seen, prepare also returns the plan. The trial of a cached no-op has no body. A copy of the body would
// take a tenth of the time that such a plan takes.
func (g *goal) prepare(ctx context.Context, seen observed) (t trial, noOp *Plan, err error) {
	e := fastjson.NewEncoder()
	defer e.Release()
	t = trial{goal: g, observed: seen}
	if t.prepared, err = g.encode(e); err != nil {
		return t, nil, fmt.Errorf("%s: %w", g.id, err)
	}
	t.manifest, t.patch.Options = &unstructured.Unstructured{Object: t.prepared.Manifest}, g.patchOptions
	if !t.isForLive() {
		noOp, t.asked = t.recall(ctx, e.Text())
	}
	if noOp == nil {
		t.patch.Body = bytes.Clone(e.Text())
	}
	return t, noOp, nil
}

// encode returns the manifest without the fields that are never sent, and leaves its JSON in the encoder. Most
// manifests can be sent without changes. Encoding detects this, so no second walk through the manifest is needed.
func (g *goal) encode(e *fastjson.Encoder) (prepared explain.Prepared, err error) {
	manifest, subresource := g.request.Manifest.Object, g.request.Subresource
	except := g.request.exceptions()
	if except.Empty() && projection.IsNormal(manifest) {
		prepared.Manifest = explain.Addressed(manifest, g.id.Namespace, subresource)
		if err = e.EncodePlain(prepared.Manifest); !errors.Is(err, fastjson.ErrNotPlain) {
			return prepared, err
		}
	}
	if prepared, err = explain.Prepare(manifest, subresource, except); err != nil {
		return prepared, err
	}
	prepared.Manifest = explain.Addressed(prepared.Manifest, g.id.Namespace, subresource)
	return prepared, e.Encode(prepared.Manifest)
}

// without returns the trial in which more fields are unknown, and so aren't sent.
func (t trial) without(ctx context.Context, more projection.Patterns) (trial, error) {
	request := t.request
	request.Unknown = slices.Concat(request.Unknown, more)
	out, _, err := t.with(request).prepare(ctx, t.of(t.live).observed)
	out.pair, out.asked = t.pair, t.asked
	return out, err
}
