"""What a channel of a card's memory passes, next to what is counted: a word a cycle."""

from __future__ import annotations

import pytest

from backends.deploy.boards import board, boards
from dse.cli import run as weft_command

GEMM = "examples/polybench/gemm.py:gemm"


def test_a_channel_passes_less_than_a_word_in_a_short_cycle():
    card = board("u280")
    assert card.words(10.0) == 1
    assert card.remark(10.0) == ""
    # 13.2 GB/s are 44 bytes in 3.33 ns, and a word has 64.
    assert card.words(3.33) == pytest.approx(44 / 64, rel=0.01)
    assert "0.69 words of 512 bits in a cycle of 3.33 ns (13.2 GB/s)" in card.remark(3.33)


def test_the_faster_the_clock_the_less_of_a_word():
    for name in boards():
        passed = [board(name).words(ns) for ns in (2.0, 3.33, 5.0, 10.0)]
        assert passed == sorted(passed)
        assert 0 < passed[0] <= passed[-1] == 1


def test_a_search_and_an_export_say_so(tmp_path, capfd):
    words = ["--size", "mini", "--deploy", "u50", "--clock", "3.33"]
    run = ["--trials", "2", "--evaluator", "model", "--out", str(tmp_path / "run")]
    assert weft_command(["explore", "--evaluator", "model", GEMM, *words, *run]) == 0
    told = capfd.readouterr()
    assert "note: a channel of u50 passes 0.69 words" in told.err
    assert "  time on the board: " in told.err
    assert "on board" in told.out.splitlines()[0]
    assert "time on the board (u50)" in (tmp_path / "run" / "report.html").read_text()
    out = ["--no-equivalence", "--out", str(tmp_path / "made")]
    assert weft_command(["export", GEMM, *words, *out]) == 0
    assert "note: a channel of u50 passes 0.69 words" in capfd.readouterr().err
    assert "| in all |" in (tmp_path / "made" / "deploy" / "README.md").read_text()
    assert '"total_ms"' in (tmp_path / "made" / "qor.json").read_text()
    slow = [*words[:-1], "10"]
    assert (
        weft_command(["export", GEMM, *slow, "--no-equivalence", "--out", str(tmp_path / "b")]) == 0
    )
    assert "note: a channel" not in capfd.readouterr().err
