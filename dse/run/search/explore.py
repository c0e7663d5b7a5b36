"""Carrying out a plan in a run's folder: the search, then the promotion of what it found."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dse.evaluators.base import TRUE, Evaluator, Request, Result
from dse.evaluators.registry import evaluator
from dse.kernels.data import packed
from dse.run.folder.again import failed, failed_promotions, lasting
from dse.run.folder.cache import ResultCache
from dse.run.folder.directory import RunDirectory
from dse.run.folder.plan import Plan
from dse.run.folder.problem import problem_of
from dse.run.predictor.beside import Beside
from dse.run.results.front import Design, front
from dse.run.search.ledger import Ledger, Options
from dse.run.search.promote import Promotion
from dse.run.search.session import Session
from dse.run.studies.storage import journal
from dse.run.studies.study import Finished, Study
from dse.run.workers.fanout import Fanout, Here, Processes, Several, preload_of
from dse.run.workers.flights import Flights, StopRequestedError
from dse.run.workers.offers import Offers, left_results
from dse.space.space import Point, Space
from dse.strategies.patience import ENDLESS, Patience

if TYPE_CHECKING:
    from optuna.storages import BaseStorage

_CHEAP = 1.0  # seconds: what costs less is evaluated in this process if nothing else is asked for


@dataclass(frozen=True, slots=True)
class Means:
    """What an exploration may use.

    Attributes:
        trials: points to evaluate in all.
        jobs: evaluations at once on this machine.
        dask: address of a Dask scheduler.
        shared: `weft worker` processes may join.
        cache: folder of results.
        first: points to evaluate before any that the strategy chooses.
        patience: how long the search may take.
    """

    trials: int
    jobs: int = 1
    dask: str | None = None
    shared: bool = False
    cache: Path | None = None
    first: tuple[Point, ...] = ()
    patience: Patience = ENDLESS


@dataclass(frozen=True, slots=True)
class Heard:
    """Who is told of trials (how many have ended, too) and of promotions, and asked whether to stop."""

    trial: Callable[[Finished, Result, int], None]
    promoted: Callable[[Design, Result], None]
    stopping: Callable[[], bool]


@dataclass(frozen=True, slots=True)
class Explored:
    """How an exploration ended.

    Attributes:
        trials: with an end, in all.
        stopped: by the user.
        spent: the space has no more points to try.
        notes: what there is to say of how it went.
    """

    trials: int
    stopped: bool
    spent: bool = False
    notes: tuple[str, ...] = ()


def explore(
    run: RunDirectory,
    plan: Plan,
    space: Space,
    storage: BaseStorage | None,
    means: Means,
    heard: Heard,
    *,
    resume: bool = False,
) -> Explored:
    """Search, and promote.

    Args:
        run: open for writing, of this plan.
        plan: what is explored.
        space: of its program.
        storage: where the study is; None for the run's journal.
        means: what may be used.
        heard: who is told.
        resume: the study may be there.

    Raises:
        InputError: W523, W528 a library is not installed; W524 the space has too many points for
            ``exhaustive``; W533 the study is there already; W534 no Dask cluster answers.
    """
    place = journal(run.journal) if storage is None else storage
    cache = ResultCache(means.cache, lasting(left_results(place, plan.study)))
    study = Study(
        run,
        plan.objectives,
        plan.limits,
        storage=place,
        name=plan.study,
        cache=cache,
        new=not resume,
    )
    run.event("resumed" if resume else "started", trials=study.count)
    options = Options(
        plan.where.device, plan.clock, plan.limits, plan.strategy, means.trials, problem_of(run),
        plan.seed, parallel=means.jobs != 1 or means.shared or means.dask is not None,
        tool=plan.tool, calibration=plan.calibration, patience=means.patience,
    )  # fmt: skip
    again = failed(run, plan.timeout)
    promoted_again = {name: failed_promotions(run, name, plan.timeout) for name in plan.promote}
    stopped = spent = False
    with contextlib.ExitStack() as stack:
        offers = None
        if means.shared:
            offers = Offers(place, plan.study, plan.manifest(), packed(plan.kernel))
            stack.callback(offers.end)
        beside = _beside(run, plan)
        if beside is not None:
            stack.callback(beside.close)
        try:
            for part in _parts(plan, means.trials):
                with contextlib.closing(_fanout(plan, means, offers, plan.evaluator)) as fanout:
                    ledger = Ledger(
                        run, space, study, plan.evaluator, replace(options, trials=part.trials),
                        heard.trial, cache, again, beside,
                    )  # fmt: skip
                    session = Session(ledger, Flights(fanout, heard.stopping))
                    session.explore(means.first)
                    spent = session.spent
                if beside is not None:
                    beside.finish()
                for name in plan.promote:
                    _promote(
                        run, plan, name, part.promoted, means, offers, heard, cache,
                        promoted_again[name],
                    )  # fmt: skip
        except StopRequestedError:
            stopped = True
    run.event("stopped" if stopped else "finished", trials=study.count)
    notes = (beside.failure,) if beside is not None and beside.failure else ()
    return Explored(study.count, stopped, spent, notes)


def _beside(run: RunDirectory, plan: Plan) -> Beside | None:
    """The predictor, at work already; None where it is not asked."""
    if not plan.beside:
        return None
    found = Beside(
        run,
        plan.limits,
        plan.kernel,
        plan.where.device.part,
        plan.clock,
        plan.tool,
        plan.calibration,
    )
    found.begin()
    return found


@dataclass(frozen=True, slots=True)
class _Part:
    """How far one round goes: trials and promotions, those before included."""

    trials: int
    promoted: int


def _parts(plan: Plan, trials: int) -> list[_Part]:
    """The rounds; one where nothing is learned."""
    rounds = max(1, plan.rounds)
    return [
        _Part(-(-trials * n // rounds), -(-plan.promote_most * n // rounds))
        for n in range(1, rounds + 1)
    ]


def _fanout(plan: Plan, means: Means, offers: Offers | None, chosen: Evaluator) -> Fanout:
    """Where an evaluator's jobs go; closing it lets workers wait for more."""
    parts: list[Fanout] = []
    cheap = chosen.cost < _CHEAP
    if means.dask is not None:
        from dse.run.workers.cluster import Cluster

        parts.append(Cluster(means.dask, plan.timeout))
    elif means.jobs == 1 and cheap:
        parts.append(Here(plan.timeout))
    elif means.jobs:
        names = (plan.evaluator.name, *plan.promote)  # one server for all of the run
        modules = preload_of(names, is_open=plan.where.tool.is_open)
        parts.append(Processes(means.jobs, plan.timeout, modules))
    if offers is not None:
        parts.append(offers)
    return parts[0] if len(parts) == 1 else Several(parts)


def _promote(
    run: RunDirectory,
    plan: Plan,
    name: str,
    most: int,
    means: Means,
    offers: Offers | None,
    heard: Heard,
    cache: ResultCache,
    failed: set[str],
) -> None:
    chosen = evaluator(name, packed(plan.kernel), plan.timeout, plan.weights)

    def request(key: str) -> Request:
        return Request(
            plan.program,
            run.schedule(key),
            plan.where.device,
            plan.clock,
            plan.tool,
            plan.calibration,
        )

    order: Callable[[tuple[Design, ...]], tuple[Design, ...]] = front
    if plan.rounds and name in TRUE:
        from dse.run.search.active import Learner

        order = Learner(run, name, plan.where, request, plan.weights)
    with contextlib.closing(_fanout(plan, means, offers, chosen)) as fanout:
        Promotion(
            run, chosen, request, most, heard.promoted, Flights(fanout, heard.stopping), cache, order,
            failed,
        ).carry_out()  # fmt: skip
