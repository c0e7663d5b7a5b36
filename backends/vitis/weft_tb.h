// Binary test data for HLS testbenches: read arguments, check results. C++14, no dependencies.
//
// Format of a data file: the elements of one argument in row-major order and nothing else, little
// endian. An integer of at most 64 bits takes 1, 2, 4 or 8 bytes, the smallest that holds it, sign-
// or zero-extended; a wider one takes as many 8-byte words as it needs, the lowest first. A
// fixed-point number is its raw integer. half, bfloat16 and float are IEEE binary32, double is
// binary64.

#ifndef WEFT_TB_H
#define WEFT_TB_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace weft_tb {

// What an element is: a type of C++, an ap_(u)int or ap_(u)fixed, or a small float class.
struct native {};
struct bits {};
struct small_float {};

template <class T>
auto has_range(int) -> decltype(static_cast<void>(std::declval<T &>().range(0, 0)), std::true_type());
template <class T> std::false_type has_range(...);

template <class T>
using kind = typename std::conditional<
    std::is_arithmetic<T>::value, native,
    typename std::conditional<decltype(has_range<T>(0))::value, bits, small_float>::type>::type;

template <class T> constexpr std::size_t stored_bytes(native) { return sizeof(T); }
template <class T> constexpr std::size_t stored_bytes(small_float) { return sizeof(float); }
template <class T> constexpr std::size_t stored_bytes(bits) {
  return T::width <= 8    ? 1
         : T::width <= 16 ? 2
         : T::width <= 32 ? 4
                          : (static_cast<std::size_t>(T::width) + 63) / 64 * 8;
}

template <class T> void decode(const unsigned char *from, T &x, native) {
  std::memcpy(&x, from, sizeof(T));
}
template <class T> void decode(const unsigned char *from, T &x, small_float) {
  float value;
  std::memcpy(&value, from, sizeof value);
  x = static_cast<T>(value);
}
template <class T> void decode(const unsigned char *from, T &x, bits) {
  const int width = T::width;
  for (int low = 0; low < width; low += 64) {
    unsigned char word[8] = {0};
    const std::size_t size = stored_bytes<T>(bits());
    std::memcpy(word, from + low / 8, size < 8 ? size : 8);
    unsigned long long value = 0;
    for (int b = 7; b >= 0; --b) {
      value = value << 8 | word[b];
    }
    const int high = low + 63 < width ? low + 63 : width - 1;
    if (high - low < 63) {
      value &= (1ULL << (high - low + 1)) - 1;
    }
    x.range(high, low) = value;
  }
}

template <class T> void encode(T &x, unsigned char *to, native) { std::memcpy(to, &x, sizeof(T)); }
template <class T> void encode(T &x, unsigned char *to, small_float) {
  const float value = static_cast<float>(x);
  std::memcpy(to, &value, sizeof value);
}
template <class T> void encode(T &x, unsigned char *to, bits) {
  const int width = T::width;
  const std::size_t size = stored_bytes<T>(bits());
  const bool negative = x < 0;
  for (int low = 0; low < width; low += 64) {
    const int high = low + 63 < width ? low + 63 : width - 1;
    unsigned long long value = x.range(high, low).to_uint64();
    if (negative && high - low < 63) {
      value |= ~0ULL << (high - low + 1);
    }
    for (std::size_t b = 0; b < 8 && low / 8 + b < size; ++b) {
      to[low / 8 + b] = static_cast<unsigned char>(value >> (8 * b));
    }
  }
}

// All elements of a scalar or of an array of any rank, one after the other.
template <class A> using element = typename std::remove_all_extents<A>::type;
template <class A> element<A> *elements(A &array) {
  return reinterpret_cast<element<A> *>(&array);
}
template <class A> constexpr std::size_t count() { return sizeof(A) / sizeof(element<A>); }

// Memory that nobody fills holds anything but zeros, so that whoever takes it for filled is found.
template <class A> void leave_unfilled(A &array) {
  std::memset(static_cast<void *>(elements(array)), 0xa5, sizeof(A));
}

template <class A> bool read(std::FILE *file, A &array) {
  using T = element<A>;
  constexpr std::size_t size = stored_bytes<T>(kind<T>());
  unsigned char buffer[size];
  T *to = elements(array);
  for (std::size_t n = 0; n < count<A>(); ++n) {
    if (std::fread(buffer, size, 1, file) != 1) {
      return false;
    }
    decode(buffer, to[n], kind<T>());
  }
  return true;
}

