"""What no data may make a program do is reported with its statement and iteration."""

from __future__ import annotations

import numpy as np
import pytest

from dsl.errors.errors import Span
from dsl.expressions.affine import Constraint
from dsl.expressions.expr import Access, BinaryOp, Index, Load, UnaryOp
from dsl.expressions.numeric import FaultKind
from dsl.expressions.types import FixedType, FloatType, IntType
from dsl.expressions.typing import binary, cast, unary
from dsl.interp import ExecutionError, run
from dsl.programs.program import Array, If, Stmt
from tests.interp.kernels import LOCAL, Maker, loop, v

F32, I8, I32 = FloatType("f32"), IntType(8), IntType(32)
PATHS = [
    {"path": "plain"},
    {"path": "fast", "min_trips": 1},
    {"path": "fast", "chunk": 3, "min_trips": 1},
]
paths = pytest.mark.parametrize("options", PATHS, ids=["plain", "fast", "chunked"])


def failing(program, inputs, options) -> ExecutionError:
    with pytest.raises(ExecutionError) as caught:
        run(program, inputs, **options)
    return caught.value


@paths
@pytest.mark.parametrize("op", [BinaryOp.FLOORDIV, BinaryOp.MOD])
def test_integer_division_by_zero(op, options):
    m = Maker(Array("a", I8, (4, 5)), Array("b", I8, (4, 5)))
    stmt = m.set("a", ("i", "j"), binary(op, m("a", "i", "j"), m("b", "i", "j")))
    b = np.ones((4, 5), np.int8)
    b[2, 3] = 0
    program = m.program(loop("i", 0, 4, loop("j", 0, 5, stmt)))
    error = failing(program, {"a": b, "b": b}, options)
    assert (error.kind, error.stmt) == (FaultKind.DIVISION_BY_ZERO, "S0")
    assert error.iteration == {"i": 2, "j": 3}


@paths
def test_fixed_division_by_zero(options):
    fixed = FixedType(8, 4)
    m = Maker(Array("a", fixed, (6,)), Array("b", fixed, (6,)))
    stmt = m.set("a", ("i",), binary(BinaryOp.DIV, m("a", "i"), m("b", "i")))
    b = np.array([1, 2, 3, 0, 4, 5], np.int8)
    error = failing(m.program(loop("i", 0, 6, stmt)), {"a": b, "b": b}, options)
    assert error.iteration == {"i": 3}


@paths
def test_float_division_by_zero_is_no_fault(options):
    m = Maker(Array("a", F32, (6,)))
    stmt = m.set("a", ("i",), binary(BinaryOp.DIV, 1, m("a", "i")))
    found = run(m.program(loop("i", 0, 6, stmt)), {"a": np.zeros(6, np.float32)}, **options)
    assert np.isinf(found["a"]).all()


@paths
@pytest.mark.parametrize("op", [BinaryOp.SHL, BinaryOp.SHR])
def test_negative_shift(op, options):
    m = Maker(Array("a", I8, (6,)), Array("b", I8, (6,)))
    stmt = m.set("a", ("i",), binary(op, m("a", "i"), m("b", "i")))
    b = np.array([0, 7, 100, 8, -1, 1], np.int8)
    error = failing(m.program(loop("i", 0, 6, stmt)), {"a": b, "b": b}, options)
    assert (error.kind, error.iteration) == (FaultKind.NEGATIVE_SHIFT, {"i": 4})


@paths
def test_shift_by_the_width_or_more(options):
    m = Maker(Array("a", I8, (6,)), Array("b", I8, (6,)), Array("c", I8, (6,)))
    left = m.set("b", ("i",), binary(BinaryOp.SHL, m("a", "i"), m("c", "i")))
    right = m.set("a", ("i",), binary(BinaryOp.SHR, m("a", "i"), m("c", "i")))
    a = np.array([1, -1, 127, -128, 5, -5], np.int8)
    inputs = {"a": a, "b": a, "c": np.array([8, 8, 9, 127, 100, 64], np.int8)}
    found = run(m.program(loop("i", 0, 6, left, right)), inputs, **options)
    assert (found["b"] == 0).all()
    assert (found["a"] == np.where(a < 0, -1, 0)).all()


@paths
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_not_finite_to_integer(value, options):
    m = Maker(Array("a", F32, (6,)), Array("b", I8, (6,)))
    stmt = m.set("b", ("i",), cast(I8, m("a", "i")))
    a = np.arange(6, dtype=np.float32)
    a[5] = value
    error = failing(m.program(loop("i", 0, 6, stmt)), {"a": a, "b": np.zeros(6, np.int8)}, options)
    assert (error.kind, error.iteration) == (FaultKind.NOT_FINITE, {"i": 5})


@paths
def test_reading_a_local_that_was_not_written(options):
    m = Maker(Array("a", I32, (8,)), Array("t", I32, (8,), LOCAL))
    some = loop("i", 0, 7, m.set("t", ("i",), m("a", "i")))
    every = loop("i", 0, 8, m.set("a", ("i",), m("t", "i")))
    error = failing(m.program(some, every), {"a": np.zeros(8, np.int32)}, options)
    assert (error.kind, error.stmt, error.iteration) == (FaultKind.UNINITIALISED, "S1", {"i": 7})


@paths
@pytest.mark.parametrize("depth", [0, 1])
def test_a_local_in_a_loop_is_fresh_in_each_iteration(depth, options):
    m = Maker(Array("a", I32, (8,)), Array("t", I32, (), LOCAL, scope_depth=depth))
    first = If(Constraint(-v("i")), (m.set("t", (), 5),))
    program = m.program(loop("i", 0, 8, first, m.set("a", ("i",), m("t"))))
    inputs = {"a": np.zeros(8, np.int32)}
    if depth == 0:
        assert (run(program, inputs, **options)["a"] == 5).all()
    else:
        assert failing(program, inputs, options).iteration["i"] >= 1


