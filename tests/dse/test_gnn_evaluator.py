"""The predictor as an evaluator, on the command line and in a search."""

import csv
import io
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from backends.devices import device
from dse.cli import weft as cli
from dse.estimates.prediction import Predicted
from dse.evaluators.base import Request, Result, Status
from dse.evaluators.gnn import GnnEvaluator, result_with
from dse.evaluators.model import ModelEvaluator
from dse.kernels.target import target
from dse.views.predict import as_rows
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Pipeline
from qor_gnn.gnn.examples.example import METRICS
from qor_gnn.gnn.examples.files import save as save_examples
from qor_gnn.gnn.examples.targets import ROUTED
from qor_gnn.gnn.nets.network import Shape
from qor_gnn.gnn.training.predict import Figure, GnnPredictor
from qor_gnn.gnn.training.train import Settings
from qor_gnn.gnn.training.weights import save
from tests.dse.contract import EvaluatorContract, stencil
from tests.gnn.designs import TOOL, designs

SMALL = Settings(Shape(members=2, hidden=4, layers=1, outer=1), epochs=6, batch=16)
EXAMPLES = [*designs("gemm", 24), *designs("atax", 24)]
GEMM = "examples/polybench/gemm.py:gemm"
TRIANGLE = "examples/tutorial/triangular.py:triangular"


