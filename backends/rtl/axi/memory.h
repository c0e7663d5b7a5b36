// Drives one kernel behind AXI: a host at its registers, memory at its masters, any number of data sets.
//
// Memory is as unkind as AXI4 allows: it stalls every channel at random, answers transactions of different
// IDs in any order and interleaved, shows what is written only when it answers, and reads some bursts when
// they are asked for, others beat by beat. What a master must not do ends the run. The generated part defines
// `banks`, `masters`, `origin`, `extent`, `drive` and `sample`; it comes behind banks.h.
#include <deque>
#include <random>

namespace weft {

enum AxiExit { kProtocol = 7, kOutside = 8, kStatus = 9 };

struct Pins { // Of an address channel.
  bool valid = false, ready = false;
  std::uint64_t address = 0;
  unsigned length = 0, id = 0, size = 0, burst = 0;
};
struct Transaction {
  std::uint64_t address = 0;
  unsigned beats = 0, id = 0, done = 0;
  std::uint64_t when = 0;
  std::vector<std::uint8_t> early; // What it reads, where that is looked at when it is asked for.
  std::vector<std::uint8_t> data;
  std::vector<bool> strobe;
};

extern const std::uint64_t origin, extent; // Of all memory that there is.
extern std::vector<std::uint8_t> memory;
extern std::mt19937 chance;
extern unsigned stall; // Percent of the cycles of each channel.
extern std::uint64_t latency, now;

[[noreturn]] inline void refuse(const char *master, const char *what, int code = kProtocol) {
  std::fprintf(stderr, "%s, cycle %llu: %s\n", master, static_cast<unsigned long long>(now), what);
  std::exit(code);
}
inline bool stalls() { return stall != 0 && chance() % 100 < stall; }

struct Master {
  const char *name;
  unsigned bytes, most, outstanding;
  Pins ar, aw, old_ar, old_aw;
  bool wvalid = false, wready = false, wlast = false, rready = false, bready = false;
  bool rvalid = false, rlast = false, bvalid = false, held_w = false, old_last = false;
  unsigned rid = 0, bid = 0;
  std::uint64_t beats_read = 0, beats_written = 0;
  Word wdata, wstrb, rdata, old_data, old_strobe;
  std::deque<Transaction> reads, writes, answers;

  Master(const char *n, unsigned b, unsigned m, unsigned o)
      : name(n), bytes(b), most(m), outstanding(o), wdata(b / 4), wstrb((b + 31) / 32),
        rdata(b / 4) {}

