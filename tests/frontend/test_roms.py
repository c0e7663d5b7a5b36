"""Captured tables as read-only memories: what they hold, their types, the whole way, and what is refused."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

import weft
from backends.equivalence import equivalence
from backends.verify import verify_many
from dsl.kernels.kernel import Kernel
from dsl.programs.pretty import pretty
from dsl.programs.program import Storage
from dsl.schedules.schedule import Schedule
from dsl.stored.read import program_of_json
from dsl.stored.write import program_json
from mlir_passes.pipeline import compile_design
from tests.frontend.conftest import Load

TABLES = """\
import numpy as np
from weft import *

CRC = []
for n in range(256):
    for _ in range(8):
        n = (n >> 1) ^ 0xEDB88320 if n & 1 else n >> 1
    CRC.append(n)
SINE = [math.sin(2 * math.pi * k / 256) for k in range(256)]
BYTES = np.arange(100, dtype=np.uint8)
WINDOW = np.hanning(128)
ROWS = np.arange(-100, 100, dtype=np.int16).reshape(10, 20)
RAGGED = [[1, 2], [3]] * 50
LARGE = np.zeros(1 << 19, np.int8)
"""
CHECKSUM = """\
@weft.kernel
def k(x: u8[32], y: u32[1]):
    crc = 0xFFFFFFFF
    for v in x:
        crc = (crc >> 8) ^ CRC[(crc ^ v) & 255]
    y[0] = crc ^ 0xFFFFFFFF
"""
WINDOWED = """\
@weft.kernel
def k(x: fixed[16, 2][128], y: fixed[16, 2][128]):
    for i in range(128):
        y[i] = x[i] * fixed[18, 2](WINDOW[i])
"""
LOOKED_UP = """\
@weft.kernel
def sine(phase: u8, gain: f32) -> f32:
    return SINE[phase] * gain

@weft.kernel
def k(step: u8[8], y: f32[8], z: i32[8]):
    phase: u8 = 0
    for i in range(8):
        y[i] = sine(phase, 0.5) + SINE[255 - phase]
        z[i] = ROWS[i, -1] - ROWS[9][i + phase % 4] + ~BYTES[i]
        phase += step[i]
"""


def test_a_checksum_is_that_of_the_library(kernel: Load) -> None:
    x, y = np.arange(32, dtype=np.uint8) * 7, np.zeros(1, np.uint32)
    kernel(TABLES + CHECKSUM)(x, y)
    assert y[0] == zlib.crc32(x.tobytes())


@pytest.fixture
def kernels(kernel: Load) -> list[Kernel]:
    return [kernel(TABLES + text) for text in (CHECKSUM, WINDOWED, LOOKED_UP)]


def test_all_ways_of_running_them_agree(kernels: list[Kernel]) -> None:
    designs = [compile_design(k.program, Schedule()) for k in kernels]
    assert [r.ok for r in verify_many(designs, trials=2)] == [True] * 3
    assert {equivalence(d).verdict for d in designs} == {"proven"}


def test_each_is_there_once_with_its_type(kernels: list[Kernel]) -> None:
    found = [[(a.name, str(a.type)) for a in k.program.tables] for k in kernels]
    assert found == [
        [("CRC", "u32[256]")],
        [("WINDOW", "fixed[18, 2][128]")],
        [("SINE", "f32[256]"), ("ROWS", "i16[10, 20]"), ("BYTES", "u8[100]")],
    ]
    assert all(a.storage is Storage.TABLE and a.const for k in kernels for a in k.program.tables)


def test_they_are_stored_with_their_programs(kernels: list[Kernel]) -> None:
    texts = [program_json(k.program) for k in kernels]
    assert [program_of_json(t, "here") for t in texts] == [k.program for k in kernels]
    assert all(a != b for a, b in pairwise(texts))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("y[0] = LARGE[x[0]]", "error[W165]: the captured table LARGE has 524288 entries"),
        ("y[0] = RAGGED[x[0]][0]", "error[W113]: RAGGED is no table of numbers"),
        ("y[0] = ROWS[x[0]]", "error[W113]: ROWS[x[0]] is a row of a table, not one value"),
        (
            "y[0] = i32(100 * SINE[x[0]])",
            "error[W165]: the type of the entries of SINE is not clear",
        ),
        ("BYTES[x[0]] = 3", "error[W107]"),
    ],
)
def test_what_is_no_memory_is_said(error: Callable[[str], str], line: str, message: str) -> None:
    assert message in error(f"{TABLES}@weft.kernel\ndef k(x: u8[4], y: i32[4]):\n    {line}\n")


def test_ranges_of_subscripts_follow_from_what_tables_hold(kernel: Load) -> None:
    text = "P = [(37 * n + 5) % 101 for n in range(101)]\n@weft.kernel\ndef k(x: i32[101], y: i32[101]):\n    for i in range(101):\n        y[P[i]] = x[P[100 - i]]\n"
    weft.compile(kernel(f"from weft import *\n{text}"))


def test_their_text_tells_programs_apart_and_can_be_read(kernel: Load) -> None:
    texts = [pretty(kernel(TABLES + text).program) for text in (CHECKSUM, LOOKED_UP)]
    assert [pretty(kernel(f"import math\n{t}").program) for t in texts] == texts
    other = kernel(TABLES.replace("0xEDB88320", "0xEDB88321") + CHECKSUM).program
    assert pretty(other) != texts[0]
