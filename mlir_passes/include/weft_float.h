// 16-bit floats for kernels emitted by Weft: half, where Vitis HLS is not there to bring it, and
// weft::bf16. Each operation rounds once, to nearest, ties to even.
#ifndef WEFT_FLOAT_H
#define WEFT_FLOAT_H

#include "weft_math.h"

namespace weft {

#ifdef __SYNTHESIS__
typedef float small_float_work; // wide enough for one rounding, but for the subnormals of bf16
#else
typedef double small_float_work;
#endif

// A float of 1 + EXPONENT + MANTISSA = 16 bits.
template <int EXPONENT, int MANTISSA> class small_float {
public:
  small_float() {}
  small_float(float x) : bits_(encode(x)) {}
  small_float(double x) : bits_(encode(static_cast<small_float_work>(x))) {}

  operator float() const { return decode(bits_); }

  static small_float from_bits(unsigned short bits) {
    small_float x;
    x.bits_ = bits;
    return x;
  }
  unsigned short to_bits() const { return bits_; }

  friend small_float operator+(small_float a, small_float b) { return wide(a) + wide(b); }
  friend small_float operator-(small_float a, small_float b) { return wide(a) - wide(b); }
  friend small_float operator*(small_float a, small_float b) { return wide(a) * wide(b); }
  friend small_float operator/(small_float a, small_float b) { return wide(a) / wide(b); }
  small_float operator-() const { return from_bits(bits_ ^ 0x8000u); }
  small_float &operator+=(small_float b) { return *this = *this + b; }
  small_float &operator-=(small_float b) { return *this = *this - b; }
  small_float &operator*=(small_float b) { return *this = *this * b; }
  small_float &operator/=(small_float b) { return *this = *this / b; }

private:
  static const int BIAS = (1 << (EXPONENT - 1)) - 1;
  static const unsigned INF = ((1u << EXPONENT) - 1) << MANTISSA;
  unsigned short bits_;

  static small_float_work wide(small_float x) { return decode(x.bits_); }

  static float decode(unsigned short bits) {
    if (EXPONENT == 8)
      return bit_cast<float>(static_cast<unsigned>(bits) << 16);
    const unsigned exponent = (bits & 0x7fffu) >> MANTISSA;
    const unsigned mantissa = bits & ((1u << MANTISSA) - 1);
    const unsigned sign = (bits & 0x8000u) << 16;
    if (exponent == 0) { // zero or subnormal: the unit is a power of two, so this is exact
      const float unit = bit_cast<float>(static_cast<unsigned>(128 - BIAS - MANTISSA) << 23);
      const float magnitude = static_cast<float>(mantissa) * unit;
      return sign ? -magnitude : magnitude;
    }
    const unsigned moved = exponent == INF >> MANTISSA ? 255u : exponent + (127 - BIAS);
    return bit_cast<float>(sign | moved << 23 | mantissa << (23 - MANTISSA));
  }

#ifdef __SYNTHESIS__
  static unsigned short encode(float x) {
    const unsigned bits = bit_cast<unsigned>(x);
    const unsigned sign = bits >> 16 & 0x8000u;
    if (x != x)
      return sign | INF | 1u << (MANTISSA - 1);
    const int shift = 23 - MANTISSA;
    const unsigned magnitude = (bits & 0x7fffffffu);
    const unsigned rounded = magnitude + (1u << (shift - 1)) - 1 + (magnitude >> shift & 1u);
    return sign | (rounded >> shift); // bf16: its exponents are those of float
  }
#else
  static unsigned short encode(double x) {
    const unsigned sign = std::signbit(x) ? 0x8000u : 0u;
    if (x != x)
      return sign | INF | 1u << (MANTISSA - 1);
    const double magnitude = std::fabs(x);
    if (magnitude == 0.0)
      return sign;
    if (std::isinf(x))
      return sign | INF;
    int exponent = 0;
    std::frexp(magnitude, &exponent); // magnitude < 2**exponent
    const int smallest = 2 - BIAS;
    if (exponent < smallest)
      exponent = smallest;
    const double digits = std::nearbyint(std::ldexp(magnitude, MANTISSA + 1 - exponent));
    // A carry into the next exponent, from the subnormals to the normals too, is just an addition.
    const unsigned field = static_cast<unsigned>(exponent - smallest) << MANTISSA;
    const unsigned bits = field + static_cast<unsigned>(digits);
    return sign | (bits < INF ? bits : INF);
  }
#endif
};

typedef small_float<8, 7> bf16;

// An integer or fixed-point number as a double whose last bit says that bits were lost, so that
// rounding it again gives what one rounding would have given.
template <class T> double round_to_odd(const T &x) {
  const double nearest = static_cast<double>(x);
  if (nearest - nearest != 0.0) // infinite
    return nearest;
  const T back = nearest;
  if (back == x)
    return nearest;
  unsigned long long bits = bit_cast<unsigned long long>(nearest);
  if ((nearest < 0) == (back < x))
    bits -= 1; // it was rounded away from zero
  return bit_cast<double>(bits | 1u);
}

} // namespace weft

