package transition

// node is an expression. op is what it does with its args:
//
//	"name", "number", "text"   text is the name, the number, the text between the quotes; no args
//	"."                        the field text of args[0]
//	"[]"                       the item args[1] of args[0]
//	"call"                     the function text of args; the first is what it was called on, nil if nothing
//	"!", "-", "?:", "||", "==" and all other operators of CEL
//	"list", "map"              a list, and a map with its keys and values
type node struct {
	op, text string
	args     []*node
}

// The limits of what is read of a rule, far above those of a rule that somebody wrote.
const (
	maxLength  = 1 << 14
	maxNesting = 50
)

// parse reads an expression. ok is false if it isn't CEL, or is of a form that isn't known here.
func parse(text string) (n *node, ok bool) {
	if len(text) > maxLength {
		return nil, false
	}
	tokens, ok := scan(text)
	if !ok {
		return nil, false
	}
	p := &parser{tokens: tokens}
	n = p.expression()
	return n, !p.failed && p.tokens[0].kind == endToken
}

// parser reads tokens. After a failure what it returns is of no use, but never nil.
type parser struct {
	tokens  []token // the last one is the end
	nesting int
	failed  bool
}

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != endToken {
		p.tokens = p.tokens[1:]
	}
	return t
}

// accept takes the sign, if it is next.
func (p *parser) accept(sign string) bool {
	if p.tokens[0] != (token{signToken, sign}) {
		return false
	}
	p.next()
	return true
}

func (p *parser) expect(sign string) {
	if !p.accept(sign) {
		p.failed = true
	}
}

func (p *parser) expression() *node {
	if p.nesting++; p.nesting > maxNesting {
		p.failed = true
		p.tokens = p.tokens[len(p.tokens)-1:]
	}
	defer func() { p.nesting-- }()
	condition := p.binary(0)
	if !p.accept("?") {
		return condition
	}
	then := p.expression()
	p.expect(":")
	return &node{op: "?:", args: []*node{condition, then, p.expression()}}
}

// levels are the operators between two operands, those that bind least first.
var levels = [][]string{{"||"}, {"&&"}, {"==", "!=", "<=", ">=", "<", ">", "in"}, {"+", "-"}, {"*", "/", "%"}}

func (p *parser) binary(level int) *node {
	if level == len(levels) {
		return p.unary()
	}
	left := p.binary(level + 1)
	for {
		operator, found := p.operator(levels[level])
		if !found {
			return left
		}
		left = &node{op: operator, args: []*node{left, p.binary(level + 1)}}
	}
}

func (p *parser) operator(of []string) (operator string, found bool) {
	for _, operator := range of {
		if operator == "in" && p.tokens[0] == (token{identToken, operator}) {
			p.next()
			return operator, true
		}
		if p.accept(operator) {
			return operator, true
		}
	}
	return "", false
}

func (p *parser) unary() *node {
	var signs []string
	for {
		if sign, found := p.operator([]string{"!", "-"}); found {
			signs = append(signs, sign)
			continue
		}
		break
	}
	n := p.member()
	for i := len(signs); i > 0; i-- {
		n = &node{op: signs[i-1], args: []*node{n}}
	}
	return n
}

func (p *parser) member() *node {
	n := p.primary()
	for {
		switch {
		case p.accept("."), p.accept(".?"):
			name := p.next()
			p.failed = p.failed || name.kind != identToken
			if p.accept("(") {
				n = &node{op: "call", text: name.text, args: append([]*node{n}, p.list(")")...)}
			} else {
				n = &node{op: ".", text: name.text, args: []*node{n}}
			}
		case p.accept("["):
			p.accept("?")
			n = &node{op: "[]", args: []*node{n, p.expression()}}
			p.expect("]")
		default:
			return n
		}
	}
}

func (p *parser) primary() *node {
	switch t := p.next(); {
	case t.kind == numberToken:
		return &node{op: "number", text: t.text}
	case t.kind == stringToken:
		return &node{op: "text", text: t.text}
	case t.kind == identToken && p.accept("("):
		return &node{op: "call", text: t.text, args: append([]*node{nil}, p.list(")")...)}
	case t.kind == identToken:
		return &node{op: "name", text: t.text}
	case t.text == "(":
		n := p.expression()
		p.expect(")")
		return n
	case t.text == "[":
		return &node{op: "list", args: p.list("]")}
	case t.text == "{":
		return &node{op: "map", args: p.list("}")}
	}
	p.failed = true
	return &node{}
}

// list reads expressions up to the sign that ends them. Those of a map have colons between them, too.
func (p *parser) list(end string) (items []*node) {
	for !p.accept(end) {
		if p.tokens[0].kind == endToken {
			p.failed = true
			return items
		}
		items = append(items, p.expression())
		separated := p.accept(",") || end == "}" && p.accept(":")
		if !separated && p.tokens[0] != (token{signToken, end}) {
			p.failed = true
		}
	}
	return items
}
