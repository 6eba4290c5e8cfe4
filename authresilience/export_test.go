package authresilience

import "slices"

// The tables of what servers say, and of what clients say.
var (
	ServerPhrases = []*[]phrase{&webhookPhrases, &policyPhrases, &forbiddenPhrases, &badRequestPhrases, &serverErrorPhrases, &foreignPhrases}
	ClientPhrases = []*[]phrase{&clientPhrases, &unauthorizedTexts}
)

// WithoutPhrase calls test once for each phrase of some tables, while that phrase is missing from its table.
func WithoutPhrase(tables []*[]phrase, test func(phrase string, recorded bool)) {
	for _, table := range tables {
		all := *table
		for i, p := range all {
			*table = slices.Delete(slices.Clone(all), i, i+1)
			test(p.start+"…"+p.has, p.seen == recorded)
		}
		*table = all
	}
}
