# The everyday commands. `make build` and all that need it do their own set-up (tools/setup);
# CMake does the building (CMakePresets.json).

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
# Random graphs of `make fuzz-graphs`, and the seed of the first.
GRAPHS ?= 1000
GRAPHS_FROM ?= 1
# Options of tests/jax/run.py for `make test-jax`.
TEST_JAX ?=
# What `make test-trainers` runs: TRAINERS="nnx|keras". KEEL_TRAINERS="jax" sets up only some of the environments, and
# KEEL_TRAINER_PHASES="warm,none" goes through some of the phases of tests/trainers/run.py.
TRAINERS ?= .*
# Families and options of tests/sweep/run.py for `make test-sweep`.
SWEEP ?=

PYTHON = .venv/bin/python
# Two more than there are processors: some tests only wait, for processes that ended or do not answer.
CTEST = ctest --output-on-failure --no-tests=error -j $(shell expr $(JOBS) + 2)

# Options of tools/mutate for `make mutate`: MUTATE="--room store --count 20".
MUTATE ?=

# Usage: $(call build,PRESET,OPTIONS). What goes wrong is said on stderr; the rest is noise.
HEADER = $(if $(KEEL_PJRT_INCLUDE),-DKEEL_PJRT_INCLUDE="$(KEEL_PJRT_INCLUDE)")
build = cmake --preset $(1) $(HEADER) $(2) >/dev/null && cmake --build --preset $(1) -j $(JOBS)

.DEFAULT_GOAL := build
.PHONY: build demo demo-c nam52 nam52-table demo-rehearse test test-torch test-repair test-torch-tpu test-libraries test-writes test-targets test-trainers test-keys test-gpu test-rehearse test-contract test-sweep test-jax test-pysource accidents bench compatibility fuzz fuzz-graphs mutate install wheel sdist test-wheel clean format lint help
.NOTPARALLEL:

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

# Tests are built too once `make test` has brought what they need.
build: ## set up, then build build/bin/keel and build/lib/libkeel_pjrt.so
	@tools/setup
	@$(call build,release,-DKEEL_TESTS=$$(pkg-config --exists cmocka && echo ON || echo OFF))

demo: build ## train a small GPT twice through Keel: cold, then from the cache
	@$(PYTHON) tools/demo

demo-c: build ## the same in C: examples/c/gpt.c, without Python in the process
	@$(PYTHON) tools/demo --c

