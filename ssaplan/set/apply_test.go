package set

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/internal/clock"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/ssaplantest"
	"github.com/ssaplan/primitives/ssaplan/write"
)

const (
	conf      = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}, data: {a: %s}}"
	overQuota = "exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=1, limited: count/configmaps=1"
	quota     = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: shop}}"
)

// application is a set that is applied, with what it waited for and what it couldn't use.
type application struct {
	*testing.T
	*Set
	fake     clock.Fake
	waited   []string
	unusable []string
	waiting  func(id identity.Identity)
}

// newApplication returns a set that may wait for a minute, but not without end.
func newApplication(t *testing.T, planner Planner, options Options, texts ...string) *application {
	t.Helper()
	a := &application{T: t}
	options.Waiting = func(id identity.Identity, why string) {
		a.waited = append(a.waited, id.Kind+": "+why)
		require.Less(t, len(a.waited), 200, "it waits for ever")
		if a.waiting != nil {
			a.waiting(id)
		}
	}
	options.Unusable = func(id identity.Identity, why string) { a.unusable = append(a.unusable, id.Kind+": "+why) }
	a.Set = newSet(t, planner, options, texts...)
	return a
}

func (a *application) apply(ctx context.Context) (lines []string) { return results(ctx, a.Set) }

// until refuses objects of a kind until an object of a resource is applied.
func until(server *ssaplantest.Server, resource, kind, message string) planEdit {
	there := false
	server.Answer(func(r ssaplantest.Request) error {
		there = there || r.Resource.Resource == resource && r.Verb == "patch" && !r.DryRun
		return nil
	})
	return func(request ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
		if there {
			return plan, err
		}
		return denies(kind, message)(request, plan, err)
	}
}

// An object that moves to a later stage while it is applied holds up no other object of its stage.
func TestApplyBehindAPostponedObject(t *testing.T) {
	planner, server := newPlanner(t)
	edited := &scripted{Planner: planner, plan: until(server, "resourcequotas", "ConfigMap", overQuota)}
	early := Stage{Name: "early", Has: func(obj *unstructured.Unstructured) bool { return obj.GetKind() != "ResourceQuota" }}
	a := newApplication(t, edited, Options{Stages: []Stage{early, {Name: "rest"}}}, fmt.Sprintf(conf, "b"), pull, quota)
	require.Equal(t, []string{"Secret Done", "ResourceQuota Done", "ConfigMap Done"}, a.apply(quickly(t, &a.fake)))
}

// A replacement that was shown as an update, because the CRD of the set could lift the rule, isn't carried out if it
// doesn't.
func TestRuleThatStays(t *testing.T) {
	planner, _ := newPlanner(t)
	install(t, planner, withRule(crd("", "v1")), gadget("v1", "size: 1, mode: old"))
	edited := &scripted{Planner: planner, plan: protects(nil, nil)}
	a := newApplication(t, edited, Options{Replace: true}, crd("", "v1"), gadget("v1", "size: 2, mode: new"))
	require.Equal(t, ssaplan.ActionDeferred, items(t, a.Set)[1].Plan.Action)
	lines := a.apply(quickly(t, &a.fake))
	require.Equal(t, []string{
		"CustomResourceDefinition Done",
		"Gadget NotSent: example.com/v1/Gadget shop/a: the plan changed since it was shown; now Replace (can't change in place): review the new plan",
	}, lines)
	require.Contains(t, a.waited[0], "failed rule: self == oldSelf")
}

// The result says how the object in the answer differs from the plan, and nothing of it if it wasn't written.
func TestDifferencesOfResults(t *testing.T) {
	for name, row := range map[string]struct {
		err         error
		differences int
		outcome     write.Outcome
	}{
		"it is written": {nil, 1, write.OutcomeDone}, "it isn't": {errors.New("lost"), 0, write.OutcomeUnknown},
	} {
		planner, _ := newPlanner(t)
		edited := &scripted{Planner: planner, made: func(made *unstructured.Unstructured, err error) (*unstructured.Unstructured, error) {
			require.NoError(t, err)
			return made, errors.Join(unstructured.SetNestedField(made.Object, "z", "data", "a"), row.err)
		}}
		for result := range newSet(t, edited, Options{}, fmt.Sprintf(conf, "b")).Apply(quickly(t, &clock.Fake{})) {
			require.Len(t, result.Differences, row.differences, name)
			require.Equal(t, row.err == nil, result.Err == nil, name)
			require.Equal(t, row.outcome, result.Outcome, name)
		}
	}
}

