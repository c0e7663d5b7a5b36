"""A directive changes the estimate, or something is said of it: for every tool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import weft
from dse.estimates.estimation import Estimation, estimated, setting
from dse.estimates.outcomes import outcomes
from dse.estimates.suggest import suggestions
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import (
    AutoPartition,
    BindOp,
    BindStorage,
    Dataflow,
    Flatten,
    Interface,
    Partition,
    Pipeline,
    Reassociate,
    Step,
    Stream,
    Unroll,
)
from qor_gnn.tools.personality import available, personality
from tests.cli.conftest import Weft
from weft import f32

ZU9EG = "vitis-2022.1-zu9eg-10ns"
U280 = "vitis-2023.2-u280-3.33ns"
TOOLS = available()


@weft.kernel
def product(a: f32[8, 8], b: f32[8, 8], c: f32[8, 8]):
    for i in range(8):
        for k in range(8):
            for j in range(8):
                c[i, j] += a[i, k] * b[k, j]


@weft.kernel
def around(a: f32[8, 8], x: f32[8], y: f32[8]):
    for i in range(8):
        y[i] = 0.0
        for j in range(8):
            y[i] += a[i, j] * x[j]


@weft.kernel
def triangle(a: f32[8, 8], y: f32[8]):
    for i in range(8):
        for j in range(i + 1):
            y[i] += a[i, j]


@weft.kernel
def stages(a: f32[64], c: f32[64]):
    t: f32[64]
    for i in range(64):
        t[i] = a[i] * 2.0
    for j in range(64):
        c[j] = t[j] + 1.0


def of(kernel, tool: str, *steps: Step, explain: bool = False) -> Estimation:
    return estimated(kernel.program, Schedule(steps), setting(tool), explain=explain)


def said(kernel, tool: str, *steps: Step) -> list[str]:
    return [str(o) for o in outcomes(of(kernel, tool, *steps), thorough=True)]


CASES: dict[str, tuple[object, tuple[Step, ...]]] = {
    "pipeline above a loop": (product, (Pipeline("k"),)),
    "pipeline above two loops": (product, (Pipeline("i"),)),
    "pipeline innermost": (product, (Pipeline("j"),)),
    "pipeline imperfect": (around, (Pipeline("i"),)),
    "pipeline triangular": (triangle, (Pipeline("j"),)),
    "pipeline at an interval": (product, (Pipeline("j", 4),)),
    "unroll by nothing": (product, (Unroll("j", 1),)),
    "unroll innermost": (product, (Unroll("j", 2),)),
    "unroll outer": (product, (Unroll("i", 2),)),
    "unroll completely under a pipeline": (product, (Pipeline("k"), Unroll("j"))),
    "unroll a triangle": (triangle, (Unroll("j", 2),)),
    "flatten without a pipeline": (product, (Flatten("j"),)),
    "flatten": (product, (Pipeline("j"), Flatten("j"))),
    "flatten into an unrolled loop": (product, (Pipeline("j"), Unroll("k", 2), Flatten("j"))),
    "do not flatten": (product, (Pipeline("j"), Flatten("j", False))),
    "do not flatten what is alone": (stages, (Pipeline("i"), Flatten("i", False))),
    "partition": (product, (Pipeline("k"), Partition("b", 1, "cyclic", 2))),
    "partition for nobody": (product, (Pipeline("j"), Partition("a", 0, "cyclic", 2))),
    "auto_partition": (product, (Unroll("k", 2), AutoPartition("b"))),
    "auto_partition for nobody": (product, (AutoPartition("a"),)),
    "partition completely": (product, (Partition("b", 1, "complete"),)),
    "partition in blocks": (product, (Pipeline("k"), Partition("c", 1, "block", 2))),
    "bind_storage of an argument": (product, (BindStorage("a", "ram_2p", "bram"),)),
    "bind_storage of a local": (stages, (BindStorage("t", "ram_2p", "lutram"),)),
    "bind_op": (product, (BindOp("S0", "fadd", "fabric"),)),
    "bind_op of a product": (product, (BindOp("S0", "fmul", "fabric"),)),
    "interface": (product, (Interface("a", "m_axi"),)),
    "reassociate": (around, (Pipeline("j"), Reassociate("S1"))),
    "reassociate unrolled": (around, (Pipeline("j"), Unroll("j", 4), Reassociate("S1"))),
}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("case", CASES)
def test_a_directive_acts_or_is_spoken_of(case: str, tool: str) -> None:
    kernel, steps = CASES[case]
    found = of(kernel, tool, *steps)
    before = of(kernel, tool, *steps[:-1])
    names = ("latency", "dsp", "lut", "ff", "bram18", "uram")
    acts = any(getattr(found.answer, n) != getattr(before.answer, n) for n in names)
    spoken = [o for o in outcomes(found, thorough=True) if o.step.startswith(steps[-1].kind)]
    flat = isinstance(steps[-1], Flatten) and any(len(r.loops) > 1 for r in found.answer.loops)
    assert acts or spoken or flat


def test_a_pipeline_says_which_loops_it_unrolls() -> None:
    for tool in TOOLS:
        first, *_ = said(product, tool, Pipeline("k"))
        assert (
            first == 'pipeline("k"): the tool unrolls j inside it completely, 8 copies of the body'
        )
    (line, *_) = said(product, ZU9EG, Pipeline("i"))
    assert line.endswith("unrolls k, j inside it completely, 64 copies of the body")


def test_a_pipeline_is_the_same_with_its_loops_unrolled_by_hand() -> None:
    for tool in TOOLS:
        plain, by_hand = (of(product, tool, Pipeline("k"), *more) for more in ((), (Unroll("j"),)))
        assert plain.answer.latency == by_hand.answer.latency
        assert plain.answer.dsp == by_hand.answer.dsp


def test_an_interval_that_is_not_reached_is_told_with_its_reason() -> None:
    assert said(product, ZU9EG, Pipeline("k"))[1:] == [
        'pipeline("k"): II 4 instead of 1, ports of b: 8 loads, 2 a cycle'
    ]
    (line,) = said(triangle, ZU9EG, Pipeline("j"))
    assert line.startswith('pipeline("j"): II 3 instead of 1, y carried over 1 iteration: add')


@pytest.mark.parametrize(
    ("kernel", "steps", "why"),
    [
        (product, (Flatten("j"),), "nothing in it is pipelined"),
        (product, (Pipeline("j"), Unroll("k", 2), Flatten("j")), "k around it is unrolled"),
    ],
)
def test_a_nest_that_does_not_flatten_is_told_with_its_reason(kernel, steps, why) -> None:
    assert said(kernel, ZU9EG, *steps)[-1].endswith(why)


def test_what_changes_nothing_is_told() -> None:
    assert said(product, ZU9EG, BindStorage("a", "ram_2p", "bram")) == [
        'bind_storage("a", "ram_2p", impl="bram"): the design is the same without it'
    ]
    assert said(product, ZU9EG, Pipeline("k"), Unroll("j"))[-1] == (
        'unroll("j"): the design is the same without it'
    )
    assert "waits 72 cycles each time" in said(product, ZU9EG, Interface("a", "m_axi"))[0]
    assert said(around, ZU9EG, Reassociate("S1")) == [
        'reassociate("S1"): this tool adds floats in the order in which they are written'
    ]


def test_what_is_done_as_it_is_written_is_not_spoken_of() -> None:
    assert said(product, ZU9EG, Pipeline("j"), Flatten("j")) == []
    assert said(product, ZU9EG, Pipeline("j", 4), Unroll("i", 2)) == []


def test_dataflow_says_what_becomes_of_it() -> None:
    steps = (Dataflow(), Stream("t", 2))
    for tool in TOOLS:
        found = of(stages, tool, *steps)
        notes = " ".join(found.setting.notes)
        assert found.answer.region is not None or "in order" in notes
        assert personality(tool).is_open == (found.answer.region is None)


def test_explain_offers_the_inner_loop_in_place_of_one_that_unrolls_it() -> None:
    found = of(product, ZU9EG, Pipeline("k"), explain=True)
    offered = [s.python for s in suggestions(found)]
    assert any("s.partition" in line for lines in offered for line in lines)


def test_the_command_tells_in_every_form(weft: Weft, tmp_path: Path) -> None:
    file = tmp_path / "product.py"
    file.write_text(
        "import weft\nfrom weft import f32\n\n\n@weft.kernel\n"
        "def product(a: f32[8, 8], b: f32[8, 8], c: f32[8, 8]):\n"
        "    for i, k, j in weft.grid(8, 8, 8):\n        c[i, j] += a[i, k] * b[k, j]\n\n\n"
        "@product.schedule\ndef outer(s):\n    s.pipeline('k')\n",
        encoding="utf-8",
    )
    kernel = f"{file}:product"
    text = weft("estimate", kernel, "--schedule", "outer").out
    assert 'pipeline("k"): the tool unrolls j inside it completely' in text
    data = json.loads(weft("estimate", kernel, "--schedule", "outer", "--format", "json").out)
    assert data["directives"][0] == {
        "step": 'pipeline("k")',
        "text": "the tool unrolls j inside it completely, 8 copies of the body",
    }


def test_python_is_told_the_same() -> None:
    found = weft.estimate(around, Schedule((Pipeline("i"),)), tool=ZU9EG)
    assert found.directives == tuple(said(around, ZU9EG, Pipeline("i")))
    assert found.directives[0].startswith('pipeline("i"): the tool unrolls j inside it completely')
