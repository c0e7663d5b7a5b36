// Calls kernels on data from files. The types of a kernel's arguments are taken from its
// declaration; only the extents of the arrays are given (0 for a scalar).

#ifndef WEFT_HARNESS_H
#define WEFT_HARNESS_H

#include "weft_tb.h"

#include <csignal>
#include <memory>
#include <tuple>
#include <unistd.h>

namespace weft_harness {

template <class P, std::size_t Extent> struct slot {
  static_assert(Extent > 0, "an array");
  typedef typename std::remove_cv<typename std::remove_pointer<P>::type>::type row;
  row value[Extent];
  row *pass() { return value; }
  bool store(std::FILE *file) { return weft_tb::write(file, value); }
};
template <class P> struct slot<P, 0> {
  typename std::remove_cv<P>::type value;
  P pass() { return value; }
  bool store(std::FILE *) { return true; } // passed by value: nothing comes back
};

struct job {
  virtual ~job() {}
  virtual bool run(std::FILE *in, std::FILE *out) const = 0;
};

template <class F, class Extents, class Order> struct call;
template <class... P, std::size_t... Extent, std::size_t... N>
struct call<void (*)(P...), std::index_sequence<Extent...>, std::index_sequence<N...>> : job {
  void (*function)(P...);
  explicit call(void (*f)(P...)) : function(f) {}
  bool run(std::FILE *in, std::FILE *out) const override {
    typedef std::tuple<slot<P, Extent>...> arguments;
    const std::unique_ptr<arguments> all(new arguments);
    bool ok = true;
    const int read[] = {(ok = ok && weft_tb::read(in, std::get<N>(*all).value), 0)..., 0};
    if (!ok) {
      return false;
    }
    function(std::get<N>(*all).pass()...);
    const int written[] = {(ok = ok && std::get<N>(*all).store(out), 0)..., 0};
    static_cast<void>(read), static_cast<void>(written);
    return ok;
  }
};

template <std::size_t... Extent, class... P> job *kernel(void (*f)(P...)) {
  return new call<void (*)(P...), std::index_sequence<Extent...>,
                  std::make_index_sequence<sizeof...(P)>>(f);
}

// Arguments: the folder of the data, seconds for each job, the number of data sets of each kernel,
// the first job. Job j is data set j % sets of kernel j / sets; its files are <j>.in and <j>.out. A
// result appears under its name when it is complete.
inline int run_jobs(int argc, char **argv, job *const *kernels, long count) {
  if (argc != 5) {
    return 2;
  }
  const std::string folder = std::string(argv[1]) + "/";
  const unsigned seconds = static_cast<unsigned>(std::atol(argv[2]));
  const long sets = std::atol(argv[3]);
  for (long j = std::atol(argv[4]); j < count * sets; ++j) {
    const std::string name = folder + std::to_string(j);
    std::FILE *in = std::fopen((name + ".in").c_str(), "rb");
    std::FILE *out = std::fopen((name + ".part").c_str(), "wb");
    if (!in || !out) {
      return 3;
    }
    alarm(seconds);
    const bool ok = kernels[j / sets]->run(in, out);
    alarm(0);
    std::fclose(in);
    if (!ok || std::fclose(out) != 0) {
      return 3;
    }
    std::rename((name + ".part").c_str(), (name + ".out").c_str());
  }
  return 0;
}

} // namespace weft_harness

#endif
