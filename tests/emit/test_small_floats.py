"""half and weft::bf16 of weft_float.h round once for each operation; conversions round once, too."""

import random
import struct
import subprocess

import numpy as np
import pytest

from backends.cxx import need_cxx
from dsl.errors.errors import IRError
from dsl.expressions.numeric import bounds, frac_of, from_float, round_float, to_float
from dsl.expressions.types import FixedType, FloatType, IntType
from dsl.expressions.typing import binary, cast
from mlir_passes.construct.module import build_module
from mlir_passes.emit.hls import emit, include_directory
from tests.emit.running import emitted, run, run_all
from tests.mlir.elementwise import elementwise, interesting, raw
from tests.mlir.elementwise import run as run_jit
from tests.mlir.trees import identity_tree

OPS = {"addf": np.add, "subf": np.subtract, "mulf": np.multiply, "divf": np.divide}
SMALL = {"f16": (5, 10), "bf16": (8, 7)}


def numbers(name: str, count: int) -> np.ndarray:
    """Values of all magnitudes, subnormals and the largest ones among them."""
    rng = random.Random(name)
    exponent, mantissa = SMALL[name]
    special = [0, 1, (1 << mantissa) - 1, 1 << mantissa, ((1 << exponent) - 1 << mantissa) - 1]
    bits = [b | sign for b in special for sign in (0, 0x8000)]
    while len(bits) < count:
        b = rng.getrandbits(16)
        if (b & 0x7FFF) >> mantissa != (1 << exponent) - 1:
            bits.append(b)
    if name == "f16":
        return np.array(bits, np.uint16).view(np.float16)
    return (np.array(bits, np.uint32) << 16).view(np.float32)


def rounded(values: np.ndarray, name: str) -> np.ndarray:
    kind = np.float16 if name == "f16" else np.float32
    return np.array([round_float(float(v), FloatType(name)) for v in values], kind)


@pytest.mark.parametrize("name", SMALL)
def test_operators_round_once(name):
    rng = np.random.default_rng(1)
    pool = numbers(name, 400)
    a, b = pool[rng.integers(0, 400, 4000)], pool[rng.integers(0, 400, 4000)]
    sources, wants = [], []
    for op, f in OPS.items():
        sources.append(
            emitted(f"""
            func.func @{op}(%x: memref<4000x{name}>, %y: memref<4000x{name}>,
                            %z: memref<4000x{name}>) {{
              affine.for %i = 0 to 4000 {{
                %a = affine.load %x[%i] : memref<4000x{name}>
                %b = affine.load %y[%i] : memref<4000x{name}>
                %c = arith.{op} %a, %b : {name}
                affine.store %c, %z[%i] : memref<4000x{name}>
              }}
              return
            }}""")
        )
        with np.errstate(all="ignore"):
            wants.append(rounded(f(a.astype(np.float64), b.astype(np.float64)), name))
    inputs = [{"arg0": a, "arg1": b, "arg2": np.zeros_like(a)}] * len(sources)
    for op, got, want in zip(OPS, run_all(sources, inputs), wants, strict=True):
        same = (got["arg2"] == want) | (np.isnan(got["arg2"]) & np.isnan(want))
        assert same.all(), (op, a[~same][:3], b[~same][:3], got["arg2"][~same][:3], want[~same][:3])
        assert (np.signbit(got["arg2"]) == np.signbit(want))[~np.isnan(want)].all(), op


def test_a_kernel_in_half_reads_like_one_in_float():
    text = """
    func.func @f(%x: memref<4xf16> {hls.name = "x"}, %y: memref<4xf32> {hls.name = "y"}) {
      %c = arith.constant 0.5 : f16
      affine.for %i = 0 to 4 {
        %a = affine.load %x[%i] : memref<4xf16>
        %b = arith.mulf %a, %c : f16
        %e = math.exp %b : f16
        affine.store %e, %x[%i] : memref<4xf16>
        %w = arith.extf %b : f16 to f32
        affine.store %w, %y[%i] : memref<4xf32>
        %v = affine.load %y[0] : memref<4xf32>
        %n = arith.truncf %v : f32 to f16
        affine.store %n, %x[0] : memref<4xf16>
      }
      return
    }"""
    source = emitted(text)
    assert 'extern "C" void f(half x[4], float y[4]) {' in source.text
    assert "const half t0 = x[i] * half(0.5f);" in source.text
    assert "x[i] = hls::exp(t0);\n    y[i] = t0;\n    x[0] = y[0];" in source.text
    assert source.support == ("weft_float.h", "weft_math.h")
    assert not source.uses_ap
    x = np.array([1.0, 2.0, -3.0, 0.25], np.float16)
    got = run(text, x=x, y=np.zeros(4, np.float32))
    assert got["y"].tolist() == (x * np.float16(0.5)).astype(np.float32).tolist()


def test_conversions_round_once():
    sources, inputs, wants = [], [], []
    rng = random.Random(2)
    exact = [IntType(8), IntType(64), IntType(64, False), IntType(100), FixedType(70, 20)]
    # Beyond what a float holds at both ends; the headers let its exponent wrap.
    exact += [IntType(128, False), IntType(129, False), IntType(140), IntType(1024, False)]
    exact += [FixedType(160, 4), FixedType(20, -110), FixedType(20, 140), FixedType(900, 400)]
    for dtype in exact:
        values = interesting(dtype, rng, 200)
        # Ties of f16 and bf16 and their neighbours, far below the bits of a double.
        low, high = bounds(dtype)
        ties = [(2049 << k) + d for k in range(0, 80, 5) for d in (-1, 0, 1)]
        values += [v for t in ties for v in (t, -t) if low <= v <= high]
        names = ("f16", "bf16", "f32", "f64")
        program = elementwise(
            {"x": dtype}, lambda x, names=names: {n: cast(FloatType(n), x) for n in names},
            len(values),
        )  # fmt: skip
        sources.append(emit(build_module(identity_tree(program)), top=f"k{len(sources)}"))
        inputs.append({a.name: raw([0] * len(values), a.dtype) for a in program.arrays})
        inputs[-1]["x"] = raw(values, dtype)
        wants.append(
            {n: [to_float(v, frac_of(dtype), FloatType(n)) for v in values] for n in names}
        )
        found = run_jit(program, {"x": values})
        assert found == wants[-1], dtype
    for dtype, got, want in zip(exact, run_all(sources, inputs), wants, strict=True):
        for name, expected in want.items():
            assert got[name].astype(np.float64).tolist() == expected, (dtype, name)


