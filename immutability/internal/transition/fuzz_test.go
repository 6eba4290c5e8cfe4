package transition_test

import (
	"strings"
	"testing"

	"github.com/ssaplan/primitives/immutability/internal/transition"
)

// FuzzRead checks that whatever a definition has for a rule is read, and that a rule is never better than a part of it
// that isn't known.
func FuzzRead(f *testing.F) {
	for _, rule := range []string{
		"self == oldSelf", "!has(oldSelf.a) || self.a == oldSelf.a", "oldSelf.optMap(o, o.a == self['a']).orValue(true)",
		"has(self.a) == has(oldSelf.a) ? [1, {'a': -2}] : r'a' // b", `self.?a[?0].size() >= 0x1u`,
	} {
		f.Add(rule)
	}
	f.Fuzz(func(t *testing.T, rule string) {
		kind := transition.Read(rule)
		if kind == transition.Equality && !strings.Contains(rule, "oldSelf") {
			t.Errorf("%q doesn't look at the old value", rule)
		}
		if with := transition.Read(rule + "\n&& f(oldSelf)"); with != transition.OneWay {
			t.Errorf("%q and something that isn't known: %d", rule, with)
		}
	})
}
