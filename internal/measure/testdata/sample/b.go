package sample

// B is used by a.go.
type B int

func (B) use(a A) { _ = a.B }
