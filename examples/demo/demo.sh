#!/bin/sh
# Shows on a real API server what "kubectl ssaplan" answers in the life of an application, and checks every answer.
# It wants a cluster of its own, in KUBECONFIG, and kubectl and go in PATH. "make demo" at the root of the repository
# provides them.
set -eu

cd "$(dirname "$0")"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM

main() {
	build
	cp app.yaml "$dir/app.yaml"
	cd "$dir"
	echo "API server ${CONTROLPLANE_VERSION:-of $KUBECONFIG}"

	step "A new application. Most of it has to wait for its namespace, and the Backup for its definition: the plan has stages."
	run 2 kubectl ssaplan plan -v -f app.yaml
	expect "Stage 1 of 5: namespaces and CRDs"
	expect "+ v1/Namespace shop "
	expect "+ apiextensions.k8s.io/v1/CustomResourceDefinition backups.shop.example.com "
	expect "… apps/v1/Deployment shop/web "
	expect '+ password: <redacted>'
	refuse 'Y29ycmVjdC1ob3JzZQ=='
	expect "Plan: 2 to create, 11 deferred."

	step "Apply all of it in one run."
	run 0 kubectl ssaplan apply --yes --state state.json -f app.yaml
	expect "created v1/Namespace shop"
	expect "created shop.example.com/v1/Backup shop/nightly"

	step "Plan again: nothing changes, although the server has filled in defaults and written 1000m as 1."
	run 0 kubectl ssaplan plan -v --state state.json -f app.yaml
	expect "= apps/v1/Deployment shop/web"
	expect "Plan: 13 unchanged."

	step "Edit the manifests: an image, replicas, a variable, a line of a file, a password."
	edit 's|shop/web:1.4.0|shop/web:1.5.0|' 's|replicas: 2|replicas: 3|' 's|value: info|value: debug|' \
		's|keepalive_timeout 30|keepalive_timeout 65|' 's|Y29ycmVjdC1ob3JzZQ==|YmF0dGVyeS1zdGFwbGU=|'
	run 2 kubectl ssaplan plan --state state.json -f app.yaml
	expect 'image: "registry.example.com/shop/web:1.4.0" -> "registry.example.com/shop/web:1.5.0"'
	expect 'replicas: 2 -> 3'
	expect '[name="LOG_LEVEL"].value: "info" -> "debug"'
	expect '+   keepalive_timeout 65;'
	expect 'data.password: <redacted: changed>'
	refuse 'YmF0dGVyeS1zdGFwbGU='
	expect "Plan: 3 to update, 10 unchanged."
	run 0 kubectl ssaplan apply --yes --state state.json -f app.yaml
	run 0 kubectl ssaplan plan --state state.json -f app.yaml
	expect "Plan: 13 unchanged."

	step "Another manager injects a sidecar, in front of the containers. Our fields stay as they are."
	run 0 kubectl patch deployment web -n shop --field-manager mesh-injector --type json \
		-p '[{"op": "add", "path": "/spec/template/spec/containers/0", "value": {"name": "mesh", "image": "mesh:2"}}]'
	run 0 kubectl ssaplan plan --state state.json -f app.yaml
	expect "Plan: 13 unchanged."

	step "Others change what is ours. The plan says who did, and what apply would do about it."
	run 0 kubectl scale deployment web -n shop --replicas 7
	run 0 kubectl patch configmap web -n shop --field-manager night-shift --type merge -p '{"data": {"currency": "USD"}}'
	run 2 kubectl ssaplan plan --state state.json -f app.yaml
	expect 'spec.replicas: 7 -> 3  # drifted: "kubectl" changed it (Update'
	expect 'data.currency: "USD" -> "EUR"  # drifted: "night-shift" changed it (Update, '
	expect "Plan: 2 to update, 11 unchanged."
	run 3 kubectl ssaplan plan --state state.json -f app.yaml --force-conflicts=false
	expect 'spec.replicas: owned by "kubectl" (Update of scale)'
	expect "Plan: 2 in conflict, 11 unchanged."
	run 0 kubectl ssaplan apply --yes --state state.json -f app.yaml

	step "A second file belongs to the application for a while. What leaves the manifests is shown in every plan, until --prune deletes it."
	printf '{apiVersion: v1, kind: ConfigMap, metadata: {name: sale, namespace: shop}, data: {discount: 10%%}}\n' >sale.yaml
	run 0 kubectl ssaplan apply --yes --state state.json -f app.yaml -f sale.yaml
	expect "created v1/ConfigMap shop/sale"
	run 0 kubectl ssaplan plan --state state.json -f app.yaml
	expect "No longer in the manifests (--prune deletes it):"
	expect "v1/ConfigMap shop/sale  delete"
	run 0 kubectl ssaplan apply --yes --prune --state state.json -f app.yaml
	expect "deleted v1/ConfigMap shop/sale"

	step "Rename an object. That is another object, and the old one is kept as long as the Deployment uses it."
	edit '/^kind: ConfigMap/,/^---/s|name: web|name: web-settings|'
	run 2 kubectl ssaplan plan --state state.json -f app.yaml
	expect "+ v1/ConfigMap shop/web-settings  create with 2 fields"
	expect "  = v1/ConfigMap shop/web  kept: still used by apps/v1/Deployment shop/web"
	expect "Plan: 1 to create, 12 unchanged."
	edit '/^          configMap:/,/name: web/s|name: web|name: web-settings|'
	run 2 kubectl ssaplan plan --state state.json -f app.yaml
	expect "  - v1/ConfigMap shop/web  delete"
	expect "Plan: 1 to create, 1 to update, 11 unchanged; 1 no longer in the manifests."

	printf '\nEvery plan was right.\n'
}