// A set keeps no plan without changes, however many it has made.
func TestUnchangedItemsAreForgotten(t *testing.T) {
	planner, _ := newPlanner(t)
	install(t, planner, fmt.Sprintf(conf, "b"))
	a := newApplication(t, planner, Options{}, fmt.Sprintf(conf, "b"), pull)
	require.Equal(t, []string{"ConfigMap Done", "Secret Done"}, a.apply(quickly(t, &a.fake)))
	require.Same(t, unchanged, a.items[0])
	require.NotSame(t, unchanged, a.items[1])
	require.Equal(t, []bool{true, true}, a.applied)
}

// An object that depends on a change of the set is tried again until the change is in force, or the time is up.
func TestPatiently(t *testing.T) {
	for name, row := range map[string]struct {
		attempts int // how often it is refused after the quota is there
		cancel   bool
		patience time.Duration
		waited   int
		want     string
	}{
		"it is in force at once": {0, false, 0, 0, "Done"},
		"it takes a while":       {3, false, 0, 3, "Done"},
		"the time is up":         {3, false, time.Nanosecond, 0, `NotSent: configmaps "a" is forbidden: `},
		"the context ends":       {3, true, 0, 1, "NotSent: "},
	} {
		t.Run(name, func(t *testing.T) {
			planner, server := newPlanner(t)
			there, refused := false, 0
			server.Answer(func(r ssaplantest.Request) error {
				there = there || r.Resource.Resource == "resourcequotas" && r.Verb == "patch" && !r.DryRun
				return nil
			})
			edited := &scripted{Planner: planner, plan: func(request ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
				if err != nil || plan.Object.Kind != "ConfigMap" || there && refused > row.attempts {
					return plan, err
				}
				if there && len(request.Unknown) == 0 {
					if refused++; refused > row.attempts {
						return plan, err
					}
				}
				return denies("ConfigMap", overQuota)(request, plan, err)
			}}
			a := newApplication(t, edited, Options{Patience: row.patience}, fmt.Sprintf(conf, "b"), quota)
			ctx, cancel := context.WithCancel(quickly(t, &a.fake))
			defer cancel()
			a.waiting = func(identity.Identity) {
				if row.cancel {
					cancel()
				}
			}
			lines := a.apply(ctx)
			require.Equal(t, "ResourceQuota Done", lines[0])
			require.Contains(t, lines[1], "ConfigMap "+strings.TrimSuffix(row.want, `configmaps "a" is forbidden: `))
			require.Len(t, a.waited, row.waited)
			for _, why := range a.waited {
				require.Contains(t, why, "exceeded quota")
			}
		})
	}
}

// A server may be slow to have a namespace everywhere: an object in it is waited for.
func TestNamespaceThatComesLate(t *testing.T) {
	planner, _ := newPlanner(t)
	other, _ := newPlanner(t)
	edited := &scripted{Planner: planner, plan: func(request ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
		if plan.Object.Kind == "ConfigMap" {
			return other.Plan(t.Context(), request)
		}
		return plan, err
	}}
	a := newApplication(t, edited, Options{Patience: time.Nanosecond}, namespace, inNew)
	lines := a.apply(quickly(t, &a.fake))
	require.Equal(t, "Namespace Done", lines[0])
	require.Contains(t, lines[1], "ConfigMap NotSent: ")
	require.NotContains(t, lines[1], "left out")
}

// established returns a live CRD whose condition Established has a status and a reason.
func established(t *testing.T, reading *ssaplan.Reading, status, reason string) *ssaplan.Reading {
	t.Helper()
	reading.Live = reading.Live.DeepCopy()
	conditions := []any{map[string]any{"type": "Established", "status": status, "reason": reason}}
	require.NoError(t, unstructured.SetNestedSlice(reading.Live.Object, conditions, "status", "conditions"))
	return reading
}

