package fieldowner_test

import (
	"testing"

	"github.com/ssaplan/primitives/internal/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }
