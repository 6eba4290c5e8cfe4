package client

import (
	"context"

	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/ssaplan/client/internal/fieldscache"
	"github.com/ssaplan/primitives/ssaplan/client/internal/jsondoc"
	"github.com/ssaplan/primitives/ssaplan/internal/discovery"
	"github.com/ssaplan/primitives/ssaplan/internal/native"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// access is the client of one Planner, with its caches of kinds and of decoded managedFields.
type access struct {
	*discovery.Documents
	rest   rest.Interface
	fields fieldscache.Cache
}

var _ native.Access = (*access)(nil)

func init() { native.Register(open) }

// open returns the access for a Planner. It returns nil if api isn't a Client.
func open(api server.Server, send native.Send) native.Access {
	c, ok := api.(*Client)
	if !ok || c == nil {
		return nil
	}
	return &access{Documents: discovery.New(c.rest, send), rest: c.rest}
}

func (a *access) Objects(kind server.Kind, namespace string) native.Objects {
	return newDirectObjects(a.rest, kind, namespace)
}

type fieldsKey struct{}

func (a *access) ShareRecords(ctx context.Context) context.Context {
	return context.WithValue(ctx, fieldsKey{}, &a.fields)
}

func (a *access) Records() fieldowner.Records { return a.fields.Fields }

// sharedRecords returns the cache of managedFields that [access.ShareRecords] added to the context, or nil.
func sharedRecords(ctx context.Context) jsondoc.Records {
	if shared, _ := ctx.Value(fieldsKey{}).(*fieldscache.Cache); shared != nil {
		return shared.Decoded
	}
	return nil
}
