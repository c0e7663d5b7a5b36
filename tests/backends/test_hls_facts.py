"""What is read of a folder of Vitis HLS projects: operators, totals, and nothing that the folder should not show."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from backends.vitis.facts import tree
from backends.vitis.facts.heading import heading
from backends.vitis.facts.project import modules, totals
from backends.vitis.facts.schedule import scheduled
from backends.vitis.facts.tables import Reported, of_module, reported
from backends.vitis.facts.tree import lines, solutions
from dsl.errors.errors import InputError
from tests.support.hls_reports import (
    ADDER,
    CORES,
    PRODUCT,
    Made,
    module_report,
    project,
    schedule_report,
    summary_report,
)
from tests.support.hls_reports import (
    heading as heading_text,
)

GEMM = Made("gemm")
OLD = Made("gemm", version="2019.2", uncertainty=1.25)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("fadd_32ns_32ns_32_5_full_dsp_1", ("fadd", "fulldsp", "32ns,32ns->32", 4)),
        ("gemm_fadd_32ns_32ns_32_5_full_dsp", ("fadd", "fulldsp", "32ns,32ns->32", 4)),
        ("dut_mul_32s_32s_32_3", ("mul", "", "32s,32s->32", 2)),
        ("mul_32s_32s_32_2_1_U7", ("mul", "", "32s,32s->32", 1)),
        ("dut_mul_mul_12s_13s_25_1_1", ("mul_mul", "", "12s,13s->25", 0)),
        ("sdiv_10ns_32ns_9_14_seq_1", ("sdiv", "seq", "10ns,32ns->9", 13)),
        ("sitofp_32ns_32_6_no_dsp_1", ("sitofp", "nodsp", "32ns->32", 5)),
    ],
)
def test_the_name_of_a_module_tells_its_operator(
    name: str, told: tuple[str, str, str, int]
) -> None:
    found = of_module(name)
    assert found is not None
    assert (found.op, found.impl, found.widths, found.latency) == told


@pytest.mark.parametrize(
    "name", ["mux_42_32_1_1", "xmul_3s_4s_5_1", "gemm_fadd_bkb", "", "fadd_" * 999]
)
def test_other_names_tell_none(name: str) -> None:
    assert of_module(name) is None


@pytest.mark.parametrize("made", [GEMM, OLD, replace(GEMM, version="2020.1")])
def test_the_heading(made: Made) -> None:
    found = heading(heading_text(made, "top").splitlines())
    assert found is not None
    assert (found.tool, found.version) == (made.tool.lower(), made.version)
    assert (found.part, found.family) == (made.part, made.family)
    assert (found.clock, found.uncertainty) == (made.clock, made.uncertainty)
    assert (found.module, found.date) == ("top", made.date)


def test_the_clock_of_2020_has_its_unit_elsewhere() -> None:
    text = heading_text(GEMM, "top").replace(
        "|ap_clk  |  10.00 ns|  7.256 ns|     2.70 ns|",
        "|ap_clk  | 10.00 ns | 7.256 ns |   2.70 ns  |",
    )
    found = heading(text.splitlines())
    assert found is not None
    assert (found.clock, found.uncertainty) == (10.0, 2.7)


@pytest.mark.parametrize("made", [GEMM, OLD])
def test_instances(made: Made) -> None:
    found = list(reported(module_report(made, "top", [ADDER, PRODUCT]).splitlines()))
    assert found == [
        Reported("inst", "fadd", "", "fulldsp", "32ns,32ns->32", 4, None, 2, 205, 390),
        Reported("inst", "fmul", "", "maxdsp", "32ns,32ns->32", 3, None, 3, 143, 321),
    ]


@pytest.mark.parametrize("made", [GEMM, OLD])
def test_cores_of_a_schedule(made: Made) -> None:
    found = list(scheduled(schedule_report(made, "top", CORES).splitlines()))
    assert found == [
        Reported("core", "fadd", "FAddSub_fulldsp", "", "i32,i32", 4, 7.25),
        Reported("core", "fmul", "FMul_maxdsp", "", "i32,i32", 3, 5.7),
    ]


def test_what_a_pragma_asked_for_is_no_choice_of_the_tool() -> None:
    bound = [
        ("fadd_32ns_32ns_32_5_full_dsp_1", "", "fadd", "fulldsp", 4),
        ("mul_32s_32s_32_1_1", "yes", "mul", "fabric", 0),
    ]
    found = list(reported(summary_report(GEMM, "top", bound).splitlines()))
    assert found == [Reported("bindop", "fadd", "", "fulldsp", "32ns,32ns->32", 4)]


def test_a_summary_has_the_clock_of_its_top(tmp_path: Path) -> None:
    place = project(tmp_path, GEMM) / "solution1/syn/report/csynth.rpt"
    place.write_text(summary_report(GEMM, "top", [(ADDER[0], "", "fadd", "fulldsp", 4)]))
    [solution] = solutions(tmp_path)
    *_, last = modules(solution)
    assert last.operators[0].source == "bindop"
    assert (last.heading.clock, last.heading.uncertainty) == (10.0, 2.7)


def test_a_cut_table_ends_with_its_last_whole_row() -> None:
    text = module_report(GEMM, "top", [ADDER, PRODUCT])
    cut = text[: text.index("|fmul") + 60]
    assert [r.op for r in reported(cut.splitlines())] == ["fadd"]


def test_totals_before_and_after_routing(tmp_path: Path) -> None:
    project(tmp_path, GEMM, routed=(1000, 2000, 600, 1900))
    [solution] = solutions(tmp_path)
    found = totals(solution)
    assert found is not None
    assert (found.estimated.lut, found.estimated.ff) == (1000, 2000)
    assert (found.routed.lut, found.routed.ff, found.achieved) == (600, 1900, 7.49)


def test_solutions_of_a_project_and_copies_inside_of_one(tmp_path: Path) -> None:
    project(tmp_path, GEMM)
    (tmp_path / "gemm/solution2/syn/report").mkdir(parents=True)
    report = (tmp_path / "gemm/solution1/syn/report/top_csynth.rpt").read_text()
    (tmp_path / "gemm/solution2/syn/report/top_csynth.rpt").write_text(report)
    copy = tmp_path / "gemm/solution1/impl/misc/hls_files/hls/syn/report"
    copy.mkdir(parents=True)
    (copy / "top_csynth.rpt").write_text(report)
    found = solutions(tmp_path)
    assert len(found) == 3
    assert {s.project for s in found} == {tmp_path / "gemm"}


def test_the_binding_repeats_the_schedule(tmp_path: Path) -> None:
    place = project(tmp_path, GEMM) / "solution1/.autopilot/db"
    text = (place / "top.verbose.sched.rpt").read_text()
    (place / "top.verbose.bind.rpt").write_text(text)
    (place / "other.verbose.bind.rpt").write_text(text)
    [solution] = solutions(tmp_path)
    assert [p.name for p in solution.schedules] == [
        "other.verbose.bind.rpt",
        "top.verbose.sched.rpt",
    ]


# ------------------------------------------------------------------------------------ folders of strangers


def left_out(folder: Path) -> list[str]:
    """What is said of a folder beside its good project, whose operators are read all the same."""
    project(folder, GEMM)
    remarks: list[str] = []
    found = [m for s in solutions(folder, remarks.append) for m in modules(s, remarks.append)]
    assert sum(len(m.operators) for m in found) >= 4
    for solution in solutions(folder):
        totals(solution, remarks.append)
    return remarks


def odd(folder: Path, name: str = "odd_csynth.rpt") -> Path:
    """A place for a report in another project."""
    place = folder / "odd/solution1/syn/report"
    place.mkdir(parents=True)
    return place / name


def test_an_empty_report(tmp_path: Path) -> None:
    odd(tmp_path).write_text("")
    assert "no report of Vitis HLS" in left_out(tmp_path)[0]


def test_half_a_heading(tmp_path: Path) -> None:
    odd(tmp_path).write_text(heading_text(GEMM, "top")[:200])
    assert "or half of one" in left_out(tmp_path)[0]


def test_binary(tmp_path: Path) -> None:
    odd(tmp_path).write_bytes(os.urandom(300_000))
    assert "no report of Vitis HLS" in left_out(tmp_path)[0]


def test_another_encoding(tmp_path: Path) -> None:
    text = heading_text(replace(GEMM, name="Ü"), "top")
    odd(tmp_path).write_bytes(text.encode("latin-1"))
    assert left_out(tmp_path) == []


def test_a_file_that_is_far_too_large(tmp_path: Path) -> None:
    path = odd(tmp_path)
    path.touch()
    os.truncate(path, 200 << 20)
    assert "it has 200 MiB" in left_out(tmp_path)[0]


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    project(outside, GEMM)
    inside = tmp_path / "inside"
    odd(inside).symlink_to(outside / "gemm/solution1/syn/report/top_csynth.rpt")
    (inside / "loop").symlink_to(inside)
    (inside / "all").symlink_to(outside)
    remarks = left_out(inside)
    assert len(remarks) == 1
    assert "a link, or no file" in remarks[0]
    assert len(solutions(inside)) == 1


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(odd(tmp_path))
    assert "a link, or no file" in left_out(tmp_path)[0]


BOMB = '<!DOCTYPE b [<!ENTITY a "aaaaaaaa"><!ENTITY c "&a;&a;&a;&a;">]><profile>&c;</profile>'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BOMB, "it declares entities"),
        ("<profile/>", "no PerformanceEstimates"),
        ("<profile", "unclosed token"),
        (
            "<profile><UserAssignments/><PerformanceEstimates><SummaryOfLoopLatency>"
            + "<L><TripCount>1</TripCount>" * 300 + "</L>" * 300
            + "</SummaryOfLoopLatency></PerformanceEstimates></profile>",
            "loops 101 deep",
        ),
    ],
)  # fmt: skip
def test_xml_that_is_none_of_ours(text: str, why: str, tmp_path: Path) -> None:
    place = project(tmp_path, replace(GEMM, name="odd"), routed=(10, 10, 5, 5))
    (place / "solution1/syn/report/csynth.xml").write_text(text)
    remarks = left_out(tmp_path)
    assert len(remarks) == 1
    assert why in remarks[0]


def test_counts_with_very_many_digits(tmp_path: Path) -> None:
    place = project(tmp_path, replace(GEMM, name="odd"), routed=(10, 10, 5, 5)) / "solution1"
    for path in (place / "syn/report/csynth.xml", place / "syn/report/top_csynth.rpt"):
        path.write_text(path.read_text().replace("10", "1" + "0" * 9000).replace("205", "2" * 9000))
    assert left_out(tmp_path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = odd(tmp_path)
    path.write_text("x")
    path.chmod(0)
    assert "Permission denied" in left_out(tmp_path)[0]


def test_a_report_that_goes_away_meanwhile(tmp_path: Path) -> None:
    project(tmp_path, GEMM)
    [solution] = solutions(tmp_path)
    remarks: list[str] = []
    solution.modules[0].unlink()
    assert [m.operators[0].source for m in modules(solution, remarks.append)] == ["core"]
    assert "No such file" in remarks[0]


def test_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("none", "file"):
        with pytest.raises(InputError, match="cannot read") as caught:
            solutions(tmp_path / name)
        assert caught.value.code == "W512"


def test_far_too_many_reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MOST", 1)
    project(tmp_path, GEMM)
    with pytest.raises(InputError, match="more than 1 reports") as caught:
        solutions(tmp_path)
    assert caught.value.code == "W551"


def test_lines_that_are_far_too_long_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "r.rpt"
    path.write_text("one\n" + "x" * 3_000_000 + "\ntwo")
    assert list(lines(path)) == ["one\n", "two"]
