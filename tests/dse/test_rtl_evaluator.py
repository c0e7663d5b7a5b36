"""The open flow as an evaluator: what every evaluator must do, on an ECP5."""

from dataclasses import replace

import pytest

from backends.devices import device
from dse.evaluators.base import Request, Status
from dse.evaluators.rtl import RtlEvaluator
from dsl.schedules.schedule import Schedule
from tests.dse.contract import EvaluatorContract, stencil


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    """Designs that several tests ask for are built once."""
    return tmp_path_factory.mktemp("rtl")


class TestRtl(EvaluatorContract):
    @pytest.fixture
    def evaluator(self, kept):
        return RtlEvaluator(300, cache=kept)

    @pytest.fixture
    def request_(self):
        return Request(stencil.program, Schedule(), device("ecp5-85k"), 10.0)

    def test_figures_are_those_after_routing(self, evaluator, request_):
        result = evaluator.evaluate(request_)
        assert result.provenance == "post-route"
        assert [(c.name, c.status) for c in result.checks] == [("rtl-sim", "ok")]
        assert 2 < result.period < 50
        assert {"lut", "ff", "bram18"} <= set(result.resources)

    def test_a_device_that_it_cannot_place_on(self, evaluator, request_):
        result = evaluator.evaluate(replace(request_, device=device("xczu9eg")))
        assert (result.status, result.evaluated) == (Status.TOOL_ERROR, False)
        assert "no device is called 'xczu9eg' here" in result.detail