@pytest.fixture(scope="session")
def weights(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "made_up.safetensors"
    shifted = [replace(e, label={**e.label, "lut": 1.5 * e.label["lut"]}) for e in EXAMPLES]
    save(path, GnnPredictor(SMALL).fit(shifted, (), 0))
    return path


class TestGnn(EvaluatorContract):
    @pytest.fixture
    def evaluator(self, weights):
        return GnnEvaluator(weights)

    def test_figures_are_the_predictors_with_their_spread(self, evaluator, request_):
        pipelined = replace(request_, schedule=Schedule((Pipeline("j"),)))
        result, base = evaluator.evaluate(pipelined), ModelEvaluator().evaluate(pipelined)
        assert result.provenance == "gnn"
        assert "predicted by made_up.safetensors" in result.tool
        assert result.resources["lut"] > 1.2 * base.resources["lut"]
        assert result.latency == pytest.approx(base.latency, rel=1e-3)
        assert result.loops == base.loops
        assert set(result.spread) == {"latency", "lut", "ff", "dsp"}
        assert 0 < result.spread["lut"] < result.resources["lut"]
        assert result.period is None

    def test_cycles_stay_averages(self, evaluator, request_):
        """Labels are worst cases, but what designs are compared by is not."""
        triangle = target(TRIANGLE, None, "mini").program
        asked = replace(request_, program=triangle, schedule=Schedule())
        result, base = evaluator.evaluate(asked), ModelEvaluator().evaluate(asked)
        assert result.latency == pytest.approx(base.latency, rel=0.02)

    def test_other_weights_are_another_version(self, evaluator, weights, tmp_path):
        other = tmp_path / "other.safetensors"
        save(other, GnnPredictor(SMALL).fit(EXAMPLES, (), 1))
        assert GnnEvaluator(other).version != evaluator.version
        assert GnnEvaluator(weights).version == evaluator.version


def test_a_tool_without_weights_is_an_error_of_the_tool():
    request = Request(stencil.program, Schedule(), device("xcu280"), 3.33)
    result = GnnEvaluator().evaluate(request)
    assert (result.status, result.evaluated) == (Status.TOOL_ERROR, False)
    assert result.detail.startswith("W550: no weights come with Weft for vitis-2023.2-u280")


def run(*words):
    return CliRunner().invoke(cli, [str(w) for w in words], standalone_mode=False)


def printed(result):
    assert result.exception is None, result.output
    return result.stdout


def test_an_estimate_with_a_predictor(weights):
    words = ["estimate", GEMM, "--size", "mini", "--with", "gnn", "--weights", weights]
    text = printed(run(*words))
    assert "gnn of made_up.safetensors, trained on vitis-2022.1-zu9eg-10ns" in text
    assert "predicted (gnn)" in text
    data = json.loads(printed(run(*words, "--format", "json")))
    lut = data["predicted"]["figures"]["lut"]
    assert lut["low"] < lut["value"] < lut["high"]
    assert lut["provenance"] == "gnn"
    assert lut["model"] == data["resources"]["lut"]["used"]
    assert data["predicted"]["figures"]["bram18"]["provenance"] == "model"
    rows = printed(run(*words, "--format", "csv")).splitlines()
    assert [r.split(",")[0] for r in rows[-3:]] == ["design", "predicted", "std"]


def test_a_predicted_latency_is_the_worst_case(weights):
    words = ["estimate", TRIANGLE, "--size", "mini", "--with", "gnn", "--weights", weights]
    assert "latency, worst case" in printed(run(*words))
    data = json.loads(printed(run(*words, "--format", "json")))
    latency = data["predicted"]["figures"]["latency"]
    assert latency["case"] == "worst"
    assert latency["model"] == data["latency"]["maximum"] > data["latency"]["average"]
    rows = list(csv.DictReader(io.StringIO(printed(run(*words, "--format", "csv")))))
    design, predicted, _ = rows[-3:]
    assert float(predicted["latency_max"]) == pytest.approx(float(design["latency_max"]), rel=0.02)
    assert predicted["latency_avg"] == ""


def test_rows_have_all_digits():
    found = Predicted({"latency": Figure(10609401.25, float("inf"), 0, 1, 1, "gnn")}, "w", (), ())
    value, std = as_rows(found, {})
    assert (value["latency_max"], std["latency_max"]) == ("10609401.25", None)


def test_the_share_of_the_worst_case_is_what_is_corrected():
    base = Result(Status.OK, 100.0, {}, "model", "tool")
    figures = {name: Figure(0, 0, 0, 0, 0, "model") for name in METRICS}
    figures["latency"] = Figure(300, 20, 260, 340, 200, "gnn")
    result = result_with(base, Predicted(figures, "w", (), ()))
    assert (result.latency, result.spread) == (150, {"latency": 10})


def test_weights_without_a_predictor_are_wrong_usage(weights):
    result = run("estimate", GEMM, "--weights", weights)
    assert "--weights is for --with gnn" in str(result.exception.message)
    result = run("explore", GEMM, "--out", weights.parent / "run", "--weights", weights)
    assert "--weights is for --evaluator gnn" in str(result.exception.message)


@pytest.fixture
def data(tmp_path):
    save_examples(tmp_path / "labels.npz", EXAMPLES)
    return tmp_path / "labels.npz"


def test_training_from_the_command_line(data, tmp_path):
    out = tmp_path / "mine.safetensors"
    words = ["train", "--data", data, "--epochs", 2, "--members", 2, "--hidden", 4]
    rows = json.loads(printed(run(*words, "--out", out, "--format", "json")))["rows"]
    assert {(r["metric"], r["kernels"]) for r in rows} >= {("lut", "new"), ("ff", "seen")}
    assert not list(tmp_path.glob("*.checkpoint"))
    again = tmp_path / "again.safetensors"
    printed(run(*words, "--out", again))
    assert again.read_bytes() == out.read_bytes()
    tuned = tmp_path / "tuned.safetensors"
    printed(run("train", "--data", data, "--finetune", out, "--out", tuned))
    assert tuned.stat().st_size > out.stat().st_size


def routed(examples, factor):
    """As place and route reports them: another target, and other figures than synthesis's."""
    return [
        replace(e, target=TOOL + ROUTED, label={**e.label, "lut": factor * e.label["lut"]})
        for e in examples
    ]


def test_a_predictor_of_routed_labels_answers_with_them(weights, tmp_path):
    save_examples(tmp_path / "routed.npz", routed(EXAMPLES, 0.5))
    tuned = tmp_path / "tuned.safetensors"
    data = ["--data", tmp_path / "routed.npz"]
    printed(run("train", *data, "--finetune", weights, "--out", tuned))
    words = ["estimate", GEMM, "--size", "mini", "--with", "gnn", "--format", "json", "--weights"]
    before, after = (json.loads(printed(run(*words, w)))["predicted"] for w in (weights, tuned))
    routed_, plain = after["figures"], before["figures"]
    # A third, in kernels that are labelled; this one is another one of the same tool.
    assert 0.3 < routed_["lut"]["value"] / plain["lut"]["value"] < 0.6
    assert routed_["latency"]["value"] == pytest.approx(plain["latency"]["value"], rel=0.05)
    note = f"figures after place and route, as labels of {TOOL}+route say"
    assert (before["notes"], after["notes"]) == ([], [note])
    rows = json.loads(printed(run("evaluate", *data, "--weights", tuned, "--format", "json")))
    assert all(r["mape"] < 12 for r in rows["rows"] if r["metric"] == "lut")
