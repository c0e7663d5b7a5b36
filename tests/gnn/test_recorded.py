"""What the shipped weights said of some designs when they were trained, they say today.

``recorded/designs.npz`` holds designs of examples/polybench for each tool that has weights, as the model had them
then: a change of the white box or of how graphs are built changes nothing here.
"""

import json
from pathlib import Path

import pytest

from qor_gnn.gnn.examples.example import METRICS
from qor_gnn.gnn.examples.files import load
from qor_gnn.gnn.training.weights import SHIPPED, shipped
from qor_gnn.gnn.training.weights import load as load_weights

RECORDED = Path(__file__).with_name("recorded")
SAID = json.loads((RECORDED / "predictions.json").read_text())


def test_all_shipped_weights_are_recorded():
    assert {said["tool"] for said in SAID} == {path.stem for path in SHIPPED.glob("*.safetensors")}


@pytest.mark.parametrize("said", SAID, ids=lambda said: said["tool"])
def test_shipped_weights_say_what_they_said(said):
    asked = [e for e in load(RECORDED / "designs.npz") if e.target == said["tool"]]
    assert [e.kernel for e in asked] == said["kernels"]
    found = load_weights(shipped(said["tool"])).predict(asked)
    for metric in METRICS:
        assert found.mean[metric] == pytest.approx(said["mean"][metric], rel=1e-5), metric
        assert found.std[metric] == pytest.approx(said["std"][metric], rel=1e-4), metric
