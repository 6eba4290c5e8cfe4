#!/bin/sh
# Prints what failed, of the output of go test -v: failed.sh LOG
# Of each failed test it prints the last lines that the test logged, wherever they are in the log, and of a panic, a race
# or a package that doesn't compile what follows.
awk '
/^=== (RUN|NAME|CONT) / { test = $3; next }
/^ *--- FAIL: / { verdicts[++failed] = $0; names[failed] = $3; next }
/^ *(---|===) / { next }
/^panic: |^fatal error: |^WARNING: DATA RACE|^# / { follows = 60 }
/^(FAIL|ok|PASS)/ { follows = 0 }
/^FAIL./ { packages = packages $0 "\n"; next }
follows-- > 0 { print; next }
/^    / { count[test]++; logged[test, count[test]] = $0 }
END {
	for (i = 1; i <= failed; i++) {
		print verdicts[i]
		all = count[names[i]]
		for (j = all > 40 ? all - 39 : 1; j <= all; j++)
			print logged[names[i], j]
	}
	printf "%s", packages
}' "$1"
