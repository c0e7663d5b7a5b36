"""Lower bounds of programs of which only the first operations are gone through, or none."""

from __future__ import annotations

import pytest

import weft
from dse.bounds import work
from dse.bounds.counted import counted
from dse.bounds.critical import longest_chain
from dse.bounds.distinct import facts_of
from qor_gnn.tools.personality import personality
from tests.dse.test_bounds import sweeps, triangle
from weft import f32, i32

work_of = work.work_of.__wrapped__  # what was counted is kept, and tests change the limits

ZU9EG = personality("vitis-2022.1-zu9eg-10ns")
N, T = 64, 30


@weft.kernel
def product(A: f32[4, 6], B: f32[6, 5], C: f32[4, 5]):
    for i, j, k in weft.grid(4, 5, 6):
        C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def layers(A: f32[8, 8], B: f32[8, 8], x: f32[8], y: f32[8]):
    hidden: f32[8]
    for i in range(8):
        total: f32 = 0.0
        for j in range(8):
            total += A[i, j] * x[j]
        hidden[i] = max(total, 0.0)
    for i in range(8):
        total2: f32 = 0.0
        for j in range(8):
            total2 += B[i, j] * hidden[j]
        y[i] = total2


@weft.kernel
def from_the_first(x: f32[16], y: f32[16]):
    level: f32 = 0.0
    for i in range(16):
        level = x[i] if i == 0 else level * 0.75 + x[i]
        y[i] = level


@weft.kernel
def digits(x: i32[16], y: i32[16]):
    rest: i32 = 0
    for i in range(16):
        rest = (rest + x[i]) % 65521
        y[i] = rest


@weft.kernel
def shortest(d: i32[N, N]):
    for k, i, j in weft.grid(N, N, N):
        d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@weft.kernel
def heat(a: f32[N, N], b: f32[N, N]):
    for _t in range(T):
        for i, j in weft.grid(range(1, N - 1), range(1, N - 1)):
            b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
        for i, j in weft.grid(range(1, N - 1), range(1, N - 1)):
            a[i, j] = 0.25 * (b[i - 1, j] + b[i + 1, j] + b[i, j - 1] + b[i, j + 1])


def _times(kernel: weft.Kernel, core: str, reassociate: bool = True) -> int:
    return work_of(kernel.program, ZU9EG, reassociate).operations[core].times


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(
    "kernel", [product, sweeps, triangle, layers, from_the_first, digits], ids=lambda k: k.name
)
def test_the_first_operations_count_no_more_than_all(kernel: weft.Kernel, free: bool) -> None:
    facts = facts_of(kernel.program)
    assert facts.operations is not None
    whole, last = facts.graph(facts.operations), {}
    assert whole is not None
    every = counted(whole, ZU9EG, free)
    for part in range(0, facts.operations, max(1, facts.operations // 7)):
        first = facts.graph(part)
        assert first is not None
        found = {core: o.times for core, o in counted(first, ZU9EG, free).items()}
        assert all(times <= every[core].times for core, times in found.items())
        assert longest_chain(first, ZU9EG, free).cycles <= longest_chain(whole, ZU9EG, free).cycles
        assert all(last[core] <= found[core] for core in last), "more operations, and not less work"
        last = found
    assert sum(last.values()) > sum(o.times for o in every.values()) / 2


def test_the_first_operations_of_a_product_count_as_many_products_as_were_gone_through() -> None:
    facts = facts_of(product.program)
    half = facts.graph((facts.operations or 0) // 2)
    assert half is not None
    assert counted(half, ZU9EG, True)["fmul"].times == 4 * 5 * 6 // 2


def test_a_layer_in_front_of_a_limit_is_work() -> None:
    assert _times(layers, "fmul") == 2 * 8 * 8


def test_what_a_loop_variable_chooses_is_what_is_computed() -> None:
    assert _times(from_the_first, "fmul") == 15
    assert _times(digits, "add_33") >= 15


def test_sums_of_which_extremes_are_taken_are_no_sum_over_iterations(monkeypatch) -> None:
    monkeypatch.setattr(work, "LARGE", 1_000)
    # In two orders of its operands a sum may be the same value in two iterations.
    assert _times(shortest, "add_33") >= N**3 / 2


@weft.kernel
def between_borders(a: f32[5], b: f32[5]):
    for _t in range(T):
        for i in range(1, 4):
            b[i] = a[i - 1] * 0.3 + a[i + 1] * 0.7
        for i in range(1, 4):
            a[i] = b[i - 1] * 0.3 + b[i + 1] * 0.7


def test_what_is_at_a_border_is_the_same_in_all_steps(monkeypatch) -> None:
    """No more products are proven than there are, of which those of elements that nobody writes are few."""
    exact = _times(between_borders, "fmul")
    monkeypatch.setattr(work, "LARGE", 0)
    monkeypatch.setattr(work, "MOST", 0)
    assert 0.9 * exact < _times(between_borders, "fmul") <= exact


@pytest.mark.parametrize("reassociate", [False, True])
def test_steps_of_a_stencil_are_work_in_any_order(reassociate: bool) -> None:
    points = T * 2 * (N - 2) ** 2
    assert _times(heat, "fmul", reassociate) == points
    assert _times(heat, "fadd", reassociate) >= points
