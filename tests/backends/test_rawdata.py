"""Raw arrays as bytes: by their definition, and as the C++ header reads and writes them."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from backends.ap_types import find_ap_types
from backends.cxx import need_cxx
from backends.process import Limits, run_limited
from backends.rawdata import element_bytes, from_bytes, pack, to_bytes, unpack
from dsl.expressions.types import (
    DType,
    FixedType,
    FloatType,
    IntType,
    bf16,
    f16,
    f32,
    f64,
    fixed,
    ufixed,
)
from dsl.programs.program import Array

VITIS = Path(__file__).resolve().parents[2] / "backends" / "vitis"
AP_TYPES = find_ap_types()

INTEGERS = [
    IntType(1), IntType(1, False), IntType(7), IntType(8, False), IntType(9), IntType(33),
    IntType(64), IntType(64, False), IntType(65), IntType(128, False), IntType(200),
]  # fmt: skip
FIXED = [fixed[16, 8], fixed[12, -3], ufixed[9, 20], fixed[70, 100], ufixed[8, 0]]


def raw(dtype: DType, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    chance = random.Random(seed)
    count = int(np.prod(shape))
    if isinstance(dtype, FloatType):
        kind = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64}
        data = np.array([chance.uniform(-9, 9) for _ in range(count)], kind[dtype.name])
        if dtype.name == "bf16":
            data = (data.view(np.uint32) & 0xFFFF0000).view(np.float32)
        return data.reshape(shape)
    assert isinstance(dtype, IntType | FixedType)
    low = -(1 << (dtype.width - 1)) if dtype.signed else 0
    high = low + (1 << dtype.width) - 1
    values = [low, high, *(chance.randint(low, high) for _ in range(count))][:count]
    size = element_bytes(dtype)
    storage = np.dtype(f"{'i' if dtype.signed else 'u'}{size}") if size <= 8 else np.dtype(object)
    data = np.empty(count, storage)
    data[:] = values
    return data.reshape(shape)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FIXED, f16, bf16, f32, f64], ids=str)
def test_what_is_written_is_read(dtype: DType) -> None:
    array = Array("A", dtype, (3, 4))
    data = raw(dtype, array.shape)
    packed = to_bytes(array, data)
    assert len(packed) == 12 * element_bytes(dtype)
    back = from_bytes(array, packed, data.dtype)
    assert back.dtype == data.dtype
    assert np.array_equal(back, data)


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        (IntType(7), -1, "ff"),
        (IntType(9), -2, "feff"),
        (IntType(17, False), 3, "03000000"),
        (IntType(33), -1, "ffffffffffffffff"),
        (IntType(65), -1, "ff" * 16),
        (IntType(65, False), 1 << 64, "00000000000000000100000000000000"),
        (fixed[16, 8], 0x1234, "3412"),
        (f16, 1.5, "0000c03f"),
        (bf16, 1.5, "0000c03f"),
        (f64, 1.5, "000000000000f83f"),
    ],
)
def test_the_format(dtype: DType, value: float, expected: str) -> None:
    wide = isinstance(value, int) and abs(value) >= 1 << 63
    assert to_bytes(Array("x", dtype, ()), np.array(value, object) if wide else value).hex() == (
        expected
    )


def test_several_arrays() -> None:
    arrays = (Array("x", f32, ()), Array("A", IntType(70), (2,)), Array("B", f64, (3,)))
    values = {a.name: raw(a.dtype, a.shape) if a.shape else np.float32(2) for a in arrays}
    storage = {n: np.asarray(v).dtype for n, v in values.items()}
    back = unpack(arrays, pack(arrays, values), storage)
    assert all(np.array_equal(back[n], values[n]) for n in values)


def test_a_wrong_length_is_refused() -> None:
    array = Array("A", f32, (2,))
    with pytest.raises(ValueError, match="A: 7 bytes, not 8"):
        from_bytes(array, bytes(7), np.dtype(np.float32))
    with pytest.raises(ValueError, match="9 bytes, not 8"):
        unpack((array,), bytes(9), {"A": np.dtype(np.float32)})


def test_a_wrong_shape_is_refused() -> None:
    with pytest.raises(ValueError, match=r"A has the shape \(2,\), not \(3,\)"):
        to_bytes(Array("A", f32, (2,)), np.zeros(3, np.float32))


def cxx_type(dtype: DType) -> str:
    match dtype:
        case IntType(width, signed):
            return f"ap_{'' if signed else 'u'}int<{width}>"
        case FixedType(width, integer, signed):
            return f"ap_{'' if signed else 'u'}fixed<{width}, {integer}>"
        case FloatType(name):
            return {"f32": "float", "f64": "double"}[name]
        case _:
            raise AssertionError


PROGRAM = """\
#include <ap_fixed.h>
#include <ap_int.h>
#include "weft_tb.h"