# build puts the command where kubectl finds it as a plugin; that of BUILT, if there is one already.
build() {
	if [ -n "${BUILT:-}" ]; then
		mkdir -p "$dir/bin"
		ln -s "$BUILT" "$dir/bin/kubectl-ssaplan"
	else
		echo "building kubectl-ssaplan" >&2
		(cd ../kubectl-ssaplan && go build -buildvcs=false -ldflags="-s -w" -o "$dir/bin/kubectl-ssaplan" .)
	fi
	PATH=$dir/bin:$PATH
}

step() {
	printf '\n\n### %s\n' "$1"
}

# run CODE COMMAND... runs a command and stops the demo if it doesn't end with the exit code. The file plain has the output without
# colours, which CLICOLOR_FORCE=1 brings into a pipe.
run() {
	want=$1
	shift
	printf '\n$'
	for word in "$@"; do
		case $word in
		*[!A-Za-z0-9_./:=,-]*) printf " '%s'" "$word" ;; # as a shell needs it
		*) printf ' %s' "$word" ;;
		esac
	done
	printf '\n'
	code=0
	"$@" >output 2>&1 || code=$?
	cat output
	sed "s/$(printf '\033')\[[0-9;]*m//g" output >plain
	[ "$code" = "$want" ] || fail "exit code $code instead of $want"
	printf '(exit code %s)\n' "$code"
}

# expect TEXT stops the demo if the last command didn't print the text.
expect() {
	grep -qF -- "$1" plain || fail "the output lacks: $1"
}

# refuse TEXT stops the demo if the last command printed the text.
refuse() {
	if grep -qF -- "$1" plain; then
		fail "the output has: $1"
	fi
}

# edit EXPRESSION... changes the manifests with sed.
edit() {
	printf '\n$ edit app.yaml\n'
	for expression in "$@"; do
		sed "$expression" app.yaml >edited
		changedLines app.yaml edited || fail "nothing to edit: $expression"
		mv edited app.yaml
	done
}

# changedLines OLD NEW prints the lines that differ between two files of equally many lines; without any it fails.
changedLines() {
	awk 'NR == FNR { old[FNR] = $0; next }
		$0 != old[FNR] { print "-" old[FNR]; print "+" $0; found = 1 }
		END { exit !found }' "$1" "$2"
}

fail() {
	printf '\nFAILED: %s\n' "$1" >&2
	exit 1
}

main
