package authresilience_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/authresilience/restconfig"
)

func ExampleClassify() {
	configMaps := schema.GroupResource{Resource: "configmaps"}
	for _, err := range []error{
		fmt.Errorf("failed to get resource info for v1/ConfigMap: %w", apierrors.NewUnauthorized("Unauthorized")),
		apierrors.NewForbidden(configMaps, "web", errors.New(`User "alice" cannot get resource "configmaps" in API group "" in the namespace "default"`)),
		apierrors.NewForbidden(configMaps, "web", errors.New(`exceeded quota: small, requested: configmaps=1, used: configmaps=9, limited: configmaps=9`)),
		apierrors.NewNotFound(configMaps, "web"),
	} {
		class := authresilience.Classify(err)
		fmt.Println(class, class.Degradable())
	}
	// Output:
	// Authentication true
	// Authorization true
	// Quota false
	// NotFound false
}

// A RESTMapper says "no matches for kind" for a kind that isn't installed, and also when it could not read the kind's
// API group. What discovery said makes the difference.
func ExampleClassify_discovery() {
	noMatch := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "ex.io", Kind: "Widget"}, SearchedVersions: []string{"v1"}}
	failed := &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{
		{Group: "ex.io", Version: "v1"}: apierrors.NewServiceUnavailable("down"),
	}}
	fmt.Println(authresilience.Classify(noMatch))
	fmt.Println(authresilience.Classify(errors.Join(noMatch, failed)))
	// Output:
	// TypeNotServed
	// Unavailable
}

func ExampleClass_Describe() {
	d := authresilience.ClassPodSecurity.Describe()
	fmt.Println(d.Class)
	fmt.Println(d.Meaning)
	fmt.Println(d.Advice)
	// Output:
	// PodSecurity
	// the pod violates the pod security standard of its namespace
	// change the pod's security context, or the namespace's pod-security labels
}

func ExampleDegrade() {
	type state struct{ Replicas int }
	prior := state{Replicas: 3}
	read := authresilience.ReadAttempt{
		Object: "apps/v1/Deployment default/web",
		Time:   time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC),
	}

	kept, ok := authresilience.Degrade(prior, apierrors.NewUnauthorized("Unauthorized"), read)
	fmt.Println(ok, kept.Prior, kept.Stale)
	fmt.Println(kept.Warning.Summary())
	fmt.Println(kept.Warning.Detail())

	_, ok = authresilience.Degrade(prior, apierrors.NewServiceUnavailable("down"), read)
	fmt.Println(ok)
	// Output:
	// true {3} stale since 2026-08-01T12:00:00Z (Authentication)
	// apps/v1/Deployment default/web was not refreshed; its last known state is kept
	// The server doesn't accept the credentials. Renew the credentials, or check that they are meant for this server.
	// false
}

func ExampleDiagnose() {
	now := time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC)
	// The claims of this token are {"sub":"deployer","exp":1785574800}.
	config := &rest.Config{BearerToken: "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJkZXBsb3llciIsImV4cCI6MTc4NTU3NDgwMH0.c2VjcmV0"}

	diagnosis := authresilience.Diagnose(restconfig.Credential(config), now)
	fmt.Println(diagnosis)

	// A request that can only fail need not be sent.
	if err := diagnosis.Err(); err != nil {
		kept, _ := authresilience.Degrade("prior", err, authresilience.ReadAttempt{Object: "v1/ConfigMap default/web"})
		fmt.Println(kept.Warning.Next)
	}
	// Output:
	// the bearer token ("deployer") expired 3 h ago (2026-08-01T09:00:00Z)
	// renew the bearer token
}

func ExampleStale() {
	mark := authresilience.Stale{Reason: authresilience.ClassAuthentication, Time: time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC)}
	data, _ := json.Marshal(mark)
	fmt.Println(string(data))

	err := json.Unmarshal([]byte(`{"version":2}`), &mark)
	fmt.Println(err)
	// Output:
	// {"version":1,"reason":"Authentication","time":"2026-08-01T12:00:00Z"}
	// authresilience: stale mark of version 2, while this release knows none above 1: upgrade it
}

func ExampleRedact() {
	// What client-go makes of a proxy's error page, which here repeats the request's header.
	page := apierrors.NewGenericServerResponse(502, "GET", schema.GroupResource{}, "", "<html>Authorization: Bearer s3cret</html>", 0, true)
	err := authresilience.Redact(fmt.Errorf("reading: %w", page))
	fmt.Println(err)
	fmt.Println(authresilience.Classify(err))
	// Output:
	// the server, or an aggregated API server behind it, is starting, stopping or down (HTTP 502)
	// Unavailable
}
