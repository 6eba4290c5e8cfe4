#!/bin/sh
# Lists the tests that did not run, each reason once: notrun.sh LOG...
# A test says NOT RUN in its log if the machine lacks something, and ON REQUEST if it runs only when asked to.
list() {
	reasons=$(cat /dev/null "$@" | sed -n "s/^ *[a-zA-Z0-9_]*\.go:[0-9]*: $mark/$mark/p" | sort | uniq -c | sed -E 's/^ *([0-9]+) (.*)/  \2 (\1)/')
	[ -z "$reasons" ] || printf '== %s\n%s\n' "$title" "$reasons"
}

mark='NOT RUN' title='not run, as this machine lacks something (tests):' list "$@"
mark='ON REQUEST' title='run on request only (tests):' list "$@"
