"""`weft.explore`: an exploration as a function of a kernel."""

from __future__ import annotations

import contextlib
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dse.api.run import Run
from dse.evaluators.base import Limits, Result, device_limits
from dse.evaluators.fidelities import EVALUATORS, OBJECTIVES, RESOURCES
from dse.run.directory import open_run
from dse.run.exploration import carry_out
from dse.run.explore import Heard, Means
from dse.run.plan import Plan
from dse.run.study import STUDY
from dse.strategies.names import STRATEGIES
from dsl.errors.errors import InputError, did_you_mean
from dsl.errors.shown import shown
from dsl.kernels.kernel import Kernel

if TYPE_CHECKING:
    from backends.devices import Device
    from dse.run.front import Design
    from dse.run.problem import Problem
    from dse.run.study import Finished

_SECONDS = 60.0  # of one evaluation
_MOST_PROMOTED = 10


def explored(
    kernel: Kernel,
    *,
    device: str,
    clock: float,
    size: str | None,
    out: str | Path | None,
    trials: int,
    objectives: Sequence[str],
    dsp: int | None,
    share: float,
    limits: Mapping[str, int | str],
    max_latency: float | None,
    strategy: str,
    seed: int,
    reassociate: bool,
    evaluator: str,
    jobs: int,
    resume: bool,
    progress: bool,
) -> Run:
    """See `weft.explore`."""
    from dse.estimates.estimation import setting
    from dse.evaluators.registry import evaluator as evaluator_named
    from dse.kernels.data import data_of
    from dse.report.page import write_report

    _one_of("strategy", strategy, STRATEGIES)
    _one_of("evaluator", evaluator, EVALUATORS)
    where = setting(None, device, clock)
    budget = limits_of(where.device, share, dsp, limits, max_latency)
    if evaluator == "gnn":
        from dse.estimates.prediction import model_for, needs_libraries

        needs_libraries()
        model_for(where.tool.name, None)
    plan = Plan(
        source=kernel.name, size=size, kernel=data_of(kernel.at(size)), where=where, clock=clock,
        limits=budget, objectives=_objectives(objectives), strategy=strategy, seed=seed,
        reassociate=reassociate, evaluator=evaluator_named(evaluator, b"", 0.0, None), promote=(),
        promote_most=_MOST_PROMOTED, timeout=_SECONDS, study=STUDY, storage=None,
    )  # fmt: skip
    folder = Path(tempfile.mkdtemp(prefix="weft-run-") if out is None else out)
    with contextlib.ExitStack() as undone:
        if out is None:
            undone.callback(shutil.rmtree, folder, ignore_errors=True)
        carried = carry_out(folder, plan, Means(trials, jobs), _listening(plan, trials, progress),
                            resume=resume)  # fmt: skip
        write_report(carried.run)
        run = Run(open_run(folder, write=False), plan.kernel)
        undone.pop_all()
    if out is None:
        weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run


def limits_of(
    chip: Device, share: float, dsp: int | None, limits: Mapping[str, int | str],
    max_latency: float | None,
) -> Limits:  # fmt: skip
    """What designs may use.

    Args:
        chip: the device.
        share: of all of its resources.
        dsp: DSP slices; None for the share.
        limits: by resource, a number or a part of the device's like ``"20%"``.
        max_latency: cycles; None for any number.

    Raises:
        InputError: W509 one of them is not of the form that it should be.
    """
    if not 0 < share <= 1:
        raise InputError("W509", f"share of weft.explore is {shown(share)}",
                         help="it is more than 0, and at most 1")  # fmt: skip
    counts = dict(device_limits(chip, share, dsp).resources)
    for name, given in limits.items():
        _one_of("a resource in limits", name, RESOURCES)
        part = re.fullmatch(r"(\d{1,3}(?:\.\d+)?)%", given) if isinstance(given, str) else None
        if part is not None:
            counts[name] = int(getattr(chip, name) * float(part[1]) / 100)
        elif type(given) is int and given >= 0:
            counts[name] = given
        else:
            raise InputError("W509", f"the limit of {name} is {shown(given)}",
                             help="it is a number, or a part of the device's like '20%'")  # fmt: skip
    return Limits(counts, max_latency)


def _objectives(names: Sequence[str]) -> tuple[str, ...]:
    every = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
    for name in every:
        _one_of("an objective", name, OBJECTIVES)
    times = [name for name in every if name in ("latency", "seconds")]
    if len(times) != 1:
        raise InputError("W509", "one of the objectives has to be latency, or seconds instead",
                         help="for instance objectives=('latency', 'dsp')")  # fmt: skip
    return (times[0], *(n for n in every if n != times[0]))


def _one_of(what: str, given: object, known: Sequence[str]) -> None:
    if given not in known:
        near = did_you_mean(given, known) if isinstance(given, str) else None
        raise InputError("W509", f"{what} is {shown(given)}",
                         help=near or f"one of {', '.join(known)}")  # fmt: skip


def _listening(
    plan: Plan, trials: int, progress: bool
) -> Callable[[Problem], contextlib.AbstractContextManager[Heard]]:
    """Progress, for a terminal or a notebook; Ctrl-C is Python's own."""

    @contextlib.contextmanager
    def heard(problem: Problem) -> Iterator[Heard]:
        from dse.views import console
        from dse.views.explore import best_word

        best: list[float] = []
        name = f"explore {plan.program.name}"
        shows: Any = console.progress(name) if progress else contextlib.nullcontext(_silent)
        with shows as update:

            def of_trial(_: Finished, result: Result, count: int) -> None:
                if result.status.value == "ok" and result.latency is not None:
                    best[:] = [min([result.latency, *best])]
                word = best_word(best[0], problem) if best else result.status.value
                update(min(count, trials), trials, word)

            def of_promotion(_: Design, __: Result) -> None:
                """Nothing is promoted here."""

            yield Heard(of_trial, of_promotion, lambda: False)

    return heard


def _silent(done: int, total: int, word: str) -> None:
    """Progress that nobody wants to see."""