// A CRD is waited for until it can be used, as long as other objects need it. One that only a later stage can make
// usable is waited for no longer than one that no object needs.
func TestAwaitCRD(t *testing.T) {
	const second, minute = time.Second, time.Minute
	later := "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}"
	for name, row := range map[string]struct {
		reason   string        // why it isn't Established
		reads    int           // after how many reads it is
		step     time.Duration // between two reads
		texts    []string      // besides the CRD
		served   bool          // the server serves it all the same
		waited   int
		unusable []string
		want     []string
	}{
		"at once": {
			"Installing", 0, second, []string{gadget("v1", "size: 1")}, true, 0, nil,
			[]string{"CustomResourceDefinition Done", "Gadget Done"},
		},
		"after a while": {
			"Installing", 3, 2 * second, []string{gadget("v1", "size: 1")}, true, 3, nil,
			[]string{"CustomResourceDefinition Done", "Gadget Done"},
		},
		"not in time": {
			"Installing", 9, minute, []string{gadget("v1", "size: 1")}, true, 1,
			[]string{"CustomResourceDefinition: it isn't Established yet: Installing"},
			[]string{"CustomResourceDefinition Done", "Gadget NotSent: example.com/v1/Gadget shop/a: left out: something that comes before it failed"},
		},
		"no object needs it": {
			"Installing", 9, 2 * second, []string{later}, true, 1,
			[]string{"CustomResourceDefinition: it isn't Established yet: Installing"},
			[]string{"CustomResourceDefinition Done", "ConfigMap Done"},
		},
		"a later stage may help": {
			"InvalidCABundle", 9, 2 * second, []string{gadget("v1", "size: 1"), later}, false, 1,
			[]string{"CustomResourceDefinition: it isn't Established yet: InvalidCABundle"},
			[]string{"CustomResourceDefinition Done", "ConfigMap Done", "Gadget NotSent: example.com/v1/Gadget shop/a: left out: it needs apiextensions.k8s.io/v1/CustomResourceDefinition gadgets.example.com: it isn't Established yet: InvalidCABundle"}},
		"it is served without help": {
			"InvalidCABundle", 9, 2 * second, []string{gadget("v1", "size: 1")}, true, 1,
			[]string{"CustomResourceDefinition: it isn't Established yet: InvalidCABundle"},
			[]string{"CustomResourceDefinition Done", "Gadget Done"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			planner, _ := newPlanner(t)
			without, _ := newPlanner(t)
			reads := 0
			edited := &scripted{Planner: planner, read: func(reading *ssaplan.Reading, err error) (*ssaplan.Reading, error) {
				if reads++; reads <= row.reads {
					return established(t, reading, "False", row.reason), err
				}
				return reading, err
			}, plan: func(request ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
				if !row.served && request.Manifest.GetKind() == "Gadget" {
					return without.Plan(t.Context(), request)
				}
				return plan, err
			}}
			patience := time.Duration(0)
			if !row.served {
				patience = 3 * second
			}
			a := newApplication(t, edited, Options{Patience: patience}, append(row.texts, crd("", "v1"))...)
			a.waiting = func(identity.Identity) { a.fake.Advance(row.step) }
			lines := a.apply(quickly(t, &a.fake))
			require.Equal(t, row.want, lines)
			require.Equal(t, row.unusable, a.unusable)
			crds := 0
			for _, why := range a.waited {
				if strings.HasPrefix(why, "CustomResourceDefinition") {
					crds++
				}
			}
			require.Equal(t, row.waited, crds, a.waited)
		})
	}
}

// A caller who may not read a CRD learns from the next stage whether it can be used. So does one that goes on after the
// reads have failed for a while.
func TestAwaitUnreadableCRD(t *testing.T) {
	for name, row := range map[string]struct {
		read   readEdit
		waited []string // in vain
	}{
		"it is hidden": {read: func(reading *ssaplan.Reading, err error) (*ssaplan.Reading, error) {
			reading.Presence, reading.Live = ssaplan.PresenceUnreadable, nil
			return reading, err
		}},
		"it is forbidden": {read: func(*ssaplan.Reading, error) (*ssaplan.Reading, error) {
			why := errors.New(`User "joe" cannot get resource "customresourcedefinitions" in API group "apiextensions.k8s.io" at the cluster scope`)
			return nil, apierrors.NewForbidden(schema.GroupResource{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}, "gadgets.example.com", why)
		}},
		"the server is starting": {read: func(*ssaplan.Reading, error) (*ssaplan.Reading, error) {
			return nil, apierrors.NewServiceUnavailable("starting")
		}, waited: []string{"CustomResourceDefinition: starting"}},
	} {
		planner, _ := newPlanner(t)
		edited := &scripted{Planner: planner, read: row.read}
		a := newApplication(t, edited, Options{KeepGoing: row.waited != nil}, crd("", "v1"), gadget("v1", "size: 1"))
		require.Equal(t, []string{"CustomResourceDefinition Done", "Gadget Done"}, a.apply(quickly(t, &a.fake)), name)
		require.Equal(t, row.waited, slices.Compact(a.waited), name)
		require.Equal(t, row.waited, a.unusable, name)
	}
}