nam52: build ## train a mixed stack (attention, experts, Mamba, Engram) in C on the documentation
	@cat docs/*.md > build/nam52.txt
	@VIRTUAL_ENV=$(CURDIR)/.venv KEEL_PLUGIN=cpu build/bin/keel run -- \
		build/examples/nam52 build/nam52.txt --config tiny --mtp 1 --steps 200

nam52-table: build ## what makes that stack compile again: rewrite the table and the log of docs/nam52.md
	@$(PYTHON) tests/nam52/table.py build

demo-rehearse: build ## rehearse it on an H200 and a TPU slice that are not there: 2 GB in .venv-targets
	@tools/setup --targets
	@$(PYTHON) tools/demo-rehearse

# The instrumented builds run the tests in C, those of threads under the thread sanitizer. Fresh memory
# is filled there, so that nothing depends on its being zero. The whole suite comes last and has the
# last word.
test: ## lint, build three ways, and run every test
	@tools/setup --tests --all-plugins
	@$(PYTHON) tools/lint
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(call build,asan-ubsan)
	@$(call build,tsan)
	@ASAN_OPTIONS=max_malloc_fill_size=1048576 $(CTEST) --test-dir build/asan-ubsan -E '^(client|contract|corpus|page|python|rehearsed|torch|torch_tpu|targets|trainers|gpu)\.'
	@$(CTEST) --test-dir build/tsan -R '^(unit\.(analysis|base|bridge|compiler_children|engine|history|journal|pjrt|rehearse|shim|store)|c_client)'
	@$(CTEST) --test-dir build -E '^(contract|rehearsed|torch|targets|trainers|gpu|corpus\.(torch|torch_tpu|libraries|transformers))'

test-torch: ## test PyTorch/XLA too: about 2.5 GB in .venv-torch
	@tools/setup --tests --all-plugins --torch
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(CTEST) --test-dir build -R '^(torch\.|corpus\.torch($$|\.))' -E '^torch\.repair$$'

test-repair: ## repair a PyTorch/XLA model with thirty accidents by what keel why says: 2.5 GB in .venv-torch
	@tools/setup --tests --torch
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(CTEST) --test-dir build -R '^torch\.repair$$'

test-torch-tpu: ## test TorchTPU too: about 3 GB in .venv-torch-tpu
	@tools/setup --tests --torch-tpu
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(CTEST) --test-dir build -R '^(torch_tpu|corpus\.torch_tpu)'

test-libraries: ## check what keel why says about flax, transformers and others: 3.5 GB
	@tools/setup --tests --libraries --transformers
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(CTEST) --test-dir build -R '^(python\.pytest|corpus\.(libraries|transformers))'

# Not part of .ci/run: five minutes, and the download of test-libraries.
test-writes: ## rehearse scripts that save with Orbax, Keras and others: 1 GB in .venv-libraries
	@tools/setup --tests --libraries
	@$(call build,release,-DKEEL_TESTS=ON)
	@.venv-libraries/bin/python tests/writes/run.py

# Not part of .ci/run: 540 MB to download, for one room.
test-targets: ## compile for GPUs and TPUs that are not here: 2 GB in .venv-targets
	@tools/setup --tests --targets
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(CTEST) --test-dir build -R '^(targets|client\.hosts$$|torch\.rehearse$$)'

# An hour, and many downloads. .ci/run has a part of it.
test-trainers: ## run and rehearse Keras, MaxText, Levanter, vLLM and others: 23 GB in .venv-trainers
	@tools/setup --tests --trainers
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(CTEST) --test-dir build -R '^trainers\.($(TRAINERS))$$'

# Not part of .ci/run: a quarter of an hour, and the downloads of test-targets.
test-keys: ## mutations of environment and toolkit: code that real compilers make, and keys
	@tools/setup --tests --toolkit
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(PYTHON) tests/keys/run.py

# Not part of .ci/run: an hour, and the downloads of test-targets.
test-rehearse: ## rehearse the truth corpus, for a GPU and a TPU too: 2 GB in .venv-targets
	@tools/setup --tests --targets
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(CTEST) --test-dir build -R '^rehearsed'

# Not part of .ci/run: an hour for each client. KEEL_CORPUS_PART=1/12 runs a share. PyTorch/XLA's
# programs are held too if .venv-torch is there (make test-torch).
test-contract: ## hold stable programs and planted recompiles to a contract: 1 GB in .venv-libraries
	@tools/setup --tests --libraries
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(CTEST) --test-dir build -R '^contract'

# Not part of .ci/run: a GPU.
test-gpu: ## test on the GPU of this machine, or say that there is none: 2 GB in .venv-targets
	@tools/setup --tests --targets
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(PYTHON) tests/gpu/gpu.py || [ $$? -eq 77 ]

# Not part of .ci/run: a measure of the rules, where a case that is wrong is to be looked at, not a gate.
test-sweep: build ## measure keel why on thousands of generated recompiles: SWEEP="linen --only attention"
	@$(PYTHON) tests/sweep/run.py $(SWEEP)

# Not part of .ci/run: JAX's tests are in none of its packages, so a checkout has to be at hand.
test-jax: ## run JAX's own tests through Keel and without it: KEEL_JAX_SOURCES names a checkout
	@tools/setup --tests --libraries
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(call build,asan-ubsan)
	@$(PYTHON) tests/jax/run.py --skip $(TEST_JAX)

# Not part of .ci/run: minutes, for what a sample of it tests there.
test-pysource: ## compare the trees of all Python files that are here with CPython's
	@tools/setup --tests
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(PYTHON) tests/conformance/python_source.py build/bin/pytree --all

accidents: build ## run each accident of examples/torch and rewrite its tables
	@tools/setup --torch
	@$(PYTHON) tools/accidents

bench: build ## run every benchmark and rewrite docs/benchmarks.md
	@$(PYTHON) tools/bench

compatibility: ## measure clients by plugins and write docs/compatibility.md: minutes, downloads
	@tools/setup --tests --all-plugins
	@$(call build,release,-DKEEL_TESTS=ON)
	@$(PYTHON) tools/compatibility

fuzz: ## fuzz every reader of foreign bytes, FUZZ_SECONDS (60) each
	@tools/setup --tests
	@$(call build,fuzz)
	@tools/fuzz build/fuzz $(FUZZ_SECONDS)

fuzz-graphs: ## random graphs of tensors in C, with misuse and against JAX: GRAPHS (1000) of each
	@tools/setup --tests
	@$(call build,asan-ubsan)
	@$(call build,release,-DKEEL_TESTS=ON)
	@tools/fuzz-graphs $(GRAPHS_FROM) $(GRAPHS)

# Not part of .ci/run: an hour, and what survives is for a person to judge.
mutate: ## plant small faults, one at a time, and name those that no test notices: MUTATE="--room NAME"
	@tools/setup --tests
	@$(PYTHON) tools/mutate --jobs $(JOBS) $(MUTATE)

install: build ## install under PREFIX (/usr/local), staged under DESTDIR if set
	@DESTDIR="$(DESTDIR)" cmake --install build --prefix "$(PREFIX)"

# Compiled for an old glibc, with the libraries linked in, whatever this machine has.
wheel: ## make build/wheel/keel-*.whl, the Python package for Linux with glibc 2.28 or newer
	@tools/setup --wheel
	@$(call build,manylinux)
	@rm -rf build/wheel
	@KEEL_BUILD=$(CURDIR)/build/manylinux $(PYTHON) -m pip wheel --quiet --no-deps --no-index --wheel-dir build/wheel .
	@ls build/wheel/*.whl

sdist: ## make build/sdist/keel-*.tar.gz, from which pip builds a wheel
	@tools/setup
	@rm -rf build/sdist && mkdir -p build/sdist
	@PYTHONPATH=python/build_backend $(PYTHON) -B -c 'import keel_build; keel_build.build_sdist("build/sdist")'
	@ls build/sdist/*.tar.gz

# Not part of `make test`, which tests a wheel of the ordinary build: this one compiles Keel twice more.
# KEEL_TEST_ROOT names the root folder of an older system to try the wheel in (docs/python.md).
test-wheel: wheel sdist ## check that wheel and the sdist: glibc symbols, each Python that is here
	@$(PYTHON) tests/python/release.py build/wheel/*.whl build/sdist/*.tar.gz

format: ## rewrite the C files in the project's format
	@tools/setup --tests
	@$(PYTHON) tools/lint --format

lint: ## check format, length, banned calls and scripts
	@tools/setup --tests
	@$(PYTHON) tools/lint

clean: ## remove what was built; .venv stays
	@rm -rf build
