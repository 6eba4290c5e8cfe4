#!/bin/sh
# Looks for known vulnerabilities in what modules call: vulncheck.sh GOVULNCHECK UNFIXED MODULE...
# UNFIXED are those without a fixed version, which don't fail. VULNDB is a copy of the database.
#
# Where the database can't be reached, that is listed at the end as what did not run. A copy has to be readable.
program=$1 unfixed=$2
shift 2

missed=
for module in "$@"; do
	echo "== $module"
	output=$(cd "$module" && "$program" ${VULNDB:+-db "$VULNDB"} ./... 2>&1)
	status=$?
	unreached=$(printf '%s\n' "$output" | sed -n 's/^govulncheck: fetching vulnerabilities: //p')
	if [ $status = 1 ] && [ -z "$VULNDB" ] && [ -n "$unreached" ]; then
		missed="$missed $module" reason=$unreached
		continue
	fi
	found=$(printf '%s\n' "$output" | sed -n 's/^Vulnerability #.*: //p')
	if [ $status != 0 ] && ! { [ $status = 3 ] && [ "$found" = "$unfixed" ]; }; then
		printf '%s\n' "$output"
		exit 1
	fi
	printf '%s\n' "$output" | grep -E '^(No vulnerabilities|Vulnerability )'
done
[ -z "$missed" ] || printf '== not run, as this machine lacks something:\n  NOT RUN: the database of vulnerabilities cannot be read (%s):%s\n' "$reason" "$missed"
