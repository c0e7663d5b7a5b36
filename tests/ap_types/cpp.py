"""Compile and run C++ with the real ap_types headers, to compare `dsl.expressions.numeric` with them."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from dsl.expressions.numeric import Exact, frac_of, signed_of, width_of
from dsl.expressions.types import FixedType, Overflow, Quant

# A value is printed as `<width> <integer bits> <signed> <bits, highest first>`, an integer with as
# many integer bits as it has bits; what is no ap type as a number.
_PRELUDE = r"""
#include <cstdio>
#include <cstring>
#include "ap_fixed.h"
#include "ap_int.h"

template <class T> static T make(const char *bits, int width) {
  T x = 0;
  for (int i = 0; i < width; ++i) x[width - 1 - i] = bits[i] == '1';
  return x;
}
template <int W, bool S> static void show(const ap_int_base<W, S> &x) {
  std::printf("%d %d %d ", W, W, int(S));
  for (int i = W - 1; i >= 0; --i) std::putchar(x.test(i) ? '1' : '0');
  std::putchar('\n');
}
template <int W, int I, bool S, ap_q_mode Q, ap_o_mode O, int N>
static void show(const ap_fixed_base<W, I, S, Q, O, N> &x) {
  std::printf("%d %d %d ", W, I, int(S));
  ap_uint<W> raw = x.range(W - 1, 0);
  for (int i = W - 1; i >= 0; --i) std::putchar(raw.test(i) ? '1' : '0');
  std::putchar('\n');
}
static void show(bool x) { std::printf("%d\n", int(x)); }
static void show(double x) { std::printf("%a\n", x); }
"""


@dataclass(frozen=True)
class Shown:
    """A printed ap value."""

    width: int
    integer: int
    signed: bool
    raw: int


def ap_types() -> Path:
    """Where the headers are."""
    spec = importlib.util.find_spec("hls4ml")
    if spec is None or spec.origin is None or shutil.which("g++") is None:
        pytest.skip("needs g++ and the csim dependencies (hls4ml's ap_types headers)")
    return Path(spec.origin).parent / "templates" / "vivado" / "ap_types"


def run(lines: list[str], folder: Path) -> list[str]:
    """Compile a program whose functions hold these lines; what it prints, by line."""
    chunks = [lines[n : n + 200] for n in range(0, len(lines), 200)]
    functions = [
        f"static void part{n}() {{\n" + "\n".join(chunk) + "\n}" for n, chunk in enumerate(chunks)
    ]
    calls = "".join(f" part{n}();" for n in range(len(chunks)))
    source = folder / "cases.cpp"
    source.write_text("\n".join([_PRELUDE, *functions, f"int main() {{{calls} }}\n"]))
    program = folder / "cases"
    command = ["g++", "-std=c++17", "-O0", "-w", "-isystem", str(ap_types())]
    subprocess.run([*command, str(source), "-o", str(program)], check=True, timeout=300)
    done = subprocess.run([str(program)], check=True, capture_output=True, text=True, timeout=60)
    return done.stdout.splitlines()


_QUANT = {
    Quant.TRN: "AP_TRN",
    Quant.TRN_ZERO: "AP_TRN_ZERO",
    Quant.RND: "AP_RND",
    Quant.RND_ZERO: "AP_RND_ZERO",
    Quant.RND_INF: "AP_RND_INF",
    Quant.RND_MIN_INF: "AP_RND_MIN_INF",
    Quant.RND_CONV: "AP_RND_CONV",
}
_OVERFLOW = {
    Overflow.WRAP: "AP_WRAP",
    Overflow.SAT: "AP_SAT",
    Overflow.SAT_ZERO: "AP_SAT_ZERO",
    Overflow.SAT_SYM: "AP_SAT_SYM",
}


def type_name(dtype: Exact) -> str:
    """The C++ type."""
    u = "" if signed_of(dtype) else "u"
    if isinstance(dtype, FixedType):
        modes = f"{_QUANT[dtype.quant]}, {_OVERFLOW[dtype.overflow]}"
        return f"ap_{u}fixed<{dtype.width}, {dtype.integer}, {modes}>"
    return f"ap_{u}int<{width_of(dtype)}>"


def literal(raw: int, dtype: Exact) -> str:
    """An expression with that raw value."""
    width = width_of(dtype)
    bits = format(raw & ((1 << width) - 1), f"0{width}b")
    return f'make<{type_name(dtype)} >("{bits}", {width})'


def shown(line: str) -> Shown:
    """Read a printed ap value."""
    width, integer, signed, bits = line.split()
    raw = int(bits, 2)
    if signed == "1" and bits[0] == "1":
        raw -= 1 << len(bits)
    return Shown(int(width), int(integer), signed == "1", raw)


def expected(raw: int, dtype: Exact) -> Shown:
    """What must be printed for a raw of that type."""
    width = width_of(dtype)
    return Shown(width, width - frac_of(dtype), signed_of(dtype), raw)
