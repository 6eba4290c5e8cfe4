#!/bin/sh
# Makes the repository of the provider, since the registry wants one with the provider at its root: split.sh VERSION FOLDER.
# VERSION is the tag of the library, v0.1.0, which has to be there first. The tests stay in the library's repository, which has the API
# server that they need. After it: go mod tidy, commit, tag and push, as .github/workflows/provider.yml of the library does.
set -eu
version=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
old=github.com/ssaplan/primitives/examples/terraform-provider-ssaplan new=github.com/ssaplan/terraform-provider-ssaplan

mkdir -p "$out/.github/workflows"
cp -R "$here/main.go" "$here/provider" "$here/docs" "$here/examples" "$here/modules" "$here"/*.md "$here/.goreleaser.yml" \
	"$here/terraform-registry-manifest.json" "$here/../../LICENSE" "$out"
cp "$here/release.yml" "$out/.github/workflows/release.yml"
rm -rf "$out/provider/testdata"
find "$out/provider" -name '*_test.go' -exec rm {} +
find "$out" -name '*.go' -exec sed -i.bak "s#$old#$new#" {} +
find "$out" -name '*.bak' -exec rm {} +

cp "$here/../go.mod" "$here/../go.sum" "$out"
cd "$out"
go mod edit -module "$new"
for module in $(go mod edit -json | sed -n 's#.*"Path": "\(github.com/ssaplan/primitives[^"]*\)".*#\1#p' | sort -u); do
	go mod edit -dropreplace "$module" -droprequire "$module"
done
go mod edit -require "github.com/ssaplan/primitives@$version" -require "github.com/ssaplan/primitives/readiness@$version"
