"""A whole exploration in a run's folder: describe the problem, search it, promote, report."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dse.estimates.collection import rare_collection
from dse.evaluators.base import Request
from dse.evaluators.registry import of_what_is_emitted
from dse.run.folder.directory import RunDirectory
from dse.run.folder.plan import Plan, opened
from dse.run.folder.problem import Problem, describe, keep
from dse.run.folder.proven import sound
from dse.run.predictor.beside import prepare
from dse.run.search.explore import Explored, Heard, Means, explore
from dse.run.search.final import settle
from dsl.schedules.schedule import Schedule

if TYPE_CHECKING:
    from dse.bounds.work import Work
    from dse.space.space import Space


@dataclass(frozen=True, slots=True)
class Database:
    """Where a study is kept that machines share.

    Attributes:
        url: of the database.
        wait: seconds to wait for it each time that it goes away.
        heard: told when it goes away, and when it is back.
    """

    url: str
    wait: float
    heard: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Carried:
    """An exploration that has ended: its run (closed, to be read), its problem, how it ended."""

    run: RunDirectory
    problem: Problem
    ended: Explored


def carry_out(
    folder: Path,
    plan: Plan,
    means: Means,
    listening: Callable[[Problem], AbstractContextManager[Heard]],
    database: Database | None = None,
    *,
    resume: bool = False,
) -> Carried:
    """Explore in a folder, and write what was found there.

    Args:
        folder: of the run.
        plan: what is explored.
        means: what may be used.
        listening: who is told of progress while the problem is searched, and asked whether to stop.
        database: where the study is; None for a journal in the folder.
        resume: go on with the run in the folder.

    Raises:
        InputError: as `dse.run.folder.plan.opened` and `dse.run.search.explore.explore`; W529 the database does
            not answer.
    """
    from dse.bounds.work import work_of
    from dse.run.studies.storage import database as connected
    from dse.space.space import space_of

    if plan.beside:
        prepare()
    with contextlib.ExitStack() as stack:
        stack.enter_context(rare_collection())
        storage = None
        if database is not None:
            storage = stack.enter_context(connected(database.url, database.wait, database.heard))
        run = stack.enter_context(contextlib.closing(opened(folder, plan, resume=resume)))
        space = space_of(
            plan.program, plan.where.tool, plan.reassociate, plan.logic, plan.start, plan.bram18,
            means.patience.structures,
        )  # fmt: skip
        problem = _described(
            run, plan, space, work_of(plan.program, plan.where.tool, plan.reassociate)
        )
        with listening(problem) as heard:
            ended = explore(run, plan, space, storage, means, heard, resume=resume)
        if not ended.stopped and not plan.where.tool.is_open:  # whose figures are of modules anyway
            settle(
                run, plan.evaluator, lambda key: _request(plan, run.schedule(key)), plan.board,
                means.patience.figures,
            )  # fmt: skip
    return Carried(run, problem, ended)


def _described(run: RunDirectory, plan: Plan, space: Space, work: Work) -> Problem:
    """What is searched; kept in the run for its report."""
    from dse.estimates.origins import origins_of
    from polyhedral.codegen.generate import loop_tree
    from polyhedral.schedule import apply
    from qor_gnn.design.from_tree import kernel_of_tree

    chip, where = plan.where.device, plan.where
    plain = of_what_is_emitted(plan.evaluator).evaluate(_request(plan, Schedule()))
    regions = kernel_of_tree(loop_tree(apply(plan.program, Schedule())))
    told = origins_of(regions, where.tool).line
    notes = (*where.notes, *((told,) if told else ()))
    problem = describe(space, work, where.tool, chip, plan.budget, plan.luts, notes, plain)
    problem = replace(problem, plain=sound(plain, problem))
    keep(run, problem)
    return problem


def _request(plan: Plan, schedule: Schedule) -> Request:
    return Request(
        plan.program, schedule, plan.where.device, plan.clock, plan.tool, plan.calibration
    )
