package projection_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ssaplan/primitives/projection"
)

func TestReshaped(t *testing.T) {
	for _, row := range []struct{ why, obj, fields, today, live, names, want, object, renamed string }{
		{
			why: "a map that is granular by now", obj: "{m: {a: 1, b: {c: 2}, e: [], n: null}}", fields: "m", today: "m.a m.z",
			want: "[m.a m.b.c]",
		},
		{why: "a map of nothing that a server records", obj: "{m: {e: [], n: null, o: {}}}", fields: "m", today: "m.a", want: "[m]"},
		{why: "a part that is atomic", obj: "{m: {a: {b: 1}, e: []}}", fields: "m", today: "m.a m.e m.z", want: "[m.a m.e]"},
		{why: "a list that has keys by now", obj: "{l: [{k: 2, v: 1}, {k: 1}]}", fields: "l", today: "l[k=3] l[k=3].v",
			want: "[l[k=1] l[k=1].k l[k=2] l[k=2].k l[k=2].v]"},
		{why: "a list that is a set by now", obj: "{l: [b, a]}", fields: "l", today: `l[="c"]`, want: `[l[="a"] l[="b"]]`},
		{why: "a list that became a map", obj: "{l: [b, a]}", fields: "l", today: "l.a", want: "[l]"},
		{why: "a map that became a list", obj: "{m: {a: 1}}", fields: "m", today: `m[="a"]`, want: "[m]"},
		{why: "a map that is atomic by now", obj: "{m: {a: 1}}", fields: "m.a", today: "m", live: "{m: {a: 2, b: 1}}", want: "[m]"},
		{why: "an empty map, which is a leaf in both shapes", obj: "{m: {a: 1}}", fields: "m.a", today: "m", live: "{m: {}}", want: "[m.a]"},
		{why: "a list that is atomic by now, and empty", obj: "{l: [{k: 1}]}", fields: "l[k=1] l[k=1].k", today: "l", live: "{l: []}", want: "[l]"},
		{why: "metadata, whose maps stay granular", obj: "{metadata: {labels: {a: 1}}}", fields: "metadata.labels.a", today: "metadata.labels",
			live: "{metadata: {labels: {b: 1}}}", want: "[metadata.labels.a]"},
		{
			why: "another key, also of inner lists", obj: "{l: [{k: 1, l: [{k: 2, v: 1}]}, {k: 3}]}", fields: "l[k=1] l[k=1].l[k=2].v l[k=3]",
			live: "{l: [{k: 1, i: 7, l: [{k: 2, i: 8}]}]}", today: "l[i=7,k=1].l[i=8,k=2].v", names: "l[i=7,k=1].l[i=8,k=2].v",
			want:   `[l[i=7,k=1] l[i=7,k=1].l[i=8,k=2].v l[k=3]]`,
			object: "{l: [{k: 1, i: 7, l: [{k: 2, i: 8, v: 1}]}, {k: 3}]}", renamed: "l[i=7,k=1] l[i=7,k=1].l[i=8,k=2]",
		},
		{
			why: "an item of others has our old name, too", obj: "{l: [{k: 1, v: 1}]}", fields: "l[k=1].v",
			live: "{l: [{k: 1, i: 7}, {k: 1, i: 8}]}", today: "l[i=7,k=1].v", names: "l[i=7,k=1].v",
			want: "[l[i=8,k=1].v]", object: "{l: [{k: 1, i: 8, v: 1}]}", renamed: "l[i=8,k=1]",
		},
	} {
		t.Run(row.why, func(t *testing.T) {
			obj := object(row.obj)
			p := projection.Project(obj, set(strings.Fields(row.fields)...))
			got, renamings := p.Reshaped(set(strings.Fields(row.today)...), set(strings.Fields(row.names)...), false, object(row.live))
			var paths []string
			for path := range got.Fields.All() {
				paths = append(paths, path.String())
			}
			require.Equal(t, row.want, fmt.Sprint(paths))
			if row.object == "" {
				row.object = row.obj
			}
			if len(renamings) > 0 || row.renamed != "" {
				var is []any
				for _, r := range renamings {
					is = append(is, r.Is)
				}
				require.Equal(t, "["+row.renamed+"]", fmt.Sprint(is))
				require.Equal(t, object(row.object), got.Object)
			}
			require.Equal(t, projection.Project(obj, p.Fields).Object, p.Object, "the old one is as it was")
		})
	}
}
