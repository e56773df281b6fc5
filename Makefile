# The everyday commands. `make build` and all that need it do their own set-up (tools/setup);
# CMake does the building (CMakePresets.json).

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60

CTEST = ctest --output-on-failure --no-tests=error -j $(JOBS)

.DEFAULT_GOAL := build
.PHONY: build demo test bench fuzz install clean format lint help
.NOTPARALLEL:

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

build: ## set up, then build build/bin/keel and build/lib/libkeel_pjrt.so
	@tools/setup
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS)

demo: build ## train a small GPT twice through Keel: cold, then from the cache
	@.venv/bin/python tools/demo

# The suites of the instrumented builds come first, so that the whole one has the last word.
test: ## lint, build three ways, and run every test
	@tools/setup --tests --all-plugins
	@.venv/bin/python tools/lint
	@for preset in release asan-ubsan tsan; do \
	    cmake --preset $$preset >/dev/null && cmake --build --preset $$preset -j $(JOBS) || exit 1; \
	done
	@$(CTEST) --test-dir build/asan-ubsan
	@$(CTEST) --test-dir build/tsan
	@$(CTEST) --test-dir build

bench: build ## run every benchmark and rewrite docs/benchmarks.md
	@.venv/bin/python tools/bench

fuzz: ## fuzz every reader of foreign bytes, FUZZ_SECONDS (60) each
	@tools/setup --tests
	@cmake --preset fuzz >/dev/null
	@cmake --build --preset fuzz -j $(JOBS)
	@tools/fuzz build/fuzz $(FUZZ_SECONDS)

install: build ## install under PREFIX (/usr/local), staged under DESTDIR if set
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"

format: ## rewrite the C files in the project's format
	@tools/setup --tests
	@.venv/bin/python tools/lint --format

lint: ## check format, length, banned calls and scripts
	@tools/setup --tests
	@.venv/bin/python tools/lint

clean: ## remove what was built; .venv stays
	@rm -rf build
