#!/bin/sh
# Compares what the modules export with the last release: apidiff.sh APIDIFF MODULE... . It fails if a name that programs may use is gone or
# another, unless the first version of the changelog is of another minor version, or since v1 of another major one, as docs/compatibility.md
# promises.
set -eu
apidiff=$1
shift

released=$(git describe --tags --match 'v*' --abbrev=0 2>/dev/null) || { echo "NOT RUN: there is no release to compare with"; exit 0; }
coming=$(sed -n 's/^## \[\([0-9.]*\)\].*/v\1/p' CHANGELOG.md | head -1)
# line returns the versions among which names stay: those of a minor version before v1, and of a major one since.
line() { case $1 in v0.*) echo "$1" | cut -d . -f 1,2 ;; *) echo "$1" | cut -d . -f 1 ;; esac; }

old=$(mktemp -d)
trap 'git worktree remove --force "$old/tree"; rm -rf "$old"' EXIT
git worktree add --quiet --detach "$old/tree" "$released"

gone=
for module in "$@"; do
	[ -f "$old/tree/$module/go.mod" ] || continue # it is new
	path=$(sed -n 's/^module //p' "$module/go.mod")
	(cd "$old/tree/$module" && "$apidiff" -m -w "$old/export" "$path") 2>"$old/log" || { cat "$old/log"; exit 1; }
	changes=$(cd "$module" && "$apidiff" -m -incompatible "$old/export" "$path" 2>"$old/log") || { cat "$old/log"; exit 1; }
	[ -z "$changes" ] || { printf '%s\n%s\n' "$path:" "$changes"; gone=yes; }
done

if [ -z "$gone" ]; then
	echo "ok: nothing of $released is missing"
elif [ "$(line "$released")" != "$(line "$coming")" ]; then
	echo "ok: $coming may change names of $released"
else
	echo "FAILED: a program that was written for $released does not compile with $coming; the first version of the changelog has to be another minor version, and since v1 with another major one"
	exit 1
fi
