"""Products of integers and shifts: slices by the widths of the factors, not of what is kept."""

from __future__ import annotations

import pytest

from dse.estimates.estimation import estimated, setting
from dsl.builder.program import ProgramBuilder
from dsl.expressions.types import DType, FixedType, IntType
from dsl.schedules.schedule import ScheduleBuilder
from qor_gnn.result.qor_estimate import QorEstimate
from qor_gnn.tools.operators.multipliers import Product
from qor_gnn.tools.personality import personality

DEVICES = (
    ("xczu9eg", 10.0),
    ("xczu9eg", 5.0),
    ("xc7z020", 10.0),
    ("xcu280", 3.33),
    ("xcku040", 4.0),
)


def made(
    a: DType, b: DType, kept: DType, device: tuple[str, float], number: int | None = None
) -> QorEstimate:
    """``y[i] = a[i] * b[i]``, or ``a[i] * number``, one each cycle."""
    p = ProgramBuilder("product")
    (i,) = p.loops(i=64)
    x, z = p.placeholder("a", a, (64,)), p.placeholder("b", b, (64,))
    y = p.placeholder("y", kept, (64,))
    p.compute("S", (i,), y[i], x[i] * (z[i] if number is None else number))
    s = ScheduleBuilder()
    s.pipeline("S.i")
    program, steps = p.build(), s.build()
    return estimated(program, steps, setting(None, *device)).answer


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("a", "b", "kept", "dsp"),
    [
        (8, 8, 16, 0), (8, 16, 24, 1), (16, 16, 16, 1), (16, 16, 32, 1), (18, 18, 36, 1),
        (24, 24, 48, 2), (8, 32, 32, 2), (32, 32, 32, 3), (32, 32, 64, 4), (64, 64, 64, 10),
    ],
)  # fmt: skip
def test_slices_are_those_of_the_factors(
    a: int, b: int, kept: int, dsp: int, device: tuple[str, float]
) -> None:
    for first, second in ((a, b), (b, a)):
        found = made(IntType(first), IntType(second), IntType(kept), device)
        assert found.dsp == dsp


@pytest.mark.parametrize("device", DEVICES)
def test_fixed_point_is_no_different(device: tuple[str, float]) -> None:
    short, long = FixedType(16, 8), FixedType(32, 16)
    assert made(short, short, short, device).dsp == 1
    assert made(long, long, long, device).dsp == 4  # bits in the middle are kept


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("number", "dsp"),
    [
        (1, 0),
        (8, 0),
        (1024, 0),
        (3, 0),
        (6, 0),
        (-3, 0),
        (-7, 0),
        (-64, 0),
        (10, 0),
        (-12, 0),
        (11, 1),
        (100, 1),
    ],
)
def test_a_number_of_few_bits_takes_no_slice(
    number: int, dsp: int, device: tuple[str, float]
) -> None:
    found = made(IntType(16), IntType(8), IntType(32), device, number)
    assert found.dsp == dsp


def test_a_sum_of_shifted_copies_is_a_product_where_a_slice_is_asked_for() -> None:
    tool = personality("vitis-2022.1-zu9eg-10ns")
    assert tool.operator("mul", "int", 16, "", (16, 1)).dsp == 0
    assert tool.operator("mul", "int", 16, "dsp", (16, 1)).dsp == 1


def test_a_power_of_two_is_wires() -> None:
    device = DEVICES[0]
    by = {n: made(IntType(16), IntType(8), IntType(32), device, n).lut for n in (1, 4, 6, -4)}
    assert by[1] == by[4] < by[6] == by[-4]


def test_a_variable_of_one_bit_is_no_wire() -> None:
    device = DEVICES[0]
    bit, power = IntType(1, signed=False), 2
    by_bit = made(IntType(16), bit, IntType(32), device)
    by_power = made(IntType(16), bit, IntType(32), device, power)
    assert by_bit.dsp == by_power.dsp == 0
    assert by_bit.lut >= by_power.lut + 8


@pytest.mark.parametrize("shift", ["<<", ">>"])
def test_a_shift_by_a_number_is_wires(shift: str) -> None:
    def luts(variable: bool) -> int:
        p = ProgramBuilder("shifted")
        (i,) = p.loops(i=64)
        a, y = p.placeholder("a", IntType(16), (64,)), p.placeholder("y", IntType(32), (64,))
        n = p.placeholder("n", IntType(3, signed=False), (64,))
        by = n[i] if variable else 3
        p.compute("S", (i,), y[i], a[i] << by if shift == "<<" else a[i] >> by)
        s = ScheduleBuilder()
        s.pipeline("S.i")
        return estimated(p.build(), s.build(), setting()).answer.lut

    assert luts(variable=False) + 16 < luts(variable=True)


def test_copies_share_a_slice_where_the_interval_allows_it() -> None:
    p = ProgramBuilder("dot")
    i, k = p.loops(i=64, k=8)
    a, b = (p.placeholder(name, IntType(16), (64, 8)) for name in "ab")
    y = p.placeholder("y", IntType(32), (64, 8))
    p.compute("S", (i, k), y[i, k], a[i, k] * b[i, k])
    program = p.build()
    for interval, dsp in ((1, 8), (2, 4), (4, 2), (8, 1)):
        s = ScheduleBuilder()
        s.pipeline("S.i", ii=interval)
        for name in "aby":
            s.partition(name, 1, "complete")
        assert estimated(program, s.build(), setting()).answer.dsp == dsp


@pytest.mark.parametrize(
    ("width", "own", "dsp", "fabric"), [(8, 0, 1, 0), (10, 0, 1, 0), (16, 1, 1, 0), (32, 4, 4, 4)]
)
def test_an_implementation_that_is_asked_for(width: int, own: int, dsp: int, fabric: int) -> None:
    p = ProgramBuilder("product")
    (i,) = p.loops(i=64)
    a, b = (p.placeholder(name, IntType(width), (64,)) for name in "ab")
    y = p.placeholder("y", IntType(2 * width), (64,))
    p.compute("S", (i,), y[i], a[i] * b[i])
    program = p.build()
    for impl, slices in (("", own), ("dsp", dsp), ("fabric", fabric)):
        s = ScheduleBuilder()
        s.pipeline("S.i")
        if impl:
            s.bind_op("S", "mul", impl)
        assert estimated(program, s.build(), setting()).answer.dsp == slices


def test_numbers_below_eight_are_one_sum() -> None:
    few = Product(32, 4, 32, 27)
    assert (few.slices, few.luts) == (0, 20)
    assert Product(32, 5, 32, 27).slices == 2
    assert Product(10, 4, 14, 27).luts == Product(10, 10, 20, 27).luts
