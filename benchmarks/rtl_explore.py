"""Exploration down to routed hardware: few true labels chosen by a predictor next to many.

Rows ``KERNEL``: a search by the predictor on the open device (wall-clock time and LUT), then place
and route of ``--few`` designs, chosen by turns by what the predictor has learned from those before;
``adrs_pct`` is how far their true front is from the true front of ``--many`` designs of the same
kernel (those that are best by the predictor, layer by layer, and those that were chosen). The
predictor must not have learned from these kernels:

    weft train --data qor_gnn/fit/datasets/open-ecp5 --kernel-out gemm ... --out build/without.safetensors
    python -m benchmarks.rtl_explore --weights build/without.safetensors

Without ``--weights`` it is the one that comes with Weft, or the white box. What was routed once is not
routed again: ``--work`` keeps runs and results. Designs are not simulated here: `benchmarks.fuzz_rtl`
does that.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks._row import Goal, Options, Row, main, say
from dse.estimates.estimation import setting
from dse.evaluators.base import Limits, Request, Result, device_limits
from dse.evaluators.gnn import GnnEvaluator
from dse.evaluators.model import ModelEvaluator
from dse.evaluators.rtl import RtlEvaluator
from dse.kernels.data import data_of
from dse.labels.variants import Subject
from dse.run.folder.directory import RunDirectory
from dse.run.folder.plan import Plan, opened
from dse.run.results.front import Design, designs, front
from dse.run.search.active import Learner, true_front
from dse.run.search.explore import Heard, Means, explore
from dse.run.search.promote import Promotion
from dse.run.workers.fanout import Processes, preload_of
from dse.run.workers.flights import Flights
from dse.space.space import space_of
from qor_gnn.gnn.training.metrics import adrs
from qor_gnn.gnn.training.metrics import front as pareto

NAME = "rtl_explore"
DEVICE, CLOCK = "ecp5-85k", 10.0
OBJECTIVES = ("seconds", "lut")
KERNELS = ("gemm", "bicg", "gesummv", "doitgen", "mvt")
SEARCH_SECONDS, SECONDS = 60.0, 900.0  # of a design, estimated and routed
EXAMPLES = Path("examples/polybench")
ADRS = Goal("<=", 3.0)
Order = Callable[[tuple[Design, ...]], tuple[Design, ...]]


@dataclass(frozen=True, slots=True)
class Setup:
    """What all kernels have in common; see the options."""

    weights: Path | None
    work: Path
    trials: int
    few: int
    many: int
    jobs: int
    dsp: int
    lut: int

    @property
    def truth(self) -> RtlEvaluator:
        """The tools, with what they have said before."""
        return RtlEvaluator(SECONDS, cache=self.work / "cache", simulation=False)


def add_options(parser: argparse.ArgumentParser) -> None:
    """The benchmark's own options."""
    parser.add_argument("--kernels", default=",".join(KERNELS), help="of examples/polybench")
    parser.add_argument("--dtype", default="i16", help="their element type")
    parser.add_argument("--weights", type=Path, help="a predictor that has not seen them")
    parser.add_argument("--work", type=Path, default=Path("build/rtl_explore"), help="kept here")
    parser.add_argument("--trials", type=int, default=400, help="designs that are searched")
    parser.add_argument("--few", type=int, default=20, help="designs routed by choice")
    parser.add_argument("--many", type=int, default=200, help="designs routed to compare with")
    parser.add_argument("--dsp", type=int, default=16, help="limit of a design")
    parser.add_argument("--lut", type=int, default=2000, help="limit of a design")
    parser.add_argument("--jobs", type=int, default=2, help="routed at once")


def measure(options: Options) -> Iterator[Row]:
    """The rows."""
    extra = options.extra
    trials, few, many = (40, 3, 6) if options.quick else (extra.trials, extra.few, extra.many)
    setup = Setup(extra.weights, extra.work, trials, few, many, extra.jobs, extra.dsp, extra.lut)
    if options.quick:
        say("quick: one kernel, 40 designs, 3 routed by choice next to 6")
    losses = []
    for kernel in extra.kernels.split(",")[: 1 if options.quick else None]:
        subject = Subject(f"{EXAMPLES / kernel}.py", kernel, "mini", extra.dtype)
        row = one(subject, setup)
        losses.append(row.value)
        yield row
    if len(losses) > 1:
        yield _row("mean", float(np.mean([x for x in losses if x is not None])), len(losses))


