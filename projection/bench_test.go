package projection_test

import (
	"testing"

	"github.com/ssaplan/primitives/projection"
)

// The objects are those of the table that TestCost prints.

func BenchmarkExtract(b *testing.B) {
	for _, s := range subjects(b) {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				_, _ = projection.Managed(s.live, "m")
			}
		})
	}
}

func BenchmarkParseFieldsV1(b *testing.B) {
	for _, s := range subjects(b) {
		text := s.set.FieldsV1()
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				_, _ = projection.ParseFieldsV1(text)
			}
		})
	}
}

func BenchmarkProject(b *testing.B) {
	for _, s := range subjects(b) {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				projection.Project(s.live, s.set)
			}
		})
	}
}

func BenchmarkExtractItems(b *testing.B) {
	for _, s := range subjects(b) {
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				s.extractItems()
			}
		})
	}
}

func BenchmarkDiff(b *testing.B) {
	for _, s := range subjects(b) {
		before, after := projection.Project(s.live, s.set), projection.Project(s.edited, s.set)
		b.Run(s.name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				projection.Diff(before, after)
			}
		})
	}
}
