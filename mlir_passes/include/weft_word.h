// Words of several elements: what a packed argument consists of.
//
// Under Vitis HLS a word is hls::vector, of which a port passes one in a cycle; elsewhere a class that lies in
// memory as that does. `pack` and `unpack` go from the elements of an array to words, rows padded with zeros, and
// back: what a host does, and a testbench.

#ifndef WEFT_WORD_H
#define WEFT_WORD_H

#include <cstddef>

#ifdef __has_include
#if __has_include(<hls_vector.h>)
#define WEFT_HAS_HLS_VECTOR
#endif
#endif

#ifdef WEFT_HAS_HLS_VECTOR
#include <hls_vector.h>
#endif

namespace weft {

#ifdef WEFT_HAS_HLS_VECTOR
template <class T, std::size_t N> using word = hls::vector<T, N>;
#else
template <class T, std::size_t N> class alignas(sizeof(T) * N) word {
public:
  word() {}
  word(const T &all) {
    for (std::size_t n = 0; n < N; ++n) {
      lanes_[n] = all;
    }
  }
  T &operator[](std::size_t n) { return lanes_[n]; }
  const T &operator[](std::size_t n) const { return lanes_[n]; }

private:
  T lanes_[N];
};
#endif

// Rows of `Row` elements, one after the other, to words, and back.
template <std::size_t Row, class T, std::size_t N>
void pack(const T *from, word<T, N> *to, std::size_t rows) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t n = 0; n < (Row + N - 1) / N * N; ++n) {
      (*to)[n % N] = n < Row ? from[r * Row + n] : T(0.0f);
      to += n % N == N - 1;
    }
  }
}
template <std::size_t Row, class T, std::size_t N>
void unpack(const word<T, N> *from, T *to, std::size_t rows) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t n = 0; n < Row; ++n) {
      to[r * Row + n] = from[n / N][n % N];
    }
    from += (Row + N - 1) / N;
  }
}

} // namespace weft

#endif
