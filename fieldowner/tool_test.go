package fieldowner

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ssaplan/primitives/internal/rows"
)

func TestToolOf(t *testing.T) {
	for _, row := range rows.Read[struct {
		Why   string
		Owner Owner
		Want  string
	}](t, "tools") {
		t.Run(row.Why, func(t *testing.T) {
			tool, known := ToolOf(row.Owner, append(Tools(), Tool{Name: "ours", Manager: "ours-*"}, Tool{Name: "our Flux", Manager: "helm-controller"}))
			assert.Equal(t, row.Want, tool.Name)
			assert.Equal(t, row.Want != "", known)
		})
	}
}
