// Package fieldscache caches the decoded fieldsV1 of managedFields. They name the fields that a manager set, without
// values. So most objects of a kind have the same fieldsV1.
package fieldscache

import (
	"reflect"
	"sync"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/client/internal/jsondoc"
)

const (
	// largest is the length of the longest text that is cached. Longer texts are of objects with fields of their own,
	// such as a ConfigMap with a thousand entries.
	largest = 16 << 10
	// most is the largest total length of the cached texts. Decoded, they take about fifteen times the memory.
	most = 256 << 10
)

// Cache maps the text of fieldsV1 to its decoded form. The zero Cache is empty. A Cache is safe for concurrent use.
// When it is full, it drops all entries.
type Cache struct {
	mu      sync.RWMutex
	size    int // of the texts
	decoded map[string]map[string]any
	fields  map[uintptr]projection.FieldSet // by the map in decoded, which therefore is no other one's address
}

// Decoded returns the map to which the text of a fieldsV1 decodes: the same map each time, which must not be modified.
// It returns nil for any other text, and for a text that is too long for the cache. It is a [jsondoc.Records].
func (m *Cache) Decoded(text []byte) map[string]any {
	m.mu.RLock()
	known := m.decoded[string(text)]
	m.mu.RUnlock()
	if known != nil || len(text) > largest {
		return known
	}
	record, ok := (*jsondoc.Document)(nil).DecodeLike(text, nil)
	if !ok {
		return nil
	}
	fields, err := projection.DecodeFieldsV1(record)
	if err != nil {
		return nil
	}
	return m.remember(string(text), record, fields)
}

// remember adds the record, and returns it. If another goroutine has added one for the text meanwhile, it returns that.
func (m *Cache) remember(text string, record map[string]any, fields projection.FieldSet) map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.decoded[text]; known != nil {
		return known
	}
	if m.size+len(text) > most || m.decoded == nil {
		m.size, m.decoded, m.fields = 0, map[string]map[string]any{}, map[uintptr]projection.FieldSet{}
	}
	m.size += len(text)
	m.decoded[text] = record
	m.fields[address(record)] = fields
	return record
}

// Fields returns the fields of a record, and whether they are cached. They are only for a map that Decoded returned,
// not for an equal one.
func (m *Cache) Fields(record map[string]any) (projection.FieldSet, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	fields, known := m.fields[address(record)]
	return fields, known
}

func address(record map[string]any) uintptr { return reflect.ValueOf(record).Pointer() }
