package immutability

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/ssaplan/primitives/internal/answer"
	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/projection/foreign"
)

// Getter is a client for one resource that finds objects by name. client-go's dynamic.ResourceInterface has the method.
type Getter interface {
	Get(ctx context.Context, name string, options metav1.GetOptions,
		subresources ...string) (*unstructured.Unstructured, error)
}

func isService(obj *unstructured.Unstructured) bool {
	return obj.GroupVersionKind().GroupKind() == schema.GroupKind{Kind: "Service"}
}

func serviceSpec(service *unstructured.Unstructured) map[string]any {
	spec, _ := service.Object["spec"].(map[string]any)
	return spec
}

// proveAddresses completes the proof that a Service can be created. Its dry run checks neither whether a cluster IP is
// taken nor whether a node port is in the server's range, so what the manifest pins and the live object doesn't hold is
// checked here.
func (v Verdict) proveAddresses(ctx context.Context, manifest, live *unstructured.Unstructured,
	addresses Getter) Verdict {
	spec, liveSpec := serviceSpec(manifest), serviceSpec(live)
	for _, port := range pinnedPorts(spec) {
		if !knownPort(port, pinnedPorts(liveSpec)) {
			v.doubt(CertaintyAssumed,
				fmt.Sprintf("no dry run shows whether node port %d is in the server's range", port))
			return v
		}
	}
	held := clusterIPs(liveSpec)
	for _, ip := range clusterIPs(spec) {
		if slices.Contains(held, ip) {
			continue
		}
		if v = v.proveAddress(ctx, ip, addresses); !v.Replaceable() {
			return v
		}
	}
	return v
}

// proveAddress asks for the IPAddress object that stands for a cluster IP in use.
func (v Verdict) proveAddress(ctx context.Context, ip string, addresses Getter) Verdict {
	unknown := fmt.Sprintf("no dry run shows whether cluster IP %s is free", ip)
	if addresses == nil {
		v.doubt(CertaintyAssumed, unknown)
		return v
	}
	_, err := addresses.Get(ctx, ip, metav1.GetOptions{})
	v.Evidence.Requests++
	switch found := answer.Statuses(err); {
	case err == nil:
		v.prove(RefusalInvalid)
		v.Fields = []Field{{
			Path: projection.Path{projection.Field("spec"), projection.Field("clusterIPs")}, Text: "spec.clusterIPs",
			Message: foreign.Textf("Invalid value: failed to allocate IP %s: provided IP is already allocated", ip),
		}}
	case len(found) == 1 && found[0].Reason == metav1.StatusReasonNotFound && found[0].Details != nil &&
		found[0].Details.Name == ip:
		// free
	default:
		v.doubt(CertaintyAssumed, unknown+": "+shorten(err.Error()).String())
	}
	return v
}

// clusterIPs returns the addresses that the spec pins, each once and in the form in which the server names them.
func clusterIPs(spec map[string]any) []string {
	list, _ := spec["clusterIPs"].([]any)
	var ips []string
	for _, item := range append([]any{spec["clusterIP"]}, list...) {
		text, _ := item.(string)
		addr, err := netip.ParseAddr(text)
		if err == nil && !slices.Contains(ips, addr.String()) {
			ips = append(ips, addr.String())
		}
	}
	return ips
}

// The range of node ports that servers have by default. Its setting, --service-node-port-range, can't be asked for.
const (
	firstNodePort = 30000
	lastNodePort  = 32767
)

// knownPort reports whether a port is in the server's range of node ports: in the default one, unless the live object
// has a port that isn't, or between two ports that the live object has.
func knownPort(port int64, held []int64) bool {
	isDefault := func(p int64) bool { return firstNodePort <= p && p <= lastNodePort }
	if isDefault(port) && !slices.ContainsFunc(held, func(p int64) bool { return !isDefault(p) }) {
		return true
	}
	return len(held) > 0 && slices.Min(held) <= port && port <= slices.Max(held)
}

// pinnedPorts returns the node ports in a spec, that of the health check included.
func pinnedPorts(spec map[string]any) []int64 {
	var pinned []int64
	for _, port := range servicePorts(spec) {
		pinned = append(pinned, integer(port["nodePort"]))
	}
	pinned = append(pinned, integer(spec["healthCheckNodePort"]))
	return slices.DeleteFunc(pinned, func(p int64) bool { return p == 0 })
}

// dropHeldPorts leaves out the ports that the live object holds, but none that the type doesn't allow and none that is
// given twice: those are for the server to refuse.
func dropHeldPorts(spec, liveSpec map[string]any) {
	if spec["type"] == "NodePort" || spec["type"] == "LoadBalancer" {
		dropNodePorts(spec, liveSpec)
	}
	health := integer(spec["healthCheckNodePort"])
	used := spec["type"] == "LoadBalancer" && spec["externalTrafficPolicy"] == "Local"
	if used && health != 0 && health == integer(liveSpec["healthCheckNodePort"]) {
		delete(spec, "healthCheckNodePort")
	}
}

func dropNodePorts(spec, liveSpec map[string]any) {
	held := map[int64]bool{}
	for _, port := range servicePorts(liveSpec) {
		held[integer(port["nodePort"])] = true
	}
	type use struct {
		port     int64
		protocol string
	}
	dropped := map[use]bool{}
	for _, port := range servicePorts(spec) {
		protocol, _ := port["protocol"].(string)
		u := use{integer(port["nodePort"]), cmp.Or(protocol, "TCP")}
		if u.port != 0 && held[u.port] && !dropped[u] {
			delete(port, "nodePort")
			dropped[u] = true
		}
	}
}

// servicePorts returns the maps in ports themselves, not copies.
func servicePorts(spec map[string]any) []map[string]any {
	list, _ := spec["ports"].([]any)
	var ports []map[string]any
	for _, item := range list {
		if port, ok := item.(map[string]any); ok {
			ports = append(ports, port)
		}
	}
	return ports
}

// integer reads a number as YAML and JSON decoders produce it; 0 for everything else.
func integer(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case int:
		return int64(n)
	case float64:
		return int64(n)
	}
	return 0
}
