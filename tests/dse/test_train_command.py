"""``weft train``: what it refuses before it starts, and what finetuning says and leaves alone."""

import json
from dataclasses import replace

import click
import pytest
import torch
from click.testing import CliRunner

from dse.cli import weft as cli
from dse.commands.train import command
from dsl.errors.errors import InputError
from qor_gnn.gnn.examples.example import METRICS
from qor_gnn.gnn.examples.files import save as save_examples
from qor_gnn.gnn.nets.network import Network, Shape
from qor_gnn.gnn.training.checkpoint import _MOST
from qor_gnn.gnn.training.predict import GnnPredictor
from qor_gnn.gnn.training.tensors import MOST_BYTES
from qor_gnn.gnn.training.train import Settings
from qor_gnn.gnn.training.weights import load, save
from tests.gnn.designs import TOOL, designs

SMALL = Settings(Shape(members=2, hidden=4, layers=1, outer=1), epochs=2, batch=16)
QUICK = ["--epochs", 1, "--members", 2, "--hidden", 4]
SHIFTED = [replace(e, label={**e.label, "lut": 1.5 * e.label["lut"]}) for e in designs("gemm", 12)]


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "begun.safetensors"
    save(path, GnnPredictor(SMALL).fit([*designs("gemm", 24), *designs("atax", 24)], (), 0))
    return path


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data" / "labels.npz"
    save_examples(path, SHIFTED)
    return path


def run(*words):
    return CliRunner().invoke(cli, ["train", *map(str, words)], standalone_mode=False)


def done(*words):
    result = run(*words)
    assert result.exception is None, result.output
    return result


def refusal(*words) -> str:
    error = run(*words).exception
    assert isinstance(error, InputError)
    return error.render()


def test_designs_without_labels_teach_nothing(tmp_path):
    save_examples(tmp_path / "none.npz", [replace(e, label={"uram": 1.0}) for e in SHIFTED])
    out = tmp_path / "mine"
    text = refusal("--data", tmp_path / "none.npz", "--out", out, *QUICK)
    assert "error[W532]: none of the 12 designs has a label to learn from" in text
    assert "help: a label is what a tool said of one of latency, lut," in text
    assert not out.exists()


def test_a_figure_that_is_none_is_refused_before_the_training(tmp_path):
    wrong = [replace(SHIFTED[0], weight=float("nan")), *SHIFTED[1:]]
    save_examples(tmp_path / "wrong.npz", wrong)
    out = tmp_path / "mine"
    out.write_bytes(b"kept")
    text = refusal("--data", tmp_path / "wrong.npz", "--out", out, *QUICK)
    assert "design 0 (gemm): its weight is nan" in text
    assert out.read_bytes() == b"kept"


def test_weights_are_not_written_over_the_labelled_designs(data, begun, tmp_path):
    before = data.read_bytes()
    (tmp_path / "link").symlink_to(data)
    for out in (data, data.parent / ".." / "data" / "labels.npz", tmp_path / "link"):
        text = refusal("--data", data, "--out", out, *QUICK)
        assert f"error[W508]: cannot write {out}: it is {data}, which holds the labelled" in text
        assert "help: write the weights elsewhere: --out" in text
        assert "W508" in refusal("--data", data, "--finetune", begun, "--out", out)
    text = refusal("--data", data.parent, "--out", data.parent / "mine", *QUICK)
    assert f"it lies in {data.parent}, which holds the labelled designs" in text
    for end in (".checkpoint", ".partial"):
        other = data.with_name("mine" + end)
        data.rename(other)
        assert "W508" in refusal("--data", other, "--out", other.with_name("mine"), *QUICK)
        other.rename(data)
    assert data.read_bytes() == before


def test_finetuning_leaves_an_interrupted_training_alone(data, begun, tmp_path):
    out = tmp_path / "mine"
    kept = tmp_path / "mine.checkpoint"
    kept.write_bytes(b"where a training stands")
    done("--data", data, "--finetune", begun, "--out", out)
    assert kept.read_bytes() == b"where a training stands"
    text = refusal("--data", data, "--out", out, *QUICK)
    assert f"error[W538]: {kept} does not hold weights" in text
    assert "help: remove it, or take another --out" in text


def test_options_of_training_do_not_go_with_finetuning(data, begun, tmp_path):
    words = ["--data", data, "--finetune", begun, "--out", tmp_path / "mine"]
    for option in ("--epochs", "--region-epochs", "--members", "--hidden", "--seed", "--each"):
        error = run(*words, option, 7).exception
        assert isinstance(error, click.UsageError)
        assert error.message.startswith(f"{option} is for training")


def test_a_seed_is_one_that_pytorch_takes(data, tmp_path):
    words = ["--data", data, "--out", tmp_path / "mine", *QUICK, "--seed"]
    assert isinstance(run(*words, 1 << 64).exception, click.UsageError)
    done(*words, (1 << 64) - 1)


def test_finetuning_shows_what_the_labels_are_worth(data, begun, tmp_path):
    out = tmp_path / "mine"
    result = done("--data", data, "--finetune", begun, "--out", out, "--format", "json")
    rows = {row["metric"]: row for row in json.loads(result.stdout)["rows"]}
    assert set(rows) == set(SHIFTED[0].label)
    lut, latency = rows["lut"], rows["latency"]
    assert (lut["tool"], lut["designs"]) == (TOOL, 12)
    assert lut["error_pct"] < 0.5 * lut["before_error_pct"]
    assert latency["error_pct"] == latency["before_error_pct"] < 0.1
    assert "teaches nothing" not in result.stderr


def test_one_label_is_said_to_teach_nothing(begun, tmp_path):
    save_examples(tmp_path / "one.npz", SHIFTED[:1])
    words = ["--data", tmp_path / "one.npz", "--finetune", begun, "--out", tmp_path / "mine"]
    said = done(*words).stderr
    assert f"one label of latency, lut, ff, dsp of {TOOL} teaches nothing yet: 2 designs" in said


def test_labels_count_once_however_often_they_are_given(data, begun, tmp_path):
    once, twice, again = (tmp_path / name for name in ("once", "twice", "again"))
    done("--data", data, "--finetune", begun, "--out", once)
    done("--data", data, "--data", data, "--finetune", begun, "--out", twice)
    done("--data", data, "--finetune", once, "--out", again)
    asked = designs("gemm", 24)
    wanted = load(once).predict(asked)
    for path in (twice, again):
        model = load(path)
        assert len(model.adapters[TOOL].shots) == 12
        found = model.predict(asked)
        for metric in METRICS:
            assert found.mean[metric] == pytest.approx(wanted.mean[metric], rel=1e-4)
            assert found.std[metric] == pytest.approx(wanted.std[metric], rel=1e-3)


def test_every_network_that_can_be_asked_for_can_be_taken_up_again():
    most = {p.name: p.type.max for p in command.params if isinstance(p.type, click.IntRange)}
    with torch.device("meta"):
        network = Network(Shape(members=most["members"], hidden=most["hidden"], targets=64))
    numbers = sum(p.numel() for p in network.parameters())
    kept = sum(b.numel() for b in network.buffers())
    assert 4 * (numbers + kept) < MOST_BYTES
    assert 4 * (3 * numbers + kept) + 8 * len(list(network.parameters())) < _MOST
