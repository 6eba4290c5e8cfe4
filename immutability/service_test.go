package immutability_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/immutability"
)

var ipAddresses = schema.GroupResource{Group: "networking.k8s.io", Resource: "ipaddresses"}

func free(ip string) error { return apierrors.NewNotFound(ipAddresses, ip) }

func TestProbeProvesClusterIPs(t *testing.T) {
	immutable := refused("", "Service", because("spec.clusterIPs[0]", invalidValue, `Invalid value: ["10.0.0.7"]: may not change once set`))
	live := object(t, `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, "fd00::1"]}}`)
	tests := []struct {
		name        string
		spec        string
		errs        map[string]error
		kind        immutability.Refusal
		replaceable bool
		uncertain   string
		asked       []string
		why         string
	}{
		{"none pinned", `{clusterIP: None}`, nil, immutability.RefusalImmutable, true, "", nil, "the server chooses, or none is needed"},
		{"held", `{clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, "fd00:0::1"]}`, nil, immutability.RefusalImmutable, true, "", nil, "free after the delete, however it is written"},
		{"free", `{clusterIP: 10.0.0.7, clusterIPs: [10.0.0.7]}`, map[string]error{"10.0.0.7": free("10.0.0.7")}, immutability.RefusalImmutable, true, "", []string{"10.0.0.7"}, "asked once"},
		{"both free", `{clusterIPs: [10.0.0.7, "fd00:0::7"]}`, map[string]error{"10.0.0.7": free("10.0.0.7"), "fd00::7": free("fd00::7")}, immutability.RefusalImmutable, true, "",
			[]string{"10.0.0.7", "fd00::7"}, "the object is named by the short form"},
		{"taken", `{clusterIP: 10.0.0.7}`, nil, immutability.RefusalInvalid, false, "", []string{"10.0.0.7"}, "another service has it"},
		{"second taken", `{clusterIPs: [10.0.0.7, "fd00::7"]}`, map[string]error{"10.0.0.7": free("10.0.0.7")}, immutability.RefusalInvalid, false, "", []string{"10.0.0.7", "fd00::7"}, "each one counts"},
		{"second taken, first held", `{clusterIPs: [10.0.0.1, "fd00::7"]}`, nil, immutability.RefusalInvalid, false, "", []string{"fd00::7"}, "each one counts"},
		{"no right to look", `{clusterIP: 10.0.0.7}`, map[string]error{"10.0.0.7": errors.New("forbidden")}, immutability.RefusalImmutable, false,
			"no dry run shows whether cluster IP 10.0.0.7 is free: forbidden", []string{"10.0.0.7"}, "nothing is proven"},
		{"kind not served", `{clusterIP: 10.0.0.7}`, map[string]error{"10.0.0.7": apierrors.NewGenericServerResponse(404, "get", ipAddresses, "", "", 0, true)}, immutability.RefusalImmutable, false,
			"no dry run shows whether cluster IP 10.0.0.7 is free: the server could not find the requested resource (get ipaddresses.networking.k8s.io)", []string{"10.0.0.7"}, "not that the object is missing"},
		{"another one is free", `{clusterIP: 10.0.0.7}`, map[string]error{"10.0.0.7": free("10.0.0.8")}, immutability.RefusalImmutable, false,
			`no dry run shows whether cluster IP 10.0.0.7 is free: ipaddresses.networking.k8s.io "10.0.0.8" not found`, []string{"10.0.0.7"}, "the answer is about another object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			service := object(t, `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: `+tt.spec+`}`)
			lookup := &reader{errs: tt.errs} // an address without an error is taken
			got := immutability.Probe(context.Background(), &fake{createErr: exists()}, service, live, immutability.Classify(immutable), immutability.ProbeOptions{IPAddresses: lookup})
			assert.Equal(t, tt.kind, got.Refusal, tt.why)
			assert.Equal(t, tt.replaceable, got.Replaceable(), tt.why)
			assert.Equal(t, tt.uncertain, got.Uncertain, tt.why)
			assert.Equal(t, tt.asked, lookup.asked, tt.why)
			assert.Equal(t, 1+len(tt.asked), got.Evidence.Requests)
			if tt.kind == immutability.RefusalInvalid {
				assert.Len(t, got.Fields, 1)
				assert.Contains(t, got.Fields[0].Message, "provided IP is already allocated")
			}
		})
	}

	service := object(t, `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {clusterIP: 10.0.0.7}}`)
	got := immutability.Probe(context.Background(), &fake{createErr: exists()}, service, live, immutability.Classify(immutable), immutability.ProbeOptions{})
	assert.Equal(t, "no dry run shows whether cluster IP 10.0.0.7 is free", got.Uncertain, "nobody to ask")
}

