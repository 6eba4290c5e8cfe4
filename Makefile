# The modules; CONTRIBUTING.md says why each is one. MODULES have tests, BENCHES and PEERS are the comparison of make bench.
MODULES := . test test/controlplane/launcher preview readiness ctrlssaplan otelssaplan examples
# Those that programs import: they need no server to be tested.
LIBRARIES := . preview readiness ctrlssaplan otelssaplan
BENCHES := test/bench
PEERS := test/bench/flux test/bench/argo

# Each module is built with its own versions, also where a go.work is about (see the target work).
export GOWORK := off
GO ?= go
# $(call each,modules,command) runs a command in each of some modules.
each = set -e; for m in $(1); do echo "== $$m"; (cd $$m && $(2)); done
GOFMT = "$$($(GO) env GOROOT)/bin/gofmt"
# Without the part of go vet that go test runs, of all that is imported in each module and once more with other flags:
# make lint runs all of vet.
TEST = $(GO) test -vet=off
# The race detector needs cgo and a C compiler, which a machine with nothing but Go doesn't have.
RACE := $(shell test "$$($(GO) env CGO_ENABLED)" = 1 && command -v $$($(GO) env CC) >/dev/null && echo -race)
# The race detector is left out of functions of others that cost most with it: the cryptography of the standard library,
# which starts no goroutines, and the framework of the Terraform provider. Digests of secrets and TLS took a quarter of
# the time of all tests. The generic part of the cryptography is compiled where it is called.
RACING := $(if $(RACE),$(RACE) -gcflags=crypto/internal/fips140/...=-race=false \
	-gcflags=github.com/ssaplan/primitives/ssaplan/internal/stretch=-race=false \
	-gcflags=github.com/hashicorp/terraform-plugin-framework/...=-race=false \
	-gcflags=github.com/hashicorp/terraform-plugin-go/...=-race=false)
# A program with the race detector sleeps for a second before it exits, so that what goes on may show a race. Tests of what
# starts goroutines fail if any is left (internal/goroutines).
export GORACE ?= atexit_sleep_ms=0
# Without cgo, as the control plane's own programs are built: what they share is compiled once.
CONTROLPLANE := CGO_ENABLED=0 $(GO) run ./cmd/controlplane
BIN := $(CURDIR)/.cache/bin
# The suites of make test, the longest first. So many run at once: half of the time the end-to-end tests wait for servers.
# The proof takes nearly four times as long with the race detector, for what other tests do with more goroutines: it runs
# without. Each night make proof has it.
AT_ONCE ?= 4
PROOF := test/e2e/proof
# Functions without goroutines: there the race detector has nothing to find, and takes most of the time, also to link what
# tests them. What calls them with many goroutines is tested with it. They are the suites plain, plain-examples, and, with
# what compares such functions with a server or plays the documentation step by step, plain-test.
PLAIN := fieldowner identity identity/importid immutability immutability/internal/transition internal/answer internal/kinds \
	internal/leak internal/managedfields internal/parts internal/picture internal/plainjson projection projection/foreign ssaplan/deletion \
	ssaplan/explain ssaplan/internal/fastjson ssaplan/internal/handover ssaplan/internal/objectset ssaplan/internal/scale \
	ssaplan/internal/secrecy ssaplan/manifest ssaplan/redact ssaplan/write
PLAIN_EXAMPLES := $(addprefix kubectl-ssaplan/,applyset attention definition embedded render saved savedplan shard)
PLAIN_TEST := docs e2e/fieldowner e2e/immutability e2e/projection
# Those that take longest are suites of their own, and start first.
ALONE := test/e2e/planner $(PROOF) examples/terraform-provider-ssaplan
SUITES := $(ALONE) test examples plain-test $(filter-out test examples,$(MODULES)) plain plain-examples
# $(call figures,folder,command) runs tests that measure, and prints their figures, or all that they print if one fails.
figures = mkdir -p .cache; (cd $(1) && $(2)) >$(CURDIR)/.cache/figures.log 2>&1 || { cat $(CURDIR)/.cache/figures.log; exit 1; }; \
	grep -E '^ok|figure|NOT RUN' $(CURDIR)/.cache/figures.log

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## plan and apply an application on a real control plane, step by step
	cd test && $(CONTROLPLANE) run -- ../examples/demo/demo.sh

