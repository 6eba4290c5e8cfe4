// Package proof_test proves that plan equals apply: it makes random objects, written by several managers in several
// ways, plans random edits of them, carries the same edits out with a bare client, and compares all that the plan said
// with what the server did.
//
// A case is a sequence of writes, made from a seed and a number alone. Each apply of the manager under test is a trial:
// planned, then done. What a plan and reality disagree on is made as small as possible and kept in testdata/cases,
// which every run replays first.
//
//	go test ./e2e/proof                                      500 cases of seed 1
//	CASES=20000 SEED=7 go test ./e2e/proof -timeout 60m      more of them
//	SEED=7 CASE=203 go test ./e2e/proof                      that one
//	SERVER=dynclient go test ./e2e/proof                     through that server, or through SERVER=controller-runtime
//	KIND=Draft CASES=3000 go test ./e2e/proof -timeout 60m   cases of that kind alone
//	COURSES=all go test -run EveryKind ./e2e/proof           each kind that the server serves, see [TestEveryKind]
//	CRDS=DIR CASES=3000 go test ./e2e/proof -timeout 60m     cases of the definitions in a folder, and of no other kinds
package proof_test
