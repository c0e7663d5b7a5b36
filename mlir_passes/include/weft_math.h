// What kernels emitted by Weft need beyond C++ and the ap_int headers:
//  - hls::exp and the other functions of hls_math.h, where Vitis HLS is not there to bring them;
//  - weft::floor_div and others that C++ does not have.
#ifndef WEFT_MATH_H
#define WEFT_MATH_H

#include <cmath>

// hls_half.h comes with Vitis HLS only; copies of its other headers are found elsewhere as well.
#if defined(__SYNTHESIS__)
#define WEFT_HAS_VITIS_HLS 1
#elif defined(__has_include)
#if __has_include("hls_half.h")
#define WEFT_HAS_VITIS_HLS 1
#endif
#endif

#ifdef WEFT_HAS_VITIS_HLS
#include "hls_math.h"
#else
namespace hls {

#define WEFT_FUNCTION_1(NAME)                                                                      \
  inline float NAME(float x) { return std::NAME(x); }                                              \
  inline double NAME(double x) { return std::NAME(x); }
#define WEFT_FUNCTION_2(NAME)                                                                      \
  inline float NAME(float x, float y) { return std::NAME(x, y); }                                  \
  inline double NAME(double x, double y) { return std::NAME(x, y); }

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

inline float rsqrt(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float fma(float x, float y, float z) { return std::fma(x, y, z); }
inline double fma(double x, double y, double z) { return std::fma(x, y, z); }

} // namespace hls
#endif

namespace weft {

// The quotient rounded towards minus infinity. Both operands are signed, or both are not.
template <class A, class B>
auto floor_div(const A &a, const B &b) -> decltype(a / b) {
  decltype(a / b) quotient = a / b;
  if (a % b != 0 && (a < 0) != (b < 0))
    quotient = quotient - 1;
  return quotient;
}

// The quotient rounded towards plus infinity.
template <class A, class B>
auto ceil_div(const A &a, const B &b) -> decltype(a / b) {
  decltype(a / b) quotient = a / b;
  if (a % b != 0 && (a < 0) == (b < 0))
    quotient = quotient + 1;
  return quotient;
}

// What floor_div leaves: it has the sign of the divisor.
template <class A, class B>
auto floor_mod(const A &a, const B &b) -> decltype(a % b + b) {
  decltype(a % b) remainder = a % b;
  decltype(a % b + b) result = remainder;
  if (remainder != 0 && (remainder < 0) != (b < 0))
    result = remainder + b;
  return result;
}

// The absolute value in a type that holds that of the smallest number, too.
template <class T> auto abs(const T &x) -> decltype(-x) {
  decltype(-x) result = x;
  if (x < 0)
    result = -x;
  return result;
}

// The number of an ap_(u)fixed type that has these bits.
template <class T, class Bits> T from_raw(const Bits &bits) {
  T x;
  x.range() = bits;
  return x;
}

// The bits of one C type as a number of another.
template <class To, class From> To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "types of one size");
  union {
    From from;
    To to;
  } both;
  both.from = from;
  return both.to;
}

// IEEE 754 maximum and minimum: a NaN if either is one, and -0 is less than +0.
template <class T> T maximum(T a, T b) {
  if (a != a || b != b)
    return a + b;
  if (a == b)
    return std::signbit(static_cast<float>(a)) ? b : a;
  return a < b ? b : a;
}

template <class T> T minimum(T a, T b) {
  if (a != a || b != b)
    return a + b;
  if (a == b)
    return std::signbit(static_cast<float>(a)) ? a : b;
  return b < a ? b : a;
}

} // namespace weft

#endif