# The demo's output, as people see it in a terminal.
PICTURE = $(GO) run ./internal/picture -o docs/images/
.PHONY: images
images: controlplane ## draw the pictures of the README from the demo's output, with one port for all runs
	@mkdir -p .cache docs/images
	cd test && CLICOLOR_FORCE=1 $(CONTROLPLANE) run -- ../examples/demo/demo.sh >$(CURDIR)/.cache/demo.txt
	sed -E 's#(127\.0\.0\.1):[0-9]+#\1:16443#' .cache/demo.txt | $(PICTURE)plan -from '$$ kubectl scale deployment' -to 'Plan: 2 to update' \
		-without '(exit code' -title 'A plan after others changed two objects'

# Hugo is compiled once. The pages are those of docs; internal/site has the navigation, the layout and the search.
HUGO ?= github.com/gohugoio/hugo@v0.165.0
SITE := $(CURDIR)/.cache/site
.PHONY: site
site: ## build a site of the pages in .cache/site, with a search, and check its links; Chromium tries the search and measures the pages
	@test -x $(BIN)/hugo || CGO_ENABLED=0 GOFLAGS= GOBIN=$(BIN) $(GO) install $(HUGO)
	@rm -rf $(SITE) && $(BIN)/hugo --config internal/site/hugo.toml --panicOnWarning --noBuildLock --destination $(SITE)
	cd test && SITE=$(SITE) $(TEST) -count 1 -v -run 'TestSite|TestSearch|TestPagesFitTheWindow' ./docs

.PHONY: test
test: controlplane ## all tests: unit tests, and the end-to-end tests on a real control plane; prints the figures they measure
	@$(if $(RACE),,echo "note: the race detector is off, it needs cgo and a C compiler")
	@$(MAKE) --no-print-directory suites

.PHONY: test-unit
test-unit: suite/. suite/plain ## unit tests of the library, no server needed

# What the machine lacks is listed once, at the end. The real terraform is used if it is in PATH.
.PHONY: suites
suites:
	@mkdir -p .cache; rm -f .cache/test-*.log; started=$$(date +%s); status=0; \
		$(MAKE) --no-print-directory -k -j $(AT_ONCE) $(addprefix suite/,$(SUITES)) || status=$$?; \
		internal/suites/notrun.sh .cache/test-*.log; echo "== $$(($$(date +%s) - started)) s"; exit $$status

# The race detector in GOFLAGS applies to the programs that the tests build, too. Their packages are compiled with it
# already. A suite has all packages of its module except those of other suites.
packages = $(or $(and $(filter $(ALONE),$*),./...),$(and $(filter plain,$*),$(PLAIN:%=./%)),$(and $(filter plain-examples,$*),$(PLAIN_EXAMPLES:%=./%)), \
	$(and $(filter plain-test,$*),$(PLAIN_TEST:%=./%)),$$($(GO) list ./... | grep -v $(addprefix -e ^github.com/ssaplan/primitives/,$(PLAIN:=$$) $(PLAIN_EXAMPLES:%=examples/%$$) $(PLAIN_TEST:%=test/%$$) $(ALONE))))
suite/plain-test: export TREE := $(shell git ls-files -z | xargs -0 cat 2>/dev/null | cksum)
# Tests, the servers that they start and the linker collect garbage less often. That is faster, and takes up to 6 GB.
suite/%: export GOGC := $(or $(GOGC),300)
suite/%: export TF_ACC := $(or $(TF_ACC),$(shell command -v terraform >/dev/null && echo 1))
suite/%:
	@mkdir -p .cache; log=$(CURDIR)/.cache/test-$(subst /,-,$(subst .,library,$*)).log; cd $(patsubst plain-%,%,$(patsubst plain,.,$*)); \
		export $(if $(filter $(PROOF) plain%,$*),CGO_ENABLED=0,GOFLAGS="$$GOFLAGS $(RACING)"); \
		$(TEST) -v $(if $(filter test% examples% plain-%,$*),-parallel 8) -timeout 60m $(packages) >$$log 2>&1 || { cat $$log; \
		echo "== what failed, once more:"; $(CURDIR)/internal/suites/failed.sh $$log; exit 1; }; \
		echo "== $*"; grep -E '^(ok|agreement|figure|[a-z -]+: [0-9]+(/[0-9]+)?( .*)?$$)' $$log || true

