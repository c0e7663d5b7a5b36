"""Steps called with what they do not take: a code, the user's line, and how it is written."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

import weft
from dsl.errors.errors import InputError, ScheduleError
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from dsl.schedules.steps import STEPS, Partition, Split, Tile

HUGE = 10**5000


def rendered(call: Callable[[ScheduleBuilder], object]) -> str:
    with pytest.raises(ScheduleError) as caught:
        call(ScheduleBuilder())
    assert caught.value.span is not None
    assert caught.value.span.file == __file__
    return caught.value.render()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.pipeline("k", ii="2"), "pipeline: 'ii' is a whole number, not '2'"),
        (lambda s: s.partition(3, 0), "partition: 'array' is a name, not 3"),
        (lambda s: s.split("i", 2.5), "split: 'factor' is a whole number, not 2.5"),
        (lambda s: s.split("i", 2.0), "split: 'factor' is a whole number, not 2.0"),
        (lambda s: s.split("i", True), "split: 'factor' is a whole number, not True"),
        (lambda s: s.split("i", np.True_), "split: 'factor' is a whole number, not "),
        (lambda s: s.split("i", None), "split: 'factor' is a whole number, not None"),
        (lambda s: s.split("i", np.array([4, 2])), "not array([4, 2])"),
        (lambda s: s.split("i", [4]), "split: 'factor' is a whole number, not [4]"),
        (lambda s: s.split("i", 4, outer=3), "split: 'outer' is a name, not 3"),
        (lambda s: s.tile("ij", [4, 4]), "tile: 'loops' is a list of names, not 'ij'"),
        (lambda s: s.tile(["i"], 4), "tile: 'factors' is a list of whole numbers, not 4"),
        (lambda s: s.tile(["i"], [4.0]), "'factors' is a list of whole numbers, not [4.0]"),
        (lambda s: s.tile(["i", 3], [4, 4]), "'loops' is a list of names, not ['i', 3]"),
        (lambda s: s.reorder({"i", "j"}), "reorder: 'loops' is a list of names, not {"),
        (lambda s: s.unroll(["i"]), "unroll: 'loop' is a name, not ['i']"),
        (lambda s: s.flatten("i", 1), "flatten: 'enabled' is True or False, not 1"),
        (lambda s: s.dataflow(["S0"]), "'processes' is a list of lists of names, not ['S0']"),
        (lambda s: s.stream("A", 2.0), "stream: 'depth' is a whole number, not 2.0"),
        (lambda s: s.interface("A", None), "interface: 'mode' is a name, not None"),
        (lambda s: s.fuse("S0", 1), "fuse: 'stmts' is a list of names, not 'S0'"),
        (lambda s: s.split("i", 2**63), "a whole number of at most 2147483647, not 9223372036"),
        (lambda s: s.split("i", -(10**30)), "not an integer of 100 bits"),
        (lambda s: s.shift("S0", "i", HUGE), "not an integer of 16610 bits"),
        (lambda s: s.tile(["i"], [HUGE]), "'factors' is a list of whole numbers, not a value of"),
        (lambda s: s.split(HUGE, 2), "split: 'loop' is a name, not an integer of 16610 bits"),
    ],
)  # fmt: skip
def test_arguments_of_the_wrong_type(
    call: Callable[[ScheduleBuilder], object], message: str
) -> None:
    text = rendered(call)
    assert "error[W196]: " in text
    assert message in text
    assert re.search(r"\nhelp: write s\.\w+\(", text)
    assert "lambda s:" in text


@pytest.mark.parametrize(
    ("call", "message", "help_line"),
    [
        (
            lambda s: s.split("i", facto=3),
            "split has no argument 'facto'",
            "did you mean 'factor'? write "
            's.split(loop, factor, outer=None, inner=None, tail="remainder")',
        ),
        (
            lambda s: s.tile(loops=["i"], factor=[2]),
            "tile has no argument 'factor'",
            "did you mean 'factors'? write s.tile(loops, factors, tail=\"remainder\")",
        ),
        (
            lambda s: s.pipeline("i", depth_of_it=1),
            "pipeline has no argument 'depth_of_it'",
            "write s.pipeline(loop, ii=1, style=\"\", rewind=False)",
        ),
        (lambda s: s.pipeline(), "pipeline is called without 'loop'", "write s.pipeline(loop, ii=1, style=\"\", rewind=False)"),
        (
            lambda s: s.skew("i"),
            "skew is called without 'inner' and 'factor'",
            "write s.skew(outer, inner, factor)",
        ),
        (
            lambda s: s.reverse("i", 2),
            "reverse takes 1 argument, not 2",
            "write s.reverse(loop)",
        ),
        (
            lambda s: s.pipeline("i", loop="j"),
            "pipeline is given 'loop' twice",
            "write s.pipeline(loop, ii=1, style=\"\", rewind=False)",
        ),
    ],
)  # fmt: skip
def test_arguments_that_a_step_does_not_have(
    call: Callable[[ScheduleBuilder], object], message: str, help_line: str
) -> None:
    text = rendered(call)
    assert f"error[W195]: {message}\n" in text
    assert text.endswith(f"\nhelp: {help_line}")


@pytest.mark.parametrize(
    ("name", "help_line"),
    [
        ("splt", "did you mean 'split'?"),
        ("piplein", "did you mean 'pipeline'?"),
        ("vectorize", "did you mean 'unroll'?"),
        ("fission", "did you mean 'distribute'?"),
        ("array_partition", "did you mean 'partition'?"),
        ("xyzzy", "docs/guide/schedules.md shows the steps"),
    ],
)
def test_a_step_that_there_is_not_names_the_nearest(name: str, help_line: str) -> None:
    text = rendered(lambda s: getattr(s, name)("i"))
    assert f"error[W200]: no step is called '{name}'" in text
    assert text.endswith(f"help: {help_line}")


def test_what_is_meant_is_taken() -> None:
    s = ScheduleBuilder()
    s.split("i", np.int64(4)).tile(("i", "j"), (2, np.int32(3))).partition("A", 0, factor=2)
    s.dataflow([["S0"], ("S1", "S2")])
    steps = s.build().steps
    assert steps[:3] == (
        Split("i", 4),
        Tile(("i", "j"), (2, 3)),
        Partition("A", 0, "cyclic", 2),
    )
    assert type(steps[0].factor) is int  # type: ignore[union-attr]
    assert Schedule.from_json(s.build().to_json()) == s.build()


def test_every_step_has_a_method_with_its_fields() -> None:
    for name in STEPS:
        with pytest.raises(ScheduleError, match=rf"W195.*{name} has no argument 'nonsense'"):
            getattr(ScheduleBuilder(), name)(nonsense=1)


def test_a_cyclic_partition_without_a_factor() -> None:
    @weft.kernel
    def k(A: weft.f32[8]):
        for i in range(8):
            A[i] += 1.0

    @k.schedule
    def cyclic(s: ScheduleBuilder) -> None:
        s.partition("A", 0, "cyclic")

    with pytest.raises(ScheduleError) as caught:
        weft.compile(k, cyclic)
    text = caught.value.render()
    assert (
        "error[W207]: a cyclic partition needs a factor: over how many memories A is spread" in text
    )
    assert 's.partition("A", 0, "cyclic")' in text
    assert text.endswith(
        'help: write partition("A", 0, "cyclic", 2), or "complete" for a register for each element; '
        'auto_partition("A") finds the factors'
    )


@pytest.mark.parametrize("function", [lambda: None, 3, "fast", lambda s, t: None])
def test_a_schedule_is_a_function_of_one_argument(function: object) -> None:
    @weft.kernel
    def k(A: weft.f32[8]):
        A[0] = 1.0

    with pytest.raises(ScheduleError) as caught:
        k.schedule(function)  # type: ignore[arg-type]
    text = caught.value.render()
    assert "error[W195]: a schedule of 'k' is a function of one argument, not " in text
    assert "k.schedule(function)" in text
    assert text.endswith("help: write @k.schedule over def k_fast(s): with steps of s")


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ('"loop": "i", "factor": 1e3', "W511", "split.factor: 1000.0 does not fit: it is a whole"),
        ('"loop": "i", "factor": true', "W511", "split.factor: True does not fit"),
        ('"loop": "i", "factor": 9223372036854775808', "W511", "at most 2147483647"),
        (f'"loop": "i", "factor": {"9" * 5000}', "W510", "is not JSON"),
        (f'"loop": "i", "factor": {"9" * 4000}', "W511", "an integer of 13288 bits"),
        ('"loop": ["i"], "factor": 2', "W511", "split.loop: ['i'] does not fit"),
        ('"loop": "i", "factor": NaN', "W511", "split.factor: nan does not fit"),
        ('"loop": "i", "factor": 2, "tail": "both"', "W511", "split.tail: 'both' does not fit"),
        ('"loop": "i", "factr": 2', "W511", "split has no field 'factr'"),
    ],
)
def test_fields_of_a_file_of_the_wrong_type(fields: str, code: str, message: str) -> None:
    text = f'{{"schema_version": 1, "steps": [{{"step": "split", {fields}}}]}}'
    with pytest.raises(InputError) as caught:
        Schedule.from_json(text, "s.json")
    assert caught.value.code == code
    assert message in caught.value.render()


def test_a_step_of_a_file_that_there_is_not() -> None:
    text = '{"schema_version": 1, "steps": [{"step": "vectorise"}]}'
    with pytest.raises(InputError) as caught:
        Schedule.from_json(text, "s.json")
    assert caught.value.render() == (
        "error[W511]: s.json: step 0: no step is called 'vectorise'\nhelp: did you mean 'unroll'?"
    )


@pytest.mark.parametrize("dtype", [weft.f32, weft.i8, weft.fixed, weft.fixed[8, 4], weft.const])
def test_iterating_over_a_type_ends(dtype: object) -> None:
    with pytest.raises(TypeError, match="not iterable"):
        list(dtype)  # type: ignore[call-overload]