@pytest.mark.parametrize("dtype", [IntType(1025, False), IntType(1026), FixedType(1030, 4)])
def test_values_without_room_in_a_double_have_no_form(dtype):
    program = elementwise({"x": dtype}, lambda x: {"y": cast(FloatType("f32"), x)}, 2)
    with pytest.raises(IRError, match="larger or smaller exponents than a double") as caught:
        emit(build_module(identity_tree(program)))
    assert caught.value.code == "W320"


def test_conversions_from_floats_are_exact():
    """Also of numbers between -1 and 0, of which the headers' own make 1."""
    values = [0.25, -0.25, -0.999, 1.5, -1.5, 2.5, -2.5, 100.75, -1e-9, 0.0, -3.0, 7.9]
    values = [struct.unpack("<f", struct.pack("<f", v))[0] for v in values]
    targets = [IntType(8), IntType(8, False), FixedType(12, 8), FixedType(70, 40)]
    program = elementwise(
        {"x": FloatType("f32")},
        lambda x: {f"y{n}": cast(t, x) for n, t in enumerate(targets)},
        len(values),
    )
    source = emit(build_module(identity_tree(program)))
    assert "y2[i] = x[i];" in source.text
    data = {a.name: raw([0] * len(values), a.dtype) for a in program.arrays}
    got = run_all([source], [data | {"x": np.array(values, np.float32)}])[0]
    for n, t in enumerate(targets):
        assert got[f"y{n}"].tolist() == [from_float(v, t) for v in values], t


def test_fixed_point_and_floats_meet_in_the_float():
    program = elementwise(
        {"x": FixedType(16, 8), "y": FloatType("f32")},
        lambda x, y: {"z": binary_mul(x, y)},
        3,
    )
    source = emit(build_module(identity_tree(program)))
    assert "z[i] = float(x[i]) * y[i];" in source.text


def binary_mul(x, y):
    from dsl.expressions.expr import BinaryOp

    return binary(BinaryOp.MUL, x, y)


# What Vitis HLS brings, as far as weft_float.h needs it: it cannot be installed here.
VENDOR_MATH = """
#include <cmath>
namespace hls {
using std::acos; using std::acosh; using std::asin; using std::asinh; using std::atan;
using std::atanh; using std::cbrt; using std::ceil; using std::cos; using std::cosh; using std::erf;
using std::erfc; using std::exp; using std::exp2; using std::expm1; using std::fabs;
using std::floor; using std::log; using std::log10; using std::log1p; using std::log2;
using std::rint; using std::round; using std::sin; using std::sinh; using std::sqrt; using std::tan;
using std::tanh; using std::trunc; using std::atan2; using std::copysign; using std::fmax;
using std::fmin; using std::fmod; using std::pow; using std::fma;
inline float rsqrt(float x) { return 1 / std::sqrt(x); }
}
"""
SYNTHESIS = """
#include "weft_float.h"
#include <cstdio>
int main() {
  unsigned bits[2];
  while (std::fread(bits, 4, 2, stdin) == 2) {
    const weft::bf16 a = weft::bit_cast<float>(bits[0]), b = weft::bit_cast<float>(bits[1]);
    const weft::bf16 results[] = {a + b, a - b, a * b, a / b, hls::sqrt(a)};
    for (weft::bf16 r : results) {
      const float x = r;
      std::fwrite(&x, 4, 1, stdout);
    }
  }
}
"""


def test_bf16_rounds_the_same_where_vitis_synthesizes(tmp_path):
    (tmp_path / "hls_math.h").write_text(VENDOR_MATH)
    (tmp_path / "hls_half.h").write_text("typedef _Float16 half;")
    (tmp_path / "main.cpp").write_text(SYNTHESIS)
    program = tmp_path / "main"
    compiled = need_cxx().compile(
        [tmp_path / "main.cpp"],
        program,
        includes=[include_directory(), tmp_path],
        flags=["-D__SYNTHESIS__", "-O1"],
    )
    assert compiled.ok, compiled.log
    rng = np.random.default_rng(3)
    pool = numbers("bf16", 300)
    pool = pool[(np.abs(pool) > 1e-18) & (np.abs(pool) < 1e18)]  # results are normal, or zero
    pairs = pool[rng.integers(0, len(pool), (2000, 2))]
    ran = subprocess.run(
        [program], input=pairs.tobytes(), capture_output=True, timeout=60, check=True
    )
    got = np.frombuffer(ran.stdout, np.float32).reshape(-1, 5)
    a, b = pairs[:, 0].astype(np.float64), pairs[:, 1].astype(np.float64)
    with np.errstate(all="ignore"):
        wants = [a + b, a - b, a * b, a / b, np.sqrt(a)]
    for n, want in enumerate(wants):
        expected = rounded(want, "bf16")
        same = (got[:, n] == expected) | np.isnan(expected)
        assert same.all(), n
