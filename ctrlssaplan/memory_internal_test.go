package ctrlssaplan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestAFightEndsWithTheWindow(t *testing.T) {
	var r remembered
	start := time.Unix(0, 0)
	for i := range maxRepairs {
		at := start.Add(time.Duration(i) * time.Minute)
		assert.False(t, r.fought(at), "repair %d", i+1)
		r.repairs = append(r.repairs, at)
	}
	assert.True(t, r.fought(start.Add(repairWindow-1)))
	assert.False(t, r.fought(start.Add(repairWindow)), "the oldest repair is out of the window")
}
