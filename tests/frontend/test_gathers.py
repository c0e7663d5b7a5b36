"""Reads at subscripts that are data: what is proven to be inside, and what is said where it is not."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import weft
from dsl.errors.errors import LanguageError
from dsl.expressions.expr import Gather, walk
from dsl.interp import run
from dsl.programs.program import Program
from dsl.stored.read import program_of_json
from dsl.stored.write import program_json
from polyhedral.legality.program import check_program
from tests.support.round_trip import reloaded
from weft import f32, fixed, i8, i16, i32, i64, u2, u4, u8, u16

INSIDE = """
x8[i]                                        | t256
x8[i] & 15                                   | t16
(x8[i] + 300) & 31                           | t32
s32[i] & 15                                  | t16
s32[i] % 20                                  | t20
-s32[i] % 20                                 | t20
x8[i] >> 4                                   | t16
(x8[i] * 3) // 64                            | t16
min(max(s32[i], 0), 19)                      | t20
abs(s8[i]) // 8                              | t20
x8[i] if x8[i] < 20 else 0                   | t20
19 if s32[i] > 19 else max(s32[i], 0)        | t20
weft.u4(s32[i])                              | t16
s32[i] > 5                                   | t2
i * i % 20                                   | t20
(i ^ s8[i]) & 15                              | t16
((i & 1) << 3) | (x8[i] & 7)                 | t16
weft.i32(q[i]) + 8                           | t16
local                                        | t20
v[x8[i] & 7]                                 | t20
i64(x8[i]) % (i + 1)                         | t16
s32[i] if s32[i] < 20 and s32[i] >= 0 else 0  | t20
0 if s32[i] >= 20 or s32[i] < 0 else s32[i]  | t20
s32[i] - 4 if not (s32[i] < 4 or s32[i] > 9) else 0  | t16
"""
OUTSIDE = """
x8[i]                                        | t20  | which may be 0 to 255
s8[i]                                        | t256 | which may be -128 to 127
s32[i] & -2                                  | t16  | which may be -2147483648 to 2147483647
x8[i] + 1                                    | t256 | which may be 1 to 256
weft.i8(x8[i])                               | t256 | which may be -128 to 127
x8[i] if s32[i] < 20 else 0                  | t20  | which may be 0 to 255
s32[i] if s32[i] < 20 or s32[i] >= 0 else 0  | t20  | which may be -2147483648 to 2147483647
weft.i32(t2[0])                              | t16  | which may be -2147483648 to 2147483647
x8[i] % (x8[i] + 1)                          | t20  | which may be 0 to 255
s32[i] >> 28                                 | t16  | which may be -8 to 7
i * i                                        | t20  | which may be 0 to 225
"""


def joined(text: str) -> list[list[str]]:
    """Rows in whose first column a bar is an operator."""
    found = []
    for line in text.strip().splitlines():
        head, _, rest = line.partition("  | ")
        found.append([head.strip(), *(part.strip() for part in rest.split("|"))])
    return found


def program(expr: str, table: str) -> Program:
    source = f"""
@weft.kernel
def k(x8: u8[16], s8: i8[16], s32: i32[16], q: fixed[8, 4][16], t2: f32[2], t16: f32[16],
      t20: f32[20], t32: f32[32], t256: f32[256], y: f32[16]):
    v: i16[8]
    for i in range(8):
        v[i] = i + 3
    for i in range(16):
        local: i32 = (s32[i] & 7) + 12
        y[i] = {table}[{expr}]
"""
    return compiled(source)


def compiled(source: str) -> Program:
    name = f"<gathers {abs(hash(source))}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names = {"weft": weft, "f32": f32, "fixed": fixed, "i8": i8, "i16": i16, "i32": i32}
    names |= {"i64": i64, "u2": u2, "u4": u4, "u8": u8, "u16": u16}
    exec(compile(source, name, "exec"), names)
    return names["k"].program  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize(("expr", "table"), joined(INSIDE))
def test_inside(expr: str, table: str) -> None:
    found = program(expr, table)
    check_program(found)
    assert any(isinstance(e, Gather) for s in found.statements() for e in walk(s.value))
    assert reloaded(found) == found
    assert program_of_json(program_json(found), "here") == found


@pytest.mark.parametrize(("expr", "table", "message"), joined(OUTSIDE))
def test_outside(expr: str, table: str, message: str) -> None:
    with pytest.raises(LanguageError) as caught:
        check_program(program(expr, table))
    assert caught.value.code == "W164"
    assert message in caught.value.render()


def test_the_clamp_that_is_missing_is_told() -> None:
    with pytest.raises(LanguageError) as caught:
        check_program(program("s32[i]", "t20"))
    *_, note, instead = caught.value.render().splitlines()
    assert note.strip() == "t20 is f32[20]: subscript 0 must be 0 to 19"
    assert instead == "help: write min(max(s32[i], 0), 19), or a remainder, (s32[i]) % 20"
    with pytest.raises(
        LanguageError, match=r"keep its low bits, \(s32\[i\]\) & 15.*or declare s32: u4\["
    ):
        check_program(program("s32[i]", "t16"))


def test_a_program_of_terms_gathers() -> None:
    p = weft.Program("gathers")
    (i,) = p.loops(i=8)
    x, t = p.placeholder("x", u2, (8,)), p.placeholder("t", f32, (3, 4))
    y = p.placeholder("y", f32, (8,))
    p.compute("S", (i,), into=y[i], value=t[x[i] % 3, x[i]] + t[2, x[7 - i]])
    data = np.array([0, 1, 2, 3, 3, 2, 1, 0], np.uint8)
    table, out = np.arange(12, dtype=np.float32).reshape(3, 4), np.zeros(8, np.float32)
    built = p.build()
    check_program(built)
    got = run(built, {"x": data, "t": table, "y": out})["y"]
    assert (got == table[data % 3, data] + table[2, data[::-1]]).all()
    assert str(built.statements()[0].value.lhs.access) == "t[?, ?]"  # type: ignore[union-attr]
