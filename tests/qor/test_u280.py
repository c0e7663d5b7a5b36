"""The plain-Vitis designs of streamhls-u280 as programs, and its rows."""

from __future__ import annotations

import re
from collections import Counter
from math import prod
from pathlib import Path

import numpy as np
import pytest

from dsl.arrays.inputs import random_inputs
from dsl.errors.errors import InputError
from dsl.interp import run
from dsl.schedules.schedule import Schedule
from polyhedral.codegen.generate import loop_tree
from polyhedral.legality.program import check_program
from polyhedral.looptree.tree import TreeLoop
from polyhedral.schedule import apply
from qor_gnn.fit.labelled.u280 import design_rows, loop_rows
from qor_gnn.fit.labelled.u280_programs import KERNELS, program
from tests.support.labelled import labelled

FOLDER = labelled("streamhls-u280")


def trips(kernel: str) -> dict[str, int]:
    tree = loop_tree(apply(program(kernel), Schedule()))
    found = [n for n, _ in tree.walk() if isinstance(n, TreeLoop)]
    return {n.name: n.constant_trip or 0 for n in found}


@pytest.mark.parametrize("kernel", KERNELS)
def test_programs_are_sound(kernel: str) -> None:
    check_program(program(kernel))


def result_of(kernel: str) -> tuple[dict, dict]:
    given = random_inputs(program(kernel), 5)
    wide = {name: np.asarray(x, np.float64) for name, x in given.items()}
    return wide, run(program(kernel), given)


def test_gemm_is_gemm() -> None:
    v, result = result_of("gemm")
    expected = v["beta"] * v["C"] + v["alpha"] * (v["A"] @ v["B"])
    np.testing.assert_allclose(result["C"], expected, rtol=1e-3, atol=1e-3)


def test_3mm_is_three_products() -> None:
    v, result = result_of("3mm")
    expected = (v["A"] @ v["B"]) @ (v["C"] @ v["D"])
    np.testing.assert_allclose(result["G"], expected, rtol=1e-3, atol=1e-1)


def test_2mm_is_two_products() -> None:
    v, result = result_of("2mm")
    expected = v["beta"] * v["D"] + v["alpha"] * (v["A"] @ v["B"]) @ v["C"]
    np.testing.assert_allclose(result["D"], expected, rtol=1e-3, atol=1e-1)


def test_atax_bicg_and_mvt_are_matrix_vector_products() -> None:
    v, result = result_of("atax")
    np.testing.assert_allclose(result["y"], v["A"].T @ (v["A"] @ v["x"]), rtol=1e-3, atol=1e-1)
    v, result = result_of("bicg")
    np.testing.assert_allclose(result["s"], v["A"].T @ v["r"], rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(result["q"], v["A"] @ v["p"], rtol=1e-3, atol=1e-2)
    v, result = result_of("mvt")
    np.testing.assert_allclose(result["x1"], v["x1"] + v["A"] @ v["y_1"], rtol=1e-3, atol=1e-2)
    np.testing.assert_allclose(result["x2"], v["x2"] + v["A"].T @ v["y_2"], rtol=1e-3, atol=1e-2)


def test_gesummv_is_a_sum_of_two_products() -> None:
    v, result = result_of("gesummv")
    expected = v["alpha"] * (v["A"] @ v["x"]) + v["beta"] * (v["B"] @ v["x"])
    np.testing.assert_allclose(result["y"], expected, rtol=1e-3, atol=1e-2)


def loops_of(label: str) -> list[str]:
    """The loops of the program that a row is about: `VITIS_LOOP_33_3_VITIS_LOOP_34_4` is loop3 and loop4."""
    return [f"loop{number}" for number in re.findall(r"VITIS_LOOP_\d+_(\d+)", label)]


def test_loops_of_the_plain_designs_have_the_trip_counts_of_their_reports() -> None:
    rows = [r for r in loop_rows(FOLDER) if r.tool == "vitis"]
    assert len(rows) == 17
    for row in rows:
        extents = trips(row.kernel)
        assert prod(extents[name] for name in loops_of(row.loop)) == row.trip_count, row.loop


def test_every_pipelined_loop_of_a_program_has_its_report() -> None:
    for kernel in KERNELS:
        rows = [r for r in loop_rows(FOLDER) if r.tool == "vitis" and r.kernel == kernel]
        assert {n for r in rows for n in loops_of(r.loop)} == set(trips(kernel))


def test_rows_are_read_with_their_types() -> None:
    designs, loops = design_rows(FOLDER), loop_rows(FOLDER)
    assert (len(designs), len(loops)) == (131, 842)
    assert [d.cosim_cycles for d in designs if d.cosim_status == "Fail"] == [None]
    assert Counter(r.ii_achieved is None for r in loops) == {False: 827, True: 15}
    gemm = next(d for d in designs if d.tool == "vitis" and d.kernel == "gemm")
    assert (gemm.latency_max, gemm.cosim_cycles, gemm.dsp) == (10_610_602, 10_609_802, 9)
    assert gemm.clock_estimate_ns == 2.487


def test_bad_rows_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError) as e:
        design_rows(tmp_path)
    assert e.value.code == "W512"
    (tmp_path / "designs.csv").write_text("suite,tool\na,b\n")
    with pytest.raises(InputError) as e:
        design_rows(tmp_path)
    assert e.value.render() == f"error[W511]: {tmp_path}/designs.csv:2: no column 'kernel'"
