package authresilience

import "slices"

// WithoutPhrase calls test once for each phrase, while that phrase is missing from its table.
func WithoutPhrase(test func(phrase string)) {
	tables := []*[]phrase{
		&webhookPhrases, &policyPhrases, &forbiddenPhrases, &badRequestPhrases, &serverErrorPhrases, &foreignPhrases,
		&clientPhrases, &unauthorizedTexts,
	}
	for _, table := range tables {
		all := *table
		for i, p := range all {
			*table = slices.Delete(slices.Clone(all), i, i+1)
			test(p.start + "…" + p.has)
		}
		*table = all
	}
}
