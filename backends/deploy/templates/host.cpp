// Runs @TOP@ on an accelerator card through XRT, checks what it wrote, and says how long it took.
//
//   ./host @TOP@.xclbin [--device N] [--runs N] [--data DIR]
//
// Inputs and what is expected are those of the testbench (../data). Times: the kernel alone, by the clock of
// this computer, from its start to its end; and the transfers before and after. Returns 0 when all elements agree.

#include "../@TOP@.h"
#include "../weft_tb.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#ifdef WEFT_SOFTWARE_DEVICE
#include "software_device.h"
#else
#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>
#endif

namespace {

double milliseconds(std::chrono::steady_clock::time_point from) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
}

struct options {
  std::string xclbin;
  unsigned device = 0;
  int runs = 1;
  std::string data = "../data";
};

[[noreturn]] void usage(const char *program) {
  std::fprintf(stderr, "usage: %s XCLBIN [--device N] [--runs N] [--data DIR]\n", program);
  std::exit(2);
}

int number(const char *program, const char *text, int least) {
  char *end = nullptr;
  const long found = std::strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || found < least || found > 1000000) {
    usage(program);
  }
  return static_cast<int>(found);
}

options parsed(int argc, char **argv) {
  options found;
  for (int n = 1; n < argc; ++n) {
    const std::string word = argv[n];
    if (word.rfind("--", 0) != 0 && found.xclbin.empty()) {
      found.xclbin = word;
    } else if (n + 1 == argc) {
      usage(argv[0]);
    } else if (word == "--device") {
      found.device = static_cast<unsigned>(number(argv[0], argv[++n], 0));
    } else if (word == "--runs") {
      found.runs = number(argv[0], argv[++n], 1);
    } else if (word == "--data") {
      found.data = argv[++n];
    } else {
      usage(argv[0]);
    }
  }
  if (found.xclbin.empty()) {
    usage(argv[0]);
  }
  return found;
}

@DECLARATIONS@
int run(const options &asked) {
  char name[] = "host";
  std::string folder = asked.data;
  char *words[] = {name, &folder[0]};
  const weft_tb::folder golden(2, words, "@FIRST@");

  auto start = std::chrono::steady_clock::now();
  xrt::device device(asked.device);
  const auto uuid = device.load_xclbin(asked.xclbin);
  xrt::kernel kernel(device, uuid, "@TOP@");
  std::printf("device %u: loaded in %.1f ms\n", asked.device, milliseconds(start));

@BUFFERS@
  long wrong = 0;
  double there = 1e300, inside = 1e300, back = 1e300;
  for (int n = 0; n < asked.runs; ++n) {
@LOADS@
    start = std::chrono::steady_clock::now();
@TO_DEVICE@
    there = std::min(there, milliseconds(start));

    start = std::chrono::steady_clock::now();
    auto once = kernel(@ARGUMENTS@);
    once.wait();
    inside = std::min(inside, milliseconds(start));

    start = std::chrono::steady_clock::now();
@FROM_DEVICE@
    back = std::min(back, milliseconds(start));
@CHECKS@
  }
  std::printf("to the device  %10.3f ms\n", there);
  std::printf("kernel         %10.3f ms, the best of %d\n", inside, asked.runs);
  std::printf("from the device%10.3f ms\n", back);
  std::printf(wrong ? "FAILED\n" : "PASSED\n");
  return wrong ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
  const options asked = parsed(argc, argv);
  try {
    return run(asked);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "host: %s\n", error.what());
    return 3;
  }
}
