"""Writes at subscripts that are data: what they mean, what is refused, and how they are written down."""

from __future__ import annotations

import json

import numpy as np
import pytest

import weft
from dsl.arrays.inputs import storage_dtype
from dsl.errors.errors import InputError, LanguageError
from dsl.expressions.expr import Scatter
from dsl.interp import run
from dsl.kernels.kernel import Kernel
from dsl.stored.read import program_of_json
from dsl.stored.write import digest, program_json
from polyhedral.legality.program import check_program
from tests.frontend.test_gathers import compiled
from tests.support.round_trip import reloaded
from weft import i32, u1, u4, u8, u16


@weft.kernel
def counted(x: u4[40], h: u16[16]):
    for i in range(40):
        h[x[i]] += 1


@weft.kernel
def sorted_by_counting(x: u4[32], y: u4[32]):
    start: u8[17] = 0
    for i in range(32):
        start[x[i] + 1] += 1
    for b in range(16):
        start[b + 1] += start[b]
    for i in range(32):
        y[start[x[i]] & 31] = x[i]
        start[x[i]] += 1


@weft.kernel
def swapped(a: i32[16], x: u4[20], y: u4[20]):
    for i in range(20):
        a[x[i]], a[y[i]] = a[y[i]], a[x[i]]


@weft.kernel
def through_itself(p: u4[16]):
    for i in range(16):
        p[p[i]] = i


@weft.kernel
def saturated(x: u8[40], valid: u1[40], c: u4[20]):
    for i in range(40):
        if valid[i] and x[i] < 20 and c[x[i]] < 15:
            c[x[i]] += 1


@weft.kernel
def either(a: i32[16], x: u4[20], y: u4[20], c: i32[20]):
    for i in range(20):
        if c[i] > 0:
            a[x[i]] = c[i]
        else:
            a[y[i]] -= 1


@weft.kernel
def stack(push: u1[40], x: i32[40], y: i32[40]):
    held: i32[16] = 0
    top: u8 = 0
    for i in range(40):
        y[i] = 0
        if push[i]:
            if top < 16:
                held[top] = x[i]
                top += 1
        elif top > 0:
            top -= 1
            if top < 16:
                y[i] = held[top]


def _counted(x, h):
    for i in range(40):
        h[x[i]] += 1


def _sorted(x, y):
    y[:] = np.sort(x)


def _swapped(a, x, y):
    for i in range(20):
        a[x[i]], a[y[i]] = a[y[i]], a[x[i]]


def _through_itself(p):
    for i in range(16):
        p[p[i]] = i


def _saturated(x, valid, c):
    for i in range(40):
        if valid[i] and x[i] < 20 and c[x[i]] < 15:
            c[x[i]] += 1


def _either(a, x, y, c):
    for i in range(20):
        if c[i] > 0:
            a[x[i]] = c[i]
        else:
            a[y[i]] -= 1


def _stack(push, x, y):
    held: list[int] = []
    for i in range(40):
        y[i] = 0
        if push[i]:
            if len(held) < 16:
                held.append(x[i])
        elif held:
            y[i] = held.pop()


MEANT = [
    (counted, _counted),
    (sorted_by_counting, _sorted),
    (swapped, _swapped),
    (through_itself, _through_itself),
    (saturated, _saturated),
    (either, _either),
    (stack, _stack),
]


@pytest.mark.parametrize(("kernel", "python"), MEANT, ids=lambda x: getattr(x, "name", ""))
def test_it_does_what_python_does(kernel: Kernel, python) -> None:
    program = kernel.program
    check_program(program)
    assert any(isinstance(s.value, Scatter) for s in program.statements())
    rng = np.random.default_rng(1)
    for _ in range(3):
        inputs = {}
        for a in program.arguments:
            low, high = (-9, 9) if a.dtype.signed else (0, 2 ** min(a.dtype.width, 5))
            if a.name == "c" and kernel is saturated:
                low, high = 10, 16
            inputs[a.name] = rng.integers(low, high, a.shape).astype(storage_dtype(a.dtype))
        expected = {name: value.astype(np.int64) for name, value in inputs.items()}
        python(**expected)
        for path in ("fast", "plain"):
            found = run(program, inputs, path=path)
            assert all(np.array_equal(found[n], expected[n]) for n in expected)


@pytest.mark.parametrize("kernel", [k for k, _ in MEANT], ids=lambda k: k.name)
def test_text_and_stored_form_give_it_back(kernel: Kernel) -> None:
    program = kernel.program
    assert reloaded(program) == program
    assert program_of_json(program_json(program), "here") == program


def test_the_builder_writes_the_same() -> None:
    p = weft.Program("counted")
    (i,) = p.loops(i=40)
    x, h = p.placeholder("x", u4, (40,)), p.placeholder("h", u16, (16,))
    p.compute("S0", (i,), into=h[x[i]], value=h[x[i]] + 1)
    assert p.build() == counted.program


OUTSIDE = [
    ("h[x[i] + 1] += 1", "which may be 1 to 256", "write it under a condition"),
    ("h[s[i]] = 1", "which may be -32768 to 32767", "or write it under a condition"),
    ("h[i * i] = 1", "which may be 0 to 1521", "keep its low bits, (i * i) & 255"),
    ("t[n] = 1", "which may be -2147483648 to 2147483647", "write min(max(n, 0), 19)"),
]


@pytest.mark.parametrize(("line", "message", "instead"), OUTSIDE)
def test_outside(line: str, message: str, instead: str) -> None:
    source = f"""
@weft.kernel
def k(x: u8[40], s: i16[40], n: i32, h: u16[256], t: i16[20]):
    for i in range(40):
        {line}
"""
    with pytest.raises(LanguageError) as caught:
        check_program(compiled(source))
    assert caught.value.code == "W164"
    assert message in caught.value.render()
    assert instead in caught.value.render()


def test_a_local_has_a_value_before_it_is_written_in_part() -> None:
    """Which elements have one is known at run time only: those that are not written are read too."""
    source = """
@weft.kernel
def k(p: u4[16], y: u4[16]):
    inverse: u4[16]
    for i in range(16):
        inverse[p[i]] = i
    for i in range(16):
        y[i] = inverse[i]
"""
    with pytest.raises(LanguageError) as caught:
        check_program(compiled(source))
    assert "inverse[…] is read before it is written for i = 0" in caught.value.render()
    assert "leaves all other elements as they were" in caught.value.render()
    check_program(compiled(source.replace("inverse: u4[16]", "inverse: u4[16] = 0")))


BROKEN = [
    (lambda statement: statement[3].insert(0, ["scatter", "h", [None], None, 2]), "lacks operands"),
    (lambda statement: statement[2].__setitem__(0, "x"), "S0 writes two elements"),
    (lambda statement: statement[3].append(["cast", "u8", None]), "an operand of S0 is written"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_stored_programs_that_are_none_are_refused(change, message: str) -> None:
    data = json.loads(program_json(counted.program, places=False))
    change(next(row for row in data["program"]["body"] if row[0] == "set"))
    data["digest"] = digest(data["program"])
    with pytest.raises(InputError, match=message):
        program_of_json(json.dumps(data), "here")
