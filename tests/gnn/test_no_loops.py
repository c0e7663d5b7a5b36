"""Designs without a loop, or without anything: asked about and learned from as any other."""

from dataclasses import replace

import numpy as np
import pytest

import weft
from dse.estimates.estimation import estimated, setting
from dse.estimates.prediction import example_of, predicted
from dsl.schedules.schedule import Schedule
from qor_gnn.gnn.graph.schema import NodeType
from qor_gnn.gnn.nets.network import Shape
from qor_gnn.gnn.training.predict import GnnPredictor
from qor_gnn.gnn.training.train import Settings
from tests.gnn.designs import designs
from weft import f32

NONE = 0


@weft.kernel
def one_sum(a: f32[16]):
    a[0] = a[1] + 1.0


@weft.kernel
def nothing(a: f32[16]):
    pass


@weft.kernel
def no_trip(a: f32[16]):
    for i in range(NONE):
        a[i] = 1.0


KERNELS = [one_sum, nothing, no_trip]


def estimate_of(kernel):
    return estimated(kernel.program, Schedule(), setting())


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_predictor_that_comes_with_weft_answers(kernel):
    found = estimate_of(kernel)
    assert not len(example_of(found).graph.nodes[NodeType.LOOP])
    lut, latency = (predicted(found).figures[metric] for metric in ("lut", "latency"))
    assert latency.value == found.answer.latency.maximum
    assert 0 <= lut.low <= lut.value <= lut.high
    assert lut.value == pytest.approx(found.answer.lut, rel=0.5)


@pytest.mark.parametrize("flat", [False, True])
def test_they_are_learned_from_and_asked_about_beside_others(flat):
    own = [replace(example_of(estimate_of(kernel)), label={"lut": 40.0}) for kernel in KERNELS]
    shape = Shape(members=2, hidden=4, layers=1, outer=1, flat=flat)
    model = GnnPredictor(Settings(shape, epochs=1)).fit([*designs("gemm", 12), *own], (), 0)
    asked = [*own, *designs("atax", 4)]
    together, alone = model.predict(asked), model.predict(own)
    assert np.isfinite(together.mean["lut"]).all()
    assert together.mean["lut"][: len(own)] == pytest.approx(alone.mean["lut"], rel=1e-5)
