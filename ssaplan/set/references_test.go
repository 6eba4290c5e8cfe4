package set

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/identity"
)

// resolving counts how often an object is resolved.
type resolving struct {
	Planner
	n int
}

func (p *resolving) Resolve(ctx context.Context, id identity.Identity) (identity.Identity, error) {
	p.n++
	return p.Planner.Resolve(ctx, id)
}

func TestUses(t *testing.T) {
	planner, _ := newPlanner(t)
	const (
		pod  = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {priorityClassName: high, serviceAccountName: acc}}"
		high = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}}"
	)
	for name, row := range map[string]struct {
		texts    []string // what the first uses
		want     []int
		resolved bool
	}{
		"no manifest":          {[]string{"", pull}, nil, false},
		"in its namespace":     {[]string{account, pull}, []int{1}, true},
		"in another namespace": {[]string{account, "{apiVersion: v1, kind: Secret, metadata: {name: pull, namespace: other}}"}, nil, true},
		"in the default one":   {[]string{account, "{apiVersion: v1, kind: Secret, metadata: {name: pull}}"}, nil, true},
		"in none":              {[]string{pod, high}, []int{1}, true},
		"named with a namespace": {[]string{"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: a}, webhooks: [{clientConfig: {service: {name: a, namespace: shop}}}]}",
			"{apiVersion: v1, kind: Service, metadata: {name: a, namespace: shop}}", "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: other}}"}, []int{1}, true},
		"not in the set": {[]string{account, high}, nil, false},
		"nothing at all": {[]string{account}, nil, false},
	} {
		counted := &resolving{Planner: planner}
		s := newSet(t, counted, Options{}, row.texts...)
		require.Equal(t, row.want, s.uses(t.Context(), 0), name)
		require.Equal(t, row.resolved, counted.n > 0, name)
	}
}