.PHONY: record
record: controlplane ## record the answers of a real server again, for the unit tests of ssaplan/explain
	cd test && RECORD=1 $(TEST) -count 1 ./e2e/explain

CASES ?= 20000
SEED ?= 2
CRDS ?=
.PHONY: proof
proof: controlplane ## plan equals apply over random cases, also of any definitions: make proof CASES=20000 SEED=2 CRDS=DIR
	cd test && CASES=$(CASES) SEED=$(SEED) CRDS=$(abspath $(CRDS)) $(TEST) $(RACING) -v -count 1 -timeout 0 ./e2e/proof

.PHONY: faults
faults: controlplane ## every request broken in every way, of which make test takes a part each day
	@$(call figures,test,FAULTS=all $(TEST) $(RACING) -v -count 1 -timeout 0 ./e2e/outcome ./e2e/authresilience)

COURSES ?= all
.PHONY: kinds
kinds: controlplane ## plan equals apply for each kind and version that the server serves, step by step: make kinds COURSES=Pod
	cd test && COURSES=$(COURSES) $(TEST) $(RACING) -v -count 1 -timeout 0 -run TestEveryKind ./e2e/proof

# The schema comes from a terraform in PATH, and tfplugindocs finds it there by the provider's name alone.
PROVIDER := $(CURDIR)/examples/terraform-provider-ssaplan
.PHONY: provider-docs
provider-docs: ## generate the registry's pages of the Terraform provider, from its schema and examples
	cd examples && CGO_ENABLED=0 $(GO) build -buildvcs=false -o $(BIN)/provider/terraform-provider-ssaplan ./terraform-provider-ssaplan
	printf 'provider_installation {\n  dev_overrides { "example.com/ssaplan/ssaplan" = "%s" }\n  direct {}\n}\n' $(BIN)/provider >$(BIN)/provider/dev.tfrc
	TF_CLI_CONFIG_FILE=$(BIN)/provider/dev.tfrc terraform -chdir=$(PROVIDER)/examples/provider providers schema -json | \
		sed 's#example.com/ssaplan/ssaplan#ssaplan#' >$(BIN)/provider/schema.json
	cd internal/tools && $(GO) tool tfplugindocs generate --provider-dir $(PROVIDER) --provider-name ssaplan --providers-schema $(BIN)/provider/schema.json

