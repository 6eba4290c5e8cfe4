package jsondoc

import (
	"strings"

	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// part is a field or item of a document that is worth sharing: a map, a list or a long text. The parts of a document
// stand in the order of its text, each before those within it.
type part struct {
	name  string // of the field; empty for an item
	text  string
	value any
	next  int // the part after those within
}

// worthSharing is how long the text of a part is at least.
const worthSharing = 64

// part decodes the value of a field or, without a name, of an item, unless it can be shared.
func (d *decoder) part(name string, depth int) any {
	switch c := d.next(); {
	case c != '{' && c != '[' && c != '"':
		return d.value(depth)
	case d.recording:
		return d.record(name, depth)
	case d.first < d.last:
		return d.share(name, depth)
	}
	return d.field(name, depth)
}

// recordDepth is how deep in an object the fields of a record are: metadata.managedFields[0].fieldsV1.
const recordDepth = 4

// field decodes the value of a field or item, or takes it from what is known of records.
func (d *decoder) field(name string, depth int) any {
	if name == "fieldsV1" && depth == recordDepth && d.records != nil {
		text := fastjson.Value(d.body[d.at:])
		if known := d.records(text); known != nil {
			d.at += len(text)
			return known
		}
	}
	return d.value(depth)
}

func (d *decoder) record(name string, depth int) any {
	start, i := d.at, len(d.parts)
	d.parts = append(d.parts, part{name: name})
	v := d.field(name, depth)
	if d.at-start < worthSharing {
		d.parts = d.parts[:i] // and those within, which are shorter
	} else {
		d.parts[i] = part{name, d.text[start:d.at], v, len(d.parts)}
	}
	return v
}

// share returns the value of the part that stands here. If none does, it decodes the value with that of the same name
// in mind.
func (d *decoder) share(name string, depth int) any {
	like, same := d.find(name)
	if like < 0 {
		return d.alone(name, depth)
	}
	p := d.parts[like]
	last := d.last
	if same {
		d.at += len(p.text)
		d.first = p.next
		return p.value
	}
	d.first, d.last = like+1, p.next
	v := d.field(name, depth)
	d.first, d.last = p.next, last
	return v
}

// alone decodes a value that the other document doesn't have.
func (d *decoder) alone(name string, depth int) any {
	last := d.last
	d.last = d.first
	v := d.field(name, depth)
	d.last = last
	return v
}

// find returns the next part of the name, and whether it is the one that stands here, which it prefers. It looks at the
// next few only: servers write fields in a fixed order.
func (d *decoder) find(name string) (like int, same bool) {
	const few = 8
	like = -1
	for i, n := d.first, 0; i < d.last && n < few; i, n = d.parts[i].next, n+1 {
		p := &d.parts[i]
		if p.name != name {
			continue
		}
		if strings.HasPrefix(d.text[d.at:], p.text) {
			return i, true
		}
		if like < 0 {
			like = i
		}
	}
	return like, false
}
