#!/bin/sh
# Makes a module proxy of the modules that programs import or people install, as if the last commit was tagged: proxy.sh VERSION FOLDER.
# A module zip has no files of modules below it. Source: https://go.dev/ref/mod#zip-files
set -eu
version=$1 out=$2
cd "$(dirname "$0")/../.."
modules=$(git ls-files '*go.mod' | sed 's#/*go.mod$##; s#^$#.#')
for module in . test preview readiness ctrlssaplan otelssaplan examples; do
	path=$(sed -n 's/^module //p' "$module/go.mod")
	below=$(for other in $modules; do
		case $module,$other in
		.,.) ;;
		.,*) echo ":(exclude)$other" ;;
		*,"$module"/*) echo ":(exclude)${other#"$module"/}" ;;
		esac
	done)
	at="$out/$path/@v" commit=HEAD
	[ "$module" != examples ] || commit=$(internal/release/installable.sh)
	tree=$commit
	[ "$module" = . ] || tree="$commit:$module"
	mkdir -p "$at"
	# shellcheck disable=SC2086 # the folders are words
	git archive --format zip --prefix "$path@$version/" -o "$at/$version.zip" "$tree" -- . $below
	git show "$commit:$([ "$module" = . ] || echo "$module/")go.mod" >"$at/$version.mod"
	printf '{"Version": "%s"}\n' "$version" >"$at/$version.info"
	echo "$version" >"$at/list"
done