# The README of the provider names the same programs.
HOSTS ?= github.com/opentofu/opentofu@v1.12.6 github.com/hashicorp/terraform@v1.16.1
HOSTLOG := $(CURDIR)/.cache/provider-compat.log
.PHONY: provider-compat
provider-compat: controlplane ## the Terraform provider's scenarios with other programs than the one in PATH, built once: make provider-compat HOSTS=MODULE@VERSION
	@set -e; for h in $(HOSTS); do d=$(CURDIR)/.cache/terraform/$$h; echo "== $$h"; internal/terraform/build.sh $${h%@*} $${h#*@} $$d; \
		(cd examples && PATH=$$d:$$PATH TF_ACC=1 $(TEST) -v -count 1 -timeout 60m -run TestTerraform ./terraform-provider-ssaplan/provider) >$(HOSTLOG) 2>&1 || { cat $(HOSTLOG); exit 1; }; \
		grep -E '^(ok|scenarios)' $(HOSTLOG); done

SETS ?=
.PHONY: sets
sets: controlplane ## real applications from nothing to all of them, upgraded and pruned: make sets SETS=DIR with archives NAME.tar.gz
	@$(call figures,examples,SSAPLAN_SETS=$(if $(SETS),$(abspath $(SETS))) $(TEST) -v -count 1 -timeout 0 -run TestRealWorld ./kubectl-ssaplan/cmd)

OWNERS ?= 1000
REST ?= 600
.PHONY: kit-rest
kit-rest: controlplane ## a controller with many owners sends nothing while nothing happens: make kit-rest OWNERS=1000 REST=600
	@$(call figures,test,OWNERS=$(OWNERS) REST=$(REST) $(TEST) -v -count 1 -timeout 0 -run TestNothingIsSentAtRest ./e2e/kit)

BUSY ?= 200
.PHONY: busy
busy: controlplane ## plan and apply an object that others write before each request: make busy BUSY=200
	@$(call figures,test,BUSY=$(BUSY) $(TEST) -v -count 1 -timeout 0 -run "TestBusyObject|TestBusyTake" ./e2e/planner)

OBJECTS ?= 100000
SHARDS ?= 8
.PHONY: fleet
fleet: controlplane ## a fleet of objects, planned by shards as processes of their own and put together: make fleet OBJECTS=100000 SHARDS=8
	@$(call figures,examples,OBJECTS=$(OBJECTS) SHARDS=$(SHARDS) $(TEST) -v -count 1 -timeout 0 -run TestShardsAsProcesses ./fleet)

# The lowest client-go that is supported, and the newest patch of every minor version after it. docs/compatibility.md and
# README.md name the same versions. Without the race detector, tests are compiled without cgo, too: make test has then
# compiled what the newest client-go needs.
CLIENTS ?= 0.33.13 0.34.13 0.35.10 0.36.6 0.37.2
SERVERS ?= 1.33 1.34 1.35 1.36 1.37
.PHONY: compat
compat: ## unit tests with every supported client-go, and plan equals apply on every supported server
	@set -e; for v in $(CLIENTS); do d=$(CURDIR)/.cache/compat/$$v; mkdir -p $$d; cp go.mod go.sum $$d/; \
		echo "== client-go $$v"; export GOFLAGS="$$GOFLAGS -modfile=$$d/go.mod"; \
		$(GO) get k8s.io/api@v$$v k8s.io/apimachinery@v$$v k8s.io/client-go@v$$v 2>$$d/log || { cat $$d/log; exit 1; }; \
		$(GO) mod tidy 2>$$d/log || { cat $$d/log; exit 1; }; \
		$(if $(RACING),,CGO_ENABLED=0) SSAPLAN_FULL=1 $(TEST) $(RACING) ./...; unset GOFLAGS; done
	@set -e; for v in $(SERVERS); do echo "== kube-apiserver $$v"; \
		(cd test && CGO_ENABLED=0 SSAPLAN_SERVER=$$v $(TEST) -count 1 -v -timeout 60m -run PlanEquals ./e2e/proof) >.cache/compat.log 2>&1 || { cat .cache/compat.log; exit 1; }; \
		grep -E '^(ok|agreement:)' .cache/compat.log; done

# $(call ask,module,versions,what,tested) says whether the newest version of a module that a query finds is tested.
ask = for v in $(2); do newest=$$($(GO) list -m -f '{{.Version}}' $(1)@$$v) || exit 1; \
	case " $(4) " in *" $${newest\#v} "*) echo "$(3) $$newest: tested" ;; *) echo "$(3) $$newest: missing in $(5)"; status=1 ;; esac; done
RELEASES = $(shell sed -n 's/^[[:space:]]*k8s.io\/kubernetes v\([0-9.]*\).*/\1/p' test/controlplane/v*/go.mod)
.PHONY: newest
newest: ## fail if there is a client-go or a server, of those minor versions or later, that make compat doesn't have
	@$(call ask,k8s.io/client-go,$(patsubst 0.%,v0.%,$(basename $(CLIENTS))) latest,client-go,$(CLIENTS),CLIENTS); \
		$(call ask,k8s.io/kubernetes,$(addprefix v,$(SERVERS)) latest,kube-apiserver,$(RELEASES),test/controlplane); exit $${status:-0}