def one(subject: Subject, setup: Setup) -> Row:
    """One kernel."""
    plan = plan_of(subject, setup)
    searched(plan, setup)
    with contextlib.closing(_copy(plan, setup, "few")) as chosen:
        request = _requests(chosen, plan)
        learner = Learner(chosen, setup.truth.name, plan.where, request, setup.weights)
        promoted(chosen, plan, setup, setup.few, learner)
        few = _values(true_front(designs(chosen), setup.truth.name, chosen))
    with contextlib.closing(_copy(plan, setup, "many")) as compared:
        promoted(compared, plan, setup, setup.many, layers)
        many = _values(true_front(designs(compared), setup.truth.name, compared))
        count = sum(setup.truth.name in d.promoted for d in designs(compared))
    both = np.array(sorted({*few, *many}))
    # Objectives in units in which one is nothing: relative losses are then relative indeed.
    scale = 1e4 / both.min(axis=0)
    return _row(subject.name, adrs(both[pareto(both)] * scale, np.array(few) * scale), count)


def plan_of(subject: Subject, setup: Setup) -> Plan:
    """The exploration of a kernel."""
    where = setting(None, DEVICE, CLOCK)
    budget = device_limits(where.device, dsp=setup.dsp).resources
    limits = Limits({**budget, "lut": setup.lut})
    evaluator = ModelEvaluator() if setup.weights is None else GnnEvaluator(setup.weights)
    source = f"{subject.file}:{subject.kernel}"
    return Plan(
        source, subject.size, data_of(subject.load()), where, CLOCK, limits, OBJECTIVES, "auto", 0,
        False, evaluator, (), 0, SEARCH_SECONDS, "study", None,
    )  # fmt: skip


def _folder(plan: Plan, setup: Setup, name: str) -> Path:
    return setup.work / f"{plan.program.name}-{plan.digest[:8]}-{name}"


def searched(plan: Plan, setup: Setup) -> None:
    """Search, or go on with a search that was cut off."""
    folder = _folder(plan, setup, "search")
    resume = folder.exists()
    space = space_of(plan.program, plan.where.tool, reassociate=False)
    heard = Heard(lambda *_: None, lambda *_: None, lambda: False)
    with contextlib.closing(opened(folder, plan, resume=resume)) as run:
        explore(run, plan, space, None, Means(setup.trials, setup.jobs), heard, resume=resume)


def _copy(plan: Plan, setup: Setup, name: str) -> RunDirectory:
    """The run after its search, to route designs of; one that is there goes on."""
    folder = _folder(plan, setup, name)
    if not folder.exists():
        part = folder.with_name(f".{folder.name}")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(_folder(plan, setup, "search"), part)
        part.rename(folder)
    return opened(folder, plan, resume=True)


def promoted(run: RunDirectory, plan: Plan, setup: Setup, most: int, order: Order) -> None:
    """Route designs of a run, in an order."""
    said = 0

    def heard(_: Design, result: Result) -> None:
        nonlocal said
        said += 1
        say(f"{plan.program.name}: {said} of {most}, {result.status.value}")

    modules = preload_of((plan.evaluator.name, setup.truth.name), is_open=True)
    with contextlib.closing(Processes(setup.jobs, SECONDS, modules)) as fanout:
        Promotion(
            run, setup.truth, _requests(run, plan), most, heard,
            Flights(fanout, lambda: False), chosen=order,
        ).carry_out()  # fmt: skip


def _requests(run: RunDirectory, plan: Plan) -> Callable[[str], Request]:
    def request(key: str) -> Request:
        return Request(plan.program, run.schedule(key), plan.where.device, plan.clock)

    return request


def layers(found: tuple[Design, ...]) -> tuple[Design, ...]:
    """Front by front."""
    left = list(found)
    order: list[Design] = []
    while left:
        first = front(left)
        order += first
        taken = {d.key for d in first}
        left = [d for d in left if d.key not in taken]
    return tuple(order)


def _values(found: Sequence[Design]) -> list[tuple[float, ...]]:
    return [d.values for d in found]


def _row(case: str, loss: float, count: int) -> Row:
    where = "Yosys and nextpnr, ECP5, 10 ns: after routing"
    return Row(NAME, case, "adrs_pct", loss, "%", ADRS, where, count)


if __name__ == "__main__":
    raise SystemExit(main(__doc__ or "", measure, add_options))
