package projection_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/internal/rows"
	"github.com/ssaplan/primitives/projection"
)

func TestReshaped(t *testing.T) {
	for _, row := range rows.Read[struct {
		Why, Obj, Fields, Today, Live, Names, Want, Object, Renamed string
	}](t, "reshaped") {
		t.Run(row.Why, func(t *testing.T) {
			obj := object(row.Obj)
			p := projection.Project(obj, set(strings.Fields(row.Fields)...))
			got, renamings := p.Reshaped(set(strings.Fields(row.Today)...), set(strings.Fields(row.Names)...), false, object(row.Live))
			require.Equal(t, row.Want, fmt.Sprint(texts(slices.Collect(got.Fields.All()))))
			if row.Object == "" {
				row.Object = row.Obj
			}
			if len(renamings) > 0 || row.Renamed != "" {
				var is []any
				for _, r := range renamings {
					is = append(is, r.Is)
				}
				require.Equal(t, "["+row.Renamed+"]", fmt.Sprint(is))
				require.Equal(t, object(row.Object), got.Object)
			}
			require.Equal(t, projection.Project(obj, p.Fields).Object, p.Object, "the old one is as it was")
		})
	}
}