N ?= 500
MOST ?= 10000
ROUNDS ?= 3
GROWTH ?= 100000
ROW ?= 2m
TOOLS ?= floor,raw,dryruns,planner,reads,flux,argo,kubectl
KINDS ?=
.PHONY: bench
bench: bench-projection bench-growth bench-compare ## every figure of docs/performance.md: make bench N=50 ROW=10s

.PHONY: bench-projection
bench-projection: ## what projecting costs, how it grows and how it compares; needs no server
	$(TEST) -run '^$$' -bench . -benchmem -timeout 30m ./projection ./fieldowner ./ssaplan

.PHONY: bench-growth
bench-growth: controlplane ## how planning grows with number and size of objects: make bench-growth MOST=1000
	@$(call figures,.,GROWTH=$(GROWTH) $(TEST) -v -count 1 -timeout 0 -run TestPlanningGrowsWithItsInputsOnly ./ssaplan)
	cd test/bench && $(GO) build -buildvcs=false -o $(BIN)/bench/ ./growth
	cd test && $(CONTROLPLANE) run -- $(BIN)/bench/growth -n $(MOST) -rounds $(ROUNDS)

.PHONY: bench-compare
bench-compare: controlplane ## planners side by side on a real control plane: make bench-compare TOOLS=floor,planner KINDS=ConfigMap
	@$(call each,$(BENCHES) $(PEERS),$(GO) build -buildvcs=false -o $(BIN)/bench/ ./...)
	cd test && $(CONTROLPLANE) run -- $(BIN)/bench/compare -bin $(BIN)/bench -n $(N) -rounds $(ROUNDS) -row $(ROW) -tools $(TOOLS) -kinds '$(KINDS)'

FIGURES := wall-over-floor-c8 cpu-over-floor-c8 cpu-over-flux-c8 wall-over-kubectl-c8 requests-per-object \
	size-growth-exponent growth-100-to-200 heap-over-inputs-mb cached-replan-us
SMOKE := $(CURDIR)/.cache/bench-smoke.log
.PHONY: bench-smoke
bench-smoke: controlplane ## see that the programs of the comparison run and print every figure, whose values mean nothing here
	@$(call each,$(PEERS),$(GO) vet ./...)
	@$(MAKE) bench-growth bench-compare N=8 MOST=200 GROWTH=1000 ROUNDS=1 ROW=0s >$(SMOKE) 2>&1 || { cat $(SMOKE); exit 1; }
	@for f in $(FIGURES); do grep -q "^figure: $$f = [0-9]" $(SMOKE) || { cat $(SMOKE); echo "no figure $$f"; exit 1; }; done
	@grep -c '^figure: ' $(SMOKE) | sed 's/$$/ figures/'

# Folder by folder, each is built once; targets that start at the same time would each build what they share. The
# branches of this repository guide the search: what it imports is compiled already, for tests without race detector.
FUZZTIME ?= 30s
JOBS ?= 4
FUZZ := $(CURDIR)/.cache/fuzz
.PHONY: fuzz
fuzz: ## run every fuzz target for a while, four at a time: make fuzz FUZZTIME=10m
	@rm -rf $(FUZZ); mkdir -p $(FUZZ); grep -ro --exclude-dir=.cache --include='*_test.go' '^func Fuzz[A-Za-z0-9]*' . | sed -E 's#^(.*)/[^/]*:func (.*)$$#\1 \2#' | sort >$(FUZZ)/targets
	@set -e; cut -d ' ' -f 1 $(FUZZ)/targets | sort -u | while read -r d; do mkdir -p $(FUZZ)/$$d; \
		(cd $$d && CGO_ENABLED=0 $(TEST) -c -o $(FUZZ)/$$d/fuzz.test -gcflags=github.com/ssaplan/primitives/...=-d=libfuzzer .); done
	@FUZZ=$(FUZZ) CORPUS=$$($(GO) env GOCACHE)/fuzz/github.com/ssaplan/primitives xargs -P $(JOBS) -L 1 internal/fuzz/fuzz.sh $(FUZZTIME) <$(FUZZ)/targets

