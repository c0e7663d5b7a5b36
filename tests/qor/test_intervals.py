"""90% intervals of csynth's figures, by the structures of a design."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dse.estimates.support import intervals_of
from dsl.errors.errors import ToolError
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from qor_gnn.fit.intervals import filled, one_width, scored, widths
from qor_gnn.fit.residuals import Residual
from qor_gnn.support.error_sources import CLASSES, class_of
from qor_gnn.support.intervals import _read, intervals, widths_of
from qor_gnn.tools.personality import available, personality
from weft import f32, i32

TOOL = "vitis-2025.1-u200-4ns"
N = 128  # more than what is unrolled unasked


@weft.kernel
def summed(A: f32[N], s: f32[1]):
    for i in range(N):
        s[0] += A[i]


@weft.kernel
def counted(A: i32[N], s: i32[1]):
    for i in range(N):
        s[0] = (s[0] ^ A[i]) * 3


@weft.kernel
def scaled(A: i32[N], s: i32[N]):
    for i in range(N):
        t = A[i] + 1
        s[i] = t * t


@weft.kernel
def rows(A: f32[N, N], x: f32[N], y: f32[N], z: f32[N]):
    for i in range(N):
        for j in range(N):
            y[i] += A[i, j] * x[j]
        for j in range(N):
            z[i] += A[j, i] * x[j]


@weft.kernel
def copy(A: f32[N], B: f32[N]):
    for i in range(N):
        B[i] = A[i] * 2.0


BANKS = (("partition", "A", 0, "cyclic", 3), ("partition", "B", 0, "cyclic", 3))


def by(*steps: tuple[object, ...]) -> Schedule:
    s = ScheduleBuilder()
    for name, *given in steps:
        getattr(s, str(name))(*given)
    return s.build()


@pytest.mark.parametrize("tool", available())
def test_every_tool_has_widths_that_grow_or_needs_none(tool):
    found = widths_of(personality(tool))
    assert (found is None) == personality(tool).is_open
    if found is not None:
        assert all(found.unseen[name] >= row[-1] for name, row in found.widths.items())


@pytest.mark.parametrize(
    ("kernel", "schedule", "sources"),
    [
        (copy, by(("pipeline", "i")), ()),
        (copy, by(("unroll", "i", 3, "guard"), *BANKS), ("uneven",)),
        (copy, by(("pipeline", "i", 2)), ("interval",)),
        (copy, by(("partition", "A", 0, "complete"),), ("registers",)),
        (rows, by(("unroll", "i", 2)), ("interval", "together")),
        (rows, by(("unroll", "i", 3, "guard")), ("uneven", "interval", "together")),
    ],
)  # fmt: skip
def test_what_widens_is_named(kernel, schedule, sources):
    found = intervals_of(estimated(kernel.program, schedule, setting(TOOL)))
    assert found is not None
    assert found.sources == sources
    assert found.level == len(sources) == class_of(found.sources)


def test_recurrences_of_integers_have_no_label():
    def told(kernel, schedule):
        found = intervals_of(estimated(kernel.program, schedule, setting("vitis-2022.1")))
        assert found is not None
        low, high = found.ends["latency"]
        return found.unseen, high > low

    pipelined = by(("pipeline", "i"))
    assert told(summed, pipelined) == ((), False)
    assert told(counted, pipelined) == (("recurrences of integers",), True)
    assert told(scaled, pipelined) == ((), False)  # its local is set anew in each iteration


def test_ends_are_around_the_figures_and_what_is_unseen_has_the_widest():
    answer = estimated(copy.program, by(("pipeline", "i")), setting(TOOL)).answer
    of = widths_of(personality(TOOL))
    assert of is not None
    plain = intervals(answer, of, 0, (), ())
    for name, (low, high) in plain.ends.items():
        figure = answer.latency.average if name == "latency" else getattr(answer, name)
        assert low <= figure <= high
    beyond = intervals(answer, of, 0, (), ("tasks at the same time",))
    assert beyond.ends["lut"][0] < plain.ends["lut"][0]
    assert beyond.ends["lut"][1] > plain.ends["lut"][1]
    assert "ff" not in intervals(replace(answer, ff=None), of, 0, (), ()).ends


def test_a_class_is_as_wide_as_its_designs_want_and_no_narrower_than_plainer_ones():
    known = [
        Residual(kernel, level, True, {"lut": 0.1 * (level + 1) + n / 1000})
        for kernel in "abc"
        for level in (0, 1)
        for n in range(20)
    ]
    first, second, *others = widths(known, "lut")
    assert first is not None
    assert second is not None
    assert 0.1 < first < 0.22
    assert 0.2 < second < 0.22
    assert others == [None] * (CLASSES - 2)  # no kernel has them
    assert filled([first, second, *others], 0.5)[-1] == 0.5
    one = one_width(known, "lut")
    inside = scored(known, "lut", {kernel: [0.12, one] for kernel in "abc"})
    assert inside.inside_pct == pytest.approx(
        100 * inside.by_class[0][1] / 200 + inside.by_class[1][1] / 2
    )


@pytest.mark.parametrize("row", [[0.1, 0.2], [0.3, 0.2, 0.4, 0.5, 0.6]])
def test_rows_that_do_not_grow_are_refused(tmp_path, row):
    names = ("latency", "lut", "ff", "dsp", "bram18")
    file = tmp_path / "intervals.json"
    data = {
        "evidence": "none",
        "widths": dict.fromkeys(names, row),
        "unseen": dict.fromkeys(names, 1.0),
        "handed_on": ["floats"],
    }
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ToolError, match="W453"):
        _read(file)