template <class A> bool write(std::FILE *file, A &array) {
  using T = element<A>;
  constexpr std::size_t size = stored_bytes<T>(kind<T>());
  unsigned char buffer[size];
  T *from = elements(array);
  for (std::size_t n = 0; n < count<A>(); ++n) {
    encode(from[n], buffer, kind<T>());
    if (std::fwrite(buffer, size, 1, file) != 1) {
      return false;
    }
  }
  return true;
}

// The bytes as one number: what two values differ in that print alike.
inline std::string hex(const unsigned char *bytes, std::size_t size) {
  std::string text = "0x";
  for (std::size_t n = size; n-- > 0;) {
    text += "0123456789abcdef"[bytes[n] >> 4];
    text += "0123456789abcdef"[bytes[n] & 15];
  }
  return text;
}

// "[3][0][7]", the place of element n of an array of type A.
template <class A> struct place {
  static std::string of(std::size_t) { return ""; }
};
template <class A, std::size_t N> struct place<A[N]> {
  static std::string of(std::size_t n) {
    return "[" + std::to_string(n / count<A>()) + "]" + place<A>::of(n % count<A>());
  }
};

template <class T> double number(T &x, native) { return static_cast<double>(x); }
template <class T> double number(T &x, small_float) { return static_cast<float>(x); }
template <class T> double number(T &x, bits) { return x.to_double(); }

// A folder of data files. Tools that copy the files elsewhere are met halfway: the folder is the
// program's first argument, else ./data, else the working directory.
class folder {
public:
  folder(int argc, char **argv, const char *some_file) {
    const std::string choices[] = {argc > 1 ? std::string(argv[1]) : std::string("data"), "."};
    for (const std::string &choice : choices) {
      path_ = choice + "/";
      if (std::FILE *file = std::fopen((path_ + some_file).c_str(), "rb")) {
        std::fclose(file);
        return;
      }
    }
    path_ = choices[0] + "/";
  }

  // The initial value of an argument. A missing or short file ends the program.
  template <class A> void load(const char *name, A &array) const {
    std::FILE *file = open(name);
    if (!read(file, array)) {
      fail(name, "too short");
    }
    std::fclose(file);
  }

  // The number of elements that are not within `tolerance` of the file's; the first ten are
  // printed. Tolerance 0 asks for the very same bits (any NaN is like any other).
  template <class A>
  long check(const char *name, const char *label, A &array, double tolerance = 0) const {
    using T = element<A>;
    constexpr std::size_t size = stored_bytes<T>(kind<T>());
    unsigned char want_bytes[size], got_bytes[size];
    std::FILE *file = open(name);
    T *got = elements(array);
    long wrong = 0;
    for (std::size_t n = 0; n < count<A>(); ++n) {
      if (std::fread(want_bytes, size, 1, file) != 1) {
        fail(name, "too short");
      }
      encode(got[n], got_bytes, kind<T>());
      if (std::memcmp(want_bytes, got_bytes, size) == 0) {
        continue;
      }
      T want;
      decode(want_bytes, want, kind<T>());
      const double w = number(want, kind<T>()), g = number(got[n], kind<T>());
      if ((std::isnan(w) && std::isnan(g)) || (tolerance > 0 && std::fabs(w - g) <= tolerance)) {
        continue;
      }
      if (++wrong <= 10) {
        std::printf("%s%s is %.17g (%s), expected %.17g (%s)\n", label, place<A>::of(n).c_str(), g,
                    hex(got_bytes, size).c_str(), w, hex(want_bytes, size).c_str());
      }
    }
    std::fclose(file);
    std::printf("%s: %ld of %lu elements wrong\n", label, wrong,
                static_cast<unsigned long>(count<A>()));
    return wrong;
  }

private:
  std::string path_;

  std::FILE *open(const char *name) const {
    std::FILE *file = std::fopen((path_ + name).c_str(), "rb");
    if (!file) {
      fail(name, "missing");
    }
    return file;
  }

  void fail(const char *name, const char *what) const {
    std::printf("%s%s: %s\n", path_.c_str(), name, what);
    std::exit(2);
  }
};

} // namespace weft_tb

#endif
