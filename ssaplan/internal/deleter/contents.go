package deleter

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/identity"
	facts "github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/internal/ordered"
	"github.com/ssaplan/primitives/ssaplan/internal/warnings"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	"github.com/ssaplan/primitives/ssaplan/server"
)

const (
	// maxKinds is how many kinds are counted in a namespace. Each takes a request.
	maxKinds = 400
	// countConcurrency is how many kinds are counted at a time.
	countConcurrency = 8
)

// contents counts the objects that the server deletes along with a namespace or a CRD. It returns nil for other kinds.
func (d *Deleter) contents(ctx context.Context, live *unstructured.Unstructured) *deletion.Contents {
	switch {
	case facts.IsNamespace(live.Object):
		return d.inNamespace(ctx, live.GetName())
	case facts.IsDefinition(live.Object):
		return d.ofDefinition(ctx, live)
	}
	return nil
}

// inNamespace counts the objects in a namespace. Events are left out.
func (d *Deleter) inNamespace(ctx context.Context, namespace string) *deletion.Contents {
	contents := &deletion.Contents{}
	served, err := d.Server.Deletable(ctx)
	if !d.Server.Lists() {
		err = wire.ErrNoLister
	}
	if err != nil {
		contents.Uncounted = append(contents.Uncounted,
			deletion.Uncounted{What: "all kinds", Reason: d.redacted(err).Error()})
		return contents
	}
	for _, gv := range served.Stale {
		contents.Uncounted = append(contents.Uncounted, deletion.Uncounted{
			What: "kinds of " + gv.String(), Reason: "the server of this API group doesn't answer"})
	}
	var kinds []server.Kind
	for _, kind := range served.Kinds {
		if kind.Namespaced && !facts.IsEvent(kind.GroupKind().String()) {
			kinds = append(kinds, kind)
		}
	}
	if more := len(kinds) - maxKinds; more > 0 {
		contents.Uncounted = append(contents.Uncounted, deletion.Uncounted{
			What: fmt.Sprintf("%d kinds", more), Reason: fmt.Sprintf("no more than %d are counted", maxKinds)})
		kinds = kinds[:maxKinds]
	}
	d.count(ctx, contents, kinds, namespace)
	return contents
}

// ofDefinition counts the objects of a definition, in all namespaces.
func (d *Deleter) ofDefinition(ctx context.Context, definition *unstructured.Unstructured) *deletion.Contents {
	contents := &deletion.Contents{}
	kind := wire.Defined(facts.DefinitionOf(definition.Object))
	if kind.Version == "" {
		contents.Uncounted = append(contents.Uncounted, deletion.Uncounted{
			What: kind.GroupKind().String(), Reason: "the CRD serves no version"})
		return contents
	}
	d.count(ctx, contents, []server.Kind{kind}, "")
	return contents
}

// counted is the answer for a kind.
type counted struct {
	n, requests int
	more        bool
	err         error
}

// count counts the objects of the kinds in a namespace, or in all of them.
func (d *Deleter) count(ctx context.Context, contents *deletion.Contents, kinds []server.Kind, namespace string) {
	ask := func(ctx context.Context, i int) (c counted) {
		object := identity.Identity{APIVersion: kinds[i].GroupVersion().String(), Kind: kinds[i].Kind,
			Namespace: namespace}
		resource := d.Server.Resource(kinds[i], object)
		c.n, c.more, c.err = resource.Count(ctx)
		c.requests = resource.Requests()
		return c
	}
	ctx, _ = warnings.Collect(ctx) // that a version is deprecated doesn't concern the delete
	for i, c := range ordered.Map(ctx, len(kinds), countConcurrency, ask) {
		d.counting += c.requests
		switch {
		case errors.Is(c.err, wire.ErrNoLister):
			contents.Uncounted = append(contents.Uncounted, deletion.Uncounted{
				What: kinds[i].GroupKind().String(), Reason: c.err.Error()})
		case c.err != nil:
			contents.Uncounted = append(contents.Uncounted, deletion.Uncounted{
				What: kinds[i].GroupKind().String(), Reason: authresilience.Classify(c.err).Describe().Meaning})
		case c.n > 0:
			contents.Counts = append(contents.Counts, deletion.Count{
				Kind: kinds[i].Kind, Group: kinds[i].Group, Objects: c.n, OrMore: c.more})
		}
	}
}