.PHONY: leaks
leaks: export TF_ACC := $(or $(TF_ACC),$(shell command -v terraform >/dev/null && echo 1))
leaks: controlplane ## every sensitive value, quoted in every way by every kind of answer, searched for in everything that is shown
	@set -e; export LEAKS=all GOFLAGS="$$GOFLAGS -count=1"; $(TEST) -v -run PrintedResults ./ssaplan; \
		$(TEST) -v -run "Passwords" ./ssaplan/internal/passwords; \
		(cd test && $(TEST) -timeout 0 -v -run "Quoted?Secrets|SecretsInside|Passwords" ./e2e/planner ./e2e/kit); \
		(cd ctrlssaplan && $(TEST) -timeout 0 -v -run "Quoted?Secrets" .); \
		cd examples && $(TEST) -timeout 0 -v -run "Quoted?Secrets|ShapesOfSecrets|NoCredentials|NoPasswords|TestScripts" ./kubectl-ssaplan/cmd; \
		$(TEST) -timeout 0 -v -run "Credential" ./kubectl-ssaplan; \
		$(TEST) -timeout 0 -v -run "Quoted?Secrets|TestProtocol|TestTerraform/(secrets|sensitive|write-only|stale|ephemeral)" ./terraform-provider-ssaplan/provider

PACKAGES ?= identity authresilience fieldowner immutability immutability/internal/transition projection \
	projection/foreign ssaplan ssaplan/explain ssaplan/deletion ssaplan/redact ssaplan/release ssaplan/set ssaplan/write \
	ssaplan/internal/applier ssaplan/internal/handover ssaplan/internal/noop ssaplan/internal/scale ssaplan/internal/secrecy
.PHONY: mutants
mutants: tools ## mutation testing of packages with their unit tests alone: make mutants PACKAGES="identity fieldowner"
	$(GO) run ./internal/mutants -gremlins $(BIN)/gremlins $(PACKAGES)

.PHONY: controlplane
controlplane: ## build kube-apiserver, etcd and kubectl, if they aren't in .cache yet
	cd test && $(CONTROLPLANE) build

# One workspace, and so one process of each linter, for all modules: together they ask for the versions that the tests have.
# With the flags of the tests, so that what they compiled is not compiled again.
WORKSPACE := $(CURDIR)/.cache/workspace/go.work
.PHONY: workspace
workspace:
	@rm -rf $(dir $(WORKSPACE)); mkdir -p $(dir $(WORKSPACE)); GOWORK=$(WORKSPACE) $(GO) work init $(MODULES) $(BENCHES)

.PHONY: lint
lint: tools workspace ## gofmt, 120 columns, go vet and staticcheck on every module
	@unformatted=$$($(GOFMT) -l $$(find . -name '*.go' -not -path './.cache/*')) || exit 1; \
		if [ -n "$$unformatted" ]; then echo "not gofmt'ed:" $$unformatted; exit 1; fi
	@$(TEST) -run TestLinesAreNotWide .
	@set -e; export GOWORK=$(WORKSPACE) GOFLAGS="$$GOFLAGS $(RACING)"; for tool in "$(GO) vet" $(BIN)/staticcheck; do \
		echo "== $$tool"; $$tool $(patsubst %,./%/...,$(MODULES) $(BENCHES)); done

# The library and the comparison ask for what the lowest client-go asks for, which has known vulnerabilities. In a workspace
# they have what the programs ask for, as in every program that does the same. Of hashicorp/yamux, which every Terraform
# provider needs, no version is fixed.
VULNDB ?=
UNFIXED := GO-2025-3408
.PHONY: vulncheck
vulncheck: tools workspace ## known vulnerabilities in what every module calls; needs the database, or a copy of it in VULNDB
	@GOWORK=$(WORKSPACE) VULNDB=$(VULNDB) internal/vuln/vulncheck.sh $(BIN)/govulncheck $(UNFIXED) $(MODULES) $(BENCHES)

