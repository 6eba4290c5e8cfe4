// Package records remembers records of managedFields. They say which fields a manager set and not to what, so most
// objects of a kind have the same ones.
package records

import (
	"reflect"
	"sync"

	"github.com/ssaplan/primitives/projection"
	"github.com/ssaplan/primitives/ssaplan/client/internal/jsondoc"
)

const (
	// largest is how long a record is at most that is remembered. Longer ones are of objects that have their own
	// fields, such as a ConfigMap of a thousand entries.
	largest = 16 << 10
	// most is how much text is remembered at most. What it decodes to takes some fifteen times the memory.
	most = 256 << 10
)

// Memory remembers records. The zero Memory remembers none yet. It is safe for concurrent use. When it is full, it
// forgets all and begins anew.
type Memory struct {
	mu      sync.RWMutex
	size    int // of the texts
	decoded map[string]map[string]any
	fields  map[uintptr]projection.FieldSet // by the map in decoded, which therefore is no other one's address
}

// Decoded returns what the text of a record decodes to: the same map each time, which must not be modified. It returns
// nil for what isn't a record that it would remember. It is a [jsondoc.Records].
func (m *Memory) Decoded(text []byte) map[string]any {
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

// remember returns the record, or what another goroutine has remembered for it meanwhile.
func (m *Memory) remember(text string, record map[string]any, fields projection.FieldSet) map[string]any {
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

// Fields returns the fields of a record, and whether they are known: it is the very map that Decoded returned, and not
// only an equal one.
func (m *Memory) Fields(record map[string]any) (projection.FieldSet, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	fields, known := m.fields[address(record)]
	return fields, known
}

func address(record map[string]any) uintptr { return reflect.ValueOf(record).Pointer() }
