"""Numbers that no run can use are wrong usage, before anything begins."""

import json
from pathlib import Path

import pytest

from dse.cli import run as weft
from dsl.kernels.loader import load_kernels
from tests.dse.commands import GEMM, statuses
from weft import explore


@pytest.mark.parametrize(
    "words",
    [
        ("--share", "nan"),
        ("--clock", "inf"),
        ("--clock", "nan"),
        ("--timeout", "inf"),
        ("--seconds", "nan"),
        ("--timeout", "nan"),
        ("--timeout", "1e300"),
        ("--seed", "5000000000"),
        ("--limit", f"dsp={'9' * 400}"),
        ("--max-latency", "9" * 400),
    ],
    ids=lambda words: " ".join(words)[:24],
)
def test_numbers_out_of_their_range(tmp_path, capfd, words):
    command = [
        "explore",
        "--evaluator",
        "model",
        GEMM,
        "--size",
        "mini",
        "--strategy",
        "random",
        *words,
    ]
    assert weft([*command, "--out", str(tmp_path / "run")]) == 2
    assert words[0] in capfd.readouterr().err
    assert not (tmp_path / "run").exists()


def test_the_largest_seed_and_the_longest_timeout(tmp_path):
    pytest.importorskip("optuna")
    words = ["--strategy", "random", "--trials", "2"]
    words += ["--seed", str(2**32 - 1), "--timeout", str(365 * 24 * 3600)]
    command = ["explore", "--evaluator", "model", GEMM, "--size", "mini", *words]
    assert weft([*command, "--out", str(tmp_path / "run")]) == 0


def test_python_and_the_command_line_ask_for_the_same(tmp_path):
    pytest.importorskip("optuna")
    kernel = load_kernels(Path(GEMM.partition(":")[0]))["gemm"]
    common = {"strategy": "pom", "trials": 1, "progress": False}
    explore(kernel, "mini", dsp=100, limits={"lut": "20%", "ff": 9000}, max_latency=20_000,
            objectives=("lut", "latency"), out=tmp_path / "python", **common)  # fmt: skip
    words = ["--strategy", "pom", "--trials", "1", "--dsp", "100", "--limit", "lut=20%, ff=9000"]
    words += ["--max-latency", "20000", "--objectives", "lut,latency", "--size", "mini"]
    weft(["explore", "--evaluator", "model", GEMM, *words, "--out", str(tmp_path / "words")])
    python, said = (
        json.loads((tmp_path / name / "manifest.json").read_text()) for name in ("python", "words")
    )
    assert {**python, "source": ""} == {**said, "source": ""}


def test_a_search_ends_in_time_with_a_design(tmp_path):
    pytest.importorskip("optuna")
    command = ["explore", "--evaluator", "model", GEMM, "--size", "mini", "--trials", "400"]
    assert weft([*command, "--seconds", "1", "--out", str(tmp_path)]) == 0
    found = statuses(tmp_path)
    assert "ok" in found
    assert sum(found.values()) < 400
