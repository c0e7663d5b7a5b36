"""`weft evaluate`: what is asked about, of whom, and what there is nothing to ask about."""

import json
import math
from dataclasses import replace

import pytest
from click.testing import CliRunner

from dse.cli import weft as cli
from qor_gnn.gnn.examples.files import save as save_examples
from qor_gnn.gnn.training.ensemble import untrained
from qor_gnn.gnn.training.weights import save
from tests.gnn.designs import TOOL, designs

FEW = [*designs("gemm", 12), *designs("atax", 12)]
NESTS = [replace(e, part="lp1", label={"latency": 1.0}) for e in designs("atax", 4)]


@pytest.fixture
def evaluate(tmp_path):
    """The exit of the command on examples."""

    def run(examples, *words):
        save_examples(tmp_path / "e.npz", examples)
        asked = ["evaluate", "--data", str(tmp_path / "e.npz"), *map(str, words)]
        return CliRunner().invoke(cli, [*asked, "--format", "json"], standalone_mode=False)

    return run


@pytest.fixture(scope="session")
def weights(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "w.safetensors"
    save(path, untrained())
    return path


def rows_of(result):
    assert result.exception is None, result.output
    return json.loads(result.stdout, parse_constant=pytest.fail)["rows"]


def test_single_nests_are_not_asked_about(evaluate, weights):
    rows = rows_of(evaluate([*FEW, *NESTS], "--weights", weights))
    assert rows == rows_of(evaluate(FEW, "--weights", weights))
    assert [(r["split"], r["designs"]) for r in rows if r["metric"] == "lut"] == [
        ("atax", 12), ("gemm", 12), ("all", 24),
    ]  # fmt: skip
    first = rows[0]
    assert (first["tool"], first["protocol"], first["predictor"]) == (TOOL, "given", weights.name)
    assert first.keys() >= {"seed", "adrs", "seconds", "tau"}
    assert math.isfinite(first["adrs"])


def test_what_has_no_figure_is_null(evaluate, weights):
    alike = [replace(e, label={"dsp": 5.0}) for e in FEW]
    assert {(r["tau"], r["adrs"]) for r in rows_of(evaluate(alike, "--weights", weights))} == {
        (None, None)
    }


def test_each_tool_has_its_own_rows(evaluate, weights):
    others = [replace(e, target="another", label={"lut": 1.0}) for e in designs("gemm", 12)]
    rows = rows_of(evaluate([*FEW, *others], "--weights", weights))
    known = [r for r in rows if r["tool"] == TOOL]
    assert known == rows_of(evaluate(FEW, "--weights", weights))
    assert {(r["split"], r["metric"], r["designs"]) for r in rows if r["tool"] == "another"} == {
        ("gemm", "lut", 12),
        ("all", "lut", 12),
    }
    by_protocol = evaluate([*FEW, *others], "--predictor", "model", "--protocol", "P0")
    assert {r["tool"] for r in rows_of(by_protocol)} == {TOOL, "another"}


@pytest.mark.parametrize(
    ("examples", "protocol", "why"),
    [
        (designs("gemm", 12), "P1", "without one kernel there is nothing to learn from"),
        (designs("gemm", 12), "P2", "without one family of kernels there is nothing to learn"),
        (FEW, "k16", "of no kernel there are more than 16 different designs"),
        (designs("gemm", 12)[:5], "P0", "a tenth of 5 different designs is none"),
    ],
)
def test_a_protocol_with_nothing_to_ask_about_is_refused(evaluate, examples, protocol, why):
    error = evaluate(examples, "--predictor", "model", "--protocol", protocol).exception
    assert error.code == "W532"
    assert f"{protocol} has nothing to ask about {TOOL}: {why}" in error.message
    assert error.help.startswith("give it more designs, or another --protocol; there are ")


def test_no_designs_and_nests_alone_are_refused(evaluate, weights):
    for words in (("--weights", weights), ("--predictor", "model")):
        error = evaluate([], *words).exception
        assert (error.code, error.message) == (
            "W532",
            "there are no labelled designs to ask about",
        )
        error = evaluate(NESTS, *words).exception
        assert error.code == "W532"
        assert "are single nests, and only whole kernels are asked about" in error.message


def test_weights_that_cannot_be_read_are_known_first(tmp_path):
    words = ["evaluate", "--data", str(tmp_path / "no"), "--weights", str(tmp_path / "none")]
    error = CliRunner().invoke(cli, words, standalone_mode=False).exception
    assert error.code == "W512"
    assert str(tmp_path / "none") in error.message
