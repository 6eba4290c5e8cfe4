#!/bin/sh
# Prints a commit on top of the last one to be tagged as examples/VERSION: go install PACKAGE@VERSION takes no module whose
# go.mod has replace directives, which the examples have, so that a clone builds with its own modules.
set -eu
cd "$(dirname "$0")/../.."
GIT_INDEX_FILE=$(mktemp -u)
export GIT_INDEX_FILE
trap 'rm -f "$GIT_INDEX_FILE"' EXIT
git read-tree HEAD
without=$(git show HEAD:examples/go.mod | sed '/^replace (/,/^)/d' | git hash-object -w --stdin)
git update-index --cacheinfo "100644,$without,examples/go.mod"
export GIT_AUTHOR_NAME=release GIT_AUTHOR_EMAIL=release@example.com GIT_COMMITTER_NAME=release GIT_COMMITTER_EMAIL=release@example.com
git commit-tree -p HEAD -m "examples: require the released modules" "$(git write-tree)"