.PHONY: work
work: ## write a go.work for editors, of all modules but those that clash with others; make doesn't use it
	@rm -f go.work go.work.sum; GOWORK=$(CURDIR)/go.work $(GO) work init $(MODULES) $(BENCHES)

.PHONY: tools
tools:
	cd internal/tools && $(GO) build -o $(BIN)/ tool

.PHONY: apidiff
apidiff: tools ## what programs written for the last release would miss
	@internal/apidiff/apidiff.sh $(BIN)/apidiff $(LIBRARIES)

.PHONY: install
install: ## install the command, for kubectl ssaplan
	cd examples && CGO_ENABLED=0 $(GO) install -trimpath -ldflags="-s -w" ./kubectl-ssaplan

GORELEASER ?= github.com/goreleaser/goreleaser/v2@v2.15.1
KREW ?= sigs.k8s.io/krew/cmd/krew@v0.4.3
CYCLONEDX ?= github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0
PARTS ?= readme import install command provider
.PHONY: release-check
release-check: ## do with the last commit what others do with a release: follow the README, import every module, install the command, release it and the provider, install that (git, gpg, buildah and terraform needed); make release-check PARTS=install
	@test -x $(BIN)/goreleaser || GOBIN=$(BIN) $(GO) install $(GORELEASER)
	@test -x $(BIN)/krew || CGO_ENABLED=0 GOBIN=$(BIN) $(GO) install $(KREW)
	@test -x $(BIN)/cyclonedx-gomod || GOFLAGS= GOBIN=$(BIN) $(GO) install $(CYCLONEDX)
	@PATH=$(BIN):$$PATH internal/release/check.sh $(shell sed -n 's/^## \[\([0-9.]*\)\].*/v\1/p' CHANGELOG.md | head -1) goreleaser $(CURDIR)/.cache/release $(PARTS)

# From the last commit, in two folders, so that what a build takes from its folder or its time would differ; and with a build
# cache for each, or the second one would only link what the first one compiled.
PROGRAMS := kubectl-ssaplan terraform-provider-ssaplan operator
TWICE := $(CURDIR)/.cache/twice
.PHONY: reproducible
reproducible: ## build each program of the last commit in two folders: both have the same bytes
	@rm -rf $(TWICE); set -e; commit=$$(git rev-parse HEAD); for d in one another/folder; do mkdir -p $(TWICE)/$$d; git archive $$commit | tar -x -C $(TWICE)/$$d; \
		for p in $(PROGRAMS); do (cd $(TWICE)/$$d/examples && CGO_ENABLED=0 GOFLAGS= GOCACHE=$(TWICE)/$$d/cache $(GO) build -trimpath -buildvcs=false -ldflags="-s -w" -o $(TWICE)/$$d/$$p.built ./$$p); done; done; \
		for p in $(PROGRAMS); do cmp $(TWICE)/one/$$p.built $(TWICE)/another/folder/$$p.built; sha256sum $(TWICE)/one/$$p.built | sed "s# .*#  $$p: the same bytes twice#"; done

# What is released, by the recipes of goreleaser.
SYSTEMS := darwin/amd64 darwin/arm64 freebsd/amd64 freebsd/arm64 linux/amd64 linux/arm64 windows/amd64 windows/arm64
comma := ,
empty :=
.PHONY: licenses
licenses: ## list the licences of everything that the library and the programs are built of on each system, and fail for one that isn't allowed
	@cd internal/tools && $(TEST) ./licenses && $(GO) build -o $(BIN)/ ./licenses
	@GOFLAGS= $(BIN)/licenses -systems $(subst $(empty) $(empty),$(comma),$(SYSTEMS)) $(addsuffix :./...,$(LIBRARIES)) "examples:$(addprefix ./,$(PROGRAMS))"

.PHONY: tidy
tidy: ## go mod tidy on every module
	@$(call each,$(MODULES) $(BENCHES) $(PEERS),$(GO) mod tidy)

.PHONY: clean
clean: ## remove the built control plane
	rm -rf .cache
