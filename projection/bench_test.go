package projection_test

import (
	"testing"

	"github.com/ssaplan/primitives/projection"
)

// BenchmarkOperation has the objects of the table that BenchmarkCost prints; one operation is one object.
func BenchmarkOperation(b *testing.B) {
	timed := map[string]func(instance){"ParseFieldsV1": func(i instance) { _, _ = projection.ParseFieldsV1(i.text) }}
	for op, operation := range timedOperations {
		timed[operationNames[op]] = operation
	}
	for f := range families(b) {
		for _, s := range f.members {
			for name, operation := range timed {
				b.Run(name+"/"+s.name, func(b *testing.B) {
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
}
