"""C simulation as an evaluator: right designs pass, wrong ones do not, and the rest is said."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest

from backends.devices import device
from dse.evaluators.base import Check, Evaluator, Request, Status
from dse.evaluators.fidelities import PROMOTIONS
from dse.evaluators.registry import evaluator
from dse.kernels.data import data_of, packed
from dsl.kernels.kernel import Kernel
from dsl.kernels.loader import load
from dsl.schedules.schedule import Schedule
from dsl.schedules.steps import Partition
from tests.dse.contract import EvaluatorContract

SOURCE = """
import weft
from weft import f32

SIZES = {"mini": {"N": 6}, "large": {"N": 3000}}
N = 12


@weft.kernel(sizes=SIZES)
def stencil(A: f32[N, N]):
    for i in range(1, N - 1):
        for j in range(1, N - 1):
            A[i, j] = A[i - 1, j + 1] + 0.5
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> str:
    file = tmp_path_factory.mktemp("kernels") / "stencil.py"
    file.write_text(SOURCE)
    return f"{file}:stencil"


@pytest.fixture(scope="module")
def kernel(source) -> Kernel:
    return load(source)


def made(kernel: Kernel, size: str | None = None, seconds: float = 100) -> Evaluator:
    sized = kernel if size is None else kernel.at(size)
    return evaluator("csim", packed(data_of(sized)), seconds)


def request_of(kernel: Kernel, *steps) -> Request:
    return Request(kernel.program, Schedule(steps), device("xczu9eg"), 10.0)


class TestCsimEvaluator(EvaluatorContract):
    @pytest.fixture
    def evaluator(self, kernel) -> Evaluator:
        return made(kernel)

    @pytest.fixture
    def request_(self, kernel) -> Request:
        return request_of(kernel)

    def test_the_project_is_simulated_at_the_smallest_size(self, evaluator, request_):
        result = evaluator.evaluate(request_)
        [check] = result.checks
        assert (check.name, check.status, check.detail) == ("csim", "ok", "")
        assert check.tool.startswith("g++ ")
        assert check.tool.endswith(", at A[6x6]")
        assert check.seconds > 0.05
        assert not result.refuted
        assert result.provenance == "model"  # of the figures: a simulation in C++ has none

    def test_a_schedule_that_does_not_fit_the_small_size_is_simulated_at_another(
        self, evaluator, request_
    ):
        steps = Schedule((Partition("A", 1, "cyclic", 10),))
        [check] = evaluator.evaluate(replace(request_, schedule=steps)).checks
        assert (check.status, check.tool.split(", ")[1]) == ("ok", "at A[12x12]")


def test_a_schedule_that_fits_no_small_size_is_not_simulated(kernel):
    request = request_of(kernel.at("large"), Partition("A", 1, "cyclic", 1500))
    result = made(kernel, "large").evaluate(request)
    assert result.status is Status.OK
    assert result.checks == (
        Check("csim", "skipped", "the schedule fits no size that is small enough to simulate"),
    )


@pytest.fixture
def compiler(tmp_path, monkeypatch):
    """Makes g++ do something before (with its arguments) or after (with its output) it compiles."""

    def instead(before: str = "", after: str = "") -> None:
        script = tmp_path / "wrapped-g++"
        script.write_text(
            '#!/bin/sh\nfor word; do case "$word" in --version) exec g++ --version;; esac; done\n'
            'for word; do [ "$last" = -o ] && output=$word; last=$word; done\n'
            f'{before}\ng++ "$@" || exit 1\n{after}\n'
        )
        script.chmod(0o755)
        monkeypatch.setenv("CXX", str(script))

    return instead


def test_a_design_that_computes_something_else_is_refuted(kernel, compiler):
    compiler(before='for word; do case "$word" in *.cpp) sed -i s/0.5/0.25/ "$word";; esac; done')
    result = made(kernel).evaluate(request_of(kernel))
    assert (result.status, result.evaluated, result.refuted) == (Status.TOOL_ERROR, False, True)
    assert result.detail.startswith("csim: ")


def test_a_design_that_does_not_compile_is_refuted(kernel, compiler):
    compiler(before='for word; do case "$word" in *.cpp) echo oops >> "$word";; esac; done')
    result = made(kernel).evaluate(request_of(kernel))
    assert (result.status, result.refuted) == (Status.TOOL_ERROR, True)
    assert "g++ does not compile the project" in result.detail


@pytest.mark.parametrize(
    "when", [{"before": "sleep 20"}, {"after": 'printf "#!/bin/sh\nsleep 20\n" > "$output"'}]
)
def test_a_tool_without_an_end_is_a_timeout(kernel, compiler, when):
    compiler(**when)
    result = made(kernel, seconds=4).evaluate(request_of(kernel))
    assert (result.status, result.refuted) == (Status.TIMEOUT, False)
    assert "no answer in 4 s" in result.detail


def test_without_a_compiler_nothing_is_said_of_the_design(kernel, monkeypatch):
    monkeypatch.setenv("CXX", "/no/such/g++")
    result = made(kernel).evaluate(request_of(kernel))
    assert (result.status, result.refuted) == (Status.TOOL_ERROR, False)
    assert "/no/such/g++" in result.detail


@pytest.mark.parametrize("data", [b"", b"x", zlib.compress(b"[" * 10_000), zlib.compress(b"{}")])
def test_a_kernel_that_is_none_is_an_error_of_the_tool(kernel, data):
    result = evaluator("csim", data, 10).evaluate(request_of(kernel))
    assert (result.status, result.refuted) == (Status.TOOL_ERROR, False)
    assert "error[W546]: the evaluator does not hold a program" in result.detail


def test_it_needs_no_file_of_the_kernel(tmp_path, kernel):
    file = tmp_path / "stencil.py"
    file.write_text(SOURCE)
    there = made(load(f"{file}:stencil"))
    file.unlink()
    assert (
        there.evaluate(request_of(kernel)).checks
        == made(kernel).evaluate(request_of(kernel)).checks
    )


def test_every_fidelity_has_its_evaluator():
    costs = [evaluator(n, b"", 1).cost for n in ("model", *PROMOTIONS)]
    assert costs == sorted(costs)
    with pytest.raises(KeyError):
        evaluator("vitis", b"", 1)
