// What testbenches of kernels share: words of any width at ports, and banks of arrays around a kernel.
//
// Words are little-endian arrays of 32-bit parts.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "Vdesign.h"

namespace weft {

enum Exit { kOk = 0, kUsage = 2, kFile = 3, kTimeOut = 4, kBounds = 5, kLate = 6 };

using Word = std::vector<std::uint32_t>;

template <class T> void put(T &port, const Word &word) {
  std::uint64_t value = word[0];
  if (word.size() > 1) value |= static_cast<std::uint64_t>(word[1]) << 32;
  port = static_cast<T>(value);
}
template <std::size_t N> void put(VlWide<N> &port, const Word &word) {
  for (std::size_t i = 0; i < N; i++) port[i] = word[i];
}
template <class T> void get(const T &port, Word &word) {
  const std::uint64_t value = port;
  word[0] = static_cast<std::uint32_t>(value);
  if (word.size() > 1) word[1] = static_cast<std::uint32_t>(value >> 32);
}
template <std::size_t N> void get(const VlWide<N> &port, Word &word) {
  for (std::size_t i = 0; i < N; i++) word[i] = port[i];
}

struct Bank {
  const char *name;
  std::uint64_t depth;
  unsigned width;
  bool registers; // read at once
  unsigned latency;
  bool re = false, we = false;
  std::uint64_t raddr = 0, waddr = 0;
  Word wdata, q;
  std::vector<Word> memory, pipe;

  Bank(const char *n, std::uint64_t d, unsigned w, bool r, unsigned l)
      : name(n), depth(d), width(w), registers(r), latency(l), wdata((w + 31) / 32), q(wdata) {}

  Word poison() const { // What nobody may use.
    Word word((width + 31) / 32, 0xdeadbeefU);
    if (width % 32) word.back() &= (1U << (width % 32)) - 1;
    return word;
  }
  void clear() {
    re = we = false;
    pipe.assign(latency, poison());
    q = registers ? memory[0] : poison();
  }
  void edge() {
    if (!registers) {
      Word next = pipe[0];
      if (re) next = raddr >= depth || (we && waddr == raddr) ? poison() : memory[raddr];
      for (unsigned i = latency - 1; i > 0; i--) pipe[i] = pipe[i - 1];
      pipe[0] = next;
      q = pipe[latency - 1];
    }
    if (we) {
      if (waddr >= depth) {
        std::fprintf(stderr, "%s: write to word %llu of %llu\n", name,
                     static_cast<unsigned long long>(waddr), static_cast<unsigned long long>(depth));
        std::exit(kBounds);
      }
      memory[waddr] = wdata;
    }
    if (registers) q = memory[0];
  }
};

inline void read_words(std::FILE *file, Word &word) {
  if (std::fread(word.data(), 4, word.size(), file) != word.size()) std::exit(kFile);
}

} // namespace weft
