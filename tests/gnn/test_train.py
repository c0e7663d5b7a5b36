"""Training: it learns what the white box misses, the same each time, and goes on where it stopped."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from dsl.errors.errors import InputError
from qor_gnn.gnn.examples.example import column
from qor_gnn.gnn.nets.network import Shape
from qor_gnn.gnn.training.predict import GnnPredictor, divided_by_number
from qor_gnn.gnn.training.train import Settings, checkpoint_for, divided, train
from tests.gnn.designs import designs

SMALL = Settings(Shape(members=2, hidden=6, layers=1, outer=1), epochs=3, batch=16)
EXAMPLES = [e for kernel in ("gemm", "atax", "k2mm") for e in designs(kernel, 24)]


def weights(trained):
    return {k: v.clone() for k, v in trained.network.state_dict().items()}


def same(a, b):
    return a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)


def test_training_learns_what_the_white_box_misses():
    settings = replace(SMALL, epochs=40, shape=Shape(members=2, hidden=8), rate=1e-2)
    losses = []
    GnnPredictor(settings, progress=lambda *told: losses.append(told)).fit(EXAMPLES, (), 0)
    assert [done for done, _, _ in losses] == list(range(1, 41))
    assert losses[-1][2] < 0.6 * losses[0][2]


def test_the_same_seed_gives_the_same_weights_on_any_number_of_cores():
    first = train(EXAMPLES, SMALL, 1)
    threads = torch.get_num_threads()
    torch.set_num_threads(2 if threads == 1 else 1)
    try:
        again = train(EXAMPLES, SMALL, 1)
    finally:
        torch.set_num_threads(threads)
    assert same(weights(first), weights(again))
    assert not same(weights(first), weights(train(EXAMPLES, SMALL, 2)))


def test_training_does_not_touch_the_generator_of_others():
    torch.manual_seed(5)
    wanted = torch.rand(3)
    torch.manual_seed(5)
    train(EXAMPLES, replace(SMALL, epochs=1), 1)
    assert torch.equal(torch.rand(3), wanted)


class StopError(Exception):
    pass


def stop_after(epochs):
    def told(done, total, loss):
        if done == epochs:
            raise StopError

    return told


@pytest.mark.parametrize("epochs", [1, 2])
def test_a_training_that_was_stopped_goes_on_to_the_same_weights(tmp_path, epochs):
    path = tmp_path / "checkpoint"
    whole = weights(train(EXAMPLES, SMALL, 3))
    place = checkpoint_for(path, EXAMPLES, SMALL, 3)
    with pytest.raises(StopError):
        train(EXAMPLES, SMALL, 3, place, stop_after(epochs))
    told = []
    again = train(EXAMPLES, SMALL, 3, place, lambda done, _, __: told.append(done))
    assert told == list(range(epochs + 1, 4))
    assert same(weights(again), whole)


SCRIPT = """
import os, signal, sys
from pathlib import Path
from qor_gnn.gnn.training.train import checkpoint_for, train
from tests.gnn.test_train import EXAMPLES, SMALL, stop_after
path = Path(sys.argv[1])
def told(done, total, loss):
    if done == 2:
        os.kill(os.getpid(), signal.SIGKILL)
train(EXAMPLES, SMALL, 3, checkpoint_for(path, EXAMPLES, SMALL, 3), told)
"""


@pytest.mark.slow
def test_a_training_that_was_killed_goes_on(tmp_path):
    path = tmp_path / "checkpoint"
    root = Path(__file__).resolve().parents[2]
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path)], cwd=root, timeout=300, check=False
    )
    assert ended.returncode == -9
    place = checkpoint_for(path, EXAMPLES, SMALL, 3)
    again = train(EXAMPLES, SMALL, 3, place)
    assert same(weights(again), weights(train(EXAMPLES, SMALL, 3)))


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    path = tmp_path / "checkpoint"
    train(EXAMPLES, replace(SMALL, epochs=1), 3, checkpoint_for(path, EXAMPLES, SMALL, 3))
    with pytest.raises(InputError) as refused:
        train(EXAMPLES, SMALL, 4, checkpoint_for(path, EXAMPLES, SMALL, 4))
    text = refused.value.render()
    assert f"error[W538]: {path} is the checkpoint of a training with other data" in text
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError) as refused:
        train(EXAMPLES, SMALL, 3, checkpoint_for(path, EXAMPLES, SMALL, 3))
    assert refused.value.code == "W538"
    assert refused.value.help == "remove it, or take another --out"


def test_a_checkpoint_that_cannot_be_written_is_said_before_anything_is_done(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / ("x" * 500), tmp_path / "file" / "checkpoint"):
        told = []
        with pytest.raises(InputError) as refused:
            train(EXAMPLES, SMALL, 3, checkpoint_for(path, EXAMPLES, SMALL, 3), told.append)
        assert refused.value.render().startswith(f"error[W508]: cannot write {path}: ")
        assert not told


def test_no_examples_are_an_error():
    with pytest.raises(ValueError, match="no examples"):
        train([], SMALL, 0)


def test_each_member_is_kept_from_a_fold_of_kernels_and_some_groups_of_the_others():
    fold, told = divided(EXAMPLES, 3, 0)
    kernels = np.array([e.kernel for e in EXAMPLES])
    for m in range(3):
        left = set(kernels[fold == m])
        assert left
        assert not told[fold == m, m].any()
        rest = told[fold != m, m]
        assert 0.7 < rest.mean() < 1.0
    by_group = {}
    for example, row in zip(EXAMPLES, told, strict=True):
        assert by_group.setdefault(example.group, row.tolist()) == row.tolist()


def test_what_a_member_is_kept_from_does_not_move_it():
    _, told = divided(EXAMPLES, 2, 0)
    wrong = [
        replace(e, label={**e.label, "latency": 7 * e.label["latency"]}) if not mine else e
        for e, mine in zip(EXAMPLES, told[:, 0], strict=True)
    ]
    before, after = (train(x, SMALL, 0).network for x in (EXAMPLES, wrong))
    for (name, a), (_, b) in zip(before.named_parameters(), after.named_parameters(), strict=True):
        if name.endswith("weight"):
            # Gradients are clipped together, so that they are alike but not the same.
            assert torch.allclose(a[0], b[0], atol=0.02), name


def test_one_kernel_and_few_designs_are_enough():
    model = GnnPredictor(SMALL).fit(EXAMPLES[:3], (), 0)
    found = model.predict(EXAMPLES[:3])
    assert np.isfinite(found.mean["lut"]).all()


def test_kernels_of_few_designs_are_adapted_to():
    few = EXAMPLES[24:26]
    many, rest = divided_by_number([*EXAMPLES[:24], *few, *EXAMPLES[48:]])
    assert rest == list(few)
    assert len(many) == 48
    assert column(rest, "lut").tolist() == [e.label["lut"] for e in few]
