package set_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/ssaplan/primitives/authresilience"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/ssaplan/write"
	"github.com/ssaplan/primitives/test/lab"
)

// converter is a conversion webhook of Sites, whose spec.host in v1 is spec.address in v2. It also fills in
// spec.protocol, which v1 doesn't have.
type converter struct {
	address, ca string
	// fault spoils the answers, nil if nothing does.
	fault atomic.Pointer[converterFault]
}

// converterFault changes the response to a request, or breaks it off by a panic.
type converterFault func(request, response map[string]any)

func newConverter(t *testing.T) *converter {
	t.Helper()
	c := &converter{}
	c.address, c.ca = serve(t, c)
	return c
}

// ServeHTTP answers a ConversionReview.
func (c *converter) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	var review struct{ Request map[string]any }
	_ = json.NewDecoder(in.Body).Decode(&review)
	version, _ := review.Request["desiredAPIVersion"].(string)
	objects, _ := review.Request["objects"].([]any)
	converted := []any{}
	for _, obj := range objects {
		converted = append(converted, siteIn(version, obj.(map[string]any)))
	}
	response := map[string]any{
		"uid": review.Request["uid"], "convertedObjects": converted, "result": map[string]any{"status": metav1.StatusSuccess},
	}
	if fault := c.fault.Load(); fault != nil {
		(*fault)(review.Request, response)
	}
	_ = json.NewEncoder(out).Encode(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response,
	})
}

// siteIn returns a Site in another version.
func siteIn(version string, obj map[string]any) map[string]any {
	obj["apiVersion"] = version
	spec, hasSpec := obj["spec"].(map[string]any)
	if !hasSpec {
		return obj
	}
	from, to := "address", "host"
	if strings.HasSuffix(version, "/v2") {
		from, to = to, from
		spec["protocol"] = "https"
	} else {
		delete(spec, "protocol")
	}
	if value, exists := spec[from]; exists {
		spec[to] = value
		delete(spec, from)
	}
	return obj
}

// spoil has the fault spoil each answer from now on, nil for none.
func (c *converter) spoil(fault converterFault) {
	if fault == nil {
		c.fault.Store(nil)
	} else {
		c.fault.Store(&fault)
	}
}

