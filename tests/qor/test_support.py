"""What labels of a tool show, and how far designs leave it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dse.estimates.marks import STEADY, Marks
from dse.estimates.support import marks_of, with_phi
from dsl.errors.errors import ToolError
from dsl.schedules.schedule import Schedule, ScheduleBuilder
from qor_gnn.fit.labelled import u55c_programs, u280, zu9eg
from qor_gnn.fit.supported import of_design
from qor_gnn.support.features import SIZES, STRUCTURES, Features
from qor_gnn.support.labelled import _read, shown, support
from qor_gnn.tools.personality import available, personality
from tests.support.labelled import ZU9EG, needs_zu9eg
from weft import f32

U280 = "vitis-2023.2-u280-3.33ns"
DATA = Path(__file__).resolve().parent.parent / "data"
N = 64


@weft.kernel
def product(A: f32[N, N], B: f32[N, N], C: f32[N, N]):
    for i, j, k in weft.grid(N, N, N):
        C[i, j] += A[i, k] * B[k, j]


@weft.kernel
def triangle(A: f32[N, N], x: f32[N]):
    for i in range(N):
        for j in range(i):
            x[i] += A[i, j]


def by(*steps: tuple[str, ...], reassociate: bool = False) -> Schedule:
    """A schedule of a product with k outside and j in copies."""
    s = ScheduleBuilder()
    s.reorder(["S0.k", "S0.i", "S0.j"])
    for name, *given in steps:
        getattr(s, name)(*given)
    return s.build()


def marked(schedule: Schedule, kernel=product, tool: str = U280, phi: int | None = None) -> Marks:
    found = estimated(kernel.program, schedule, setting(tool))
    marks = marks_of(found)
    assert marks is not None
    return marks if phi is None else with_phi(marks, found, phi)


@pytest.mark.parametrize("name", available())
def test_every_tool_says_what_labels_show_or_needs_none(name):
    tool = personality(name)
    labels = shown(tool)
    assert (labels is None) == tool.is_open
    if labels is not None:
        assert set(labels.sizes) == set(labels.designs) <= set(SIZES)
        assert set(labels.structures) <= set(STRUCTURES)
        assert "lut" in labels.sizes
        assert "operations" in labels.sizes


def test_a_version_elsewhere_has_the_labels_of_where_it_was_measured():
    assert shown(personality("vitis-2023.2-xc7z020-1-5ns")) == shown(personality(U280))


def test_a_plain_design_is_inside():
    marks = marked(ScheduleBuilder().pipeline("k").build())  # else 64 terms are unrolled unasked
    assert marks.e < 0.01
    assert marks.n == 0
    assert marks.why == ""
    assert marks.inside
    assert marks.supported


def test_sizes_are_those_of_the_largest_region():
    marks = marked(
        by(("pipeline", "S0.j"), ("unroll", "S0.j", 16), ("partition", "C", 1, "cyclic", 16))
    )
    labels = shown(personality(U280))
    assert labels is not None
    # 16 products and sums of 65,536 labelled operations; 16 banks of 882.
    assert marks.e == pytest.approx(
        max(32 / labels.sizes["operations"], 16 / labels.sizes["banks"]), abs=0.02
    )
    assert marks.inside


def test_more_banks_than_any_label_is_beyond():
    marks = marked(by(("partition", "C", 0, "cyclic", 32), ("partition", "C", 1, "cyclic", 32)))
    assert marks.e == pytest.approx(1024 / 882, abs=0.001)
    assert not marks.inside
    assert "1,024 banks of 882" in marks.why


@pytest.mark.parametrize(
    ("steps", "what"),
    [
        ((("pipeline", "S0.j"), ("unroll", "S0.j", 7, "guard")), "do not divide"),
        ((("bind_op", "S0", "fadd", "fabric"), ("pipeline", "S0.j"), ("unroll", "S0.j", 4),
          ("partition", "C", 1, "cyclic", 4), ("partition", "B", 1, "cyclic", 4)), "fabric"),
        ((("pipeline", "S0.j", 16), ("unroll", "S0.j", 16)), "shared over a long interval (16)"),
    ],
)  # fmt: skip
def test_structures_that_no_label_has_are_named(steps, what):
    marks = marked(by(*steps))
    assert marks.n == 1
    assert what in marks.why
    assert not marks.supported


@pytest.mark.parametrize("design", u55c_programs.designs(), ids=lambda design: design.name)
def test_conditions_in_unrolled_loops_are_as_reports_of_2023_2_have_them(design):
    where = setting(u55c_programs.TOOL, u55c_programs.DEVICE, u55c_programs.CLOCK_NS)
    found = estimated(design.program, design.schedule, where)
    assert "conditions" in of_design(found.regions, U280).structures
    (loop,) = (row for row in found.answer.loops if row.kind == "pipeline")
    units = dict(loop.units)
    assert loop.ii == design.interval
    assert abs(loop.depth - design.iteration_latency) <= 2
    assert units.get("fmul", 0) + units.get("dmul", 0) == design.multipliers


def test_conditions_in_unrolled_loops_are_inside_where_labels_have_them():
    tails = by(("split", "S0.j", 7, "jo", "ji", "guard"), ("pipeline", "S0.jo"))
    assert marked(tails).n == 0
    assert "conditions in unrolled loops" in marked(tails, tool="vitis-2022.1-zu9eg-10ns").why


def test_sharing_over_a_few_cycles_is_inside():
    assert marked(by(("pipeline", "S0.j", 8), ("unroll", "S0.j", 8))).n == 0


def test_varying_trip_counts_matter_only_where_they_are_unrolled():
    assert marked(Schedule(), triangle).n == 0
    s = ScheduleBuilder()
    s.unroll("S0.j", 4)
    assert "trip count varies" in marked(s.build(), triangle).why


def test_a_version_whose_labels_have_it_allows_it():
    guarded = by(("unroll", "S0.j", 7, "guard"))
    assert "do not divide" not in marked(guarded, tool="vitis-2025.1").why
    assert "do not divide" in marked(guarded, tool="vitis-2022.1").why


def test_what_a_factor_leaves_as_a_nest_of_its_own_is_plain():
    assert marked(by(("pipeline", "S0.j"), ("unroll", "S0.j", 7))).n == 0


def test_phi_of_a_plain_pipeline_is_one():
    marks = marked(by(("pipeline", "S0.j")), phi=60)
    assert marks.phi is not None
    assert 1 <= marks.phi <= STEADY


def test_phi_counts_slices_that_sums_would_take():
    steps = (("bind_op", "S0", "fadd", "fabric"), ("pipeline", "S0.j"), ("unroll", "S0.j", 16),
             ("partition", "C", 1, "cyclic", 16), ("partition", "B", 1, "cyclic", 16))  # fmt: skip
    tight, roomy = marked(by(*steps), phi=48), marked(by(*steps), phi=800)
    assert tight.phi == pytest.approx(80 / 48, rel=0.05)  # five slices instead of three
    assert "DSP" in tight.rule
    assert not replace(tight, unseen=()).supported
    assert roomy.phi is not None
    assert roomy.phi < tight.phi


def test_phi_finds_recurrences_of_fabric_sums():
    s = ScheduleBuilder()
    s.bind_op("S0", "fadd", "fabric")
    s.pipeline("S0.k")
    marks = marked(
        s.build(), phi=220
    )  # waits for its own sum: 4 states, 5 where it is a state longer
    assert (marks.phi or 0) > 1.2
    assert marks.rule


def test_the_open_backend_needs_no_labels():
    found = estimated(product.program, Schedule(), setting("open-ecp5-10ns"))
    assert marks_of(found) is None


def test_a_table_that_is_not_one_is_refused(tmp_path):
    file = tmp_path / "supported.json"
    file.write_text('{"evidence": "x", "sizes": {"oprations": 3}, "designs": {}, "structures": [], '
                    '"fabric_interval": null, "shared_interval": 0}')  # fmt: skip
    with pytest.raises(ToolError, match="oprations"):
        _read(file)
    file.with_name("b.json").write_text('{"sizes": {}}')
    with pytest.raises(ToolError, match="W453"):
        _read(file.with_name("b.json"))


def test_levels_of_support():
    labels = shown(personality(U280))
    assert labels is not None
    sizes = dict.fromkeys(SIZES, 1.0)
    just = Features({**sizes, "lut": labels.sizes["lut"]}, frozenset(), 4, 11)
    assert support(just, labels).inside
    over = Features({**sizes, "lut": 2 * labels.sizes["lut"]}, frozenset({"variable"}), 3, 12)
    found = support(over, labels)
    assert (found.excess, len(found.unseen)) == (pytest.approx(2), 3)


@needs_zu9eg
def test_labelled_designs_of_2022_are_inside_of_their_own_labels():
    labels = shown(personality(zu9eg.PERSONALITY))
    assert labels is not None
    for sample in list(zu9eg.samples(ZU9EG, "kernels"))[:40]:
        found = support(of_design(zu9eg.kernel_of(sample), zu9eg.PERSONALITY), labels)
        assert found.unseen == (), sample.config
        assert found.excess <= 1.35, sample.config  # its LUTs are the model's, not the label's


def test_reports_of_2023_are_where_its_table_is_from():
    labels = shown(personality(U280))
    assert labels is not None
    rows = u280.design_rows(DATA / "streamhls-u280")
    assert max(row.lut for row in rows) <= labels.sizes["lut"]
    assert set(labels.structures) == {"conditions", "outside", "tasks"}
