package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMeasure(t *testing.T) {
	m, err := measure("testdata/sample")
	require.NoError(t, err)
	require.Equal(t, &measures{files: 3, lines: 20, exported: 3, functions: []int{1, 3}, pairs: []string{"a.go b.go"}}, m)
	_, err = measure("testdata")
	require.ErrorContains(t, err, "no Go files")
}
