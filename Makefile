# Weft. A fresh machine needs Python 3.11 or later with venv, make and g++; the rest goes into VENV.
#
#   make demo    compile, verify and export the gemm example into build/demo
#   make test    run the tests
#   make check   lint, format, types, layering, style
#   make bench   run the benchmarks into benchmarks/results
#   make clean   remove what was built; make distclean removes the environment as well

PYTHON ?= python3
VENV   ?= .venv
EXTRAS ?= csim,dse,rtl,dev
JOBS   ?= 2

BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
GEMM  := examples/polybench/gemm.py:gemm

LINTED  := $(wildcard dsl polyhedral mlir_passes backends qor_gnn dse examples benchmarks tests weft.py)
TYPED   := $(wildcard dsl polyhedral mlir_passes backends qor_gnn dse benchmarks weft.py)

.PHONY: all venv demo test check format bench clean distclean
.DELETE_ON_ERROR:

all: check test

venv: $(STAMP)

# The compat mode puts one line with this folder on the path: a package that appears later is
# found without another installation, and starting Python costs no import hook.
$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Weft needs Python 3.11 or later") if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	    --config-settings editable_mode=compat -e '.[$(EXTRAS)]'
	touch $@

demo: $(STAMP)
	mkdir -p build/demo
	$(BIN)/weft compile $(GEMM) --schedule tiled --emit hls-cpp > build/demo/gemm.cpp
	$(BIN)/weft verify $(GEMM) --size mini
	$(BIN)/weft export $(GEMM) --schedule tiled --out build/demo/gemm --csim
	@echo "build/demo/gemm.cpp: the kernel as HLS C++; build/demo/gemm: the Vitis HLS project"

test: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) $(PYTEST_ARGS)

check: $(STAMP)
	$(BIN)/ruff check $(LINTED)
	$(BIN)/ruff format --check $(LINTED)
	$(BIN)/mypy $(TYPED)
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q tests/test_style.py

format: $(STAMP)
	$(BIN)/ruff check --fix $(LINTED)
	$(BIN)/ruff format $(LINTED)

bench: $(STAMP)
	$(BIN)/python -m benchmarks.run_all $(BENCH_ARGS)

clean:
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV) weft.egg-info
