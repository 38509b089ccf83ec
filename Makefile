# SPDX-FileCopyrightText: 2026 The Sojourn authors
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# The verbs of the house. `make help` lists them; each one sets up what it needs.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VENV := .venv
BIN := $(CURDIR)/$(VENV)/bin
export PATH := $(BIN):$(PATH)
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
# A process on each processor; what shares something costly stays in one.
PYTEST := pytest -n auto --dist loadgroup
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export CARGO_TARGET_DIR ?= $(CURDIR)/target

CORE := $(shell find aqm traffic crates -type f \( -name '*.rs' -o -name '*.[ch]' -o -name Cargo.toml \)) Cargo.toml Cargo.lock
C_FILES := $(shell find aqm bench crates fuzz linux papers tests traffic -name '*.[ch]' 2>/dev/null)
SH_FILES := $(shell find aqm linux tools tests traffic .ci -name '*.sh' -o -path '.ci/run')

.PHONY: deb help setup demo paper site test test-deep check format generate validation linux-reference mutants bench wheel clean
.PHONY: test-c test-rust test-target test-fuzz test-models test-python test-validation test-qdisc test-tdc test-linux test-wheel

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

$(VENV)/.libraries: requirements.lock
	tools/need.sh build
	@echo '[1/3] Python libraries into $(VENV): about half a minute'
	@python3 -m venv $(VENV)
	@$(BIN)/pip install --quiet --require-hashes -r requirements.lock
	@touch $@

$(VENV)/.native: $(VENV)/.libraries pyproject.toml tools/profile.sh $(CORE)
	@echo '[2/3] compiling the engine: about three minutes on two cores, once'
	@profile=$$(tools/profile.sh); echo '      branches are counted; now the build that uses the counts'; export CARGO_TERM_QUIET=true; RUSTFLAGS="$(RUSTFLAGS) $$profile" PIP_QUIET=1 $(BIN)/maturin develop --release --locked --quiet > $(VENV)/maturin.log 2>&1 || { cat $(VENV)/maturin.log; exit 1; }
	@$(BIN)/python -m compileall -q python
	@touch $@

setup: $(VENV)/.native ## a virtual environment with Sojourn built into it

demo: setup ## set up, then bufferbloat and its cure on a home link, in a page
	@echo '[3/3] three runs of 30 s, each in less than a second'
	@$(BIN)/sojourn demo --out results/demo
	@echo '`source .venv/bin/activate` makes sojourn a command.'

paper: setup ## DUK's first experiment beside the paper's numbers (five minutes); `sojourn reproduce --full` has all tables
	$(BIN)/sojourn reproduce duk/1 --out results/duk-1

site: setup ## build the documents as a site with search, build/site/index.html
	NO_MKDOCS_2_WARNING=1 mkdocs build --quiet --strict

test: ## set up and run all tests but the deep ones; seconds of each part (at most 25 minutes on 2 cores)
	tools/need.sh test
	@MAKE="$(MAKE)" tools/parts.sh setup check test-c test-rust test-target test-fuzz test-models test-python test-validation test-qdisc test-tdc test-linux test-wheel

check: setup ## formatters, warnings as errors, types, licences, generated files
	clang-format-16 --dry-run --Werror $(C_FILES)
	cargo fmt --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	ruff check .
	ruff format --check .
	mypy
	aqm/all.sh --check
	python -m sojourn.scenario.reference --check
	python -m sojourn.scenario.known --check
	python -m sojourn.result.columns --check
	python -m sojourn.papers.papers_page --check
	tools/check-version.py
	NO_MKDOCS_2_WARNING=1 mkdocs build --quiet --strict
	reuse lint --quiet || reuse lint

test-c: ## the queue, the algorithms and the applications, under sanitizers; targets without a library
	aqm/test/run.sh
	traffic/test/run.sh
	aqm/test/freestanding.sh

test-rust: ## the core crate, the engine, and TCP against what Linux did
	cargo test --workspace --locked --quiet

test-target: ## the same seed gives the same bytes on a 32-bit target, and the recorded decisions here
	tests/second_target.sh
	tests/other_targets.sh amd64

