package proof_test

import (
	"encoding/base64"
	"fmt"
	"strconv"
)

// sameValues are texts that say the same: quantities, durations and times.
var sameValues = [][]any{
	{"1", "1000m", int64(1)}, {"2", "2000m", "2.0", int64(2)}, {"100m", "0.1", 0.1}, {"500m", "0.5", 0.5},
	{"1Gi", "1024Mi", "1073741824"}, {"64Mi", "65536Ki"}, {"2Gi", "2048Mi"}, {"1G", "1000M", "1e9"}, {"100", int64(100)},
	{"1h", "60m", "1h0m0s"},
	{"2026-01-02T03:04:05Z", "2026-01-02T04:04:05+01:00"},
	{"2026-01-02T03:04:05.000000Z", "2026-01-02T04:04:05.000000+01:00"},
	{int64(80), "80"}, {"", nil},
}

// rewritten is a value written otherwise, if there is another way.
func (g *generator) rewritten(_ place, v any) any {
	for _, same := range sameValues {
		for _, text := range same {
			if text == v {
				return pick(g, same...)
			}
		}
	}
	return v
}

// changed is a value of the type of v that is probably another one.
func (g *generator) changed(v any) any {
	switch v := v.(type) {
	case int64:
		return pick(g, v+1, v-1, 0, v*2)
	case float64:
		return v + 0.5
	case bool:
		return !v
	case string:
		return g.changedText(v)
	case []any:
		return g.shuffled(nil, copyOf(v))
	case map[string]any:
		return copyOf(v)
	}
	return pick[any](g, "x", int64(0), map[string]any{})
}

func (g *generator) changedText(v string) any {
	if raw, err := base64.StdEncoding.DecodeString(v); err == nil && len(v)%4 == 0 && v != "" && g.chance(50) {
		return base64.StdEncoding.EncodeToString(append(raw, '!'))
	}
	if n, err := strconv.Atoi(v); err == nil && g.chance(70) {
		return fmt.Sprint(n + 1)
	}
	return pick(g, v+"x", v+".y", "", "25%", "3Gi")
}

// retyped is a value of another type, if possible with the same meaning.
func (g *generator) retyped(v any) any {
	switch v := v.(type) {
	case int64, float64, bool:
		return pick[any](g, fmt.Sprint(v), []any{v}, 1.5)
	case string:
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			return n
		}
		return pick[any](g, int64(7), []any{v}, map[string]any{v: v}, true)
	case []any:
		return pick[any](g, map[string]any{"a": "b"}, "text")
	case map[string]any:
		return pick[any](g, []any{v}, "text")
	}
	return "text"
}

// empty is the empty value of the type of v.
func empty(v any) any {
	switch v.(type) {
	case map[string]any:
		return map[string]any{}
	case []any:
		return []any{}
	case string:
		return ""
	case int64, float64:
		return int64(0)
	case bool:
		return false
	}
	return nil
}
