package parts_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/parts"
)

var errOther = errors.New("other")

type inner struct {
	Text   string
	hidden int
}

type outer struct {
	inner

	Inner  inner
	List   []inner
	Pair   [2]int
	Number *int
	Is     bool
	Any    any
	Err    error
}

func sample() *outer {
	number := 1
	return &outer{Inner: inner{"a", 1}, List: []inner{{"b", 2}}, Number: &number}
}

func TestPartsAreChangedOneByOne(t *testing.T) {
	var names []string
	for i, part := range must(t, sample(), [2]int{5, 6}, errOther) {
		names = append(names, part.Name)
		value := sample()
		if part.Change == nil {
			continue
		}
		must(t, value, [2]int{5, 6}, errOther)[i].Change()
		want := sample()
		switch part.Name {
		case ".Inner.Text":
			want.Inner.Text = "aother"
		case ".List more":
			want.List = append(want.List, want.List[0])
		case ".List less":
			want.List = []inner{}
		case ".List[].Text":
			want.List[0].Text = "bother"
		case ".Pair":
			want.Pair = [2]int{5, 6}
		case ".Number":
			*want.Number = 2
		case ".Is":
			want.Is = true
		case ".Any":
			want.Any = "other"
		case ".Err":
			want.Err = errOther
		}
		require.Equal(t, want, value, part.Name)
	}
	require.Equal(t, []string{
		".inner", ".Inner.Text", ".Inner.hidden", ".List more", ".List less", ".List[].Text", ".List[].hidden", ".Pair", ".Number", ".Is", ".Any", ".Err",
	}, names)
}

func must(t *testing.T, pointer any, others ...any) []parts.Part {
	t.Helper()
	found, err := parts.Of(pointer, others...)
	require.NoError(t, err)
	return found
}

// What can't be changed must not be forgotten.
func TestEveryPartNeedsAValue(t *testing.T) {
	for name, change := range map[string]func(*outer){
		".List: nothing is there":   func(o *outer) { o.List = nil },
		".Number: nothing is there": func(o *outer) { o.Number = nil },
	} {
		value := sample()
		change(value)
		_, err := parts.Of(value, [2]int{}, errOther)
		require.EqualError(t, err, name)
	}
	_, err := parts.Of(sample())
	require.EqualError(t, err, ".Pair: what is another [2]int?")
	_, err = parts.Of(sample(), [2]int{})
	require.EqualError(t, err, ".Err: what is another error?")
}
