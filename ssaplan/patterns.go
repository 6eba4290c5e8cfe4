package ssaplan

// This file warns about patterns of the request that have no effect.

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan/explain"
)

// notGivenUp returns warnings about fields that can't be given up, since they are in an atomic list or map. It also
// warns about fields that the manager never owned. For these it needs a prior state, which shows whether the fields
// were given up before.
func (g *goal) notGivenUp(live *unstructured.Unstructured, outgoing explain.Outgoing) (out []foreign.Text) {
	owners, _ := fieldowner.Read(content(live)) // an earlier step has returned an error, if any
	before, _ := fieldowner.Read(content(cmp.Or(g.request.was, live)))
	own, prior := before.Fields(g.applier().Is), g.request.Prior
	if prior != nil {
		own = own.Union(prior.Applied.Fields)
	}
	manifest := g.request.Manifest.Object
	for _, pattern := range g.request.GiveUp {
		given := projection.Patterns{pattern}.Named(manifest, owners.Fields(nil))
		isLive := func(f explain.IgnoredField) bool { return f.Handling == explain.HandlingLive && given.Match(f.Path) }
		if slices.ContainsFunc(outgoing.Fields, isLive) {
			out = append(out, foreign.Textf(
				"%s: can't be given up, since it is a part of a list or map that has one owner as a whole: "+
					"it is sent with the value that the object has", pattern))
		}
		_, ours := given.Split(own)
		isDeclared := len(given.Find(manifest, owners.Fields(nil))) > 0
		isThere := len(given.Find(content(live), owners.Fields(nil))) > 0
		if prior != nil && ours.Empty() && isThere && !isDeclared && !prior.HasIgnored(pattern) {
			out = append(out, foreign.Textf("%s: has nothing to give up, since only other managers own it", pattern))
		}
	}
	return out
}

// notCleared returns warnings about patterns of fields to clear that match nothing, such as a misspelt one. It doesn't
// warn about a pattern in the prior state: an earlier apply may have cleared the fields.
func (g *goal) notCleared(live *unstructured.Unstructured) (out []foreign.Text) {
	if live == nil {
		return nil
	}
	owners, _ := fieldowner.Read(live.Object) // an earlier step has returned an error, if any
	names, manifest := owners.Fields(nil), g.request.Manifest.Object
	for _, pattern := range g.request.Clear {
		named := projection.Patterns{pattern}.Named(manifest, names)
		isThere := len(named.Find(live.Object, names))+len(named.Find(manifest, names)) > 0
		if prior := g.request.Prior; !isThere && (prior == nil || !prior.HasCleared(pattern)) {
			out = append(out, foreign.Textf(
				"%s: matches no field to clear; correct the path, or remove it if the field is already cleared",
				pattern))
		}
	}
	return out
}