@paths
def test_a_local_array_in_a_loop_is_fresh_in_each_iteration(options):
    m = Maker(Array("a", I32, (6, 6)), Array("t", I32, (6,), LOCAL, scope_depth=1))
    fill = loop("j", 0, v("i") + 1, m.set("t", ("j",), m("a", "i", "j")))
    read = loop("j", 0, v("i") + 1, m.set("a", ("i", "j"), binary(BinaryOp.MUL, m("t", "j"), 2)))
    a = np.arange(36, dtype=np.int32).reshape(6, 6)
    found = run(m.program(loop("i", 0, 6, fill, read)), {"a": a}, **options)["a"]
    assert (found == np.tril(a) * 2 + np.triu(a, 1)).all()
    read_all = loop("j", 0, 6, m.set("a", ("i", "j"), m("t", "j")))
    error = failing(m.program(loop("i", 0, 6, fill, read_all)), {"a": a}, options)
    assert error.kind is FaultKind.UNINITIALISED
    assert error.iteration["j"] > error.iteration["i"]


@paths
def test_out_of_bounds(options):
    m = Maker(Array("a", I32, (4, 8)), Array("b", I32, (4, 8)))
    stmt = m.set("a", ("i", "j"), m("b", "i", v("j") - 1))
    inputs = {"a": np.zeros((4, 8), np.int32), "b": np.zeros((4, 8), np.int32)}
    error = failing(m.program(loop("i", 1, 4, loop("j", 0, 8, stmt))), inputs, options)
    assert (error.kind, error.iteration) == (FaultKind.OUT_OF_BOUNDS, {"i": 1, "j": 0})
    down = m.set("a", ("i", v("j") + 5), 1)
    error = failing(m.program(loop("i", 0, 4, loop("j", 0, 8, down, step=-1))), inputs, options)
    assert (error.kind, error.iteration["j"]) == (FaultKind.OUT_OF_BOUNDS, 7)


@paths
def test_both_sides_of_a_select_are_evaluated(options):
    from dsl.expressions.expr import CompareOp
    from dsl.expressions.typing import compare, select

    m = Maker(Array("a", I8, (6,)), Array("b", I8, (6,)))
    safe = compare(CompareOp.NE, m("b", "i"), 0)
    value = select(safe, binary(BinaryOp.FLOORDIV, m("a", "i"), m("b", "i")), 0)
    b = np.array([1, 2, 0, 3, 4, 5], np.int8)
    error = failing(
        m.program(loop("i", 0, 6, m.set("a", ("i",), value))), {"a": b, "b": b}, options
    )
    assert error.iteration == {"i": 2}


def test_the_text_of_a_fault(tmp_path):
    source = tmp_path / "k.py"
    source.write_text("def k():\n    a[i] = a[i] // b[i]\n")
    span = Span(str(source), 2, 5, 2, 24)
    m = Maker(Array("a", I8, (6,)), Array("b", I8, (6,)))
    value = binary(BinaryOp.FLOORDIV, m("a", "i"), m("b", "i"))
    stmt = Stmt("S0", Access("a", (v("i"),)), value, span)
    b = np.array([1, 2, 0, 3, 4, 5], np.int8)
    error = failing(m.program(loop("i", 0, 6, stmt)), {"a": b, "b": b}, {})
    assert error.render() == (
        "k.py:2:5: error[W190]: S0: division by zero\n"
        "    2 |     a[i] = a[i] // b[i]\n"
        "      |     ^^^^^^^^^^^^^^^^^^^\n"
        "  in the iteration i = 2\n"
        "help: guard the division, as in x // d if d != 0 else 0"
    )


def _codes():
    m = Maker(
        Array("a", I8, (4,)),
        Array("b", I8, (4,)),
        Array("x", F32, (4,)),
        Array("t", I8, (), LOCAL),
    )
    i = v("i")
    return m, {
        "W190": binary(BinaryOp.MOD, m("a", i), m("b", i)),
        "W191": m("t"),
        "W192": binary(BinaryOp.SHL, 1, binary(BinaryOp.SUB, m("b", i), 1)),
        "W193": m("a", i + 1),
        "W194": cast(I8, unary(UnaryOp.LOG, m("x", i))),
    }


@paths
@pytest.mark.parametrize("code", ["W190", "W191", "W192", "W193", "W194"])
def test_each_fault_has_its_code(code, options):
    m, values = _codes()
    program = m.program(loop("i", 0, 4, m.set("a", ("i",), values[code])))
    inputs = {"a": np.ones(4, np.int8), "b": np.zeros(4, np.int8), "x": np.zeros(4, np.float32)}
    error = failing(program, inputs, options)
    assert error.code == code
    assert error.help
    assert f"error[{code}]: S0: {error.kind.value}" in error.render()


def test_index_counts_as_i32():
    m = Maker(Array("a", IntType(40), (4,)))
    stmt = m.set("a", ("i",), Index(v("i") * (1 << 31)))
    found = run(m.program(loop("i", 0, 4, stmt)), {"a": np.zeros(4, np.int64)}, min_trips=1)["a"]
    assert found.tolist() == [0, -(1 << 31), 0, -(1 << 31)]
    plain = run(m.program(loop("i", 0, 4, stmt)), {"a": np.zeros(4, np.int64)}, path="plain")
    assert (plain["a"] == found).all()


def test_a_load_has_the_type_of_its_array():
    assert isinstance(Maker(Array("a", I8, (4,)))("a", 0), Load)
