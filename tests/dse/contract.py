"""What every evaluator must do: subclass `EvaluatorContract` and give the evaluator."""

from __future__ import annotations

from dataclasses import replace

import pytest

import weft
from backends.devices import device
from dse.evaluators.base import Evaluator, Request, Status
from dse.evaluators.fidelities import RESOURCES
from dse.workers import run_tasks
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Interchange, Pipeline, Unroll
from weft import f32


@weft.kernel
def stencil(A: f32[12, 12]):
    for i in range(1, 11):
        for j in range(1, 11):
            A[i, j] = A[i - 1, j + 1] + 0.5


class EvaluatorContract:
    @pytest.fixture
    def evaluator(self) -> Evaluator:
        raise NotImplementedError

    @pytest.fixture
    def request_(self) -> Request:
        return Request(stencil.program, Schedule(), device("xczu9eg"), 10.0)

    def test_answers_a_design_with_figures_and_their_provenance(self, evaluator, request_):
        result = evaluator.evaluate(request_)
        assert result.status is Status.OK
        assert result.latency >= 100  # one iteration after the other, a cycle each at least
        assert set(result.resources) <= set(RESOURCES)
        assert result.resources["dsp"] >= 0
        assert result.provenance
        assert result.tool
        assert result.seconds > 0

    def test_answers_the_same_for_the_same(self, evaluator, request_):
        first, second = evaluator.evaluate(request_), evaluator.evaluate(request_)
        assert replace(first, seconds=0) == replace(second, seconds=0)

    def test_more_work_is_not_faster(self, evaluator, request_):
        pipelined = replace(request_, schedule=Schedule((Pipeline("j"),)))
        result = evaluator.evaluate(pipelined)
        assert result.latency <= evaluator.evaluate(request_).latency

    def test_a_schedule_that_breaks_a_dependence_is_illegal(self, evaluator, request_):
        result = evaluator.evaluate(replace(request_, schedule=Schedule((Interchange("i", "j"),))))
        assert (result.status, result.evaluated) == (Status.ILLEGAL, False)
        assert result.detail == "W203"

    def test_a_schedule_of_another_kernel_is_illegal(self, evaluator, request_):
        result = evaluator.evaluate(replace(request_, schedule=Schedule((Unroll("z"),))))
        assert (result.status, result.detail) == (Status.ILLEGAL, "W201")

    def test_goes_to_another_process(self, evaluator, request_):
        [ended] = run_tasks(evaluator.evaluate, [request_], 1, 120)
        assert ended.failure == ""
        here = evaluator.evaluate(request_)
        assert replace(ended.result, seconds=0) == replace(here, seconds=0)

    def test_has_a_name_a_version_and_a_cost(self, evaluator, request_):
        assert evaluator.name
        assert evaluator.version
        assert evaluator.cost > 0
