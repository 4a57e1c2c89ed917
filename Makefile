# Everything a person or CI does here. `make help` lists the verbs.
#
# Needs git, a C compiler, make, Rust (stable) and CPython 3.10 or newer with venv; the tests need curl, strace and chromium too. PYTHON=... chooses the interpreter.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CARGO_DENY_VERSION := 0.20.2
ADDRESS ?= 127.0.0.1:8000

# maturin and pip work on the environment these name.
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
export PATH := $(CURDIR)/$(BIN):$(PATH)
unexport CONDA_PREFIX PYTHONHOME

RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml)
BUILD_INPUTS := $(RUST_SOURCES) Cargo.toml Cargo.lock pyproject.toml
REQUIREMENTS := requirements-dev.txt tests/requirements.txt
PYTHON_SOURCES := python tests examples bench conformance

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the verbs
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: setup
setup: $(VENV)/.built ## make .venv and build pronghorn into it

.PHONY: run
run: setup ## serve the wiki of examples/ at http://127.0.0.1:8000, or at ADDRESS=HOST:PORT
	$(BIN)/pronghorn --app-dir examples/wiki --bind $(ADDRESS) wiki:application

.PHONY: test
test: test-rust test-python ## run every test

.PHONY: test-rust
test-rust: $(VENV)/.tools ## run the tests of the crates
	cargo test --locked -p pronghorn-proto -p pronghorn-engine
	cargo test --locked -p pronghorn-python --test settings

.PHONY: test-python
test-python: setup ## run the tests against a running server
	$(BIN)/pytest tests

.PHONY: lint
lint: lint-rust lint-python ## check formatting, lints, dependencies and types

.PHONY: lint-rust
lint-rust: $(VENV)/.tools $(BIN)/cargo-deny
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets -- -D warnings
	$(BIN)/cargo-deny check bans licenses sources

.PHONY: lint-python
lint-python: setup
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/ruff format --check $(PYTHON_SOURCES)
	$(BIN)/mypy
	$(BIN)/stubtest pronghorn

.PHONY: advisories
advisories: $(BIN)/cargo-deny ## check the dependencies against the RustSec database, from the network
	$(BIN)/cargo-deny check advisories

.PHONY: format
format: $(VENV)/.tools ## format Rust and Python
	cargo fmt --all
	$(BIN)/ruff check --fix $(PYTHON_SOURCES)
	$(BIN)/ruff format $(PYTHON_SOURCES)

.PHONY: bench
bench: $(VENV)/.python ## compare with other servers; needs wrk and apache2-utils
	$(BIN)/python bench/run.py

.PHONY: conformance
conformance: setup ## try the protocol rules on every server, and write docs/conformance.md
	$(BIN)/python conformance/run.py

.PHONY: autobahn
autobahn: setup ## run the Autobahn test suite for WebSockets, some minutes, and write what came of it into docs/conformance.md
	$(BIN)/python conformance/autobahn.py

.PHONY: docs
docs: setup ## write docs/settings.md from the table of settings
	$(BIN)/pronghorn --reference > docs/settings.md

.PHONY: wheel
wheel: $(VENV)/.tools ## build a wheel and a source distribution into target/wheels
	$(BIN)/maturin build --release --locked --strip --sdist

.PHONY: clean
clean: ## remove what was built
	cargo clean
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
	find $(PYTHON_SOURCES) -name __pycache__ -prune -exec rm -rf {} +
	rm -f python/pronghorn/_pronghorn.*.so

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "make: $(PYTHON) is older than 3.10. Name a newer one: make PYTHON=python3.12" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.tools: $(VENV)/.python $(REQUIREMENTS)
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

$(VENV)/.built: $(VENV)/.tools $(BUILD_INPUTS)
	$(BIN)/maturin develop --release --locked
	@touch $@

# An installed cargo-deny of the right version is as good. Otherwise an unoptimised build: it runs for a second.
$(BIN)/cargo-deny: | $(VENV)/.python
	@found=$$(command -v cargo-deny) && [ "$$($$found --version)" = "cargo-deny $(CARGO_DENY_VERSION)" ] \
		&& ln -sf "$$found" $@ \
		|| cargo install --quiet --locked --debug --root $(VENV) --version $(CARGO_DENY_VERSION) cargo-deny
