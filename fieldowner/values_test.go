package fieldowner

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSameValue(t *testing.T) {
	for _, row := range []struct {
		a, b any
		same bool
		why  string
	}{
		{int64(1), 1.0, true, "numbers are compared by worth"},
		{int64(1), 1, true, "also those that JSON decoding doesn't make"},
		{json.Number("1.50"), 1.5, true, "or makes in another way"},
		{int64(1 << 53), int64(1<<53 + 1), false, "integers are exact"},
		{int64(1), "1", false, "a number is no text"},
		{"1", int64(1), false, "and a text no number"},
		{int64(0), nil, false, "nor is it nothing"},
		{false, nil, false, "neither is false"},
		{nil, nil, true, "nothing is nothing"},
		{map[string]any{}, nil, false, "an empty map is something"},
		{map[string]any{}, []any{}, false, "and isn't a list"},
		{map[string]any{"a": nil}, map[string]any{"b": nil}, false, "names count"},
		{map[string]any{"a": int64(1)}, map[string]any{"a": 1.0}, true, "values too"},
		{[]any{"a", "b"}, []any{"b", "a"}, false, "order counts"},
		{[]any{"a"}, []any{"a", "a"}, false, "length counts"},
		{func() {}, int64(1), false, "what isn't JSON equals nothing"},
		{int64(1), func() {}, false, "on neither side"},
		{func() {}, int64(0), false, "not even zero"},
		{int64(0), func() {}, false, "on neither side"},
	} {
		assert.Equal(t, row.same, sameValue(row.a, row.b), "%v and %v: %s", row.a, row.b, row.why)
	}
}
