# Weft. A fresh machine needs Python 3.11 or later with venv, make and g++; the rest goes into VENV.
#
#   make demo    find the best gemm for an xc7z020 and export it, checked, into build/demo; bring one to a board
#   make test    run the tests
#   make soak    run them with all that they take samples of, and more random programs: hours
#   make quick   run those that say most in little time: about a minute and a half on two cores
#   make check   lint, format, types, layering, style
#   make bench   run the benchmarks into benchmarks/results
#   make clean   remove what was built; make distclean removes the environment as well

PYTHON ?= python3
VENV   ?= .venv
EXTRAS ?= csim,dse,db,dask,rtl,gnn,frames,dev
# One worker more than two cores: many tests wait for servers, tools and processes.
JOBS   ?= 3

# Many containers set this: each process would compile the package and the tests anew.
unexport PYTHONDONTWRITEBYTECODE

BIN   := $(VENV)/bin
STAMP := $(VENV)/.installed
QUICK := $(wildcard tests/test_*.py) tests/frontend tests/schedule tests/stored tests/examples \
         tests/polyhedral/test_legality.py tests/polyhedral/test_transforms.py tests/emit/test_golden.py \
         tests/qor/figures tests/qor/test_region.py tests/qor/test_value_cycles.py \
         tests/dse/test_space.py tests/dse/test_api.py
GEMM  := examples/polybench/gemm.py:gemm
DEMO  ?= build/demo

LINTED  := $(wildcard dsl polyhedral mlir_passes backends qor_gnn dse examples benchmarks tests weft.py)
TYPED   := $(wildcard dsl polyhedral mlir_passes backends qor_gnn dse benchmarks weft.py)

.PHONY: all venv demo test soak quick check format bench clean distclean
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
	rm -rf $(DEMO)
	@printf '\n1. What there is to choose from: the loops of gemm, 200 x 220 x 240 in f32\n\n'
	$(BIN)/weft space $(GEMM) --device xc7z020
	@printf '\n2. Search it for the fastest design that an xc7z020 holds, and for what less would cost\n\n'
	$(BIN)/weft explore $(GEMM) --device xc7z020 --out $(DEMO)/run
	@printf '\n3. Check the fastest design, and write it as a Vitis HLS project\n\n'
	$(BIN)/weft export $(DEMO)/run --best --out $(DEMO)/gemm_hls
	@printf '\n4. Search one whose arrays are in the memory of a Pynq-Z2, bring it there, and run its host here\n\n'
	$(BIN)/weft explore $(GEMM) --size small --deploy pynq-z2 --out $(DEMO)/board_run
	$(BIN)/weft export $(DEMO)/board_run --best --deploy pynq-z2 --out $(DEMO)/gemm_board
	$(MAKE) -C $(DEMO)/gemm_board/deploy software PYTHON=$(abspath $(BIN)/python)
	@echo
	@printf '%s\n' \
	    '$(DEMO)/run/report.html        all that was found: open it in a browser' \
	    '$(DEMO)/gemm_hls/gemm.cpp      the fastest design as HLS C++' \
	    '$(DEMO)/gemm_hls/README.md     how to synthesize it with Vitis HLS; make csim needs g++ only' \
	    '$(DEMO)/gemm_board/deploy      a host in Python, and the script of its bitstream'

test: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(PYTEST_ARGS)

# All of what `make test` takes samples of: random programs, kernels and pairs of types. Hours.
soak: $(STAMP)
	WEFT_TEST_PROGRAMS=4 $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(PYTEST_ARGS)

quick: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow" --durations=10 $(QUICK) $(PYTEST_ARGS)

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
