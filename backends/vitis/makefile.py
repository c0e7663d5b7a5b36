"""The project's Makefile: C simulation with g++, and Vitis HLS where it is installed."""

from __future__ import annotations

import re

from backends.vitis.files import PROJECT, WORK, ProjectFiles

_TEXT = """\
# make csim     compile the kernel and its testbench with g++ and run them
# make csynth   Vitis HLS: C to RTL; then cosim, export, impl (needs vitis_hls)
# make unified-csynth, unified-csim, unified-cosim, unified-impl: the same by v++ and vitis-run

CXX       ?= g++
CXXFLAGS  ?= -O1
VITIS_HLS ?= vitis_hls
VITIS_RUN ?= vitis-run
VPP       ?= v++
@AP@
FLAGS := -std=c++14 -ffp-contract=off -frounding-math -Wno-unknown-pragmas@INCLUDE@

.PHONY: csim csynth cosim export impl clean
.PHONY: unified-csynth unified-csim unified-cosim unified-impl

# The kernel keeps its local arrays on the stack.
csim: build/tb_@TOP@
\tulimit -s unlimited 2>/dev/null || ulimit -s $$(ulimit -H -s); ./build/tb_@TOP@ data

build/tb_@TOP@: @SOURCES@
\tmkdir -p build
\t$(CXX) $(FLAGS) $(CXXFLAGS) -o $@ @TESTBENCH@ @SOURCE@

csynth cosim export impl:
\t$(VITIS_HLS) -f run_hls.tcl $@

unified-csynth:
\t$(VPP) -c --mode hls --config hls_config.cfg --work_dir @WORK@

unified-csim:
\t$(VITIS_RUN) --mode hls --csim --config hls_config.cfg --work_dir @WORK@

unified-cosim unified-impl: unified-csynth
\t$(VITIS_RUN) --mode hls --$(@:unified-%=%) --config hls_config.cfg --work_dir @WORK@

clean:
\trm -rf build @PROJECT@ @WORK@ *.log
"""

# Vitis HLS has the headers; without it, the copy in the Python package hls4ml does.
AP_INCLUDE = ' -isystem "$(AP_TYPES)"'
AP_HEADERS = """\
PYTHON    ?= python3
AP_TYPES  ?= $(if $(XILINX_HLS),$(XILINX_HLS)/include,$(shell $(PYTHON) -c \\
  "import sys; from importlib.metadata import distributions as of; \\
  found = [f.locate().parent for d in of(name='hls4ml') for f in d.files or () \\
  if f.name == 'ap_int.h' and 'vivado' in f.parts]; \\
  print(*found[:1]) if found else sys.exit('no ap_int.h: neither Vitis HLS (XILINX_HLS) nor hls4ml \\
  of $(PYTHON); pip install hls4ml, or make AP_TYPES=FOLDER')"))
"""


def makefile(files: ProjectFiles) -> str:
    """The text of the Makefile. All names in it are plain words (see `checked_name`)."""
    values = {
        "AP": AP_HEADERS if files.ap_types else "",
        "INCLUDE": AP_INCLUDE if files.ap_types else "",
        "TOP": files.top,
        "SOURCE": files.source,
        "TESTBENCH": files.testbench,
        "SOURCES": " ".join((files.testbench, files.source, *files.headers)),
        "PROJECT": PROJECT,
        "WORK": WORK,
    }
    return re.sub(r"@([A-Z]+)@", lambda m: values[m[1]], _TEXT)
