"""The axes of the report's charts: what a schedule chooses, and what tells designs apart."""

from __future__ import annotations

import re

from dse.cli import run as weft_command
from dse.report.axes import AS_WRITTEN, Axis, axes, choices, default
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import Distribute, Partition, Pipeline, Reorder, Split, Tile, Unroll


def chosen(*steps: object) -> dict[tuple[str, str], object]:
    found = choices(Schedule(steps), {"S0.i": 12, "j": 7}, {"A": (12, 7)})
    return {(axis.group, axis.label): value for axis, value in found.items()}


def test_choices_are_read_from_the_steps():
    assert chosen() == {}
    assert chosen(
        Distribute(("S1",)),
        Split("S0.i", 4, "i_0", "i_1"),
        Reorder(("S0.i_0", "S0.j", "S0.i_1")),
        Pipeline("S0.j"),
        Unroll("S0.i_1"),
        Partition("A", 0, "cyclic", 4),
        Partition("A", 1, "complete"),
    ) == {
        ("structure", "structure"): "apart S1",
        ("order", "S0"): "i j",
        ("copies", "S0.i"): 4,
        ("banks", "A"): 28,
    }


def test_copies_of_loops_split_twice_or_unrolled_whole():
    steps = (Split("i", 6), Split("i_1", 3), Unroll("i_1_1"), Unroll("i_0", 2), Unroll("j"))
    assert chosen(*steps) == {("copies", "i"): 6, ("copies", "j"): 7}
    tiled = (Tile(("S0.i", "S0.k"), (4, 2)), Unroll("S0.i_1"), Unroll("S0.k_1"))
    assert chosen(*tiled) == {("copies", "S0.i"): 4, ("copies", "S0.k"): 2}


def test_every_step_can_be_on_an_axis():
    builder = ScheduleBuilder()
    builder.skew("t", "i", 1)
    builder.fuse(["S0", "S1"], 1)
    builder.reassociate("S0")
    found = choices(builder.build(), {}, {})
    assert list(found.values()) == ["skew t i 1, fuse S0 S1 1, reassociate S0"]


def test_statements_set_apart_are_named_together():
    steps = (Distribute(("S1",)), Distribute(("S2",)), Distribute(("S3",), 1))
    assert chosen(*steps) == {("structure", "structure"): "apart S1 S2, apart S3 at 1"}


def test_axes_are_those_that_differ():
    copies, banks, order = (
        Axis("a", "a", "copies"),
        Axis("b", "b", "banks"),
        Axis("o", "o", "order"),
    )
    found = axes([{copies: 2, banks: 4}, {banks: 4, order: "i j"}, {copies: 2, banks: 4}])
    assert found == (order, copies)
    assert (default(copies), default(order)) == (1, AS_WRITTEN)


def test_designs_are_across_what_tells_them_apart(tmp_path):
    file = tmp_path / "xor.py"
    file.write_text(
        "import weft\n\n@weft.kernel\ndef k(a: weft.u8[16], b: weft.u8[16]):\n"
        "    for i in range(16):\n        b[i] = a[i] ^ 3\n"
    )
    words = ("explore", f"{file}:k", "--device", "xc7z020", "--trials", "4", "--evaluator", "model")
    assert weft_command([*words, "--out", str(tmp_path / "run")]) == 0
    text = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert re.search(r'<option value="\d+" selected>LUT</option>', text)  # none has a DSP slice
    assert weft_command([*words, "--objectives", "latency,ff", "--out", str(tmp_path / "ff")]) == 0
    text = (tmp_path / "ff" / "report.html").read_text(encoding="utf-8")
    assert re.search(r'<option value="\d+" selected>FF</option>', text)  # what is made small
