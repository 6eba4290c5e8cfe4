package fieldscache

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

func TestEqualTextsAreOneRecord(t *testing.T) {
	m := &Cache{}
	text := `{"f:spec":{"f:replicas":{}}}`
	record := m.Decoded([]byte(text))
	assert.Equal(t, map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}}, record)
	assert.Equal(t, address(record), address(m.Decoded([]byte(text))))
	assert.NotEqual(t, address(record), address(m.Decoded([]byte(`{"f:spec":{}}`))))

	fields, known := m.Fields(record)
	assert.True(t, known)
	assert.True(t, fields.Equal(projection.NewFieldSet(projection.Path{projection.Field("spec"), projection.Field("replicas")})))
	for name, other := range map[string]map[string]any{"equal": {"f:spec": map[string]any{"f:replicas": map[string]any{}}}, "nil": nil} {
		_, known = m.Fields(other)
		assert.False(t, known, name)
	}
}

func TestWhatIsNoRecordIsLeftToOthers(t *testing.T) {
	m := &Cache{}
	for _, text := range []string{"", "null", "[]", "{", `{"x:spec":{}}`, `{"f:spec":1}`, "{\t}", `{"f:` + strings.Repeat("x", largest) + `":{}}`} {
		for range 2 {
			assert.Nil(t, m.Decoded([]byte(text)), text)
		}
	}
	assert.Empty(t, m.decoded)
}

func TestMemoryIsBounded(t *testing.T) {
	m := &Cache{}
	for i := range 3 * most / 1000 {
		record := m.Decoded(fmt.Appendf(nil, `{"f:%d-%s":{}}`, i, strings.Repeat("x", 1000)))
		_, known := m.Fields(record)
		require.True(t, known)
		length := 0
		for text := range m.decoded {
			length += len(text)
		}
		require.LessOrEqual(t, length, most)
		require.Equal(t, length, m.size)
		require.Len(t, m.fields, len(m.decoded))
	}
	assert.Greater(t, len(m.decoded), 1)
}

func TestGoroutinesShareRecords(t *testing.T) {
	m := &Cache{}
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range 1000 {
				record := m.Decoded(fmt.Appendf(nil, `{"f:%d":{}}`, i%100))
				fields, known := m.Fields(record)
				assert.True(t, known)
				assert.True(t, fields.Has(projection.Path{projection.Field(fmt.Sprint(i % 100))}))
			}
		}()
	}
	all.Wait()
	assert.Len(t, m.decoded, 100)
}
