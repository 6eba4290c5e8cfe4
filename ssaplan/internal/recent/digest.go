package recent

import (
	"hash/maphash"
	"math"
	"math/bits"

	"github.com/ssaplan/primitives/ssaplan/internal/fastjson"
)

// Digest returns a number for the content of an object. Two different contents have the same number with a chance of
// one in 2⁶⁴. The author of an object can't raise this chance, since each cache makes other numbers. The order of a
// map's fields doesn't count. It reports false for values that decoding JSON doesn't make, and for what is too deep to
// be an object.
func (c *Cache[V]) Digest(content map[string]any) (digest uint64, ok bool) {
	d := digester{seed: c.seed, salt: maphash.String(c.seed, "salt"), ok: true}
	return d.fields(content, 0), d.ok
}

type digester struct {
	seed maphash.Seed
	salt uint64
	ok   bool
}

// The digest of a value depends on the number of its type, so that values of two types have different digests. The
// numbers are arbitrary, odd ones.
const (
	isNull   = 0x9e3779b97f4a7c15
	isBool   = 0xbf58476d1ce4e5b9
	isInt    = 0x94d049bb133111eb
	isFloat  = 0xd6e8feb86659fd93
	isString = 0xa0761d6478bd642f
	isList   = 0xe7037ed1a0b428db
	isMap    = 0x8ebc6af09c88c6e3
)

func (d *digester) value(v any, depth int) uint64 {
	switch v := v.(type) {
	case string:
		return d.mix(d.text(v), isString)
	case map[string]any:
		return d.fields(v, depth+1)
	case []any:
		return d.items(v, depth+1)
	case int64:
		return d.mix(uint64(v), isInt)
	case bool:
		if v {
			return isBool
		}
		return isBool + 2
	case float64:
		return d.mix(math.Float64bits(v), isFloat)
	case nil:
		return isNull
	}
	d.ok = false
	return 0
}

// fields adds up the fields, so that their order doesn't count.
func (d *digester) fields(m map[string]any, depth int) uint64 {
	if len(m) == 0 {
		return isMap // much of managedFields is that
	}
	sum := uint64(len(m))
	for name, v := range m {
		if !d.enter(depth) {
			break
		}
		sum += d.mix(d.text(name), d.value(v, depth))
	}
	return d.mix(sum, isMap)
}

func (d *digester) items(list []any, depth int) uint64 {
	sum := uint64(len(list))
	for _, v := range list {
		if !d.enter(depth) {
			break
		}
		sum = d.mix(sum, d.value(v, depth))
	}
	return d.mix(sum, isList)
}

// enter reports whether it makes sense to go on.
func (d *digester) enter(depth int) bool {
	d.ok = d.ok && depth <= fastjson.Deepest
	return d.ok
}

func (d *digester) text(s string) uint64 { return maphash.String(d.seed, s) }

// mix returns a number for two, in this order.
func (d *digester) mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^d.salt, b^^d.salt)
	return high ^ low
}
