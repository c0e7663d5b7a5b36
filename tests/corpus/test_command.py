"""The command of the corpus: what a line and the summary say, and how a child process ends."""

from __future__ import annotations

import json

import pytest

from benchmarks.corpus.__main__ import chosen, main
from benchmarks.corpus.child import weft
from benchmarks.corpus.summary import passed, spreads_of, summary_of


def line(kernel, group, cycles, to_expert, *, crash=None, points=100, verified=True, other=""):
    return {
        "kernel": kernel, "group": group, "verified": verified, "expert": {"feasible": True},
        "other_algorithm": other,
        "explore": {
            "cycles": cycles, "to_expert": to_expert, "crash": crash, "points": points,
            "faults": {}, "late": False, "seconds": 2.0, "peak_mib": 100,
        },
    }  # fmt: skip


LINES = [
    line("a", "g", 110, 1.1),
    line("b", "g", 330, 3.3, points=1),
    line("c", "h", 90, 0.9),
    line("d", "i", None, None, crash=70),
]


def test_variants_are_as_far_apart_as_the_slowest_from_the_fastest():
    assert spreads_of(LINES) == {"g": 3.0}


def test_a_summary_counts_what_is_near_and_names_what_failed():
    found = summary_of(LINES)
    assert (found["near"], found["near_share"]) == (2, 0.5)
    assert found["worst"] == {"b": 3.3, "a": 1.1, "c": 0.9}
    assert found["crashes"] == {"d": 70}
    assert found["one_point_spaces"] == ["b"]
    assert found["no_design"] == ["d"]
    assert not passed(found)


def test_kernels_whose_expert_computes_something_else_are_told_apart():
    found = summary_of([*LINES, line("e", "j", 900, 9.0, other="no product")])
    assert found["worst"]["e"] == 9.0
    assert "e" not in found["worst_of_same_algorithm"]
    assert (found["same_algorithm"], found["near_of_same_algorithm"]) == (4, 2)


def test_being_far_from_the_expert_is_no_failure():
    assert passed(summary_of(LINES[:3]))
    assert not passed(summary_of([line("a", "a", 1, 1, verified=False)]))


def test_without_explorations_there_is_nothing_to_say_of_them():
    lines = [{key: value for key, value in LINES[0].items() if key != "explore"}]
    assert set(summary_of(lines)) == {"kernels", "verified", "not_verified", "infeasible_experts"}


def test_kernels_are_chosen_by_name_and_style():
    assert [entry.name for entry in chosen(["dot_blocked"], [])] == ["dot_blocked"]
    assert {entry.style for entry in chosen([], ["sorting"])} == {"sorting"}
    with pytest.raises(KeyError, match="no kernel nonesuch"):
        chosen(["nonesuch"], [])


def test_an_unknown_kernel_is_wrong_usage(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["--kernel", "nonesuch"])
    assert "the corpus has no kernel nonesuch" in capsys.readouterr().err


def test_a_kernel_s_line_is_json(capsys, tmp_path):
    words = ["--kernel", "saturating_add", "--no-explore", "--quick"]
    assert main([*words, "--out", str(tmp_path / "lines.jsonl")]) == 0
    out = capsys.readouterr().out
    first, last = map(json.loads, out.splitlines())
    assert (tmp_path / "lines.jsonl").read_text(encoding="utf-8") == out
    assert (first["kernel"], first["style"], first["verified"]) == (
        "saturating_add", "number_types", True,
    )  # fmt: skip
    assert first["expert"]["feasible"]
    assert last["summary"]["kernels"] == 1


def test_a_command_that_takes_too_long_is_stopped(monkeypatch):
    monkeypatch.setattr("benchmarks.corpus.child.GRACE_S", 1.0)  # a test's child may ignore SIGINT
    ended = weft(["verify", "--all", "examples", "--jobs", "1"], limit_s=0.5)
    assert ended.late
    assert ended.code != 0
    assert ended.seconds < 12


def test_a_command_says_what_it_took():
    ended = weft(["--help"], limit_s=60)
    assert (ended.code, ended.late) == (0, False)
    assert ended.peak_mib > 5
    assert "explore" in ended.out


@pytest.mark.slow
def test_an_exploration_is_compared_with_the_expert(capsys):
    assert main(["--kernel", "crc32_bitwise", "--quick"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[0])["explore"]
    assert found["crash"] is None
    assert found["cycles"] >= found["to_expert"] > 0
    assert found["trials"] > 0
    assert found["peak_mib"] > 50
