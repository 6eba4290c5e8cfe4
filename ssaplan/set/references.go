package set

import (
	"context"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/kinds"
)

// uses returns the numbers of the objects of the set to which an object refers. Without these, it doesn't work.
func (s *Set) uses(ctx context.Context, i int) (numbers []int) {
	manifest := s.requests[i].Manifest
	if manifest == nil || len(s.contents.referred) == 0 {
		return nil
	}
	for _, reference := range kinds.References(groupKind(manifest).String(), manifest.Object) {
		namespace := reference.Namespace
		reference.Namespace = ""
		candidates := s.contents.referred[reference]
		if len(candidates) > 0 && namespace == "" {
			namespace = s.resolve(ctx, i).Namespace
		}
		numbers = append(numbers, s.in(ctx, namespace, candidates)...)
	}
	return numbers
}

// in returns the numbers of the objects that are in the namespace, or that have none.
func (s *Set) in(ctx context.Context, namespace string, numbers []int) (found []int) {
	for _, i := range numbers {
		if of := s.resolve(ctx, i).Namespace; of == namespace || of == "" {
			found = append(found, i)
		}
	}
	return found
}

// resolve names an object with its namespace, as far as the server knows its kind.
func (s *Set) resolve(ctx context.Context, i int) identity.Identity {
	id := s.objectOf(i)
	if resolved, err := s.planner.Resolve(ctx, id); err == nil {
		return resolved
	}
	return id
}