#ifdef WEFT_HAS_VITIS_HLS
#include "hls_half.h"
#else
typedef weft::small_float<5, 10> half;
#endif

namespace hls {

#define WEFT_FUNCTION_1(NAME)                                                                      \
  template <int E, int M> weft::small_float<E, M> NAME(weft::small_float<E, M> x) {                \
    return hls::NAME(static_cast<weft::small_float_work>(x));                                      \
  }
#define WEFT_FUNCTION_2(NAME)                                                                      \
  template <int E, int M>                                                                          \
  weft::small_float<E, M> NAME(weft::small_float<E, M> x, weft::small_float<E, M> y) {             \
    return hls::NAME(static_cast<weft::small_float_work>(x),                                       \
                     static_cast<weft::small_float_work>(y));                                      \
  }

WEFT_FUNCTION_1(acos)
WEFT_FUNCTION_1(acosh)
WEFT_FUNCTION_1(asin)
WEFT_FUNCTION_1(asinh)
WEFT_FUNCTION_1(atan)
WEFT_FUNCTION_1(atanh)
WEFT_FUNCTION_1(cbrt)
WEFT_FUNCTION_1(ceil)
WEFT_FUNCTION_1(cos)
WEFT_FUNCTION_1(cosh)
WEFT_FUNCTION_1(erf)
WEFT_FUNCTION_1(erfc)
WEFT_FUNCTION_1(exp)
WEFT_FUNCTION_1(exp2)
WEFT_FUNCTION_1(expm1)
WEFT_FUNCTION_1(fabs)
WEFT_FUNCTION_1(floor)
WEFT_FUNCTION_1(log)
WEFT_FUNCTION_1(log10)
WEFT_FUNCTION_1(log1p)
WEFT_FUNCTION_1(log2)
WEFT_FUNCTION_1(rint)
WEFT_FUNCTION_1(round)
WEFT_FUNCTION_1(rsqrt)
WEFT_FUNCTION_1(sin)
WEFT_FUNCTION_1(sinh)
WEFT_FUNCTION_1(sqrt)
WEFT_FUNCTION_1(tan)
WEFT_FUNCTION_1(tanh)
WEFT_FUNCTION_1(trunc)
WEFT_FUNCTION_2(atan2)
WEFT_FUNCTION_2(copysign)
WEFT_FUNCTION_2(fmax)
WEFT_FUNCTION_2(fmin)
WEFT_FUNCTION_2(fmod)
WEFT_FUNCTION_2(pow)

#undef WEFT_FUNCTION_1
#undef WEFT_FUNCTION_2

template <int E, int M>
weft::small_float<E, M> fma(weft::small_float<E, M> x, weft::small_float<E, M> y,
                            weft::small_float<E, M> z) {
  return hls::fma(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
}

} // namespace hls

#endif
