package authresilience

import (
	"slices"

	"github.com/ssaplan/primitives/internal/answer"
)

// Text is a text of a table.
type Text = answer.Text

// The tables of what servers say, and of what clients say.
var (
	ServerTexts = []*answer.Table{
		&answer.WebhookTexts, &answer.PolicyTexts, &answer.ForbiddenTexts, &answer.BadRequestTexts, &answer.ServerErrorTexts,
		&answer.ForeignTexts,
	}
	ClientTexts = []*answer.Table{&answer.ClientTexts, &answer.UnauthorizedTexts}
)

// WithoutText calls test once for each text of some tables, while that text is missing from its table.
func WithoutText(tables []*answer.Table, test func(text answer.Text)) {
	for _, table := range tables {
		all := *table
		for i, text := range all {
			*table = slices.Delete(slices.Clone(all), i, i+1)
			test(text)
		}
		*table = all
	}
}