int main(int, char **argv) {
  const weft_tb::folder data(2, argv, "0.bin");
  long wrong = 0;
  @BODY@
  return wrong == @WRONG@ ? 0 : 1;
}
"""


@pytest.mark.skipif(AP_TYPES is None, reason="needs the ap_types headers (group csim)")
def test_the_header_reads_and_checks_the_same_format(tmp_path: Path) -> None:
    assert AP_TYPES is not None
    types = [*INTEGERS, *FIXED, f32, f64]
    body = []
    for n, dtype in enumerate(types):
        array = Array("A", dtype, (2, 3))
        data = raw(dtype, array.shape, seed=n)
        (tmp_path / f"{n}.bin").write_bytes(to_bytes(array, data))
        other = data.copy()
        other[1, 0] = data[0, 0]  # they differ: these are the least and the greatest value
        other[0, 1] = data[0, 0]
        (tmp_path / f"{n}.other.bin").write_bytes(to_bytes(array, other))
        body.append(
            f'{{ {cxx_type(dtype)} A[2][3]; data.load("{n}.bin", A);'
            f' wrong += data.check("{n}.bin", "A", A);'
            f' wrong += data.check("{n}.other.bin", "{dtype}", A);'
            f' std::FILE *f = std::fopen((std::string(argv[1]) + "/{n}.out").c_str(), "wb");'
            " weft_tb::write(f, A); std::fclose(f); }"
        )
    text = PROGRAM.replace("@BODY@", "\n  ".join(body)).replace("@WRONG@", "0")
    source = tmp_path / "p.cpp"
    source.write_text(text)
    folders = [AP_TYPES.folder, VITIS]
    built = need_cxx().compile([source], tmp_path / "p", includes=folders)
    assert built.ok, built.log
    run = run_limited([tmp_path / "p", tmp_path], Limits(60))
    for n, dtype in enumerate(types):
        same = raw(dtype, (2, 3), seed=n)
        assert (tmp_path / f"{n}.out").read_bytes() == (tmp_path / f"{n}.bin").read_bytes()
        differing = int(same[0, 1] != same[0, 0]) + int(same[1, 0] != same[0, 0])
        assert f"{dtype}: {differing} of 6 elements wrong" in run.log
    assert "A: 0 of 6 elements wrong" in run.log
    assert "u64[0][1] is " in run.log


FLOATS = """\
#include "weft_tb.h"

struct tiny { // a small float class, as half is: converts from and to float
  float f;
  tiny() {}
  tiny(float x) : f(x) {}
  operator float() const { return f; }
};

static tiny A[3];
static float B[4];

int main(int argc, char **argv) {
  const weft_tb::folder data(argc, argv, "A.bin");
  data.load("A.bin", A);
  data.load("B.bin", B);
  const long exact = data.check("B.other.bin", "B", B);
  const long near = data.check("B.other.bin", "B", B, 0.25);
  const long small = data.check("A.bin", "A", A);
  return exact == 3 && near == 1 && small == 0 && A[1] == 2.5f ? 0 : 1;
}
"""


def build_floats(folder: Path) -> None:
    (folder / "p.cpp").write_text(FLOATS)
    built = need_cxx().compile([folder / "p.cpp"], folder / "p", includes=[VITIS], flags=["-Wall"])
    assert built.ok, built.log
    assert not built.log


@pytest.mark.parametrize("place", ["argument", "data", "here"])
def test_tolerance_nan_signed_zero_and_where_data_is(tmp_path: Path, place: str) -> None:
    build_floats(tmp_path)
    folder = tmp_path / {"argument": "x y", "data": "data", "here": "."}[place]
    folder.mkdir(exist_ok=True)
    b = np.array([1.0, 0.0, np.nan, 2.0], np.float32)
    other = np.array([1.25, -0.0, -np.nan, 3.0], np.float32)
    files = {"A": (f16, np.array([1, 2.5, 3], np.float16)), "B": (f32, b), "B.other": (f32, other)}
    for name, (dtype, data) in files.items():
        (folder / f"{name}.bin").write_bytes(to_bytes(Array(name, dtype, data.shape), data))
    command = [tmp_path / "p", *(["x y"] if place == "argument" else [])]
    run = run_limited(command, Limits(60), cwd=tmp_path)
    assert run.ok, run.log


def test_a_missing_or_short_file_ends_the_program(tmp_path: Path) -> None:
    build_floats(tmp_path)
    run = run_limited([tmp_path / "p"], Limits(60), cwd=tmp_path)
    assert (run.returncode, run.log) == (2, "data/A.bin: missing\n")
    (tmp_path / "A.bin").write_bytes(bytes(11))
    run = run_limited([tmp_path / "p"], Limits(60), cwd=tmp_path)
    assert (run.returncode, run.log) == (2, "./A.bin: too short\n")
