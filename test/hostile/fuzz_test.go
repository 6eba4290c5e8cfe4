// Package hostile_test has a Planner talk to a server that answers with anything, and to one that says what is to harm
// who reads it. Neither may make it panic, hang or print what controls a terminal or forges a line.
package hostile_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/ssaplan/primitives/identity"
	"github.com/ssaplan/primitives/projection/foreign"
	"github.com/ssaplan/primitives/ssaplan"
	"github.com/ssaplan/primitives/ssaplan/deletion"
	"github.com/ssaplan/primitives/ssaplan/explain"
	"github.com/ssaplan/primitives/ssaplan/set"
	"github.com/ssaplan/primitives/test/lab"
)

const (
	kinds = `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[{"name":"configmaps","kind":"ConfigMap","namespaced":true}]}`
	live  = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","uid":"1","resourceVersion":"5","managedFields":
		[{"manager":"other","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}]},"data":{"k":"v"}}`
	tried = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","uid":"1","resourceVersion":"5","managedFields":
		[{"manager":"ssaplan","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}]},"data":{"k":"w"}}`
	declared = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: w}}"
)

// unknownDryRun is what a server says of a dryRun that it doesn't know.
const unknownDryRun = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"details":` +
	`{"group":"meta.k8s.io","kind":"PatchOptions","causes":[{"field":"dryRun"}]}}`

// server is a transport that answers discovery, reads and writes. It gets the dryRun of applies.
type server struct {
	read, write string // with the name of each object in the place of "a" if named
	named       bool
	status      int    // of a write
	list        string // of all objects; the one that is read if it is empty
	warning     string
}

func (s server) RoundTrip(request *http.Request) (*http.Response, error) {
	body, status, header := kinds, http.StatusOK, http.Header{"Content-Type": {"application/json"}}
	switch {
	case request.URL.Path == "/api/v1":
	case request.Method == http.MethodGet && s.list != "" && path.Base(request.URL.Path) == "configmaps":
		body = s.list
	case request.Method == http.MethodGet:
		body = s.read
	case request.Method == http.MethodPatch && slices.Contains(request.URL.Query()["dryRun"], "Unknown"):
		body, status = unknownDryRun, http.StatusUnprocessableEntity
	default:
		body, status = s.write, s.status
		if s.warning != "" {
			header.Set("Warning", `299 - "`+s.warning+`"`)
		}
	}
	if name := path.Base(request.URL.Path); s.named && name != "v1" {
		body = strings.Replace(body, `"a"`, fmt.Sprintf("%q", name), 1)
	}
	return &http.Response{StatusCode: status, Header: header, Request: request, Body: io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body))}, nil
}

// bounded is a transport that answers no more than some requests: who asks for ever doesn't wait while the clock is a
// fake, so that no deadline would end it.
type bounded struct {
	server
	left *atomic.Int64
}

func (b bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	if b.left.Add(-1) < 0 {
		return nil, errors.New("too many requests")
	}
	return b.server.RoundTrip(request)
}

// said plans, applies and plans to delete, and returns what a host may print of the plans and the errors. Its waits
// take no time.
func (s server) said(t *testing.T) (said []string) {
	synctest.Test(t, func(t *testing.T) {
		transport := bounded{s, new(atomic.Int64)}
		transport.left.Store(1000)
		said = saidThrough(t, transport)
		require.Positive(t, transport.left.Load(), "it ends by itself")
	})
	return said
}

func saidThrough(t *testing.T, transport http.RoundTripper) (said []string) {
	planner, err := lab.NewPlanner(&rest.Config{Host: "http://hostile", QPS: -1, Transport: transport}, ssaplan.Options{FieldManager: "ssaplan"})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	plan, err := planner.Plan(ctx, ssaplan.Request{Manifest: lab.Object(t, declared)})
	if err == nil {
		encoded, failed := json.Marshal(plan)
		require.NoError(t, failed)
		require.True(t, json.Valid(encoded))
		said = append(said, string(encoded), plan.Reason, fmt.Sprint(plan.Changes), fmt.Sprint(plan.Ownership),
			fmt.Sprint(plan.Conflicts), fmt.Sprint(plan.Warnings))
		_, err = planner.Apply(ctx, plan)
	}
	said = append(said, fmt.Sprint(err))
	request := deletion.Request{Object: identity.Identity{APIVersion: "v1", Kind: "ConfigMap", Namespace: "default", Name: "a"}}
	deletion, err := planner.PlanDelete(ctx, request)
	if said = append(said, fmt.Sprint(err)); err == nil {
		encoded, failed := json.Marshal(deletion)
		require.NoError(t, failed)
		said = append(said, string(encoded), deletion.Reason, fmt.Sprint(deletion.Warnings), fmt.Sprint(deletion.Hazards),
			fmt.Sprint(deletion.Finalizers), fmt.Sprint(deletion.Refusal))
	}
	said = append(said, ofSet(ctx, planner, lab.Object(t, declared), request.Object)...)
	require.NoError(t, ctx.Err(), "it ends by itself")
	return said
}

// ofSet applies a set, waits for its object, lets go of it and removes it, and returns what a host may print of that.
func ofSet(ctx context.Context, planner *ssaplan.Planner, manifest *unstructured.Unstructured, id identity.Identity) (said []string) {
	s := set.New(planner, []ssaplan.Request{{Manifest: manifest}}, set.Options{KeepGoing: true, Patience: time.Millisecond})
	for item := range s.Plan(ctx) {
		said = append(said, item.Object.String(), fmt.Sprint(item.Err))
	}
	for result := range s.Apply(ctx) {
		said = append(said, result.Item.Object.String(), fmt.Sprint(result.Err))
	}
	ready := func(live *unstructured.Unstructured) set.Readiness {
		return set.Readiness{Why: foreign.Text(live.GetName()), Said: foreign.Text(fmt.Sprint(live.Object))}
	}
	said = append(said, set.AwaitObject(ctx, planner, id, ready, time.Millisecond, func(string) {}).String())
	if plan, err := planner.PlanRelease(ctx, &explain.State{Identity: id, UID: "1", Manager: "other"}); err == nil {
		said = append(said, plan.Object.String(), fmt.Sprint(plan.Fields))
	} else {
		said = append(said, err.Error())
	}
	r := set.NewRemoval(planner, []set.Member{{Object: id, UID: "1"}}, set.RemovalOptions{Patience: time.Millisecond, Delete: deletion.Options{PollInterval: time.Millisecond}})
	for item := range r.Plan(ctx) {
		said = append(said, item.String(), item.Kept, fmt.Sprint(item.Err))
	}
	for result := range r.Apply(ctx) {
		said = append(said, result.Item.String(), fmt.Sprint(result.Err))
	}
	return said
}

// requireHarmless fails for what controls a terminal, forges a line, turns the direction of text, can't be seen or is a
// command to the runner of a CI system.
func requireHarmless(t *testing.T, said []string) {
	for _, text := range said {
		require.Equal(t, foreign.Visible(text), text)
	}
}

// FuzzAnswers answers with any bytes.
func FuzzAnswers(f *testing.F) {
	deep := strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000)
	for _, answer := range []string{
		"", "null", "[]", `""`, "{}", "\x00\xff", "<html>", live, tried, deep, strings.Replace(live, `"5"`, "1e999", 1),
		strings.Replace(live, `"a"`, `"b"`, 1), strings.Replace(live, `{"k":"v"}`, "[1]", 1), strings.Replace(live, `"1"`, "{}", 1),
		strings.Replace(live, `[{`, `[null,3,{`, 1), strings.Replace(live, `{"f:k":{}}`, `{"k:{\"a\":":{}}`, 1),
		`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422,"details":{"causes":[{"field":"x\n[","message":"\u001b"}]}}`,
	} {
		f.Add(answer, live, 200)
		f.Add(live, answer, 200)
		f.Add(live, answer, 422)
		f.Add(answer, answer, 409)
	}
	f.Fuzz(func(t *testing.T, read, write string, status int) {
		if status < 200 || status > 599 || status == http.StatusTooManyRequests {
			t.Skip("no server answers so, or it asks for patience")
		}
		requireHarmless(t, server{read: read, write: write, status: status}.said(t))
	})
}

// FuzzLists answers with anything where many objects are read by a list, and with what is right for each of them by
// itself. No plan is wrong, and no error harmful.
func FuzzLists(f *testing.F) {
	page := `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9","continue":"next"},"items":[` + live + "," + strings.Replace(live, `"a"`, `"a7"`, 1) + `]}`
	for _, list := range []string{
		page, "", "null", "{}", live, "\x00", strings.Replace(page, `"next"`, `7`, 1), strings.Replace(page, `"5"`, `""`, 1), strings.Replace(page, `"a7"`, `"a\u001b[2K"`, 1),
		strings.Replace(page, `"items":[`, `"items":[null,3,[],{},`, 1), strings.Replace(page, `ConfigMapList`, `Status`, 1), strings.ReplaceAll(page, `"default"`, `"other"`),
		strings.ReplaceAll(page, `"1"`, `"x"`), strings.Replace(page, live, tried, 1),
	} {
		f.Add(list)
	}
	f.Fuzz(func(t *testing.T, list string) {
		if list == "" {
			t.Skip("then a list is answered like a read")
		}
		s := server{read: live, write: live, named: true, status: http.StatusOK, list: list}
		planner, err := lab.NewPlanner(&rest.Config{Host: "http://hostile", QPS: -1, Transport: s}, ssaplan.Options{FieldManager: "ssaplan"})
		require.NoError(t, err)
		var requests []ssaplan.Request
		for i := range 60 {
			requests = append(requests, ssaplan.Request{Manifest: lab.Object(t, strings.Replace(declared, "name: a}", fmt.Sprintf("name: a%d}", i), 1))})
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for plan, err := range planner.PlanAll(ctx, requests) {
			if err == nil {
				require.Contains(t, []ssaplan.Action{ssaplan.ActionNoOp, ssaplan.ActionUpdate}, plan.Action, plan.Reason)
				encoded, failed := json.Marshal(plan)
				require.NoError(t, failed)
				requireHarmless(t, []string{string(encoded)})
			}
			requireHarmless(t, []string{fmt.Sprint(err)})
		}
		require.NoError(t, ctx.Err(), "it ends by itself")
	})
}

// FuzzInjections puts a text into every place of an answer that isn't the host's own.
func FuzzInjections(f *testing.F) {
	for _, text := range []string{"\x1b[2K\x1b[1A", "a\nPlan: 1 unchanged.", "\r", "\u202e", "\u2066x", "\u0085", "\u2028", "\x00", "\x9b2J", "x", "kubectl\u3164", "a ##vso[x]", "::error::x"} {
		f.Add(text)
	}
	places := []string{`"other"`, `"Update"`, `"FieldsV1"`, `"ssaplan"`, `"f:k"`, `"k"`, `"v"`, `"w"`, `"1"`, `"5"`, `"default"`, `"a"`}
	f.Fuzz(func(t *testing.T, text string) {
		encoded, err := json.Marshal(text)
		require.NoError(t, err)
		field, err := json.Marshal("f:" + text)
		require.NoError(t, err)
		for _, place := range places {
			with := string(encoded)
			if place == `"f:k"` {
				with = string(field)
			}
			edited := func(answer string) string { return strings.ReplaceAll(answer, place, with) }
			requireHarmless(t, server{read: edited(live), write: edited(tried), status: 200}.said(t))
		}
		requireHarmless(t, server{read: live, write: tried, status: 200, warning: strings.NewReplacer("\n", "", "\r", "").Replace(text)}.said(t))
		for code, reason := range map[int]string{400: "BadRequest", 403: "Forbidden", 409: "Conflict", 422: "Invalid", 500: "InternalError"} {
			status := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":%s,"details":{"name":%[3]s,
				"causes":[{"reason":"FieldManagerConflict","field":%[3]s,"message":%[3]s},{"field":%[3]s,"message":%[3]s}]}}`, reason, code, encoded)
			requireHarmless(t, server{read: live, write: status, status: code}.said(t))
		}
	})
}

// TestConcurrentSets has sets planned at a time by Planners that share a cache, which others look into and clear.
func TestConcurrentSets(t *testing.T) {
	cache := ssaplan.NewNoOpCache(ssaplan.NoOpCacheOptions{Size: 10, ServerInterval: -1})
	var all sync.WaitGroup
	for range 2 {
		config := &rest.Config{Host: "http://hostile", QPS: -1, Transport: server{read: live, write: live, status: 200, named: true}}
		planner, err := lab.NewPlanner(config, ssaplan.Options{FieldManager: "ssaplan", NoOps: cache})
		require.NoError(t, err)
		requests := make([]ssaplan.Request, 50)
		for i := range requests {
			name := fmt.Sprintf("a%d", i)
			requests[i].Manifest = lab.Object(t, strings.Replace(declared, "name: a}", "name: "+name+"}", 1))
			if i%2 == 1 {
				requests[i].Live = lab.Object(t, strings.Replace(live, `"a"`, fmt.Sprintf("%q", name), 1))
			}
		}
		for range 3 {
			all.Go(func() {
				for plan, err := range planner.PlanAll(t.Context(), requests) {
					if err == nil {
						_, err = json.Marshal(plan)
					}
					if err != nil {
						t.Error(err)
					}
				}
				cache.Stats()
				cache.Clear()
			})
		}
	}
	all.Wait()
}
