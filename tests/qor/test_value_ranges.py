"""Widths of integers by what they can be (`qor_gnn.design.value_ranges`)."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from dsl.kernels.kernel import Kernel
from dsl.schedules.schedule import Schedule
from mlir_passes.pipeline import compile_design
from polyhedral.codegen.generate import loop_tree
from polyhedral.scop.scheduled import build
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Op, Statement, walk
from qor_gnn.design.value_ranges import bits
from weft import f32, i32

TABLE = np.arange(256, dtype=np.float32)


@weft.kernel
def looked_up(y: f32[200, 100]):
    for i in range(200):
        for j in range(100):
            y[i, j] = TABLE[i * j % 256]


@weft.kernel
def triangle(y: i32[64, 64]):
    for i in range(64):
        for j in range(i):
            y[i, j] = (i - j) * (j + 3)


@weft.kernel
def data(x: i32[64], y: i32[64]):
    for i in range(64):
        y[i] = x[i] * i


@weft.kernel
def wraps(y: i32[40000]):
    for i in range(40000):
        y[i] = i * i * i * i


def products(kernel: Kernel) -> list[Op]:
    tree = kernel_of_tree(loop_tree(build(kernel.program)))
    nodes = (node for function in tree.functions for node in walk(function.body))
    return [op for n in nodes if isinstance(n, Statement) for op in n.ops if op.kind == "mul"]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [((0, 0), 1), ((0, 255), 8), ((0, 256), 9), ((-1, 0), 1), ((-128, 127), 8), ((-129, 0), 9)],
)
def test_bits_of_a_range(values: tuple[int, int], wanted: int) -> None:
    assert bits(values) == wanted


def test_a_product_of_counters_has_their_bits() -> None:
    (product,) = products(looked_up)
    assert (product.factors, product.width) == ((8, 7), 15)


def test_a_counter_is_bounded_by_the_one_around() -> None:
    (product,) = products(triangle)
    assert (
        product.factors[0] <= 32
    )  # a difference may be negative: nothing is known of what takes it
    assert product.factors[1] == 7  # 3 to 65


def test_of_data_nothing_is_known() -> None:
    (product,) = products(data)
    assert (product.factors, product.width) == ((32, 6), 32)


def test_what_wraps_around_is_as_wide_as_its_type() -> None:
    assert products(wraps)[-1].width == 32


SMALL = np.array([3, 7, 11, 13, 19, 23, 29, 31] * 32, np.int32)
SIGNED = np.array([-4, -1, 0, 3, 2, 1, -2, -3] * 32, np.int32)
WIDE = np.array([0, 1, 2, 3, 4, 5, 6, -(2**31)] * 32, np.int32)


@weft.kernel
def tables(x: i32[256], s: i32[256], d: i32[256], w: i32[256], q: i32[256]):
    for i in range(256):
        s[i] = SMALL[i] * x[i]
        d[i] = SIGNED[i] * x[i]
        w[i] = WIDE[i] * x[i]
        q[i] = SIGNED[i] // 2 + SMALL[i]


def test_tables_are_as_wide_as_what_is_in_them() -> None:
    """CSE237C's coefficients of 32 bits are factors of 5 (2021.1), LabC's angles of 16 bits a ROM of 12 (2021.2)."""
    assert [op.factors for op in products(tables)] == [(32, 5), (32, 3), (32, 32)]
    design = compile_design(tables.program, Schedule())
    tree = kernel_of_tree(design.tree)
    words = {m.name: m.word_bits for m in tree.memories if not m.argument}
    assert sorted(words.values()) == [3, 5, 32]
    assert kernel_of_module(design.module) == tree
