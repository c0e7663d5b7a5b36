"""The fast path gives what the plain one gives, to the last bit, on random programs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsl.arrays.inputs import random_inputs
from dsl.expressions.affine import Affine, FloorDiv
from dsl.expressions.types import FloatType, IntType
from dsl.expressions.typing import binary
from dsl.interp import ExecutionError, run
from dsl.interp.parallel import is_parallel, summand
from dsl.interp.plan import LoopPlan, plan_program
from dsl.interp.wave import slope
from dsl.programs.program import Array
from tests.interp import kernels
from tests.interp.kernels import ADD, LOCAL, SUB, Maker, loop, v
from tests.support.profiles import BALANCED, FAST, LONG
from tests.support.random_programs import random_program

F32 = FloatType("f32")
OPTIONS = ({}, {"min_trips": 1}, {"min_trips": 0, "chunk": 3})


def same(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype == object:
        return bool((a == b).all())
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


@given(st.integers(0, 1 << 40), st.sampled_from([FAST, BALANCED, LONG]))
def test_paths_agree(seed, profile):
    program = random_program(seed, profile)
    inputs = random_inputs(program, seed)
    plain = run(program, inputs, path="plain")
    for options in OPTIONS:
        found = run(program, inputs, **options)
        assert all(same(found[name], plain[name]) for name in plain), options


@pytest.mark.parametrize("dtype", [F32, FloatType("bf16"), IntType(16), IntType(70)], ids=str)
@pytest.mark.parametrize("step", [1, 2, -1, -3])
def test_paths_agree_on_steps_and_triangles(dtype, step):
    m = Maker(
        Array("a", dtype, (12, 12)),
        Array("s", dtype, (12,)),
        Array("t", dtype, (12,), LOCAL, scope_depth=1),
    )
    clear = loop("j", 0, 12, m.set("t", ("j",), 1))
    copy = loop("j", (0, v("i") - 5), (v("i") + 1, 9), m.set("t", ("j",), m("a", "i", "j")))
    add = m.set("s", ("i",), binary(SUB, m("s", "i"), m("t", "j")))
    scatter = m.set("a", ("i", "j"), binary(ADD, m("a", "i", "j"), m("t", "j")))
    ragged = loop("j", v("i") // 2, 11, add, scatter, step=step)
    program = m.program(loop("i", 1, 12, clear, copy, ragged, step=step))
    inputs = random_inputs(program, 1)
    plain = run(program, inputs, path="plain")
    assert not same(plain["s"], inputs["s"])
    for options in OPTIONS:
        found = run(program, inputs, **options)
        assert all(same(found[name], plain[name]) for name in plain)


def _flags(program) -> dict[str, bool]:
    """Which loops are parallel, by variable."""
    found: dict[str, bool] = {}

    def visit(plans):
        for plan in plans:
            if isinstance(plan, LoopPlan):
                found.setdefault(plan.loop.var, plan.parallel)
                visit(plan.body)

    visit(plan_program(program, True, 1))
    return found


def test_parallel_loops_are_found():
    gemm = kernels.gemm(4, 5, 6, F32)
    assert _flags(gemm) == {"i": True, "j": True, "k": False}
    assert _flags(kernels.jacobi_2d(3, 8, F32)) == {"t": False, "i": True, "j": True}
    assert _flags(kernels.seidel_2d(3, 8, F32)) == {"t": False, "i": False, "j": False}
    assert _flags(kernels.two_mm(3, 4, 5, 6, F32)) == {"i": True, "j": True, "k": False}


@pytest.mark.parametrize(
    ("write", "read", "step", "parallel"),
    [
        (v("i"), v("i"), 1, True),
        (v("i") * 2, v("i") * 2 + 1, 1, True),  # never the same parity
        (v("i") * 2, v("i") * 4, 1, False),
        (v("i"), v("i") + 1, 1, False),
        (v("i"), v("i") + 1, 2, True),  # i even, i + 1 odd
        (v("i"), v("i") + 2, 2, False),
        (v("i"), v(19), 1, True),  # beyond all that is written
        (v("i"), v(3), 1, False),
        (v("i") * -1 + 10, v("i") * -1 + 10, 1, True),
        (v("i") * -1 + 10, v("i"), 1, False),
        (v(3), v("i"), 1, False),
        (Affine(((FloorDiv(v("i"), 2), 1),)), v(19), 1, False),
    ],
)
def test_disjoint_accesses(write, read, step, parallel):
    m = Maker(Array("a", F32, (20,)))
    outer = loop("i", 0, 8, m.set("a", (write,), m("a", read)), step=step)
    assert is_parallel(m.program(), outer, ()) is parallel


def test_triangular_bounds_separate_accesses():
    m = Maker(Array("a", F32, (9, 9)))
    term = binary(SUB, m("a", "i", "j"), m("a", "i", "k"))
    inner = loop("j", "i", 9, loop("k", 0, "i", m.set("a", ("i", "j"), term)))
    outer = loop("i", 0, 9)
    assert is_parallel(m.program(), inner, (outer,))
    below = loop("j", 0, 9, loop("k", 0, "i", m.set("a", ("i", "j"), term)))
    assert not is_parallel(m.program(), below, (outer,))


def test_sums_are_found_only_where_they_are_sums():
    m = Maker(Array("a", F32, (9,)), Array("x", F32, (9,)), Array("n", IntType(8), (9,)))
    old, term = m("a", 0), m("x", "i")
    program = m.program()

    def found(value, target=(0,)):
        return summand(program, loop("i", 0, 9, m.set("a", target, value)), ()) is not None

    assert found(binary(ADD, old, term))
    assert found(binary(ADD, term, old))
    assert found(binary(SUB, old, term))
    assert not found(binary(SUB, term, old))
    assert not found(binary(ADD, old, term), target=("i",))
    assert not found(binary(ADD, old, m("a", "i")))  # reads the sum itself once
    assert not found(binary(ADD, old, binary(ADD, old, term)))
    assert not found(term)


@pytest.mark.parametrize(
    ("reads", "wanted"),
    [
        ([(-1, 0), (0, -1)], 1),
        ([(-1, 1), (0, -1)], 2),  # Gauss-Seidel with the upper right neighbour
        ([(-1, 3), (0, -1)], 4),
        ([(1, 1), (0, -1)], 0),  # reads what is written later
        ([(0, -1)], 0),
        ([(-1, -5)], 0),
        ([(-2, 1), (0, -1)], 1),
        ([(-2, 2), (0, -1)], 2),
    ],
)
def test_slopes_of_wavefronts(reads, wanted):
    m = Maker(Array("a", F32, (20, 20)))
    near = [m("a", v("i") + di, v("j") + dj) for di, dj in reads]
    stmt = m.set("a", ("i", "j"), kernels.total(*near))
    assert slope(m.program(), loop("i", 5, 15, loop("j", 5, 15, stmt)), 1) == wanted


def test_no_wavefronts_where_distances_are_not_constant():
    m = Maker(Array("a", F32, (20, 20)), Array("b", F32, (20,)), Array("t", F32, (), LOCAL))

    def found(*stmts, inner=("j", 1, 9)):
        return slope(m.program(), loop("i", 1, 9, loop(*inner, *stmts)), 1)

    above = m("a", v("i") - 1, "j")
    assert found(m.set("a", ("i", "j"), above)) == 1
    assert found(m.set("a", ("i", "j"), m("a", "j", "i"))) is None
    assert found(m.set("a", ("i", "j"), m("a", v("i") * 2, "j"))) is None
    assert found(m.set("a", ("i", v("i") + v("j")), above)) is None
    assert found(m.set("b", ("j",), m("b", "j"))) is None  # the same element in every row
    assert found(m.set("t", (), above), m.set("a", ("i", "j"), m("t"))) is None
    assert found(m.set("a", ("i", "j"), above), inner=("j", 1, "i")) is None


offsets = st.tuples(st.integers(-2, 2), st.integers(-3, 3))


def test_loops_further_in_run_at_all_points_of_a_front():
    m = Maker(Array("a", F32, (8, 9)), Array("c", F32, (8, 9, 3)), Array("x", F32, (8,)))

    def found(*body: Node) -> int | None:
        nest = loop("i", 1, 7, loop("j", 1, 7, *body))
        return slope(m.program(nest), nest, 1)

    above = m("a", v("i") - 1, "j")
    assert found(loop("z", 0, 3, m.set("a", ("i", "j"), above))) == 1
    assert found(loop("z", 0, 3, m.set("a", ("i", "j"), kernels.total(above, m("x", "z"))))) == 1
    assert found(loop("z", 0, v("i"), m.set("a", ("i", "j"), above))) is None  # another number each
    nearer = m("c", v("i") - 1, "j", v("z") - 1)
    assert found(loop("z", 1, 3, m.set("c", ("i", "j", "z"), nearer))) is None


@given(
    st.lists(st.tuples(offsets, st.lists(offsets, min_size=1, max_size=4)), min_size=1, max_size=2),
    st.sampled_from(["nothing", "first", "all"]),
)
def test_wavefronts_give_what_the_loops_give(statements, further):
    m = Maker(Array("a", IntType(16), (12, 14)), Array("b", IntType(16), (12, 14)))
    body = []
    for n, (write, reads) in enumerate(statements):
        near = [m("ab"[(n + k) % 2], v("i") + di, v("j") + dj) for k, (di, dj) in enumerate(reads)]
        near.append(m("ab"[n], "i", "j"))
        body.append(m.set("ab"[n], (v("i") + write[0], v("j") + write[1]), kernels.total(*near)))
    if further != "nothing":
        count = 1 if further == "first" else len(body)
        body[:count] = [loop("z", 0, 3, *body[:count])]
    program = m.program(loop("i", 2, 10, loop("j", 3, 11, *body)))
    inputs = random_inputs(program, 3)
    plain = run(program, inputs, path="plain")
    found = run(program, inputs, min_trips=0)
    assert all(same(found[name], plain[name]) for name in plain)


def test_an_access_that_is_shared_is_checked_where_it_is_out_of_bounds():
    m = Maker(Array("a", F32, (8,)), Array("b", F32, (8,)))
    ahead = m("a", v("i") + 1)  # one object in both statements, in bounds in the first only
    program = m.program(
        loop("i", 0, 7, m.set("b", ("i",), ahead)), loop("i", 0, 8, m.set("b", ("i",), ahead))
    )
    for options in (*OPTIONS, {"path": "plain"}):
        with pytest.raises(ExecutionError) as caught:
            run(program, random_inputs(program, 0), **options)
        assert (caught.value.code, caught.value.iteration) == ("W193", {"i": 7})
