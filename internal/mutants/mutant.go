package main

import (
	"go/ast"
	"go/token"
)

// A mutant is one operator changed into another.
type mutant struct {
	id       int // from 1
	mutation string
	node     ast.Node
	operator *token.Token // in node
	from, to token.Token
	function string // that it is in, "" outside of functions
	text     string // of node, in one line

	alone   bool // it is built into a program of its own
	reached bool // by a test
	verdict verdict
}

type verdict string

const (
	survived verdict = "survived"
	killed   verdict = "killed"
	looped   verdict = "looped" // killed because it used up its CPU time
	hung     verdict = "hung"   // killed because it waited for ever
)

// description is how the list names a mutant.
func (m *mutant) description() string {
	function := m.function
	if function == "" {
		function = "-"
	}
	return function + ": " + m.mutation + ": " + m.text
}

// What gremlins' mutators make of operators, as in its internal/engine/mappings.go.
var mutations = map[string]map[token.Token]token.Token{
	"ARITHMETIC_BASE": {
		token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	},
	"CONDITIONALS_BOUNDARY": {token.GEQ: token.GTR, token.GTR: token.GEQ, token.LEQ: token.LSS, token.LSS: token.LEQ},
	"CONDITIONALS_NEGATION": {
		token.EQL: token.NEQ, token.NEQ: token.EQL, token.GEQ: token.LSS, token.LSS: token.GEQ, token.GTR: token.LEQ,
		token.LEQ: token.GTR,
	},
	"INCREMENT_DECREMENT": {token.DEC: token.INC, token.INC: token.DEC},
	"INVERT_ASSIGNMENTS": {
		token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.QUO_ASSIGN,
		token.QUO_ASSIGN: token.MUL_ASSIGN, token.REM_ASSIGN: token.REM_ASSIGN,
	},
	"INVERT_BITWISE": {
		token.AND: token.OR, token.OR: token.AND, token.XOR: token.AND, token.AND_NOT: token.AND, token.SHL: token.SHR,
		token.SHR: token.SHL,
	},
	"INVERT_BWASSIGN": {
		token.AND_ASSIGN: token.OR_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN, token.XOR_ASSIGN: token.AND_ASSIGN,
		token.AND_NOT_ASSIGN: token.AND_ASSIGN, token.SHL_ASSIGN: token.SHR_ASSIGN, token.SHR_ASSIGN: token.SHL_ASSIGN,
	},
	"INVERT_LOGICAL":   {token.LAND: token.LOR, token.LOR: token.LAND},
	"INVERT_LOOPCTRL":  {token.BREAK: token.CONTINUE, token.CONTINUE: token.BREAK},
	"INVERT_NEGATIVES": {token.SUB: token.ADD},
	"REMOVE_SELF_ASSIGNMENTS": {
		token.ADD_ASSIGN: token.ASSIGN, token.SUB_ASSIGN: token.ASSIGN, token.MUL_ASSIGN: token.ASSIGN,
		token.QUO_ASSIGN: token.ASSIGN, token.REM_ASSIGN: token.ASSIGN, token.AND_ASSIGN: token.ASSIGN,
		token.OR_ASSIGN: token.ASSIGN, token.XOR_ASSIGN: token.ASSIGN, token.SHL_ASSIGN: token.ASSIGN,
		token.SHR_ASSIGN: token.ASSIGN, token.AND_NOT_ASSIGN: token.ASSIGN,
	},
}

// operatorOf returns the operator of a node and its position, nil if it has none that gremlins changes.
func operatorOf(n ast.Node) (*token.Token, token.Pos) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return &n.Tok, n.TokPos
	case *ast.BinaryExpr:
		return &n.Op, n.OpPos
	case *ast.BranchStmt:
		return &n.Tok, n.TokPos
	case *ast.IncDecStmt:
		return &n.Tok, n.TokPos
	case *ast.UnaryExpr:
		return &n.Op, n.OpPos
	}
	return nil, token.NoPos
}
