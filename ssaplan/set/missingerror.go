package set

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/kinds"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
)

// MissingError says that neither the server nor the set has the kind or the namespace of an object. Usually that is a
// typo.
type MissingError struct {
	Object identity.Identity
	// Deferral says what is missing.
	Deferral ssaplan.Deferral
	// Near are the kinds, with their apiVersion, or the namespaces that may be meant, the nearest first.
	Near []string
}

func (e *MissingError) Error() string {
	what := fmt.Sprintf("a kind %s in %s", foreign.Text(e.Object.Kind), foreign.Text(e.Object.APIVersion))
	if e.Deferral == ssaplan.DeferralNamespaceNotFound {
		what = fmt.Sprintf("a namespace %q", foreign.Text(e.Object.Namespace))
	}
	text := fmt.Sprintf("%s: neither the server nor the set has %s", e.Object, what)
	if len(e.Near) > 0 {
		text += fmt.Sprintf("; did you mean %s?", foreign.Text(strings.Join(e.Near, ", ")))
	}
	return text
}

// IsFinal reports whether waiting is of no use, because a built-in kind is missing: only another version of Kubernetes
// may have it.
func (e *MissingError) IsFinal() bool {
	return e.Deferral == ssaplan.DeferralTypeNotServed &&
		kinds.IsBuiltin(map[string]any{"apiVersion": e.Object.APIVersion})
}

// Missing returns the [MissingError] for a Deferred plan whose kind or namespace the server lacks; nil for any other
// plan.
func Missing(ctx context.Context, planner Planner, plan *ssaplan.Plan) *MissingError {
	if !lacksPlace(plan) {
		return nil
	}
	known, _ := planner.Known(ctx, plan.Deferral) // without permission to read the names, there are none
	return missingOf(plan.Object, plan.Deferral, known)
}

// lacksPlace reports whether the server lacks the kind or the namespace of an object.
func lacksPlace(plan *ssaplan.Plan) bool {
	return plan.Deferral == ssaplan.DeferralTypeNotServed || plan.Deferral == ssaplan.DeferralNamespaceNotFound
}

func missingOf(id identity.Identity, deferral ssaplan.Deferral, known []string) *MissingError {
	wanted := id.APIVersion + " " + id.Kind
	if deferral == ssaplan.DeferralNamespaceNotFound {
		wanted = id.Namespace
	}
	return &MissingError{Object: id, Deferral: deferral, Near: nearest(wanted, known)}
}

// missingError returns the error for an object whose kind or namespace is missing. It suggests names of the server and
// of the set.
func (s *Set) missingError(ctx context.Context, id identity.Identity, deferral ssaplan.Deferral) *MissingError {
	return missingOf(id, deferral, s.known(ctx, deferral))
}

// known returns the kinds, or the namespaces, that the server and the set have. The server is asked once.
func (s *Set) known(ctx context.Context, deferral ssaplan.Deferral) []string {
	if names, asked := s.names[deferral]; asked {
		return names
	}
	names, _ := s.planner.Known(ctx, deferral) // without permission to read them, only those of the set
	if deferral == ssaplan.DeferralNamespaceNotFound {
		names = append(names, s.contents.Namespaces()...)
	} else {
		names = append(names, s.contents.Kinds()...)
	}
	slices.Sort(names)
	s.names[deferral] = slices.Compact(names)
	return s.names[deferral]
}

// mostNear is how many similar names an error suggests.
const mostNear = 3

// nearest returns the names that are most similar to the wanted one, the nearest first. It omits names that differ in
// more than a third of their bytes.
func nearest(wanted string, names []string) []string {
	distances := map[string]int{}
	for _, name := range names {
		distances[name] = distance(strings.ToLower(wanted), strings.ToLower(name))
	}
	near := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return distances[name] > max(2, len(wanted)/3) || distances[name] >= max(len(wanted), len(name))
	})
	slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(distances[a], distances[b]) })
	return near[:min(len(near), mostNear)]
}

// distance returns how many bytes must be added, removed or changed to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
