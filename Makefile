# SPDX-FileCopyrightText: The Windlass Authors
# SPDX-License-Identifier: Apache-2.0

MAKEFLAGS += --warn-undefined-variables --no-builtin-rules
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := help

# The tools' versions are those of the nested module test/tools.
BIN := $(CURDIR)/bin
TOOLS := $(BIN)/tools
CONTROLLER_GEN := $(TOOLS)/controller-gen
GOLANGCI_LINT := $(TOOLS)/golangci-lint
MODULES := . test/binaries test/capistack/binaries test/tools

.PHONY: help
help: ## Show the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: generate
generate: $(CONTROLLER_GEN) ## Generate deep copies, CRDs, admission policies, the hub's role and the tables of docs/spec from the Go types.
	$(CONTROLLER_GEN) object:headerFile=test/tools/boilerplate.go.txt paths=./fleet/api/...
	$(CONTROLLER_GEN) crd paths=./fleet/api/... output:crd:dir=config/crd/bases
	$(CONTROLLER_GEN) rbac:roleName=windlass-hub paths=./fleet/... output:rbac:dir=config/rbac
	go run ./test/admission
	go run ./test/specpages

.PHONY: build
build: ## Build the three programs into bin/.
	go build -o $(BIN)/ ./cmd/...

# A commit that passed once passes again: properties are tried with the same inputs in each run of make test, and with new
# ones by make search.
RAPID_SEED ?= 20261130
.PHONY: test
test: export RAPID_SEED := $(RAPID_SEED)
test: binaries ## Run the unit, architecture and integration tests, and print what ran.
	@go run ./test/summary -timeout 25m -alone './test/integration/...' ./...

.PHONY: demo
demo: apiservers ## Upgrade six clusters in two management clusters before your eyes.
	@go run ./test/demo

.PHONY: tour
tour: ## Play an upgrade of 500 clusters in virtual time and print its calendar: a minute, no cluster needed.
	@go run ./test/tour

.PHONY: bench
bench: apiservers ## Run the benchmarks of the decisions and of the engine: some minutes (docs/benchmarks.md).
	go test -run '^$$' -bench . -benchmem ./policy/... ./fleet/...
	go test -run '^$$' -bench . -benchtime 1x -timeout 30m ./engine/

# Each looks for an input that breaks a claim; what it found once is kept in testdata and tried by make test.
FUZZTIME := 60s
.PHONY: fuzz
fuzz: ## Look for calendars and fleets that break a claim, FUZZTIME (60s) each.
	@fuzz() {
		echo "go test -fuzz $$1 $$2"
		log=$$(mktemp)
		if ! go test -run '^$$' -fuzz "^$$1$$" -fuzztime $(FUZZTIME) "$$2" 2>&1 | tee "$$log"; then
			# Before Go 1.27 the end of -fuzztime may be told as a failure, with this line alone: go.dev/issue/75804.
			said=$$(awk '/^--- FAIL/ {on = 1; next} /^FAIL/ {on = 0} on' "$$log")
			[ "$$said" = '    context deadline exceeded' ] || exit 1
			echo "the time was over; no input was found"
		fi
		rm -f "$$log"
	}
	fuzz FuzzWindow ./policy/window/
	fuzz FuzzDecide ./policy/

# A failure prints the seed to repeat it with: make test RAPID_SEED=<seed>.
SEARCHCHECKS := 3000
PROPERTIES = $(shell go list -f '{{range .XTestImports}}{{if eq . "pgregory.net/rapid"}}{{$$.ImportPath}}{{end}}{{end}}' ./...)
.PHONY: search
search: ## Try each property with SEARCHCHECKS (3000) new inputs: half an hour.
	RAPID_SEED=0 RAPID_CHECKS=$(SEARCHCHECKS) go test -count=1 -timeout 2h $(PROPERTIES)

.PHONY: lint
lint: $(GOLANGCI_LINT) ## Run the linters of .golangci.yml.
	$(GOLANGCI_LINT) run --allow-parallel-runners ./...

.PHONY: verify
verify: verify-format verify-tidy verify-generate lint ## Check that generated files, modules and formatting are current, and lint.

.PHONY: verify-format
verify-format:
	@unformatted=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go' | while read -r f; do [ -e "$$f" ] && echo "$$f"; done))
	if [ -n "$$unformatted" ]; then printf 'gofmt would change:\n%s\n' "$$unformatted"; exit 1; fi
	go vet ./...

.PHONY: verify-tidy
verify-tidy:
	@for module in $(MODULES); do
		echo "go mod tidy -diff in $$module"
		(cd "$$module" && go mod tidy -diff)
	done

# A copy of the tree is generated anew: what differs then is stale here.
.PHONY: verify-generate
verify-generate: $(CONTROLLER_GEN)
	@scratch=$$(mktemp -d)
	trap 'rm -rf "$$scratch"' EXIT
	cp -rp --parents Makefile go.mod go.sum config docs engine fleet policy test/admission test/specpages test/tools "$$scratch/"
	$(MAKE) --no-print-directory -C "$$scratch" generate TOOLS=$(TOOLS)
	diff -ru config "$$scratch/config"
	diff -ru docs "$$scratch/docs"
	diff -ru fleet "$$scratch/fleet"
	echo "generated files are current"

.PHONY: clean
clean: ## Remove what was built, but for bin/k8s and bin/capi, which take long.
	rm -rf $(TOOLS) $(BIN)/windlass $(BIN)/windlass-hub $(BIN)/windlass-engine .demo .tour

# What the tests run beside our programs: found, or built once.
.PHONY: binaries
binaries: apiservers
	@go run ./test/capistack/cmd/binaries > /dev/null

# The demo needs no more.
.PHONY: apiservers
apiservers:
	@go run ./test/env/cmd/binaries > /dev/null

$(CONTROLLER_GEN): test/tools/go.mod test/tools/go.sum
	go build -C test/tools -o $@ sigs.k8s.io/controller-tools/cmd/controller-gen

$(GOLANGCI_LINT): test/tools/go.mod test/tools/go.sum
	@echo "building golangci-lint: some minutes, once"
	go build -C test/tools -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
