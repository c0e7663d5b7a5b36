// Drives one kernel: banks of arguments around it, start to done, any number of data sets.
//
// Words are little-endian arrays of 32-bit parts. The generated part defines `banks`, `scalars`,
// `drive` (what banks give), `sample` (what they are asked) and `set_scalars`.
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

extern std::vector<Bank> banks;
extern std::vector<Word> scalars;
void drive(Vdesign &design);
void sample(Vdesign &design);
void set_scalars(Vdesign &design);
void set_start(Vdesign &design, bool value);
bool is_done(Vdesign &design);
void set_reset(Vdesign &design, bool value);
void set_clock(Vdesign &design, bool value);

inline void read_words(std::FILE *file, Word &word) {
  if (std::fread(word.data(), 4, word.size(), file) != word.size()) std::exit(kFile);
}

// Whether the kernel is done in this cycle.
inline bool cycle(Vdesign &design, bool start) {
  set_start(design, start);
  drive(design);
  set_clock(design, false);
  design.eval();
  sample(design);
  const bool done = is_done(design);
  set_clock(design, true);
  design.eval();
  for (Bank &bank : banks) bank.edge();
  return done;
}

// IN OUT SETS LIMIT HOLD: prints the cycles of each data set.
inline int run(int argc, char **argv) {
  if (argc != 6) return kUsage;
  std::FILE *in = std::fopen(argv[1], "rb"), *out = std::fopen(argv[2], "wb");
  if (!in || !out) return kFile;
  const long sets = std::atol(argv[3]);
  const std::uint64_t limit = std::strtoull(argv[4], nullptr, 10);
  const bool hold = std::atol(argv[5]) != 0;
  VerilatedContext context;
  Vdesign design(&context);
  for (long set = 0; set < sets; set++) {
    for (Bank &bank : banks) {
      bank.memory.assign(bank.depth, Word((bank.width + 31) / 32));
      for (Word &word : bank.memory) read_words(in, word);
      bank.clear();
    }
    for (Word &word : scalars) read_words(in, word);
    set_scalars(design);
    if (set == 0) {
      set_reset(design, true);
      for (int i = 0; i < 2; i++) cycle(design, false);
      set_reset(design, false);
      for (int i = 0; i < 2; i++) cycle(design, false);
    }
    std::uint64_t cycles = 0;
    while (!cycle(design, hold || cycles == 0))
      if (++cycles > limit) return kTimeOut;
    for (Bank &bank : banks)
      for (const Word &word : bank.memory)
        if (std::fwrite(word.data(), 4, word.size(), out) != word.size()) return kFile;
    std::printf("%llu\n", static_cast<unsigned long long>(cycles));
    for (int i = 0; i < (hold ? 0 : 20); i++) {
      if (cycle(design, false)) return kLate;
      for (Bank &bank : banks)
        if (bank.we) return kLate;
    }
  }
  design.final();
  return std::fclose(in) == 0 && std::fclose(out) == 0 ? kOk : kFile;
}

} // namespace weft