// A CRD is waited for also if an object before it in its stage doesn't change. An object that doesn't depend on it any
// more, and one that is refused for another reason, say so.
func TestUnusableCRD(t *testing.T) {
	planner, _ := newPlanner(t)
	install(t, planner, namespace, crd("", "v1"))
	edited := &scripted{Planner: planner, read: func(reading *ssaplan.Reading, err error) (*ssaplan.Reading, error) {
		return established(t, reading, "False", "InvalidCABundle"), err
	}, plan: func(request ssaplan.Request, plan *ssaplan.Plan, err error) (*ssaplan.Plan, error) {
		if err == nil && plan.Object.Kind == "Gadget" && len(request.Unknown) == 0 {
			return nil, unplaced()
		}
		return plan, err
	}}
	a := newApplication(t, edited, Options{Patience: time.Nanosecond}, namespace, crd(", color: {type: string}", "v1"), gadget("v1", "size: 1"))
	lines := a.apply(quickly(t, &a.fake))
	require.Equal(t, []string{"CustomResourceDefinition: it isn't Established yet: InvalidCABundle"}, a.unusable)
	require.Equal(t, []string{"Namespace Done", "CustomResourceDefinition Done"}, lines[:2])
	require.Contains(t, lines[2], "Gadget NotSent: Gadget.example.com \"a\" is invalid")
}

// A namespace is needed by objects that get it from the Planner's default as well, if they are planned.
func TestAwaitNamespace(t *testing.T) {
	for name, row := range map[string]struct {
		text    string
		planned bool
		needed  bool
	}{
		"it is named":                 {inNew, false, true},
		"it is named, and planned":    {inNew, true, true},
		"it is the default":           {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", true, true},
		"the default isn't known yet": {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", false, false},
		"another one":                 {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}}", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, server := newPlanner(t)
			planner, err := ssaplan.New(server.API(), ssaplan.Options{FieldManager: "set-test", DefaultNamespace: "new"})
			require.NoError(t, err)
			edited := &scripted{Planner: planner, read: func(reading *ssaplan.Reading, err error) (*ssaplan.Reading, error) {
				return reading, errors.Join(err, unstructured.SetNestedField(reading.Live.Object, "Terminating", "status", "phase"))
			}}
			a := newApplication(t, edited, Options{}, namespace, row.text)
			if row.planned {
				items(t, a.Set)
			}
			a.waiting = func(identity.Identity) { a.fake.Advance(time.Hour) }
			lines := a.apply(quickly(t, &a.fake))
			require.Equal(t, "Namespace Done", lines[0])
			require.Equal(t, row.needed, strings.Contains(lines[1], "something that comes before it failed"), lines)
			require.Equal(t, []string{"Namespace: it isn't Active yet"}, a.unusable)
		})
	}
}

// An object isn't changed if the CRD that loses a version that it names couldn't be changed, or if it refers to an
// object that isn't carried out. One that doesn't change is as it should be all the same.
func TestHeldBackByAnother(t *testing.T) {
	const later = "{apiVersion: v1, kind: ServiceAccount, metadata: {name: acc, namespace: shop, labels: {a: b}}, imagePullSecrets: [{name: pull}]}"
	const changed = "{apiVersion: v1, kind: Secret, metadata: {name: pull, namespace: shop, labels: {a: b}}}"
	for name, row := range map[string]struct {
		before, after []string
		refused       string
		want          string
	}{
		"the CRD fails": {
			[]string{crd("", "v1", "v2"), gadget("v1", "size: 1")}, []string{crd("", "v1"), gadget("v1", "size: 2")}, "customresourcedefinitions",
			"Gadget NotSent: example.com/v1/Gadget shop/a: left out: it needs apiextensions.k8s.io/v1/CustomResourceDefinition gadgets.example.com, which doesn't match the set",
		},
		"the CRD is changed": {
			[]string{crd("", "v1", "v2"), gadget("v1", "size: 1")}, []string{crd("", "v1"), gadget("v1", "size: 2")}, "", "Gadget Done",
		},
		"the CRD fails, and nothing changes": {
			[]string{crd("", "v1", "v2"), gadget("v1", "size: 1")}, []string{crd("", "v1"), gadget("v1", "size: 1")},
			"customresourcedefinitions", "Gadget Done",
		},
		"the CRD fails, and loses no version": {
			[]string{crd("", "v1"), gadget("v1", "size: 1")}, []string{crd("", "v1", "v2"), gadget("v1", "size: 2")},
			"customresourcedefinitions", "Gadget Done",
		},
		"the secret fails": {
			[]string{account, pull}, []string{later, changed}, "secrets",
			"ServiceAccount NotSent: v1/ServiceAccount shop/acc: left out: it refers to v1/Secret shop/pull, which doesn't match the set",
		},
		"the secret fails, and nothing changes": {[]string{account, pull}, []string{account, changed}, "secrets", "ServiceAccount Done"},
	} {
		t.Run(name, func(t *testing.T) {
			planner, server := newPlanner(t)
			install(t, planner, row.before...)
			server.Answer(forbids(row.refused))
			a := newApplication(t, planner, Options{KeepGoing: true}, row.after...)
			lines := a.apply(quickly(t, &a.fake))
			require.Equal(t, row.want, lines[1])
		})
	}
}