func TestProbeProvesNodePorts(t *testing.T) {
	immutable := refused("", "Service", because("spec.loadBalancerClass", invalidValue, `Invalid value: "b": may not change once set`))
	tests := []struct {
		name        string
		live, spec  string
		replaceable bool
		why         string
	}{
		{"default range", `{}`, `{ports: [{nodePort: 30000}, {nodePort: 32767}]}`, true, "what servers have unless told otherwise"},
		{"below", `{}`, `{ports: [{nodePort: 29999}]}`, false, "a dry run would accept it"},
		{"above", `{}`, `{ports: [{nodePort: 32768}]}`, false, "a dry run would accept it"},
		{"health check", `{}`, `{healthCheckNodePort: 99}`, false, "comes from the same range"},
		{"held", `{ports: [{nodePort: 25000}]}`, `{ports: [{nodePort: 25000}]}`, true, "the server gave it before"},
		{"between held ones", `{ports: [{nodePort: 25000}], healthCheckNodePort: 25010}`, `{ports: [{nodePort: 25005}]}`, true, "a range has no gaps"},
		{"default where another range is set", `{ports: [{nodePort: 25000}]}`, `{ports: [{nodePort: 31000}]}`, false, "the live object shows that the range isn't the default"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			live := object(t, `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: `+tt.live+`}`)
			service := object(t, `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: `+tt.spec+`}`)
			got := immutability.Probe(context.Background(), &fake{createErr: exists()}, service, live, immutability.Classify(immutable), immutability.ProbeOptions{})
			assert.Equal(t, tt.replaceable, got.Replaceable(), tt.why)
			assert.Equal(t, tt.replaceable, got.Uncertain == "", tt.why)
		})
	}
}

// There can be one default class only, and while the live object is that, a dry-run create of another is denied.
func TestProbeOfDefaultPriorityClass(t *testing.T) {
	isDefault := object(t, `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: x}, globalDefault: true, value: 1}`)
	plain := object(t, `{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: x}, value: 1}`)
	server := &fake{createErr: exists()}
	immutability.Probe(context.Background(), server, isDefault, isDefault, immutability.Classify(partly), immutability.ProbeOptions{})
	assert.Equal(t, plain, server.created, "free after the delete")
	immutability.Probe(context.Background(), server, isDefault, plain, immutability.Classify(partly), immutability.ProbeOptions{})
	assert.Equal(t, isDefault, server.created, "may be another's")
}

// Whether a cluster IP is free matters only for a replacement of which all else is known.
func TestProbeLooksUpNoAddressInVain(t *testing.T) {
	service := object(t, `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {clusterIP: 10.0.0.7}}`)
	live := object(t, `{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {clusterIP: 10.0.0.1, old: 1}}`)
	immutable := refused("", "Service", because("spec.clusterIPs[0]", invalidValue, `Invalid value: ["10.0.0.7"]: may not change once set`))
	for _, tt := range []struct {
		refusal error
		server  *fake
		want    immutability.Refusal
		why     string
	}{
		{unknown, &fake{createErr: exists(), updated: service}, immutability.RefusalMergeLeftover, "the update works"},
		{immutable, &fake{createErr: context.DeadlineExceeded}, immutability.RefusalImmutable, "no answer"},
	} {
		lookup := &reader{}
		got := immutability.Probe(context.Background(), tt.server, service, live, immutability.Classify(tt.refusal), immutability.ProbeOptions{IPAddresses: lookup})
		assert.Equal(t, tt.want, got.Refusal, tt.why)
		assert.Empty(t, lookup.asked, tt.why)
	}
}
