"""Schedules as data: JSON and Python round trips, and input that must not be trusted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dsl.errors.errors import InputError, ScheduleError
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import STEPS


def every_step() -> Schedule:
    """A schedule with each kind of step, defaults used and not used."""
    s = ScheduleBuilder()
    s.interchange("i", "j").reorder(["S1.i", "k", "j"]).split("i", 32)
    s.split("j", 7, "jo", "ji", tail="guard").tile(["i", "j"], [4, 8]).skew("t", "i", -2)
    s.reverse("i").shift("S1", "i", 3).fuse(["S0", "S1"], 2).distribute(["S0"], depth=1)
    s.expand("t", "j").reassociate("S1").partial_sums("S1", "k", 4).partial_sums(
        "S1", "k", 4, block=8
    ).unroll("k").unroll("k", 4, tail="guard").pipeline("j").pipeline("i", 2)
    s.buffer("A").buffer("A", "i_0", "tile").sequential("i").flatten("i", enabled=False).partition(
        "A", 1, "cyclic", 8
    ).partition("B", 0, "complete").auto_partition("C")
    s.pipeline("return", 4).pipeline("i", style="flp").pipeline("j", 2, "", rewind=True)
    s.unroll("i", 4, skip_exit_check=True).latency("i", 3).latency("j", 2, 9)
    s.allocation("i", "fmul", 2).stable("A").cache("A", 4, 16).cache("B")
    s.performance("i", 100).unbalanced("i").leave("i").leave("j", 8)
    s.reuse("A", at="y").reshape("A", 1, "block", 4).reshape("B", 0, "complete")
    s.locate("S1", "k").scan("S1", "i", 8).replicate("A", "i", 4).carry("A", "k").tree("S1", "k")
    s.spread("i").spread("j", 4, "cyclic").strength_reduce("S1")
    s.mirror("A", "A[k, j]").mirror("A", "A[i, k]", "rows")
    s.pivot("k").reciprocal("S1", "k").two_pass(["S1", "S2"], "k").critical_last("S1").versions(
        "A", "k"
    ).versions("A", "k", 2)
    s.join("ii", "i").join("ii", "i", "t").unflatten("t", 8)
    s.unflatten("t", 8, "i", "j").peel("i").peel("i", 2, "end").separate().unite("S0", "S1").trim(
        "S0"
    ).if_convert("S1")
    s.bind_storage("A", "ram_2p", "bram", 2).bind_op("S1", "fadd", "fabric").interface("A", "m_axi")
    s.pack("A").pack("A", 128)
    s.align(["S1", "S0"], ["j", "2*t - k"]).align(
        ["S1", "S0"], ["j", "k"], "t", depth=1, promote=True
    )
    s.dataflow().dataflow([["S0", "S1"], ["S2"]]).stream("A").stream("A", depth=64)
    return s.build()


def test_every_step_is_tried() -> None:
    assert {step.kind for step in every_step()} == set(STEPS)


def test_json_round_trip() -> None:
    text = every_step().to_json("gemm")
    assert Schedule.from_json(text) == every_step()
    assert json.loads(text)["kernel"] == "gemm"
    assert Schedule.from_json(Schedule().to_json()) == Schedule()


def test_python_round_trip() -> None:
    class Kernel:
        """Stands where the user's kernel would: only the decorator is needed."""

        @staticmethod
        def schedule(build: object) -> object:
            return build

    names: dict[str, object] = {"gemm": Kernel}
    exec(every_step().to_python("tiled", "gemm"), names)  # the text is our own
    builder = ScheduleBuilder()
    names["tiled"](builder)  # type: ignore[operator]
    assert builder.build() == every_step()


def test_steps_remember_where_they_were_asked_for() -> None:
    s = ScheduleBuilder()
    s.split("i", 4).pipeline("i_1")
    for step in s.build():
        assert step.span is not None
        assert step.span.file == __file__
    # The span of a chained call covers the chain up to it.
    assert "s.split(" in s.build().steps[1].span.excerpt()  # type: ignore[union-attr]


def test_a_misspelt_step_is_found_where_it_stands() -> None:
    s = ScheduleBuilder()
    with pytest.raises(ScheduleError) as caught:
        s.splt("i", 4)
    text = caught.value.render()
    assert "error[W200]: no step is called 'splt'" in text
    assert 's.splt("i", 4)' in text
    assert "help: did you mean 'split'?" in text
    assert not hasattr(s, "_anything")
    assert not hasattr(s, "splt")


def test_load_reads_files(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(every_step().to_json())
    assert Schedule.load(path) == every_step()
    with pytest.raises(InputError, match="W512"):
        Schedule.load(tmp_path / "absent.json")


def broken(**fields: object) -> str:
    return json.dumps({"schema_version": 1, "steps": [fields]})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "error[W510]: s.json is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "error[W511]: s.json is not a schedule: no list 'steps'"),
        ('{"steps": []}', "has schema_version None, not 1"),
        (broken(step="splitt", loop="i", factor=2), "did you mean 'split'?"),
        (broken(step="split", loop="i"), "split needs the field 'factor'"),
        (broken(step="split", loop="i", factor="2"), "split.factor: '2' does not fit"),
        (broken(step="split", loop="i", factor=True), "split.factor: True does not fit"),
        (broken(step="split", loop="i", factor=2.0), "split.factor: 2.0 does not fit"),
        (broken(step="split", loop=["i"], factor=2), "split.loop: ['i'] does not fit"),
        (broken(step="split", loop="i", factor=2, tail="none"), "split.tail: 'none' does not fit"),
        (broken(step="split", loop="i", factor=2, span=1), "split has no field 'span'"),
        (broken(step="tile", loops="ij", factors=[1]), "tile.loops: 'ij' does not fit"),
        (broken(loop="i"), "step 0: not an object with a field 'step'"),
    ],
)
def test_bad_json_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Schedule.from_json(text, "s.json")
    assert message in caught.value.render()
    assert "s.json" in caught.value.render()
