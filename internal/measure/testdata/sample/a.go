package sample

import "strings"

// A is used by b.go.
type A struct{ B B }

// M uses c.go, which uses nothing of a.go.
func (a A) M() string {
	return strings.ToUpper(c)
}
