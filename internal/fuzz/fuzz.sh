#!/bin/sh
# Runs a fuzz target for a while: fuzz.sh TIME FOLDER TARGET. GO is the go command.
#
# When the time is over, go test may end with "context deadline exceeded" as if the target had failed, though no input did.
# Exactly that counts as passed, and nothing else: a failing input that is still being minimized at that moment leaves the
# same words, and a line that says so.
time=$1 folder=$2 target=$3

output=$(cd "$folder" && "${GO:-go}" test -vet off -run '^$' -fuzz "^$target\$" -fuzztime "$time" -parallel 1 . 2>&1)
status=$?
progress=$(printf '%s\n' "$output" | sed -n 's/^fuzz: elapsed: [^,]*, //p' | tail -1)

# ranOutOfTime reports whether the output has nothing but the progress and that outcome.
ranOutOfTime() {
	printf '%s\n' "$output" | grep -v '^fuzz: elapsed: ' | tr '\n' '|' |
		grep -qE "^--- FAIL: $target \([0-9.]+s\)\|    context deadline exceeded\|FAIL\|exit status 1\|FAIL	[^|]*\|\$"
}

if [ -n "$progress" ] && { [ $status = 0 ] || ranOutOfTime; }; then
	echo "ok $folder $target: $progress"
else
	printf '%s\nFAILED: %s in %s\n' "$output" "$target" "$folder"
	exit 255 # xargs starts no further target
fi
