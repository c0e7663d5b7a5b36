"""The zu9eg designs: what configurations mean, and how near the model is."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from dsl.arrays.inputs import random_inputs
from dsl.interp import run
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import BindStorage, Flatten, Partition, Pipeline, Unroll
from polyhedral.codegen.generate import loop_tree
from polyhedral.legality.program import check_program
from polyhedral.schedule import apply
from qor_gnn.design.from_tree import kernel_of_tree
from qor_gnn.design.region import Loop, loops_in, split_functions
from qor_gnn.estimate import estimate
from qor_gnn.fit.labelled import zu9eg
from tests.support.labelled import ZU9EG, needs_zu9eg

CONFIG = "tmp_1_1_A_1_2_A_2_4__lp1_n_1_n_lp2_p_16_f"


@pytest.mark.parametrize("kernel", zu9eg.KERNELS)
def test_programs_are_sound(kernel: str) -> None:
    check_program(zu9eg.program(kernel))


def test_syr2k_is_syr2k() -> None:
    program = zu9eg.program("syr2k")
    given = random_inputs(program, 3)
    v = {name: np.asarray(x, np.float64) for name, x in given.items()}
    half = v["alpha"] * (v["A"] @ v["B"].T)
    expected = v["C"] * v["beta"] + half + half.T
    np.testing.assert_allclose(run(program, given)["C"], expected, rtol=1e-3, atol=1e-3)


def test_a_configuration_as_steps() -> None:
    assert zu9eg.schedule(CONFIG) == Schedule(
        (
            Partition("A", 0, "cyclic", 2),
            Partition("A", 1, "cyclic", 4),
            Flatten("lp1", False),
            Pipeline("lp2"),
            Unroll("lp2", 16),
        )
    )
    assert zu9eg.schedule("__lp6_p_64_f").steps == (Pipeline("lp6"), Unroll("lp6", 0))


def test_the_directives_on_a_tree_are_those_of_the_schedule() -> None:
    config = "C_2_4_B_1_8_A_2_8__lp1_n_1_f_lp2_p_4_f_lp3_n_2_f_lp4_n_1_f_lp5_p_8_n"
    sample = zu9eg.Sample(
        "gemm", config, "kernels", None, (), zu9eg.schedule(config), zu9eg.Labels(1, 1, 1, 1)
    )
    bound = (BindStorage(name, zu9eg.STORAGE) for name in "ABC")
    steps = Schedule((*sample.schedule.steps, *bound))
    direct = kernel_of_tree(loop_tree(apply(sample.program, steps)))
    assert split_functions(direct, ((0,), (1,))) == zu9eg.kernel_of(sample)


def test_outer_variables_of_a_loop_are_arguments() -> None:
    tree = zu9eg.structure("k2mm", 1, ("lp4", "lp5"))
    (function,) = tree.functions
    assert function.symbols == ("lp4", "lp5")
    assert [loop.name for loop in loops_in(function.body)] == ["lp6"]
    assert not isinstance(function.body[0], Loop)  # D[i][j] *= beta stays in front


@needs_zu9eg
@pytest.mark.parametrize("file", zu9eg.FILES)
def test_the_model_schedules_as_the_tool_did(file: zu9eg.File) -> None:
    samples = list(zu9eg.samples(ZU9EG, file))
    chosen = random.Random(5).sample(samples, 120)
    exact = intervals = depths = dsp = 0
    for sample in chosen:
        found, labels = estimate(zu9eg.kernel_of(sample), zu9eg.PERSONALITY), sample.labels
        exact += found.latency.average == labels.latency
        dsp += found.dsp == labels.dsp
        assert found.latency.average == pytest.approx(labels.latency, rel=0.02)
        if labels.ii is not None:
            intervals += found.loops[-1].ii == labels.ii
            depths += found.loops[-1].depth == labels.il
    assert exact >= 0.97 * len(chosen)
    assert dsp >= 0.96 * len(chosen)
    if file != "kernels":
        assert intervals == depths == len(chosen)


def test_rows_that_do_not_say_what_they_hold_are_left_out(tmp_path: Path) -> None:
    made_up = [
        "gesummv,A_2_2_x_1_2__lp2_n_2_f",  # reports of it ignore the partitions
        "gesummv,tmp_1_2__lp3_n_2_f",
        "atax,A_2_2_x_1_2__lp2_n_2_f",
        "unheard_of,x_1_1__lp1_n_1_f",
    ]
    for file in ("loops_pipelined", "loops_sequential"):
        rows = "\n".join(f"{row},100,10,20,5,3,7" for row in made_up)
        (tmp_path / f"{file}.csv").write_text(f"kernel,config,latency,lut,ff,dsp,II,IL\n{rows}\n")
        found = list(zu9eg.samples(tmp_path, file))
        assert [(s.kernel, s.config) for s in found] == [tuple(r.split(",")) for r in made_up[1:3]]
        assert found[0].labels == zu9eg.Labels(100, 10, 20, 5, 3, 7)


@needs_zu9eg
def test_the_whole_data_set_is_read() -> None:
    counts = [len(list(zu9eg.samples(ZU9EG, file))) for file in zu9eg.FILES]
    assert counts == [8306, 1288 - 130, 884 - 130]
