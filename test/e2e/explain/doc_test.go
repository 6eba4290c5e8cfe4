// Package explain_test records what the unit tests of ssaplan/explain need from a server: a live object that several
// managers wrote, and the answer to the dry run of an apply. Each scenario of testdata/scenarios is played on a real
// control plane and compared with its file in ssaplan/explain/testdata/recorded. With RECORD=1, which make record sets,
// the files are written instead, and only the expected lines in them ("want") stay. What differs from run to run is
// replaced, so that a new recording of the same server changes nothing.
package explain_test
