"""Designs whose loops end where data say: cycles of the trips that are expected, next to bounds of all of them."""

from __future__ import annotations

import weft
from dse.cli import run
from dse.report.facts import facts_of
from dse.report.page import data_of
from dse.report.sections import tiles
from dse.run.folder.directory import open_run
from weft import i32, u16


@weft.kernel
def row_sums(first: u16[9], x: i32[96], y: i32[8]):
    for r in range(8):
        total: i32 = 0
        for k in range(first[r], first[r + 1]):
            total += x[k] * x[k]
        y[r] = total


@row_sums.schedule
def early(s):
    s.leave("k_step")
    s.pipeline("k_step")


def test_what_is_expected_is_not_drawn_next_to_bounds_of_all_trips(tmp_path) -> None:
    folder = tmp_path / "run"
    words = ["--from", "early", "--fix", "leave", "--trials", "2", "--evaluator", "model"]
    target = f"{__file__}:row_sums"
    assert run(["explore", target, *words, "--device", "xc7z020", "--out", str(folder)]) == 0
    facts = facts_of(open_run(folder, write=False))
    best = facts.best
    assert best is not None
    assert facts.problem is not None
    assert facts.problem.bound is not None
    assert best.result.latency < best.result.longest == best.result.of_all_trips
    data = data_of(facts)
    assert data["bound"] is None
    assert not data["curve"]
    fastest, bound, *_ = tiles(facts)
    assert fastest.hint.endswith(
        f"of the trips that are expected; at most {best.result.longest:,.0f}"
    )
    assert bound.name == "of the lower bound of all trips"
    assert best.schedule is not None
    assert [step.kind for step in best.schedule].count("leave") == 1
