#!/bin/sh
# Does with the last commit what others do once it is tagged, with a module proxy of its own (proxy.sh): the lines of the
# README work, also in a clone, a program imports each module that is meant for that, go install installs the command, the
# command and the provider's repository are released but for the upload, and terraform installs the provider from there.
# check.sh VERSION GORELEASER FOLDER [PART...], where the parts are readme, import, install, command and provider.
set -eu
version=$1 goreleaser=$2 out=$3
shift 3
parts=${*:-readme import install command provider}
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
rm -rf "$out" && mkdir -p "$out/importer" "$out/readme" "$out/bin" "$out/terraform"

clean() { # a version that isn't released yet must not stay in the module cache, and the key is for this run
	for d in "$(go env GOMODCACHE)/github.com/ssaplan" "$(go env GOMODCACHE)/cache/download/github.com/ssaplan"; do
		test ! -e "$d" || { chmod -R u+w "$d" && rm -rf "$d"; }
	done
	test ! -e "$out/key" || gpgconf --homedir "$out/key" --kill gpg-agent
	rm -rf "$out/key"
}
trap clean EXIT
clean && mkdir -m 700 "$out/key"
quietly() { "$@" >"$out/log" 2>&1 || { cat "$out/log"; exit 1; }; }

"$here/proxy.sh" "$version" "$out/proxy"
GOPROXY="file://$out/proxy,$(go env GOPROXY)"
export GOPROXY GOWORK=off GOFLAGS=-mod=mod GONOSUMDB="github.com/ssaplan/*" GNUPGHOME="$out/key"
export GODEBUG=goindex=0 # go keeps which files a version has, and this one had others in the last run

fingerprint() { gpg --list-keys --with-colons 2>/dev/null | sed -n 's/^fpr:*\([0-9A-F]*\):$/\1/p' | head -1; }

# sign makes a key for this run, once.
sign() {
	test -n "$(fingerprint)" || quietly gpg --batch --passphrase '' --quick-gen-key release@example.com rsa3072 sign never
	GPG_FINGERPRINT=$(fingerprint)
	export GPG_FINGERPRINT
}

# readme does what the README says, with its program, in an empty folder and in a clone, on a server of its own.
readme() (
	export GOFLAGS=
	quietly git clone "$root" "$out/clone"
	GOBIN="$out/path" quietly make -C "$out/clone" install
	cd "$out/readme"
	sed -n '/^```go$/,/^```$/p' "$root/README.md" | grep -v '^```' >main.go
	printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: readme, namespace: default}, data: {a: b}}\n' >app.yaml
	{
		get=$(sed -n 's/^    \(go get [^ ]*\).*/\1/p' "$root/README.md")
		sed -n '/^## A complete program/,/^```go$/p' "$root/README.md" | grep -o '`go [^`]*`' | sed "s#\`##g; s#^go get\$#$get#"
		sed -n 's/^    \(kubectl ssaplan [^#]*\).*/\1 || test $? = 2/p' "$root/README.md" # something would change
	} >lines
	(cd "$root/test" && PATH="$out/path:$PATH" CGO_ENABLED=0 quietly go run ./cmd/controlplane run -- sh -exc "cd '$out/readme' && . ./lines")
	test "$(grep -c '^Create v1/ConfigMap default/readme' "$out/log")" = 2 # the plan, and the plan that is applied
	grep -q '^Plan: 1 to update' "$out/log" # the plugin has another field manager
	grep -q "github.com/ssaplan/primitives $version" go.mod
	echo "ok: $(wc -l <lines) lines of the README do what it says"
)

import_modules() (
	cd "$out/importer"
	quietly go mod init example.com/importer
	{
		echo 'package main'
		for p in ssaplan ssaplan/set ssaplan/review ssaplan/ssaplantest preview readiness ctrlssaplan otelssaplan; do
			echo "import _ \"github.com/ssaplan/primitives/$p\""
		done
		echo 'func main() {}'
	} >main.go
	for m in "" /preview /readiness /ctrlssaplan /otelssaplan; do
		quietly go get "github.com/ssaplan/primitives$m@$version"
	done
	quietly go mod tidy
	quietly go build -o importer .
	./importer
	echo "ok: a program imports every module of $version"
)

install_command() (
	GOBIN="$out/bin" quietly go install "github.com/ssaplan/primitives/examples/kubectl-ssaplan@$version"
	"$out/bin/kubectl-ssaplan" version >"$out/log"
	grep -q "^kubectl-ssaplan $version " "$out/log" || { cat "$out/log"; exit 1; }
	echo "ok: go install installs the command"
)

