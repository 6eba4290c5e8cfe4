#!/bin/sh
# Runs a fuzz target for a while: fuzz.sh TIME FOLDER TARGET. In $FUZZ is the test program of each folder, and $CORPUS
# gets the inputs that are found, where go test also keeps them.
#
# When the time is over, the program may end with "context deadline exceeded" as if the target had failed, though no
# input did. Exactly that counts as passed, and nothing else: a failing input that is still being minimized at that
# moment leaves the same words, and a line that says so. A program without coverage searches without guidance, and
# counts as failed.
time=$1 folder=$2 target=$3

output=$(cd "$folder" && "$FUZZ/$folder/fuzz.test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$time" -test.parallel 1 \
	-test.fuzzcachedir "$CORPUS/$folder" -test.paniconexit0 2>&1)
status=$?
progress=$(printf '%s\n' "$output" | sed -n 's/^fuzz: elapsed: [^,]*, //p' | tail -1)

# ranOutOfTime reports whether the output has nothing but the progress and that outcome.
ranOutOfTime() {
	printf '%s\n' "$output" | grep -v '^fuzz: elapsed: ' | tr '\n' '|' |
		grep -qE "^--- FAIL: $target \([0-9.]+s\)\|    context deadline exceeded\|FAIL\|\$"
}

# guided reports whether the program was built with coverage.
guided() { ! printf '%s\n' "$output" | grep -q '^warning: the test binary was not built with coverage'; }

if [ -n "$progress" ] && guided && { [ $status = 0 ] || ranOutOfTime; }; then
	echo "ok $folder $target: $progress"
else
	printf '%s\nFAILED: %s in %s\n' "$output" "$target" "$folder"
	exit 255 # xargs starts no further target
fi
