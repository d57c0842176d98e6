# make demo   a signed push becomes a run on a real local cluster
# make test   every test: unit tests with the race detector, then the real cluster
# The other targets are parts of these two; `make help` lists them.

SHELL := /bin/bash -eu -o pipefail
export CGO_ENABLED ?= 0
GO ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0
CLUSTER := bin/localcluster
LOCAL_ENV = eval "$$($(CLUSTER) env)"
# Argo Events' code as the local cluster's own is built (localcluster/binaries/build.go):
# with the same versions and flags nothing is compiled twice.
EVENTS_FLAGS = -modfile=../localcluster/build/go.mod -mod=readonly -pgo=off -trimpath -tags=kubernetes_protomessage_one_more_release -gcflags=all=-dwarf=false
REGISTRY ?=
TAG ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null || echo dev)
VERSION ?= $(shell git describe --always --dirty 2>/dev/null || echo dev)

.PHONY: help
help: ## what there is
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 16

.PHONY: demo
demo: deploy ## cluster, image, deployment, a signed push, and the run until it has ended
	@$(LOCAL_ENV) && $(GO) run ./demo

.PHONY: test
test: unit cluster-test ## every test

.PHONY: unit
unit: ## tests that need no cluster, with the race detector
	CGO_ENABLED=1 $(GO) test -race ./...
	cd localcluster && CGO_ENABLED=1 $(GO) test -race ./...
	$(MAKE) --no-print-directory sensors

.PHONY: sensors
sensors: ## the files of eventsources/ and sensors/, by Argo Events' own code
	@cd sensors && CGO_ENABLED=0 $(GO) test $(EVENTS_FLAGS) .

.PHONY: cluster-test
cluster-test: up-gitea deploy ## tests on the real local cluster
	@$(LOCAL_ENV) && $(GO) test -tags cluster -count=1 -parallel 8 -timeout 30m ./clustertest/...

.PHONY: check
check: ## formatting, vet, staticcheck, generated files, go.mod
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "gofmt would change: $$unformatted" >&2; exit 1; fi
	$(GO) vet -tags cluster ./... && cd localcluster && $(GO) vet ./...
	$(GO) run $(STATICCHECK) -tags cluster ./...
	$(GO) mod tidy -diff && cd localcluster && $(GO) mod tidy -diff
	$(MAKE) --no-print-directory generate
	git diff --exit-code

.PHONY: generate
generate: bin/runhook ## files that are made from others: RBAC, tables of the docs, the operator's alert rules
	bin/runhook rbac -c manifests/base/config.yaml > manifests/base/rbac.yaml
	bin/runhook rbac --watch -c manifests/base/config.yaml > manifests/base/rbac-watch.yaml
	$(GO) run ./docs/generate

.PHONY: build
build: bin/runhook ## the static binary

.PHONY: bin/runhook
bin/runhook:
	@$(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o $@ .

.PHONY: bin/localcluster
bin/localcluster:
	@cd localcluster && $(GO) build -o ../$@ .

.PHONY: image
image: bin/runhook ## pack the binary as an image and push it: make image REGISTRY=registry.example:5000 [TAG=v1]
	@test -n "$(REGISTRY)" || { echo "say where to push: make image REGISTRY=registry.example:5000" >&2; exit 2; }
	@$(GO) run ./image -binary bin/runhook -to $(REGISTRY)/runhook:$(TAG)

.PHONY: up
up: bin/localcluster ## the local cluster (the first time it is built, which takes 10 to 30 minutes)
	@$(CLUSTER) up

.PHONY: up-gitea
up-gitea: bin/localcluster ## the same with a Git host, which takes 4 to 10 minutes more the first time
	@$(CLUSTER) up --with gitea

.PHONY: down
down: bin/localcluster ## take the local cluster down, leaving only what was compiled
	@$(CLUSTER) down

.PHONY: deploy
deploy: up bin/runhook ## runhook on the local cluster
	@$(LOCAL_ENV) && manifests/overlays/local/deploy.sh

.PHONY: bench-generate
bench-generate: bin/runhook ## what the Workflows of large machine-learning projects cost
	@$(GO) run ./bench/generate bin/runhook

.PHONY: bench-push
bench-push: deploy ## what a push costs beside a raw create, on the local cluster
	@$(LOCAL_ENV) && $(GO) run ./bench/push

.PHONY: bench-watch
bench-watch: up ## what the watch takes to follow 10,000 runs, and how soon it tells of a change
	@$(LOCAL_ENV) && $(GO) run ./bench/watch
