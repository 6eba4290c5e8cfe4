#!/bin/sh
# Builds the image as archives that container engines load, one for each architecture, from the recipe of ../Dockerfile.
# The program is built here, as the archives of the release are, in the place of the recipe's first stage, so that no
# registry is needed. Two runs of the same commit make the same bytes. buildah and GNU tar have to be in PATH.
# image.sh VERSION FOLDER [ARCH...], where the default is amd64 arm64.
set -eu
version=$1 out=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
certificates=${CERTIFICATES:-/etc/ssl/certs/ca-certificates.crt}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

made=$(git -C "$here" log -1 --format=%ct)
settings=$(sed -n 's/^ENV //p' "$here/../Dockerfile")
released="-X github.com/ssaplan/primitives/examples/kubectl-ssaplan/cmd.released=$version"
build=$(sed -n 's/^RUN \(cd examples && go build .*\) -o \/kubectl-ssaplan \(.*\)$/\1 -o "$PROGRAM" \2/p' "$here/../Dockerfile" | sed "s#-s -w#& $released#")
test -n "$settings" && test -n "$build"

for arch in ${*:-amd64 arm64}; do
	stage=$work/$arch
	mkdir -p "$stage/etc/ssl/certs" "$out/linux_$arch"
	(cd "$here/../../.." && env GOFLAGS=-buildvcs=false GOOS=linux GOARCH="$arch" PROGRAM="$stage/kubectl-ssaplan" $settings sh -ec "$build")
	cp "$stage/kubectl-ssaplan" "$out/linux_$arch/" # for who wants to know what is in it
	cp "$certificates" "$stage/etc/ssl/certs/ca-certificates.crt"
	{ printf 'FROM scratch AS build\nCOPY . /\n'; sed -n '/^FROM scratch$/,$p' "$here/../Dockerfile"; } >"$work/Dockerfile"
	buildah() { command buildah --root "$work/images" --runroot "$work/run" --storage-driver vfs "$@"; }
	buildah build --quiet --platform "linux/$arch" --timestamp "$made" --file "$work/Dockerfile" --tag kubectl-ssaplan "$stage" >/dev/null
	archive=$out/kubectl-ssaplan_${version}_image_linux_$arch.tar
	rm -rf "$work/layout"
	buildah push --quiet localhost/kubectl-ssaplan "oci:$work/layout:kubectl-ssaplan:$version"
	tar -C "$work/layout" --sort=name --mtime="@$made" --owner=0 --group=0 --numeric-owner -cf "$archive" .
done
