package set

import (
	"context"
	"iter"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/redact"
)

// Planner plans and applies the objects of a set. It is a [ssaplan.Planner], or a wrapper of one, such as the Planner
// of module otelssaplan.
type Planner interface {
	Plan(context.Context, ssaplan.Request) (*ssaplan.Plan, error)
	PlanAll(context.Context, []ssaplan.Request) iter.Seq2[*ssaplan.Plan, error]
	Apply(context.Context, *ssaplan.Plan) (*unstructured.Unstructured, error)
	Replace(context.Context, *ssaplan.Plan, deletion.Options) (*unstructured.Unstructured, error)
	Read(context.Context, *explain.State) (*ssaplan.Reading, error)
	Resolve(context.Context, identity.Identity) (identity.Identity, error)
	Known(context.Context, ssaplan.Deferral) ([]string, error)
	Redactor(...*unstructured.Unstructured) redact.Redactor
	LearnDefinitions(...*unstructured.Unstructured)
}

var _ Planner = (*ssaplan.Planner)(nil)
