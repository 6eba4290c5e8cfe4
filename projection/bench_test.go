package projection_test

import (
	"testing"

	"github.com/ssaplan/primitives/projection"
)

// The objects are those of the table that TestCost prints; one operation is one object.

func BenchmarkExtract(b *testing.B) {
	benchmark(b, func(i instance) { _, _ = managedFields(i.live, "m") })
}

func BenchmarkParseFieldsV1(b *testing.B) {
	benchmark(b, func(i instance) { _, _ = projection.ParseFieldsV1(i.text) })
}

func BenchmarkProject(b *testing.B) {
	benchmark(b, func(i instance) { projection.Project(i.live, i.set) })
}

func BenchmarkDiff(b *testing.B) {
	benchmark(b, func(i instance) { projection.Diff(i.before, i.after) })
}

// BenchmarkExtractItems is what structured-merge-diff takes for what Project does.
func BenchmarkExtractItems(b *testing.B) {
	benchmark(b, func(i instance) { i.extractItems() })
}

func benchmark(b *testing.B, operation func(instance)) {
	for f := range families(b) {
		for _, s := range f.members {
			b.Run(s.name, func(b *testing.B) {
				b.ReportAllocs()
				start := processorTime()
				for n := range b.N {
					operation(s.copies[n%len(s.copies)])
				}
				b.ReportMetric(float64(processorTime()-start)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}