test-fuzz: setup ## the queue and every algorithm, a million random calls under sanitizers
	python -m fuzz.run

test-models: setup ## each algorithm beside its independent model
	$(PYTEST) tests/models tests/algorithms

test-python: setup ## package and documentation
	$(PYTEST) tests --ignore tests/models --ignore tests/algorithms --ignore tests/linux

test-validation: setup ## the engine beside Linux, one cell of five (all of them in test-deep)
	python -m validation.compare --check --one-of 5

# The kernel's driver has its own two guests at a time.
QDISC := tests/linux/test_qdisc.py tests/linux/test_debian.py tests/linux/hostile
TDC := tests/linux/test_tdc.py

test-qdisc: setup ## the qdisc in real kernels: its cases, as users build it, in storms
	$(PYTEST) $(QDISC)

test-tdc: setup ## the kernel's own test driver on the qdisc
	pytest $(TDC)

test-linux: setup ## what a kernel did, beside the core and the engine
	$(PYTEST) tests/linux $(addprefix --ignore ,$(QDISC) $(TDC))

test-wheel: setup ## the wheel in an empty environment, from an empty folder
	tests/wheel.sh

test-deep: setup ## all that takes longer: mutants, long cases, 10^8 fuzzed calls, sanitizers in a kernel, storms
	tools/need.sh deep
	tools/need.sh deb
	$(MAKE) --no-print-directory mutants
	python -m fuzz.run --deep
	tests/other_targets.sh
	python -m tests.linux.sanitizers
	python -m tests.linux.hostile
	python -m tests.linux.processors
	[ "$$(id -u)" != 0 ] || python -m tests.linux.package_life # a disk is mounted
	$(PYTEST) tests -m deep
	$(MAKE) --no-print-directory wheel
	python -m validation.compare --check

format: setup ## lay out all code
	clang-format-16 -i $(C_FILES)
	cargo fmt
	ruff check --fix --quiet . || true
	ruff format .

generate: setup ## renew generated files: list of algorithms, pages of keys, columns and papers, synthetic trace, fingerprints, page of the comparison
	aqm/all.sh
	python -m sojourn.scenario.reference
	python -m sojourn.scenario.known
	python -m sojourn.result.columns
	python -m sojourn.papers.papers_page
	RENEW=1 python -m pytest -q -n0 tests/test_presets.py tests/test_tcp_presets.py -k page
	SOJOURN_RENEW=1 cargo test --locked --quiet -p sojourn-sim --test engine fingerprints
	RENEW=1 cargo test --locked --quiet -p sojourn-core --test docs
	tests/other_targets.sh --renew
	$(MAKE) --no-print-directory validation

validation: setup ## set the engine beside Linux and write docs/evidence/validation.md
	python -m validation.compare

linux-reference: setup ## run the Linux side of the comparison again (builds a kernel; about 40 minutes on two idle processors)
	python -m validation.record --anew --jobs 2
	python -m validation.tcp_record

mutants: setup ## change one operator, constant or statement at a time; a test must notice
	python -m tests.models.mutants_run

bench: setup ## speed, beside ns-2 where it is installed
	sojourn bench

$(VENV)/.wheel: $(VENV)/.libraries tools/wheel.lock
	@$(BIN)/pip install --quiet --require-hashes -r tools/wheel.lock
	@touch $@

wheel: setup $(VENV)/.wheel ## build the wheel for any Linux, into build/wheel, and test it without a compiler
	tools/wheel.sh build/wheel
	tests/wheel.sh build/wheel/*.whl

deb: ## Debian packages of module (DKMS), tc plugin and unit, in build/deb
	tools/need.sh deb
	version=$$(dpkg-parsechangelog -l linux/debian/changelog -S Version); \
	linux/debian/make-source.sh build/deb/sojourn-$$version; \
	cd build/deb/sojourn-$$version && dpkg-buildpackage -us -uc
	lintian --fail-on error build/deb/*.changes

clean: ## remove what was built
	rm -rf target build $(VENV) results
