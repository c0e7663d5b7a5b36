"""A calibration to projects: what is saved helps on those left out, and what does not is refused."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from dsl.errors.errors import InputError, WeftError
from qor_gnn.fit.projects.calibrate import Calibrated, calibrated_to, judged_pieces
from qor_gnn.fit.projects.facts import Facts, facts_of
from qor_gnn.fit.projects.judged import Verdict, judged
from qor_gnn.fit.projects.own import measured, pieces
from qor_gnn.tools.calibrated import calibrated
from qor_gnn.tools.operators.calibration import OwnCore
from qor_gnn.tools.operators.calibration_file import read
from qor_gnn.tools.operators.timing import tables
from qor_gnn.tools.personality import personality
from tests.support.hls_reports import Made, project
from tests.support.hostile import mutated_bytes, mutated_json

SLOW = (("fadd", "FAddSub_fulldsp", 8, 3.3),)
SLOW_ADDER = ("fadd_32ns_32ns_32_9_full_dsp_1", 2, 300, 410)
MADE = Made("one", clock=6.0, uncertainty=1.62)


def facts(folder: Path, latencies: dict[str, int], clock: float = 6.0) -> Facts:
    """Projects by name, each with a product of floats of a latency, at 6 ns where the library has 4 cycles."""
    for n, (name, latency) in enumerate(latencies.items()):
        made = replace(MADE, name=name, clock=clock, date=f"Sun Feb {n + 1} 10:00:00 2025")
        core = ("fmul", "FMul_maxdsp", latency, 4.0 - latency / 10)
        instance = (f"fmul_32ns_32ns_32_{latency + 1}_max_dsp_1", 3, 300 + latency, 78)
        project(folder, made, cores=[core], instances=[instance])
    return facts_of([folder])


def of(found: Facts, group: str, name: str) -> Verdict:
    """The verdict of a piece."""
    [verdict] = [v for v in judged_pieces(found) if (v.piece.group, v.piece.name) == (group, name)]
    return verdict


def test_what_projects_agree_on_is_saved(tmp_path: Path) -> None:
    found = facts(tmp_path, {"a": 5, "b": 5, "c": 5})
    verdict = of(found, "floats", "fmul")
    assert (verdict.left_out, verdict.units, verdict.kept) == ("projects", 3, True)
    assert verdict.before["latency"] == [1.0] * 6  # an instance and a schedule of each
    assert verdict.after["latency"] == [0.0] * 6
    area = of(found, "areas", "fmul")
    assert area.kept
    assert (max(area.after["ff"]), max(area.after["lut"])) == (0.0, 0.0)
    assert min(area.before["ff"]) > 0.1


def test_what_makes_one_of_them_worse_is_not(tmp_path: Path) -> None:
    found = facts(tmp_path, {"a": 4, "b": 5, "c": 5})
    verdict = of(found, "floats", "fmul")
    assert sum(verdict.after["latency"]) < sum(verdict.before["latency"])  # better on the whole
    assert verdict.worse
    assert not verdict.kept


def test_what_helps_nobody_else_is_not(tmp_path: Path) -> None:
    """Clocks so far apart that no project tells anything about another."""
    for n, (clock, latency, delay) in enumerate(((6.0, 5, 3.5), (40.0, 2, 14.0))):
        made = replace(MADE, name=f"p{n}", clock=clock, date=f"Sun Feb {n + 1} 10:00:00 2025")
        project(tmp_path, made, cores=[("fmul", "FMul_maxdsp", latency, delay)], instances=())
    verdict = of(facts_of([tmp_path]), "floats", "fmul")
    assert verdict.before == verdict.after
    assert not verdict.kept


def test_what_the_library_knows_already_is_marked_as_measured(tmp_path: Path) -> None:
    for n in range(2):
        project(tmp_path, Made(f"p{n}", date=f"Sun Feb {n + 1} 10:00:00 2025"))
    found = facts_of([tmp_path])
    assert all(v.kept and v.before == v.after for v in judged_pieces(found))


def test_of_one_project_the_kernels_are_left_out(tmp_path: Path) -> None:
    project(tmp_path, MADE, modules=("f", "g"), cores=SLOW, instances=[SLOW_ADDER])
    verdict = of(facts_of([tmp_path]), "areas", "fadd")
    assert (verdict.left_out, verdict.units, verdict.kept) == ("kernels", 2, True)


def test_of_one_kernel_nothing_can_be_judged(tmp_path: Path) -> None:
    project(tmp_path, MADE, cores=SLOW, instances=[SLOW_ADDER])
    verdict = of(facts_of([tmp_path]), "floats", "fadd")
    assert (verdict.left_out, verdict.before, verdict.kept) == ("", {}, True)
    assert verdict.own.floats["fadd"] == OwnCore(((4.38, 8),), ((8, 3.3),))


def test_products_are_saved_where_projects_agree(tmp_path: Path) -> None:
    """Those of one size are of many widths: what one project has tells little of another."""
    product = ("mul_32s_32s_32_3_1", 3, 165, 50)
    project(tmp_path, MADE, modules=("f", "g"), cores=(), instances=[product])
    alone = of(facts_of([tmp_path]), "multipliers", "four")
    assert (alone.left_out, alone.kept) == ("kernels", False)
    other = replace(MADE, name="two", date="Sun Feb 2 10:00:00 2025")
    project(tmp_path, other, cores=(), instances=[product])
    both = of(facts_of([tmp_path]), "multipliers", "four")
    assert (both.left_out, both.kept) == ("projects", True)
    assert both.own.multipliers["four"] == OwnCore(((4.38, 2),), ())


def test_a_copy_of_a_project_is_the_same_project(tmp_path: Path) -> None:
    project(tmp_path / "here", MADE, cores=SLOW, instances=[SLOW_ADDER])
    project(tmp_path / "there", replace(MADE, name="copy"), cores=SLOW, instances=[SLOW_ADDER])
    found = facts_of([tmp_path])
    assert len(found.projects) == 1
    assert of(found, "floats", "fadd").left_out == ""


def test_projects_of_one_name_are_two(tmp_path: Path) -> None:
    for n, place in enumerate(("here", "there")):
        made = replace(MADE, date=f"Sun Feb {n + 1} 10:00:00 2025")
        project(tmp_path / place, made, cores=SLOW, instances=[SLOW_ADDER])
    found = facts_of(
        [tmp_path / "here/one", tmp_path / "there/one", tmp_path / "here/one/solution1"]
    )
    assert found.projects == ("one", "one (2)")


def test_devices_and_versions_are_kept_apart(tmp_path: Path) -> None:
    project(tmp_path, Made("z"))
    project(
        tmp_path, Made("u", part="xcu280-fsvh2892-2L-e", family="virtexuplusHBM", version="2019.2")
    )
    found = facts_of([tmp_path])
    assert {(r.row.timing, r.row.version, r.row.vitis) for r in found.rows} == {
        ("zynq7-1", "2023.2", True), ("virtexuplus-2", "2019.2", False),
    }  # fmt: skip
    classes = calibrated_to(found, judged_pieces(found)).calibration.classes
    assert set(classes) == {"zynq7-1", "virtexuplus-2"}


def test_a_device_that_nobody_knows(tmp_path: Path) -> None:
    project(tmp_path, Made("x", part="xc9z1-1", family="zynq9"))
    remarks: list[str] = []
    found = facts_of([tmp_path], remarks.append)
    assert found.rows == ()
    assert "the timing class of this part is not known" in remarks[0]
    with pytest.raises(InputError, match="no product, and no operator on floats") as caught:
        calibrated_to(found, judged_pieces(found))
    assert caught.value.code == "W553"


def test_a_demand_that_no_clock_meets_is_no_fact(tmp_path: Path) -> None:
    """A stage that is longer than the budget was demanded, as by the interval of a recurrence."""
    cores = (("fadd", "FAddSub_fulldsp", 0, 28.2),)
    project(tmp_path, MADE, cores=cores, instances=())
    project(tmp_path, replace(MADE, name="none", clock=0.1, uncertainty=27.0))
    assert [p.group for p in pieces(facts_of([tmp_path]).rows)] == ["areas", "areas"]


def test_folders_without_reports(tmp_path: Path) -> None:
    (tmp_path / "solution1/syn/report").mkdir(parents=True)
    with pytest.raises(InputError, match="has no report of Vitis HLS") as caught:
        facts_of([tmp_path])
    assert caught.value.code == "W551"


def test_what_is_refused_is_not_written(tmp_path: Path) -> None:
    found = facts(tmp_path, {"a": 4, "b": 5, "c": 6})
    with pytest.raises(InputError, match="nothing that 3 projects show makes") as caught:
        calibrated_to(found, [v for v in judged_pieces(found) if v.piece.group == "floats"])
    assert caught.value.code == "W553"


def routed(folder: Path, left: list[int]) -> Calibrated:
    """Projects of 1000 LUTs in csynth each."""
    for n, lut in enumerate(left):
        made = Made(f"p{n}", date=f"Sun Feb {n + 1} 10:00:00 2025")
        project(folder, made, routed=(1000, 2000, lut, 2000))
    found = facts_of([folder])
    return calibrated_to(found, judged_pieces(found))


def test_the_share_that_routing_leaves(tmp_path: Path) -> None:
    found = routed(tmp_path, [600, 640, 620])
    lut, ff = found.shares
    assert (lut.projects, lut.median, lut.least, lut.most, lut.kept) == (3, 0.62, 0.6, 0.64, True)
    assert lut.after < 0.06 < lut.before
    assert not ff.kept  # csynth is right about it
    assert list(found.calibration.routing) == ["lut"]
    assert "routing left 0.60 to 0.64 of the LUT" in found.calibration.notes[0]


def test_shares_that_tell_nothing_of_others_are_not_saved(tmp_path: Path) -> None:
    assert routed(tmp_path, [200, 1000, 1050]).calibration.routing == {}


def test_facts_of_a_piece_lead_to_nothing_else(tmp_path: Path) -> None:
    found = facts(tmp_path, {"a": 5})
    for piece, rows in pieces(found.rows).items():
        own = measured(piece, [one.row for one in rows])
        filled = {g for g in ("floats", "areas", "multipliers") if getattr(own, g)}
        assert filled == {piece.group}


@pytest.mark.parametrize("seed", range(30))
def test_nothing_that_is_saved_makes_a_project_worse(seed: int, tmp_path: Path) -> None:
    """Of whatever projects: with each left out in turn no error grows."""
    rng = random.Random(seed)
    for n in range(rng.randint(2, 4)):
        clock = rng.choice((5.0, 6.0, 8.0, 10.0))
        made = Made(
            f"p{n}", clock=clock, uncertainty=0.27 * clock, date=f"Sun Feb {n + 1} 10:00 2025"
        )
        k, m = rng.randint(3, 9), rng.randint(2, 7)
        cores = (
            ("fadd", "FAddSub_fulldsp", k, 0.72 * clock),
            ("fmul", "FMul_maxdsp", m, 0.7 * clock),
        )
        instances = (
            (f"fadd_32ns_32ns_32_{k + 1}_full_dsp_1", 2, rng.randint(150, 400), 390),
            (f"mul_32s_32s_32_{rng.randint(1, 3)}_1", 3, 165, 50),
        )
        project(tmp_path, made, cores=cores, instances=instances)
    found = facts_of([tmp_path])
    for piece, rows in pieces(found.rows).items():
        verdict = judged(piece, rows, tables())
        if not verdict.kept or not verdict.left_out:
            continue
        for measure, before in verdict.before.items():
            assert sum(verdict.after[measure]) <= sum(before) + 1e-9


@pytest.mark.parametrize("seed", range(40))
def test_damaged_reports_and_files_have_errors_with_codes(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    for n in range(2):
        made = Made(f"p{n}", date=f"Sun Feb {n + 1} 10:00:00 2025")
        project(tmp_path, made, routed=(1000, 2000, 600 + n, 1900))
    reports = sorted(p for p in tmp_path.rglob("*") if p.is_file())
    for path in rng.sample(reports, rng.randint(1, 4)):
        path.write_bytes(mutated_bytes(rng, path.read_bytes()))
    file, code = tmp_path / "own.json", ""
    try:
        found = facts_of([tmp_path])
        made_of = calibrated_to(found, judged_pieces(found))
        file.write_text(mutated_json(rng, json.dumps(made_of.document)))
        tool = calibrated(personality("vitis-2023.2-xc7z020-1-10ns"), read(file))
        tool.operator("add", "f32", 32)
    except WeftError as error:
        code = error.code
    assert code in ("", "W551", "W552", "W553")
