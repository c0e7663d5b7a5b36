"""``sequential``: loops that a tool is not to pipeline by itself."""

import pytest

import weft
from dsl.errors.errors import ScheduleError
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from qor_gnn.design.from_module import kernel_of_module
from qor_gnn.design.from_tree import kernel_of_tree
from weft import f32


@weft.kernel
def scaled(a: f32[40, 80], b: f32[40, 80]):
    for i in range(40):
        for j in range(80):
            b[i, j] = a[i, j] * 2.0 + 1.0


def steps() -> ScheduleBuilder:
    return ScheduleBuilder()


def test_it_is_in_the_code_and_in_both_readings_of_the_design():
    asked = steps().interchange("i", "j").sequential("i").unroll("i", 6).build()
    design = weft.compile(scaled, asked)
    assert design.hls_cpp.count("#pragma HLS pipeline off") == 2, "the blocks, and what they leave"
    regions = kernel_of_module(design.module)
    assert regions == kernel_of_tree(design.tree)
    assert Schedule.from_json(asked.to_json()) == asked
    assert weft.equivalence(scaled, asked).verdict == "proven"
    assert weft.verify(scaled, asked).ok
    later = steps().interchange("i", "j").unroll("i", 6).sequential("i").build()
    assert weft.compile(scaled, later).hls_cpp == design.hls_cpp


def test_a_tool_that_pipelines_by_itself_leaves_it_alone():
    at = {"tool": "vitis-2023.2"}
    off = weft.estimate(scaled, steps().sequential("j").build(), **at)
    assert weft.estimate(scaled, **at).latency.average * 5 < off.latency.average
    assert [loop.kind for loop in off.loops] == ["nest", "sequential"]
    older = weft.estimate(
        scaled, steps().sequential("j").build(), tool="vitis-2022.1", explain=True
    )
    assert "the tool makes no pipeline of it anyway" in str(older.directives)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (steps().pipeline("j").sequential("j"), "W213"),
        (steps().sequential("j").pipeline("j"), "W213"),
        (steps().sequential("j").pipeline("i"), "W213"),
        (steps().unroll("j").sequential("j"), "W213"),
        (steps().sequential("j").split("j", 4), "W214"),
        (steps().sequential("k"), "W201"),
    ],
)
def test_what_goes_against_it_is_refused(asked, code):
    with pytest.raises(ScheduleError, match=code):
        weft.compile(scaled, asked.build())
