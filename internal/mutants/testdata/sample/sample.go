// Package sample has every operator that is changed, in every place where a switch has to be put in another way.
package sample

import (
	"fmt"
	"time"
)

const limit = 3 - 1

type level int

var table = []int{1 + 1, 2 * 3, -4}

// steps ends loops that a mutant doesn't let end.
var steps int

func step() {
	if steps++; steps > 200 {
		panic("too many steps")
	}
}

// No loop that is needed to end the others has an operator.
var values = []int{0, 1, 2, 3, 4, 7, -2}

// Results returns what every function makes of many values.
func Results() (results []string) {
	for _, f := range []func(a, b int) any{compare, logic, arithmetic, bits, assign, loops, labels, places} {
		for _, a := range values {
			for _, b := range values {
				results = append(results, result(f, a, b))
			}
		}
	}
	return results
}

func result(f func(a, b int) any, a, b int) (text string) {
	steps = 0
	defer func() {
		if reason := recover(); reason != nil {
			text = fmt.Sprint("panic: ", reason)
		}
	}()
	return fmt.Sprint(f(a, b))
}

func compare(a, b int) any {
	return []bool{
		a == b, a != b, a < b, a <= b, a > b, a >= b, // a comment
		fmt.Sprint(a) < "1", float64(a) >= 2.0, level(a) <= 2,
	}
}

func logic(a, b int) any {
	var calls []string
	call := func(name string, v bool) bool { calls = append(calls, name); return v }
	x := call("a", a > 0) && call("b", b > 0) || call("c", a > 1) ||
		// a comment between
		call("d", b > 1) && !call("e", a == b)
	return fmt.Sprint(x, calls)
}

func arithmetic(a, b int) any {
	return []any{
		a + b, a - b, a * b, a / 3, a % 3, -a, float64(a) / 2, uint8(a) - 7, a + 2*b - 1, "x" + fmt.Sprint(a),
		time.Duration(a) * time.Second, level(a) + 1, table[0] * a, table,
	}
}

func bits(a, b int) any {
	var wide uint64 = 1 << uint(b+2)
	return []any{a & b, a | b, a ^ b, a &^ b, a << 2, a >> 1, wide}
}

func assign(a, b int) any {
	c, text := []int{a, a, a, a, a, a, a, a, a, a}, "x"
	c[0] += b
	c[1] -= b
	c[2] *= b
	c[3] /= 2
	c[4] %= 3
	c[5] &= b
	c[6] |= b
	c[7] ^= b
	c[8] <<= 1
	c[9] >>= 1
	c[a+2-a]++
	text += fmt.Sprint(b)
	return fmt.Sprint(c, text)
}

func loops(a, b int) any {
	var seen []int
	for i := 0; i < a; i++ {
		step()
		if i == b {
			continue
		}
		if i == limit+1 {
			break
		}
		seen = append(seen, i)
	}
	for i := a; i > 0; i -= 2 {
		step()
		seen = append(seen, i)
	}
	return seen
}

func labels(a, b int) any {
	var seen []int
outer:
	for i := range 3 {
		for j := range 3 {
			step()
			switch {
			case i+j == a:
				continue outer
			case j == b && i > 0, j == -a, j == 4:
				seen = append(seen, -1)
				break
			case i == 1 && j == 1:
				break outer
			}
			seen = append(seen, 10*i+j)
		}
	}
	return seen
}

func places(a, b int) any {
	const local = 2*limit + 1
	inner := func() int {
		if c := a - b; c > 0 {
			return c * local
		}
		return a + b
	}
	wait := time.Hour * time.Duration(a*a+1)
	select {
	case <-time.After(wait):
	default:
		a++
	}
	if p := &a; *p == 3 {
		b--
	}
	return []any{inner(), wait}
}
