#!/bin/sh
# Builds a Terraform or an OpenTofu from the source that the module proxy has, as a program "terraform": build.sh MODULE VERSION FOLDER.
# The modules of Terraform's remote backends aren't published, so its program has only those backends that need none of them.
set -eu
module=$1 version=$2 out=$3
test ! -x "$out/terraform" || exit 0
mkdir -p "$out"
main=.
test "$module" != github.com/opentofu/opentofu || main=./cmd/tofu
cd "$out"
source=$(GOFLAGS=-mod=mod go mod download -json "$module@$version" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
rm -rf src && cp -R "$source" src && chmod -R u+w src
cd src
unpublished=$(sed -n 's#^replace \(.*\) => \./.*#\1#p' go.mod)
for m in $unpublished; do
	go mod edit -dropreplace "$m" -droprequire "$m"
	name=$(sed -n "s#^[[:space:]]*\(backend[A-Za-z0-9]*\) \"$m\"#\1#p" internal/backend/init/init.go)
	test -z "$name" || sed -i.bak "/$name[ .]/d" internal/backend/init/init.go
done
CGO_ENABLED=0 GOFLAGS=-mod=mod go build -buildvcs=false -ldflags "-s -w -X $module/version.dev=no" -o "$out/terraform" "$main"
cd .. && rm -rf src
