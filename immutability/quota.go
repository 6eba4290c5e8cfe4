package immutability

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// exceededQuota matches the message of the ResourceQuota plugin, which lists only what is exceeded.
var exceededQuota = regexp.MustCompile(`^exceeded quota: [^,]+, requested: ([^ ]+), used: ([^ ]+), limited: ([^ ]+)$`)

// objectCounts are the quota resources that count every object of a kind as one, besides those that begin with
// "count/".
var objectCounts = map[string]bool{
	"configmaps":             true,
	"replicationcontrollers": true,
	"resourcequotas":         true,
	"secrets":                true,
	"services":               true,
}

// quotaFreedByDelete reports whether message is the refusal of a full quota that has room for the object again once its
// predecessor is deleted. The plugin is the last in the chain of admission, so the object has passed all others.
//
// That is only known where objects are counted. What a pod or a claim uses depends on its content, and which quota
// counts it too.
func quotaFreedByDelete(message string, manifest *unstructured.Unstructured) bool {
	amounts := exceededQuota.FindStringSubmatch(message)
	if amounts == nil {
		return false
	}
	switch manifest.GroupVersionKind().GroupKind().String() {
	case "Pod", "PersistentVolumeClaim":
		return false
	}
	requested, used, limited := quantities(amounts[1]), quantities(amounts[2]), quantities(amounts[3])
	one := resource.MustParse("1")
	for name, amount := range requested {
		counted := strings.HasPrefix(name, "count/") || objectCounts[name]
		u, inUse := used[name]
		l, hasLimit := limited[name]
		if !counted || !inUse || !hasLimit || amount.Cmp(one) != 0 || u.Cmp(l) > 0 {
			return false
		}
	}
	return len(requested) > 0
}

// quantities reads "a=1,b=2Gi". It returns nil if a part of the list can't be read.
func quantities(list string) map[string]resource.Quantity {
	read := map[string]resource.Quantity{}
	for _, item := range strings.Split(list, ",") {
		name, text, _ := strings.Cut(item, "=")
		q, err := resource.ParseQuantity(text)
		if err != nil {
			return nil
		}
		read[name] = q
	}
	return read
}
