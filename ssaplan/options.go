package ssaplan

import (
	"context"
	"log/slog"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/fieldowner"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/internal/passwords"
	"github.com/ssaplan/primitives/ssaplan/internal/wire"
	"github.com/ssaplan/primitives/ssaplan/server"
)

// Options are the options of a Planner. Only FieldManager is required.
type Options struct {
	// FieldManager is the name under which the server records the fields that are applied. Required.
	// [fieldowner.BeforeFirstApply] is refused.
	FieldManager string
	// RefuseConflicts plans without force: if another manager owns a field with another value, the plan is a Conflict.
	// Default: such fields are taken over, and the plan names their owners.
	RefuseConflicts bool
	// DefaultNamespace is the namespace for manifests of namespaced kinds without a namespace. Default: "default".
	DefaultNamespace string
	// RequireNamespace makes a missing namespace an error, which names the field. DefaultNamespace has no effect then.
	RequireNamespace bool
	// Concurrency is how many objects PlanAll plans at a time. Default: 8.
	Concurrency int
	// AllowVersionChange permits the manifest to have another version of the API group than the state. The object is
	// the same if the server shows the same UID under both versions. To compare the UIDs, the Planner reads the object
	// even if [Request].Live is set. Default: a change of the version is a replacement, like every change of identity.
	// The plan says whether the object could be updated in place.
	AllowVersionChange bool
	// Tools are recognised in addition to [fieldowner.Tools].
	Tools []fieldowner.Tool
	// NoOps caches plans without changes. Default: nothing is cached.
	NoOps *NoOpCache
	// Observe is called for each request, in the goroutine that sent it, such as for a progress bar, traces or metrics.
	// Default: nothing is called.
	Observe func(context.Context, server.Observation)
	// ThrottleRetries is how often a throttled request (status 429) is sent again, after the time that the server asks
	// for. Each retry counts as a request. After a retry, the Planner sends fewer requests at the same time. Default:
	// 10. Negative: never; a throttled request is then an error.
	ThrottleRetries int
	// Sensitive are more fields whose values are redacted, in addition to those of Secrets. In an object that has one,
	// annotations and free texts are redacted, too. For keys of list items see [projection.Patterns.RedactedPath].
	Sensitive projection.Patterns
	// SkipFormats makes the Planner ignore the formats in schemas. Default: a field of a custom resource is sensitive
	// if the schema gives it the format password. The Planner reads the CRD of the first kind that it meets in a group
	// and version. For later kinds of this group and version, and for kinds without a CRD, it reads the OpenAPI
	// document of the group and version, if the server is a [server.SchemaReader]. Both are read at most once a minute.
	// If the schema of a kind isn't known, because the kind isn't served or its schema can't be read, all values of its
	// objects are redacted, and the plan has a warning; see ShowValuesOf and [Planner.LearnDefinitions].
	SkipFormats bool
	// ShowValuesOf are kinds whose values are printed even if their sensitive fields aren't known.
	ShowValuesOf []schema.GroupKind
	// ShowValuesOption is the name of the option ShowValuesOf in your tool, such as a flag. The warning about redacted
	// values contains this name. Default: "ShowValuesOf".
	ShowValuesOption string
	// ShowServerText prints messages of servers about objects with sensitive values, which may quote these values.
	ShowServerText bool
	// Logger logs each request at level debug. Default: nothing is logged.
	Logger *slog.Logger
	// Credential describes the credentials of the client. Default: the credentials that a [server.Credentialed]
	// returns, such as the client of package client. For other clients, nothing is known about the credentials.
	Credential authresilience.Credential
	// SendExpired makes Plan, Read, PlanDelete and Delete send requests with credentials that have certainly expired.
	// Default: these requests aren't sent. Read then returns the same result as for the status 401. Plan, PlanDelete
	// and Delete then fail with an [authresilience.ExpiredError]. Apply and Replace always send their requests.
	SendExpired bool
}

// wire returns the options for requests.
func (o Options) wire() wire.Options {
	return wire.Options{Logger: o.Logger, ThrottleRetries: o.ThrottleRetries, Observe: o.Observe}
}

// passwords returns the options for fields with the format password.
func (o Options) passwords() passwords.Options {
	return passwords.Options{Skip: o.SkipFormats, ShowValuesOf: o.ShowValuesOf}
}
