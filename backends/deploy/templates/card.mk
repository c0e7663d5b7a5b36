# make software     the host with the kernel's C++ behind it: no card, no tools of AMD, g++ alone
# make host         the host program for a card (needs XRT)
# make xclbin       the kernel for a card (needs Vitis); TARGET=hw_emu for its emulation
# make run          both, and run them
#
# PLATFORM names the platform, TARGET is hw or hw_emu, MHZ the clock of the kernel.

PLATFORM  ?= @PLATFORM@
TARGET    ?= hw
MHZ       ?= @MHZ@
VPP       ?= v++
CXX       ?= g++
CXXFLAGS  ?= -O2
XRT       ?= $(if $(XILINX_XRT),-I$(XILINX_XRT)/include -L$(XILINX_XRT)/lib,-I/usr/include/xrt)
@NEEDSAP@
FLAGS := -std=c++17 -ffp-contract=off -frounding-math -Wno-unknown-pragmas@AP@
BUILD := build/$(TARGET)

.PHONY: software host xo xclbin run clean

software: build/software
	ulimit -s unlimited 2>/dev/null || ulimit -s $$(ulimit -H -s); ./build/software none

build/software: host.cpp software_device.h ../@TOP@.cpp @HEADERS@
	mkdir -p build
	$(CXX) $(FLAGS) $(CXXFLAGS) -DWEFT_SOFTWARE_DEVICE -DWEFT_KERNEL=@TOP@ -o $@ host.cpp ../@TOP@.cpp

host: build/host

build/host: host.cpp @HEADERS@
	mkdir -p build
	$(CXX) $(FLAGS) $(CXXFLAGS) $(XRT) -o $@ host.cpp -lxrt_coreutil -pthread

xo: $(BUILD)/@TOP@.xo

$(BUILD)/@TOP@.xo: ../@TOP@.cpp @HEADERS@
	mkdir -p $(BUILD)
	$(VPP) -c -t $(TARGET) --platform $(PLATFORM) --kernel @TOP@ --hls.clock $(MHZ)000000:@TOP@@OPTIONS@ \
	  --temp_dir $(BUILD)/_x -o $@ ../@TOP@.cpp

xclbin: $(BUILD)/@TOP@.xclbin

$(BUILD)/@TOP@.xclbin: $(BUILD)/@TOP@.xo
	$(VPP) -l -t $(TARGET) --platform $(PLATFORM) --kernel_frequency $(MHZ) \
	  $(if $(wildcard ../link.cfg),--config ../link.cfg) --temp_dir $(BUILD)/_x -o $@ $<

run: build/host $(BUILD)/@TOP@.xclbin
ifeq ($(TARGET),hw_emu)
	emconfigutil --platform $(PLATFORM) --od build
	XCL_EMULATION_MODE=hw_emu ./build/host $(BUILD)/@TOP@.xclbin
else
	./build/host $(BUILD)/@TOP@.xclbin --runs 10
endif

clean:
	rm -rf build *.log *.jou _x .Xil
