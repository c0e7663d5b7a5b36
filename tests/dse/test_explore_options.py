"""Numbers that no run can use are wrong usage, before anything begins."""

import pytest

from dse.cli import run as weft
from tests.dse.commands import GEMM


@pytest.mark.parametrize(
    "words",
    [
        ("--share", "nan"),
        ("--clock", "inf"),
        ("--clock", "nan"),
        ("--timeout", "inf"),
        ("--timeout", "nan"),
        ("--timeout", "1e300"),
        ("--seed", "5000000000"),
        ("--limit", f"dsp={'9' * 400}"),
        ("--max-latency", "9" * 400),
    ],
    ids=lambda words: " ".join(words)[:24],
)
def test_numbers_out_of_their_range(tmp_path, capfd, words):
    command = ["explore", GEMM, "--size", "mini", "--strategy", "random", *words]
    assert weft([*command, "--out", str(tmp_path / "run")]) == 2
    assert words[0] in capfd.readouterr().err
    assert not (tmp_path / "run").exists()


def test_the_largest_seed_and_the_longest_timeout(tmp_path):
    pytest.importorskip("optuna")
    words = ["--strategy", "random", "--trials", "2"]
    words += ["--seed", str(2**32 - 1), "--timeout", str(365 * 24 * 3600)]
    command = ["explore", GEMM, "--size", "mini", *words]
    assert weft([*command, "--out", str(tmp_path / "run")]) == 0