release_command() (
	quietly git clone "$root" "$out/command"
	cd "$out/command"
	git tag "$version"
	sign
	quietly "$goreleaser" release --clean --skip publish,announce --config examples/kubectl-ssaplan/release/goreleaser.yaml
	cd dist
	for arch in amd64_v1 arm64_v8.0; do # the image has the program of the archives
		cmp "kubectl-ssaplan_linux_$arch/kubectl-ssaplan" "../.cache/image/linux_${arch%%_*}/kubectl-ssaplan"
	done
	./kubectl-ssaplan_linux_amd64_v1/kubectl-ssaplan version | grep -q "^kubectl-ssaplan $version "
	cp ../.cache/image/*_image_* ../.cache/image/signing-key.asc . # where they are uploaded
	grep -E '^    (gpg|sha256sum) ' "$root/examples/kubectl-ssaplan/README.md" >"$out/verify"
	mkdir -m 700 "$out/keyring" # of a user, who has no keys
	GNUPGHOME="$out/keyring" quietly sh -ex "$out/verify"
	grep -q 'Good signature' "$out/log"
	quietly sha256sum -c checksums.txt
	for archive in *.tar.gz *.zip *.tar; do
		grep -q " $archive\$" checksums.txt
	done
	for archive in *.tar.gz *.zip; do # what krew installs, on each system
		case $archive in *_image_*) continue ;; esac
		grep -A 3 " uri: .*/$version/$archive\$" krew/ssaplan.yaml | grep -q " sha256: $(sed -n "s/ .*$archive\$//p" checksums.txt)\$"
	done
	test "$(grep -c ' uri: ' krew/ssaplan.yaml)" = "$(grep -c -e '\.tar\.gz$' -e '\.zip$' checksums.txt)"
	arch=$(go env GOARCH)
	KREW_ROOT="$out/krew" quietly krew install --manifest krew/ssaplan.yaml --archive "kubectl-ssaplan_${version}_linux_$arch.tar.gz"
	"$out/krew/bin/kubectl-ssaplan" version | grep -q "^kubectl-ssaplan $version "
	images="buildah --root $out/images --runroot $out/run --storage-driver vfs"
	container=$($images from "$($images pull --quiet "oci-archive:$(echo ./*_image_linux_"$arch".tar*)")")
	$images run --isolation chroot "$container" -- /kubectl-ssaplan version | grep -q "^kubectl-ssaplan $version "
	for archive in *.tar.gz *.zip *.tar; do # each has a program, and each program has a list of what it is built of
		bom=${archive%.tar*}
		bom=${bom%.zip}.bom.json
		grep -q '"pkg:golang/k8s.io/client-go@' "$bom"
		grep -q " $bom\$" checksums.txt
	done
	echo "ok: $(wc -l <checksums.txt) files of the command are signed, with what each program is built of; krew installs it, and the image runs it"
)

release_provider() (
	"$root/examples/terraform-provider-ssaplan/split.sh" "$version" "$out/split"
	cd "$out/split"
	quietly go mod tidy
	git init -q && git add -A
	git -c user.name=release -c user.email=release@example.com commit -q -m "Release $version"
	git tag "$version" && git remote add origin https://example.com/ssaplan/terraform-provider-ssaplan.git
	sign
	quietly "$goreleaser" check
	quietly "$goreleaser" release --clean --skip publish,announce
	cd dist
	name=terraform-provider-ssaplan_${version#v}
	cp ../terraform-registry-manifest.json "${name}_manifest.json" # which has that name where it is uploaded
	quietly gpg --batch --verify "${name}_SHA256SUMS.sig" "${name}_SHA256SUMS"
	quietly sha256sum -c "${name}_SHA256SUMS"
	for archive in *.zip; do # each has a program, and each program has a list of what it is built of
		bom=${archive%.zip}.bom.json
		grep -q '"pkg:golang/k8s.io/client-go@' "$bom"
		grep -q " $archive\$" "${name}_SHA256SUMS"
		grep -q " $bom\$" "${name}_SHA256SUMS"
	done
	echo "ok: $(wc -l <"${name}_SHA256SUMS") files of the provider are signed, with what each program is built of"

	mkdir -p "$out/mirror/example.com/ssaplan/ssaplan" && cp ./*.zip "$out/mirror/example.com/ssaplan/ssaplan"
	cd "$out/terraform"
	printf 'terraform {\n  required_providers {\n    ssaplan = { source = "example.com/ssaplan/ssaplan" }\n  }\n}\n' >main.tf
	printf 'provider_installation {\n  filesystem_mirror { path = "%s" }\n}\n' "$out/mirror" >terraform.rc
	export TF_CLI_CONFIG_FILE="$out/terraform/terraform.rc"
	quietly terraform init -no-color
	quietly terraform version
	grep -q "provider example.com/ssaplan/ssaplan $version" "$out/log"
	quietly terraform providers schema -json
	grep -q '"ssaplan_object"' "$out/log"
	echo "ok: terraform installs it"
)

for part in $parts; do
	case $part in
	readme) readme ;;
	import) import_modules ;;
	install) install_command ;;
	command) release_command ;;
	provider) release_provider ;;
	*) echo "no part is called $part" >&2 && exit 1 ;;
	esac
done