// definition is the definition of Sites in some versions.
func (c *converter) definition(versions ...string) string {
	var list []string
	for _, version := range versions {
		fields := "host: {type: string}"
		if version == "v2" {
			fields = "address: {type: string}, protocol: {type: string}"
		}
		list = append(list, fmt.Sprintf(`{name: %s, served: true, storage: %t, schema: {openAPIV3Schema: {type: object,
			properties: {spec: {type: object, properties: {size: {type: integer}, %s}}}}}}`, version, version == "v1", fields))
	}
	conversion := fmt.Sprintf(`{strategy: Webhook, webhook: {conversionReviewVersions: [v1],
		clientConfig: {url: "https://%s/", caBundle: %s}}}`, c.address, c.ca)
	if len(versions) == 1 {
		conversion = "{strategy: None}"
	}
	return fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
		metadata: {name: sites.NAME.example.com}, spec: {group: NAME.example.com, scope: Namespaced,
		names: {plural: sites, singular: site, kind: Site, listKind: SiteList}, conversion: %s,
		versions: [%s]}}`, conversion, strings.Join(list, ", "))
}

// site is a Site in a version.
func site(version, spec string) string {
	const text = "\n---\n{apiVersion: NAME.example.com/%s, kind: Site, metadata: {name: one, namespace: NAME}, spec: {%s}}"
	return fmt.Sprintf(text, version, spec)
}

// siteOf returns the item of the Site in the plan of a set.
func siteOf(t *testing.T, s *set.Set) (found *set.Item) {
	t.Helper()
	for item := range s.Plan(t.Context()) {
		if item.Object.Kind == "Site" {
			found = item
		} else {
			require.NoError(t, item.Err)
		}
	}
	require.NotNil(t, found)
	return found
}

// liveSite returns the Site in v2.
func (c *cluster) liveSite(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	const text = "{apiVersion: %[1]s.example.com/v2, kind: Site, metadata: {name: one, namespace: %[1]s}}"
	return c.Get(t, lab.Objectf(t, text, c.name))
}

// asMade returns an object without what a dry run can't know: its version and generation, and when it was written.
func asMade(obj *unstructured.Unstructured) map[string]any {
	obj = obj.DeepCopy()
	for _, name := range []string{"resourceVersion", "generation"} {
		unstructured.RemoveNestedField(obj.Object, "metadata", name)
	}
	entries := obj.GetManagedFields()
	for i := range entries {
		entries[i].Time = nil
	}
	obj.SetManagedFields(entries)
	return obj.Object
}

// TestMoveThroughAConversionWebhook moves an object to a version that a webhook converts to. If the version is served
// already, the server is asked, and the object becomes just what the plan says. A version that the same set brings
// can't be asked for: the plan says that it doesn't know what the conversion makes of other fields.
func TestMoveThroughAConversionWebhook(t *testing.T) {
	for name, row := range map[string]struct {
		before, after string // the spec in v1, and in v2
		becomes       string
		change        string // in the plan if v2 is served, empty if there is none
		again         ssaplan.Action
	}{
		"nothing changes": {"host: a, size: 1", "address: a, size: 1", "address: a, size: 1", "", ssaplan.ActionNoOp},
		"a value changes": {
			"host: a, size: 1", "address: a, size: 2", "address: a, size: 2", "spec.size: 1 -> 2", ssaplan.ActionNoOp,
		},
		"the renamed changes": {
			"host: a, size: 1", "address: b, size: 1", "address: b, size: 1",
			`spec.address: "a" -> "b" (edited or changed by others)`, ssaplan.ActionNoOp,
		},
		"the renamed goes": {
			"host: a, size: 1", "size: 1", "size: 1", `spec.address: - "a" (side effect of the server)`, ssaplan.ActionNoOp,
		},
		// Each apply writes, as the server finds another value than the applied one.
		"v1 can't store it": {"host: a", "address: a, protocol: http", "address: a", "", ssaplan.ActionUpdate},
	} {
		for _, isServed := range []bool{true, false} {
			t.Run(fmt.Sprint(name, isServed), func(t *testing.T) {
				c, hook := newCluster(t), newConverter(t)
				c.planner = c.Planner(t, ssaplan.Options{FieldManager: manager, AllowVersionChange: true})
				versions := []string{"v1", "v2"}
				if !isServed {
					versions = versions[:1]
				}
				c.apply(t, c.set(t, set.Options{}, hook.definition(versions...)+site("v1", row.before)))
				s := c.set(t, set.Options{}, hook.definition("v1", "v2")+site("v2", row.after))
				item := siteOf(t, s)
				require.NoError(t, item.Err)
				warnings := fmt.Sprint(item.Plan.Warnings)
				if isServed {
					require.Equal(t, row.change, strings.Trim(fmt.Sprint(item.Plan.Changes), "[]"))
					isLost := strings.Contains(row.after, "protocol")
					require.Equal(t, isLost, strings.Contains(warnings, `stores another value: "https"`))
				} else {
					require.Equal(t, ssaplan.DeferralTypeNotServed, item.Plan.Deferral)
					require.Empty(t, item.Plan.Changes)
					require.Contains(t, warnings, "values of other fields are unknown until")
				}
				var made *set.Result
				for result := range s.Apply(t.Context()) {
					require.NoError(t, result.Err)
					made = result
				}
				live := c.liveSite(t)
				require.Equal(t, live, made.Made)
				require.Equal(t, asMade(made.Item.Plan.Result()), asMade(live))
				want := lab.Objectf(t, "{spec: {%s, protocol: https}}", row.becomes)
				require.Equal(t, want.Object["spec"], live.Object["spec"])
				require.Equal(t, []string{"0 CustomResourceDefinition NoOp", "6 Site " + string(row.again)}, c.plan(t, s))
			})
		}
	}
}

// TestConversionWebhookThatFails plans and applies while the webhook fails, in each way. No plan is made, and the
// object stays as it is.
func TestConversionWebhookThatFails(t *testing.T) {
	c, hook := newCluster(t), newConverter(t)
	c.planner = c.Planner(t, ssaplan.Options{FieldManager: manager, AllowVersionChange: true})
	c.apply(t, c.set(t, set.Options{}, hook.definition("v1", "v2")+site("v1", "host: a, size: 1")))
	s := c.set(t, set.Options{}, hook.definition("v1", "v2")+site("v2", "address: a, size: 2"))
	reviewed := siteOf(t, s)
	require.NoError(t, reviewed.Err)
	before := c.liveSite(t)
	for name, fault := range map[string]converterFault{
		"it breaks off": func(_, _ map[string]any) { panic(http.ErrAbortHandler) },
		"it refuses": func(_, response map[string]any) {
			response["result"] = map[string]any{"status": metav1.StatusFailure, "message": "not on a Friday"}
			delete(response, "convertedObjects")
		},
		"it refuses without a message": func(_, response map[string]any) { response["result"] = map[string]any{} },
		"it loses the objects":         func(_, response map[string]any) { response["convertedObjects"] = []any{} },
		"it keeps the version": func(request, response map[string]any) {
			for _, obj := range response["convertedObjects"].([]any) {
				obj.(map[string]any)["apiVersion"] = "other.example.com/v1"
			}
		},
		"it renames the object": func(_, response map[string]any) {
			for _, obj := range response["convertedObjects"].([]any) {
				obj.(map[string]any)["metadata"].(map[string]any)["name"] = "two"
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			hook.spoil(fault)
			defer hook.spoil(nil)
			again := c.set(t, set.Options{}, hook.definition("v1", "v2")+site("v2", "address: a, size: 2"))
			item := siteOf(t, again)
			require.ErrorContains(t, item.Err, "conver", "%v", item.Plan)
			assert.Equal(t, authresilience.ClassWebhookUnreachable, authresilience.Classify(item.Err), "%v", item.Err)
			assert.NotContains(t, item.Err.Error(), "\n")

			_, err := c.planner.Apply(t.Context(), reviewed.Plan)
			require.Error(t, err)
			hook.spoil(nil)
			require.Equal(t, before, c.liveSite(t))
			require.Equal(t, write.OutcomeUnknown, write.OutcomeOf(err), "a server asks it after a write as well: %v", err)
		})
	}
}

// TestConversionWebhookThatFailsAfterTheWrite has the server store an object and then fail to convert it for the
// answer: that is no refusal. A later look shows what happened, or it isn't known.
func TestConversionWebhookThatFailsAfterTheWrite(t *testing.T) {
	for name, row := range map[string]struct {
		times int // how often it fails
		want  write.Outcome
	}{
		"once":         {1, write.OutcomeDone},
		"and stays so": {100, write.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			c, hook := newCluster(t), newConverter(t)
			c.apply(t, c.set(t, set.Options{}, hook.definition("v1", "v2")+site("v2", "address: a, size: 1")))
			item := siteOf(t, c.set(t, set.Options{}, hook.definition("v1", "v2")+site("v2", "address: a, size: 2")))
			require.NoError(t, item.Err)
			plan := item.Plan
			failures := &atomic.Int64{}
			hook.spoil(func(request, _ map[string]any) {
				obj := request["objects"].([]any)[0].(map[string]any)
				isStored := strings.HasSuffix(request["desiredAPIVersion"].(string), "/v2")
				size, _, _ := unstructured.NestedFieldNoCopy(obj, "spec", "size")
				if isStored && fmt.Sprint(size) == "2" && int(failures.Add(1)) <= row.times {
					panic(http.ErrAbortHandler)
				}
			})
			_, err := c.planner.Apply(t.Context(), plan)
			hook.spoil(nil)
			require.Positive(t, failures.Load())
			size, _, _ := unstructured.NestedFieldNoCopy(c.liveSite(t).Object, "spec", "size")
			require.EqualValues(t, 2, size, "it is written")
			require.Equal(t, row.want, write.OutcomeOf(err), "%v", err)
		})
	}
}
