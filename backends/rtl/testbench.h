// Drives one kernel: banks of arguments around it, start to done, any number of data sets.
//
// The generated part defines `banks`, `scalars`, `drive` (what banks give), `sample` (what they are
// asked) and `set_scalars`. It comes behind banks.h.
namespace weft {

extern std::vector<Bank> banks;
extern std::vector<Word> scalars;
void drive(Vdesign &design);
void sample(Vdesign &design);
void set_scalars(Vdesign &design);
void set_start(Vdesign &design, bool value);
bool is_done(Vdesign &design);
void set_reset(Vdesign &design, bool value);
void set_clock(Vdesign &design, bool value);

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
