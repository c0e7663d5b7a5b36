# make software     run.py with the kernel's C++ behind it: no board, g++ and NumPy alone
# make bitstream    @TOP@.bit and @TOP@.hwh (needs Vitis HLS and Vivado)
#
# Then copy this folder and ../data to the board, and there: sudo -E python3 run.py

VIVADO    ?= vivado
PYTHON    ?= python3
CXX       ?= g++
CXXFLAGS  ?= -O2
@NEEDSAP@
FLAGS := -std=c++14 -fPIC -shared -ffp-contract=off -frounding-math -Wno-unknown-pragmas@AP@

.PHONY: software bitstream clean

software: build/@TOP@.so
	ulimit -s unlimited 2>/dev/null || ulimit -s $$(ulimit -H -s); $(PYTHON) run.py --software build/@TOP@.so

build/@TOP@.so: software.cpp ../@TOP@.cpp @HEADERS@
	mkdir -p build
	$(CXX) $(FLAGS) $(CXXFLAGS) -o $@ software.cpp ../@TOP@.cpp

bitstream: @TOP@.bit

@TOP@.bit: ../@TOP@.cpp block_design.tcl
	$(MAKE) -C .. export
	$(VIVADO) -mode batch -source block_design.tcl

clean:
	rm -rf build *.log *.jou .Xil