  void clear() {
    reads.clear(), writes.clear(), answers.clear();
    rvalid = bvalid = held_w = false;
    old_ar = old_aw = Pins();
    beats_read = beats_written = 0;
  }
  std::uint8_t *at(std::uint64_t address) {
    if (address < origin || address + bytes > origin + extent) refuse(name, "outside of memory", kOutside);
    return memory.data() + (address - origin);
  }
  // What is given to the kernel in this cycle.
  void offer() {
    ar.ready = !stalls(), aw.ready = !stalls(), wready = !stalls();
    if (!rvalid) choose_read();
    if (!bvalid) choose_answer();
  }
  // The next of some ID: those of one ID come in order, and burst by burst where nothing stalls.
  std::size_t pick(const std::deque<Transaction> &among) const {
    std::size_t n = stall == 0 ? 0 : chance() % among.size();
    for (std::size_t i = 0; i < n; i++)
      if (among[i].id == among[n].id) return i;
    return n;
  }
  std::size_t current = 0;
  void choose_read() {
    if (reads.empty() || stalls()) return;
    current = pick(reads);
    const Transaction &t = reads[current];
    if (t.when > now) return;
    const std::uint8_t *from = at(t.address + std::uint64_t(t.done) * bytes);
    if (!t.early.empty()) from = t.early.data() + std::size_t(t.done) * bytes;
    std::memcpy(rdata.data(), from, bytes);
    rvalid = true, rid = t.id, rlast = t.done + 1 == t.beats;
  }
  void choose_answer() {
    if (answers.empty() || stalls()) return;
    const std::size_t n = pick(answers);
    if (answers[n].when > now) return;
    const Transaction t = answers[n];
    answers.erase(answers.begin() + static_cast<std::ptrdiff_t>(n));
    std::uint8_t *to = at(t.address);
    for (std::size_t i = 0; i < t.data.size(); i++)
      if (t.strobe[i]) to[i] = t.data[i];
    bvalid = true, bid = t.id;
  }
  void check(const Pins &pins, const Pins &old) {
    if (old.valid && !old.ready &&
        (!pins.valid || pins.address != old.address || pins.length != old.length || pins.id != old.id))
      refuse(name, "an address changes before it is taken");
    if (!pins.valid) return;
    const std::uint64_t end = pins.address + std::uint64_t(pins.length + 1) * bytes - 1;
    if (pins.address / 4096 != end / 4096) refuse(name, "a burst crosses 4 KiB");
    if (pins.length + 1 > most || pins.burst != 1) refuse(name, "a burst is too long, or none");
    if (1U << pins.size != bytes || pins.address % bytes) refuse(name, "beats are not whole");
  }
  // What the kernel gives in this cycle, at its end.
  void edge() {
    check(ar, old_ar), check(aw, old_aw);
    old_ar = ar, old_aw = aw;
    if (held_w && (!wvalid || wdata != old_data || wstrb != old_strobe || wlast != old_last))
      refuse(name, "a beat changes before it is taken");
    held_w = wvalid && !wready, old_data = wdata, old_strobe = wstrb, old_last = wlast;
    if (rvalid && !rready) refuse(name, "what was asked for is not taken");
    if (rvalid) {
      rvalid = false, beats_read++;
      if (++reads[current].done == reads[current].beats)
        reads.erase(reads.begin() + static_cast<std::ptrdiff_t>(current));
    }
    if (bvalid && bready) bvalid = false;
    if (ar.valid && ar.ready) take_read();
    if (wvalid && wready) take_beat();
    if (aw.valid && aw.ready) {
      Transaction t;
      t.address = aw.address, t.beats = aw.length + 1, t.id = aw.id;
      at(t.address), at(t.address + std::uint64_t(t.beats - 1) * bytes);
      writes.push_back(t);
      if (writes.size() + answers.size() > outstanding + 1U) refuse(name, "too many writes");
    }
    settle();
  }
  void take_read() {
    Transaction t;
    t.address = ar.address, t.beats = ar.length + 1, t.id = ar.id, t.when = now + latency;
    at(t.address + std::uint64_t(t.beats - 1) * bytes);
    if (stall != 0 && chance() % 2) {
      const std::uint8_t *from = at(t.address);
      t.early.assign(from, from + std::size_t(t.beats) * bytes);
    }
    reads.push_back(t);
    if (reads.size() > outstanding) refuse(name, "too many reads");
  }
  std::deque<Transaction> beats; // Written, in order; some before their address.
  void take_beat() {
    Transaction t;
    const std::uint8_t *from = reinterpret_cast<const std::uint8_t *>(wdata.data());
    t.data.assign(from, from + bytes);
    for (unsigned i = 0; i < bytes; i++) t.strobe.push_back(wstrb[i / 32] >> (i % 32) & 1);
    t.done = wlast, beats_written++;
    beats.push_back(t);
  }
  void settle() { // Beats to the addresses that they are of.
    while (!beats.empty() && !writes.empty()) {
      Transaction &t = writes.front();
      const Transaction &beat = beats.front();
      t.data.insert(t.data.end(), beat.data.begin(), beat.data.end());
      t.strobe.insert(t.strobe.end(), beat.strobe.begin(), beat.strobe.end());
      if ((++t.done == t.beats) != (beat.done != 0)) refuse(name, "WLAST in another beat");
      beats.pop_front();
      if (t.done == t.beats) {
        t.when = now + latency;
        answers.push_back(t);
        writes.pop_front();
      }
    }
  }
};

extern std::vector<Bank> banks;
extern std::vector<Master> masters;
void drive(Vdesign &design);
void sample(Vdesign &design);

// A cycle; whether the kernel was over in it.
inline bool cycle(Vdesign &design) {
  for (Master &m : masters) m.offer();
  drive(design);
  design.clk = 0;
  design.eval();
  sample(design);
  const bool done = design.done;
  design.clk = 1;
  design.eval();
  for (Master &m : masters) m.edge();
  for (Bank &bank : banks) bank.edge();
  now++;
  return done;
}

inline void put_register(Vdesign &d, std::uint32_t offset, std::uint32_t value) {
  d.s_axi_control_awaddr = offset, d.s_axi_control_wdata = value, d.s_axi_control_wstrb = 15;
  d.s_axi_control_awvalid = d.s_axi_control_wvalid = d.s_axi_control_bready = 1;
  cycle(d);
  d.s_axi_control_awvalid = d.s_axi_control_wvalid = 0;
  for (int i = 0; i < 2; i++) cycle(d);
}
inline std::uint32_t get_register(Vdesign &d, std::uint32_t offset) {
  d.s_axi_control_araddr = offset, d.s_axi_control_arvalid = d.s_axi_control_rready = 1;
  cycle(d);
  d.s_axi_control_arvalid = 0;
  const std::uint32_t value = d.s_axi_control_rdata;
  cycle(d);
  return value;
}

// IN OUT SETS LIMIT SEED STALL LATENCY STATUS: prints the cycles of each data set.
inline int run(int argc, char **argv) {
  if (argc != 9) return kUsage;
  std::FILE *in = std::fopen(argv[1], "rb"), *out = std::fopen(argv[2], "wb");
  if (!in || !out) return kFile;
  const long sets = std::atol(argv[3]);
  const std::uint64_t limit = std::strtoull(argv[4], nullptr, 10);
  chance.seed(static_cast<unsigned>(std::atol(argv[5])));
  stall = static_cast<unsigned>(std::atol(argv[6]));
  latency = std::strtoull(argv[7], nullptr, 10);
  const std::uint32_t status = static_cast<std::uint32_t>(std::atol(argv[8]));
  VerilatedContext context;
  Vdesign design(&context);
  memory.resize(extent);
  for (long set = 0; set < sets; set++) {
    if (std::fread(memory.data(), 1, extent, in) != extent) return kFile;
    for (Bank &bank : banks) {
      bank.memory.assign(bank.depth, Word((bank.width + 31) / 32));
      for (Word &word : bank.memory) read_words(in, word);
      bank.clear();
    }
    for (Master &m : masters) m.clear();
    if (set == 0) {
      design.rst = 1;
      for (int i = 0; i < 3; i++) cycle(design);
      design.rst = 0;
    }
    Word count(1), pair(2);
    read_words(in, count);
    for (std::uint32_t i = 0; i < count[0]; i++) read_words(in, pair), put_register(design, pair[0], pair[1]);
    if ((get_register(design, 0) & 0xf) != 4) return kLate; // idle, and the last run's end was read
    design.s_axi_control_awaddr = 0, design.s_axi_control_wdata = 1, design.s_axi_control_wstrb = 15;
    design.s_axi_control_awvalid = design.s_axi_control_wvalid = design.s_axi_control_bready = 1;
    std::uint64_t cycles = 0;
    bool done = cycle(design);
    design.s_axi_control_awvalid = design.s_axi_control_wvalid = 0;
    for (; !done; cycles++) {
      if (cycles > limit) return kTimeOut;
      done = cycle(design);
    }
    for (const Master &m : masters)
      if (m.reads.size() + m.writes.size() + m.answers.size() + m.beats.size()) return kLate;
    if ((get_register(design, 0) & 0xf) != 14 || get_register(design, 0) != 4) return kLate;
    if (get_register(design, status) != 0) return kStatus;
    if (std::fwrite(memory.data(), 1, extent, out) != extent) return kFile;
    for (Bank &bank : banks)
      for (const Word &word : bank.memory)
        if (std::fwrite(word.data(), 4, word.size(), out) != word.size()) return kFile;
    std::printf("%llu", static_cast<unsigned long long>(cycles));
    for (const Master &m : masters)
      std::printf(" %llu %llu", static_cast<unsigned long long>(m.beats_read),
                  static_cast<unsigned long long>(m.beats_written));
    std::printf("\n");
    for (int i = 0; i < 40; i++) {
      if (cycle(design)) return kLate;
      for (const Master &m : masters)
        if (m.ar.valid || m.aw.valid || m.wvalid) return kLate;
    }
  }
  design.final();
  return std::fclose(in) == 0 && std::fclose(out) == 0 ? kOk : kFile;
}

} // namespace weft
